//! Quotations in messages.

use super::quoted;
use crate::tests::{ask, corpus, day, ids, turn};

#[test]
fn the_share_of_a_message_that_is_quoted() {
    let percent = |text: &str| (quoted(text) * 100.0).round();
    for text in [
        "I moved to Leeds and I work nights. Any tips: sleep or no sleep?",
        "The vet said: he's fine",
        "My desk is 140 cm wide, 5\" more than the old one.",
        "",
    ] {
        assert!(percent(text) < 1.0, "{text}");
    }
    for text in [
        "\"I have been a diver since 2009 and I live at sea.\" How does that sound?",
        "Traduis : « J'habite dans un phare. »",
        "英語に訳して：「私は灯台に住んでいます。」",
        "«I live at sea» and \"I dive\" is what",
    ] {
        assert!(percent(text) > 40.0, "{text}: {}", percent(text));
    }
}

#[test]
fn of_equal_statements_the_speakers_own_comes_first() {
    let told = corpus([
        turn(
            "own",
            "a",
            day(1),
            "Ann",
            "Well, I live on a canal boat, as you know, since the flood.",
        ),
        turn(
            "quoted",
            "b",
            day(9),
            "Ann",
            "\"I live on a canal boat with two goats.\" Please translate this.",
        ),
    ]);
    assert_eq!(
        ids(&ask("Where do I live?").of(&told).messages),
        ["own", "quoted"]
    );
    let asked = ask("What did you make of the canal boat?").of(&told).messages;
    assert_eq!(
        ids(&asked)[0],
        "quoted",
        "what the assistant did with it is asked for"
    );
}
