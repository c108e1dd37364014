//! The readable part of a message, and its sentences.

use expect_test::{Expect, expect};

use super::{at, message};
use crate::sentence::sentences;
use crate::visible::{own_words, readable_text};
use crate::words::{cut, words};

fn check_sentences(text: &str, expect: &Expect) {
    expect.assert_eq(&sentences(text).join("\n"));
}

fn own(text: &str) -> String {
    own_words(&message(1, "alice", text, at("2024-01-01")))
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn sentences_end_where_people_end_them() {
    check_sentences(
        "Hi! I saw Dr. Lee at 3.30 p.m. today... She's nice 😀 She said no. J. R. R. Tolkien wrote it\n- one\n2. two?",
        &expect![[r#"
            Hi!
            I saw Dr. Lee at 3.30 p.m. today...
            She's nice 😀
            She said no. J. R. R. Tolkien wrote it
            one
            two?"#]],
    );
    check_sentences(
        "我搬到里斯本了。你呢？我很好！ ありがとう。またね",
        &expect![[r#"
            我搬到里斯本了。
            你呢？
            我很好！
            ありがとう。
            またね"#]],
    );
}

#[test]
fn a_text_without_sentence_ends_is_cut_by_length() {
    let long = "é".repeat(5_000);
    assert_eq!(sentences(&long).concat(), long);
    assert!(sentences(&long).iter().all(|sentence| sentence.len() <= 1_010));
}

#[test]
fn the_number_of_a_german_day_ends_no_sentence() {
    check_sentences(
        "Die Mama wird 80, wir feiern am Sonntag, dem 20. Dezember um 15 Uhr. Ich bin 42. Ich wohne in Kassel.",
        &expect![[r#"
            Die Mama wird 80, wir feiern am Sonntag, dem 20. Dezember um 15 Uhr.
            Ich bin 42.
            Ich wohne in Kassel."#]],
    );
}

#[test]
fn recalled_injected_and_private_text_is_not_read() {
    for guarded in [
        "<quipu-memory>I live in Rome.</quipu-memory>",
        "<quipu-recall id=\"7\">I live in Rome. <b>x</b></quipu-recall>",
        "<system-reminder>\nI live in Rome.\n</system-reminder>",
        "<memory>I live in Rome.<memory>again</memory> I live in Rome.</memory>",
        "<relevant_memories>I live in Rome.</relevant_memories>",
        "<PRIVATE>I live in Rome.</private>",
        "<private/>",
        "</memory>",
        "> I live in Rome.",
        "```\nI live in Rome.\n```",
    ] {
        assert_eq!(
            own(&format!("Hello there.\n{guarded}\nI like tea.")),
            "Hello there. I like tea.",
            "{guarded}"
        );
    }
    assert_eq!(
        own("I like tea. <private>I live in Rome. I like tea."),
        "I like tea."
    );
    assert_eq!(own("I like tea.\n~~~\nI live in Rome."), "I like tea.");
}

#[test]
fn ordinary_angle_brackets_stay() {
    assert_eq!(
        own("if a < b and <b>c</b> > d, x<private"),
        "if a < b and <b>c</b> > d, x<private"
    );
}

#[test]
fn messages_of_tools_and_models_have_no_own_words() {
    assert_eq!(
        own_words(&message(1, "bot", "I live in Rome.", at("2024-01-01"))),
        ""
    );
    assert_eq!(
        own_words(&message(1, "tool", "I live in Rome.", at("2024-01-01"))),
        ""
    );
    assert_eq!(
        readable_text(&message(1, "bot", "<memory>x</memory>ok", at("2024-01-01"))).trim(),
        "ok"
    );
}

#[test]
fn words_keep_apostrophes_hyphens_and_signs_inside() {
    let found = words("Don’t e-mail a@b.org at 5:30, $1,050 — (now) Alice's!");
    let texts: Vec<_> = found
        .iter()
        .map(|word| {
            if word.breaks {
                format!("|{}", word.text)
            } else {
                word.text.clone()
            }
        })
        .collect();
    assert_eq!(
        texts.join(" "),
        "don't e-mail a@b.org at 5:30 |$1,050 |now |alice's"
    );
}

#[test]
fn cutting_prefers_the_end_of_a_word() {
    assert_eq!(cut("one two three", 20), "one two three");
    assert_eq!(cut("one two three", 10), "one two…");
    assert_eq!(cut("一二三四五六", 4), "一二三…");
}
