//! Trees of topics.

use documents::{TOPIC_MAX_TOKENS, TOPIC_MIN_TOKENS, Topic, topics};
use expect_test::expect;

use crate::read;

fn tree(text: &str, name: &str) -> String {
    let line = |topic: &Topic| {
        format!(
            "{}{} {} ({:?}): {:?}\n",
            "  ".repeat(topic.depth - 1),
            topic.number,
            topic.path,
            topic.parent,
            topic.summary
        )
    };
    topics(&read(text, name)).iter().map(line).collect()
}

fn prose(tokens: usize) -> String {
    "Words of it. ".repeat(tokens * 4 / 13)
}

#[test]
fn topics_follow_the_headings() {
    let install = prose(60);
    let text = format!(
        "Preamble here.\n\n# Guide\n\nHow it works.\n\n## Install\n\n{install}\n\n#### Linux\n\n{install}\n\n## Use\n{install}\n\
         > # quoted\n\nOther\n=====\n\n```\n# no heading\n```\n"
    );
    expect![[r#"
        1 Preamble here. (None): "Preamble here."
        2 Guide (None): "How it works."
          3 Guide > Install (Some(2)): "Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it."
            4 Guide > Install > Linux (Some(3)): "Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it."
          5 Guide > Use (Some(2)): "Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it. Words of it."
        6 Other (None): ""
    "#]]
    .assert_eq(&tree(&text, "a.md"));
    let guide = &topics(&read(&text, "a.md"))[1];
    assert_eq!(
        guide.content, "# Guide\n\nHow it works.",
        "verbatim, without what is below it"
    );
}

#[test]
fn tiny_neighbours_are_one_topic() {
    let text = "# FAQ\n\n## One\n\nYes.\n\n## Two\n\nNo.\n\n## Three\n\n### Below\n\nMore.\n";
    expect![[r#"
        1 FAQ (None): ""
          2 FAQ > One; Two (Some(1)): "Yes. No."
          3 FAQ > Three (Some(1)): ""
            4 FAQ > Three > Below (Some(3)): "More."
    "#]]
    .assert_eq(&tree(text, "a.md"));
}

#[test]
fn a_huge_section_becomes_parts_and_the_first_is_the_parent() {
    let text = format!(
        "# Long\n\n{}\n\n{}\n\n{}\n\n## Below\n\nEnd.\n",
        prose(700),
        prose(700),
        prose(700)
    );
    let topics = topics(&read(&text, "a.md"));
    let names: Vec<_> = topics
        .iter()
        .map(|topic| (topic.name.as_str(), topic.parent))
        .collect();
    assert_eq!(
        names,
        [
            ("Long", None),
            ("Long (2)", None),
            ("Long (3)", None),
            ("Below", Some(1))
        ]
    );
}

#[test]
fn a_text_without_headings_is_cut_by_size_between_paragraphs() {
    let text = format!("{}\n\n", prose(100)).repeat(40);
    let topics = topics(&read(&text, "a.txt"));
    for topic in &topics {
        let tokens = topic.content.chars().count() / 4;
        assert!(
            (TOPIC_MIN_TOKENS - 10..=TOPIC_MAX_TOKENS).contains(&tokens),
            "{tokens}"
        );
        assert!(
            topic.content.starts_with("Words") && topic.content.ends_with("it."),
            "{:?}",
            topic.content
        );
    }
    assert_eq!(
        topics[0].name,
        "Words of it. Words of it. Words of it. Words of it. Words…"
    );
}

#[test]
fn code_lists_and_tables_are_not_cut() {
    let code = format!("```\n{}```", "let x = 1;\n\n".repeat(900));
    let list = "- an item of a list\n".repeat(500);
    let table = format!("| a | b |\n|---|---|\n{}", "| one | two |\n".repeat(700));
    let text = format!(
        "# H\n\n{}\n\n{code}\n\n{}\n\n{list}\n{}\n\n{table}\n",
        prose(250),
        prose(250),
        prose(250)
    );
    let contents: Vec<_> = topics(&read(&text, "a.md"))
        .into_iter()
        .map(|topic| topic.content)
        .collect();
    for block in [&code, list.trim_end(), table.trim_end()] {
        assert!(
            contents.iter().any(|content| content.contains(block)),
            "{block:.20}"
        );
    }
    // If a cut is necessary, it is between lines.
    let log = format!("```\n{}```", "one line of a log\n".repeat(5_000));
    for topic in topics(&read(&log, "a.md")) {
        assert!(topic.content.chars().count() <= TOPIC_MAX_TOKENS * 4);
        assert!(
            topic.content.ends_with("log") || topic.content.ends_with("```"),
            "{:?}",
            topic.content
        );
    }
}

#[test]
fn one_paragraph_is_cut_after_sentences_and_never_in_a_word() {
    for topic in topics(&read(&prose(5_000), "a.txt")) {
        assert!(topic.content.ends_with("it."), "{:?}", topic.content);
    }
    for topic in topics(&read(&"words ".repeat(5_000), "a.txt")) {
        assert!(topic.content.trim().split(' ').all(|word| word == "words"));
    }
    for topic in topics(&read(&"e\u{301}".repeat(10_000), "a.txt")) {
        assert!(topic.content.starts_with('e') && topic.content.ends_with('\u{301}'));
    }
}

#[test]
fn labels_are_repeated_words_with_a_meaning() {
    let labels = |text: &str| topics(&read(text, "a.md"))[0].labels.clone();
    let text = "The backup and the Restore: a backup of the vault, and restore from [here](https://backup.example/vault). Vault or backup.";
    assert_eq!(labels(text), ["backup", "restore", "vault"]);
    assert_eq!(
        labels("Der Hund und die Katze; die Katze und der Hund sind nicht die Maus."),
        ["hund", "katze"]
    );
    assert_eq!(labels("知識検索は知識を検索する。"), ["知識", "検索"]);
    assert_eq!(labels("Nothing twice here."), Vec::<String>::new());
}

#[test]
fn front_matter_and_references_stay_with_the_text() {
    let text =
        "---\ntitle: x\n---\n\n[a]: https://x.example\n\n# One\n\nText [a].\n\n[b]: https://y.example\n";
    let topics = topics(&read(text, "a.md"));
    let contents: Vec<_> = topics.iter().map(|topic| topic.content.as_str()).collect();
    assert_eq!(
        contents,
        [
            "---\ntitle: x\n---\n\n[a]: https://x.example",
            "# One\n\nText [a].\n\n[b]: https://y.example"
        ]
    );
}
