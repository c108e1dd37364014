//! IS: the importance scorer.

use context::shorten::score::{ItemKind, Score, ScoreRules, score};
use transcript::Item;

use crate::codebuddy::{assistant, system, user};

fn one(item: Item) -> Score {
    score(&[item], &ScoreRules::default()).remove(0)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

fn without_recency() -> ScoreRules {
    ScoreRules {
        recency: 0.0,
        ..ScoreRules::default()
    }
}

#[test]
fn is_1_weights() {
    let weights = ScoreRules::default().weights;
    let all = [
        (ItemKind::System, 1.0),
        (ItemKind::Error, 0.95),
        (ItemKind::Decision, 0.90),
        (ItemKind::Code, 0.70),
        (ItemKind::Command, 0.50),
        (ItemKind::FileContent, 0.40),
        (ItemKind::ToolResult, 0.35),
        (ItemKind::Explanation, 0.30),
        (ItemKind::Conversation, 0.25),
    ];
    for (kind, weight) in all {
        assert!(near(weights[kind as usize], weight), "{kind:?}");
    }
}

#[test]
fn is_2_formula() {
    assert!(
        near(one(assistant("hello")).value, 0.55),
        "one item gets the full boost"
    );
    let value = |item| score(&[item], &without_recency())[0].value;
    assert!(near(value(user("hello")), 0.35));
    let long = |length: usize| {
        value(assistant(
            "a ".repeat(length / 2) + if length % 2 == 1 { "a" } else { "" },
        ))
    };
    assert!(near(long(6_000), 0.15));
    assert!(near(long(4_999), 0.25));
}

#[test]
fn is_3_recency() {
    let items = [assistant("one"), assistant("two")];
    let scores = score(&items, &ScoreRules::default());
    assert!(near(scores[1].value - scores[0].value, 0.3));
    let scores = score(&items, &without_recency());
    assert!(near(scores[1].value, scores[0].value));
    let first = score(&[system("rules"), assistant("two")], &ScoreRules::default());
    assert!(near(first[0].value, 1.0));
}

#[test]
fn is_4_detection() {
    let cases = [
        (assistant("```ts\nconst a = 1\n```"), ItemKind::Code),
        (assistant("function add(a, b) {"), ItemKind::Code),
        (assistant("Error: cannot read the file"), ItemKind::Error),
        (
            assistant("There was an unhandled exception there"),
            ItemKind::Error,
        ),
        (assistant("We decided to use Postgres"), ItemKind::Decision),
        (assistant("I will use the other one"), ItemKind::Decision),
        (assistant("+++ b/src/main.ts"), ItemKind::FileContent),
        (assistant("@@ -1,4 +1,5 @@"), ItemKind::FileContent),
        (assistant("$ npm install"), ItemKind::Command),
        (assistant("Run git commit"), ItemKind::Command),
        (Item::outcome("c", "three files"), ItemKind::ToolResult),
        (Item::outcome("c", "{\"success\":false}"), ItemKind::Error),
        (system("Error: we decided to use ```code```"), ItemKind::System),
        (assistant("How are you today"), ItemKind::Conversation),
    ];
    for (item, kind) in cases {
        assert_eq!(one(item.clone()).kind, kind, "{item:?}");
    }
}

#[test]
fn is_4_quirks_that_are_not_copied() {
    assert_eq!(one(user("yes")).kind, ItemKind::Conversation);
    assert_eq!(one(assistant("built with 0 errors")).kind, ItemKind::Conversation);
    assert_eq!(one(assistant("    indented words")).kind, ItemKind::Conversation);
}

#[test]
fn is_6_factors() {
    let told = |item: Item| {
        one(item)
            .factors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told(user("hello")),
        ["base(conversation): 0.25", "recency: +0.300", "role(user): +0.1"]
    );
    assert_eq!(told(assistant("a ".repeat(3_000)))[2], "length(6000): -0.1");
    assert_eq!(one(user("hello")).index, 0);
}

#[test]
fn is_7_order_of_compression() {
    let items = [
        system("rules"),
        assistant("Error: no"),
        assistant("chat"),
        assistant("chat"),
    ];
    let mut scores = score(&items, &without_recency());
    assert!(near(scores[2].value, scores[3].value));
    scores.sort_by(|a, b| a.value.total_cmp(&b.value));
    let first_to_go: Vec<usize> = scores.iter().map(|score| score.index).collect();
    assert_eq!(first_to_go, [2, 3, 1, 0]);
}

#[test]
fn is_8_configuration() {
    let mut rules = ScoreRules {
        length_over: 3.0,
        length_cost: 0.2,
        ..without_recency()
    };
    assert!(rules.set("conversation", 0.5));
    assert!(near(score(&[assistant("long")], &rules)[0].value, 0.3));
    assert!(
        near(score(&[assistant("Error: x")], &rules)[0].value, 0.75),
        "the others keep their defaults"
    );
    assert!(!rules.set("conversations", 0.5));
}
