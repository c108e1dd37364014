//! The answers of a real small model (Qwen2.5-Coder 1.5B, llama.cpp, 29 November 2026) to talks of
//! our own, replayed.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use model::Zone;

use super::{cell, talk};
use crate::{Interview, Reaction, facts, is_covered};

/// Compares the facts of an answer, and the rules' facts of its talk, with the expected ones.
fn check(lines: &str, answer: &str, expect: &Expect) {
    let cell = cell(talk(lines));
    let ruled = facts(&cell, &Zone::utc());
    let mut interview = Interview::facts(&cell.messages, &[]).expect("something is said");
    let Reaction::Done(answer) = interview.read(answer) else {
        panic!("{answer}")
    };
    let mut told = String::new();
    for fact in &ruled {
        writeln!(told, "rules: {}", fact.text).expect("a string");
    }
    for fact in &answer.facts {
        let sources: Vec<&str> = fact.sources.iter().map(model::MessageId::as_str).collect();
        let is_new = if is_covered(fact, &ruled) { "known" } else { "adds" };
        writeln!(told, "{is_new}: {} ({})", fact.text, sources.join(" ")).expect("a string");
    }
    for dropped in &answer.dropped {
        writeln!(told, "left out: {} ({})", dropped.text, dropped.why).expect("a string");
    }
    expect.assert_eq(&told);
}

#[test]
fn a_small_model_names_the_surgerys_owner_but_may_not_resolve_a_pronoun() {
    check(
        "ana: My sister Eva moved to Bremen in March.
         ana: She keeps bees, so honey is never short.
         ana: The surgery of my father is on 20 April.",
        r#"{"facts":["Ana's sister Eva moved to Bremen in March.","Ana's sister Eva keeps bees, so honey is never short.","Ana's father's surgery is on 20 April."]}"#,
        &expect![[r#"
            rules: Ana says: "My sister Eva moved to Bremen in March".
            known: Ana's sister Eva moved to Bremen in March. (m1)
            adds: Ana's father's surgery is on 20 April. (m3)
            left out: Ana's sister Eva keeps bees, so honey is never short. (nobody said `keeps` with the rest of it)
        "#]],
    );
}

#[test]
fn a_small_model_that_confuses_two_people_adds_nothing() {
    check(
        "max: My neighbour Ole sold the blue boat.
         max: He teaches physics now.
         lea: Our dog Bruno can't stand thunder.
         lea: His brother Rex has a bad hip.",
        r#"{"facts":["Max's neighbour Ole sold the blue boat.","Max teaches physics now.","Lea's dog Bruno can't stand thunder.","Lea's brother Rex has a bad hip."]}"#,
        &expect![[r#"
            rules: Max says: "My neighbour Ole sold the blue boat".
            rules: Lea says: "Our dog Bruno can't stand thunder".
            known: Max's neighbour Ole sold the blue boat. (m1)
            known: Lea's dog Bruno can't stand thunder. (m3)
            left out: Max teaches physics now. (it is not about the one who said it, or whom they named)
            left out: Lea's brother Rex has a bad hip. (it is not about the one who said it, or whom they named)
        "#]],
    );
}

#[test]
fn a_small_model_that_translates_adds_nothing() {
    check(
        "jana: Meine Schwester Ida wohnt in Jena.
         jana: Im Keller steht das Klavier von Ida.",
        r#"{"facts":["Jana's sister Ida lives in Jena.","Ida's keyboard is in the kitchen."]}"#,
        &expect![[r#"
            rules: Jana says: "Meine Schwester Ida wohnt in Jena".
            left out: Jana's sister Ida lives in Jena. (nobody said `sister` with the rest of it)
            left out: Ida's keyboard is in the kitchen. (nobody said `keyboard` with the rest of it)
        "#]],
    );
}
