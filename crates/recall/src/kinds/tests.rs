//! What people say of themselves, and questions that name only its kind.

use super::TABLE;
use crate::tests::{ask, corpus, day, ids, turn};

/// A question, its answer, and statements that are none; everyday wordings that no rule was made from.
const TOLD: [(&str, &str, [&str; 2]); 6] = [
    (
        "Wo wohne ich?",
        "Unsere Wohnung in Graz hat keinen Balkon.",
        ["Der Balkon vom Hotel war klein.", "Das Hotel war laut."],
    ),
    (
        "Was ist mein Beruf?",
        "Ich arbeite als Imkerin und stehe früh auf.",
        ["Früh war es kalt.", "Der Film war kalt und lang."],
    ),
    (
        "¿En qué ciudad vivo?",
        "Nuestro piso en Cuenca da al río.",
        ["El río estaba alto.", "La película era larga."],
    ),
    (
        "我有什么宠物？",
        "兔子又啃了沙发。",
        ["沙发是新的。", "我为什么要买新的？"],
    ),
    (
        "私の職業は何ですか？",
        "養蜂家として働いています。朝が早いです。",
        ["今日は朝が早いです。", "映画は長かったです。"],
    ),
    (
        "私のペットは何ですか？",
        "兎がソファをかじりました。",
        ["ソファは新しいです。", "私は何を買いましたか。"],
    ),
];

#[test]
fn a_thing_is_found_by_its_kind() {
    let first = |(question, answer, others): &(&str, &str, [&str; 2])| {
        let texts = (0..).zip(std::iter::once(answer).chain(others));
        let told = corpus(texts.map(|(at, text)| {
            let id = format!("m{at}");
            turn(&id, &id, day(at), "Ann", text)
        }));
        ids(&ask(question).of(&told).messages).first() == Some(&"m0")
    };
    let wrong: Vec<&str> = TOLD
        .iter()
        .filter(|told| !first(told))
        .map(|told| told.0)
        .collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn an_event_or_advice_is_no_kind() {
    let told = corpus([
        turn("m1", "a", day(1), "Ann", "The tram was full again."),
        turn(
            "m2",
            "b",
            day(2),
            "Ann",
            "We took care of the old thing in March.",
        ),
    ]);
    for question in [
        "Which vehicle did I take care of?",
        "Any advice for the care of my vehicle?",
    ] {
        assert_eq!(ids(&ask(question).of(&told).messages)[0], "m2", "{question}");
    }
}

#[test]
fn a_name_of_han_characters_is_not_named_by_one_of_them() {
    let said = |id: &str, at: i64, text: &str| model::Doc {
        speaker: Some("小伟".to_owned()),
        ..turn(id, id, day(at), "Ann", text)
    };
    let told = corpus([said("m1", 1, "她对芒果过敏。"), said("m2", 9, "小狗很吵。")]);
    assert_eq!(ids(&ask("小雨不能吃什么？").of(&told).messages)[0], "m1");
}

#[test]
fn every_line_of_the_file_counts() {
    for line in include_str!("../kinds.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let is_known = line.starts_with("= ") || line.contains(" > ");
        assert!(
            is_known && !line.contains("  ") && line.to_lowercase() == line || line.starts_with("= "),
            "{line}"
        );
    }
    assert!(TABLE.kinds.iter().all(|kind| !kind.told.is_empty()));
    let mut asked: Vec<usize> = TABLE
        .asked
        .iter()
        .flat_map(|stems| stems.values().flatten().copied())
        .collect();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), TABLE.kinds.len());
}
