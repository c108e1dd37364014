//! Signs of material in messages that no rule was made from.

use super::read;
use crate::tests::{ask, corpus, day, ids, turn};

#[test]
fn quotations_tasks_and_roles_are_material() {
    let percent = |text: &str| (read(text).share * 100.0).round();
    for text in [
        "I moved to Leeds and I work nights. Any tips: sleep or no sleep?",
        "The vet said: he's fine",
        "My desk is 140 cm wide, 5\" more than the old one.",
        "她是医生：我很高兴",
        "",
    ] {
        assert!(percent(text) < 1.0, "{text}");
    }
    for text in [
        "Translate to Dutch: I live in a lighthouse with two goats.",
        "please proofread this: I have worked as a diver since 2009",
        "\"I have been a diver since 2009 and I live at sea.\" How does that sound?",
        "Schreib das um: Ich wohne in einem Leuchtturm.",
        "Traduis : « J'habite dans un phare. »",
        "Traduce al inglés: vivo en un faro con dos cabras.",
        "Traduz: moro num farol com duas cabras.",
        "翻译成英文：我住在灯塔里。",
        "英語に訳して：「私は灯台に住んでいます。」",
        "Can you explain this letter?\n\nDear tenant, I live abroad and I want to sell the house.",
        "If I get it I'd live in Dunmore. If I don't I might stay.",
    ] {
        assert!(percent(text) > 40.0, "{text}: {}", percent(text));
    }
    for text in [
        "Roleplay time, I am a pirate and I live on a raft",
        "Machen wir ein Rollenspiel, ich bin ein Pirat",
        "我们来角色扮演：我是海盗。",
        "Let's play. You are a lighthouse and I am a moth.",
    ] {
        assert!(percent(text) > 99.0, "{text}");
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
            "draft",
            "b",
            day(9),
            "Ann",
            "Please translate this: I live on a canal boat with two goats.",
        ),
    ]);
    assert_eq!(ids(&ask("Where do I live?").of(&told).messages), ["own", "draft"]);
    let asked = ask("What did you make of the canal boat?").of(&told).messages;
    assert_eq!(
        ids(&asked)[0],
        "draft",
        "what the assistant did with it is asked for"
    );
}
