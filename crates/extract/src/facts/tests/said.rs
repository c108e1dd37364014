//! What people said of themselves, by hand, and how much of it becomes facts.

use model::Zone;

use crate::facts::facts;
use crate::tests::{at, cell, message};

/// How many of 100 facts that are said must be found.
const RECALL_MIN: usize = 70;

/// The facts of a message, each with its mark.
fn found(line: &str) -> String {
    let (name, text) = line.split_once(": ").expect("a speaker");
    let mut said = message(1, "user", text, at("2026-09-16T10:00:00Z"));
    said.sender_name = Some(name.to_owned());
    let facts = facts(&cell(vec![said]), &Zone::utc());
    let lines: Vec<String> = facts.iter().map(|fact| format!("  = {}", fact.text)).collect();
    lines.join("\n")
}

/// How many of 100 facts that a table says are found. Nothing else may be found.
fn found_of(table: &str) -> usize {
    let table = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let (mut right, mut missed, mut wrong) = (0, 0, Vec::new());
    let (mut message, mut want) = ("", Vec::new());
    for line in table.chain(["nobody: "]) {
        if line.starts_with("  = ") {
            right += 1;
            want.push(line);
        } else if line.starts_with("  ~ ") {
            missed += 1;
        } else {
            let have = if message.is_empty() {
                String::new()
            } else {
                found(message)
            };
            let want = std::mem::take(&mut want).join("\n");
            if have != want {
                wrong.push(format!("{message}\n{have}\nnot\n{want}"));
            }
            message = line;
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    100 * right / (right + missed)
}

#[test]
fn no_fact_is_wrong_and_most_are_found() {
    let recall = found_of(include_str!("said.txt"));
    assert!(recall >= RECALL_MIN, "{recall} of 100");
}

#[test]
fn a_fact_is_whole_or_left_out() {
    found_of(include_str!("whole.txt"));
}

#[test]
fn only_its_writer_is_believed() {
    found_of(include_str!("met.txt"));
}

#[test]
fn a_name_said_in_passing_is_a_fact() {
    for (said, fact) in [
        (
            "Ann: What should my older sister Clara read?",
            "Ann has an older sister called Clara.",
        ),
        ("Ann: I'm off with our dog Flint.", "Ann has a dog called Flint."),
        (
            "Ann: It's for my husband Jim's boat.",
            "Ann's husband is called Jim.",
        ),
        (
            "Ann: My best friend Marta Lund paints.",
            "Ann has a best friend called Marta Lund.",
        ),
        ("I: Is our son Otis too young?", "I have a son called Otis."),
    ] {
        assert_eq!(found(said), format!("  = {fact}"), "{said}");
    }
    for said in [
        "Ann: What should my sister read on Monday?",
        "Ann: Imagine my sister Clara came.",
        "Ann: Should my doctor Dr Singh know?",
        "Ann: Does my cat Persian or not matter?",
        "Ann: Is my mum OK?",
        "Ann: Does my brother, Monday or not, matter?",
    ] {
        assert_eq!(found(said), "", "{said}");
    }
}
