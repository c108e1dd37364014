//! Time expressions as data: what is said on a day, and what it means.

use model::{Timestamp, Zone};
use proptest::prelude::*;

use super::{Span, expressions, resolve};

/// Wednesday.
const SAID: &str = "2023-06-14T15:30:00Z";

fn at(text: &str) -> Timestamp {
    Zone::utc().parse(text).expect("a test's date")
}

fn show(text: &str) -> String {
    let zone = Zone::utc();
    let found = expressions(text, at(SAID), &zone)
        .into_iter()
        .map(|(range, span)| {
            let (from, to) = (zone.date(span.from), zone.date(span.to));
            format!("{}={from}..{to}", &text[range])
        });
    found.collect::<Vec<_>>().join("; ")
}

#[test]
fn expressions_mean() {
    let cases = include_str!("cases.txt").lines().filter(|line| !line.is_empty());
    let mut wrong = Vec::new();
    for case in cases {
        let (text, want) = case.split_once(" =>").expect("text => meaning");
        let have = show(text);
        if have != want.trim() {
            wrong.push(format!("{text} => {have}\n   not {want}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_day_begins_in_the_speakers_zone() {
    let zone = Zone::named("Asia/Tokyo").expect("a zone");
    // 23:30 in UTC is the next morning in Tokyo.
    let span = resolve("what did I eat yesterday", at("2023-06-14T23:30:00Z"), &zone).expect("a span");
    assert_eq!(span.from, at("2023-06-13T15:00:00Z"));
    assert_eq!(span.to, at("2023-06-14T15:00:00Z"));
    assert!(span.contains(span.from) && !span.contains(span.to));
}

#[test]
fn the_narrowest_of_several_is_meant() {
    let zone = Zone::utc();
    let span = resolve("this year, what happened on 7 May?", at(SAID), &zone).expect("a span");
    assert_eq!(zone.date(span.from).to_string(), "2023-05-07");
    assert_eq!(resolve("what is my name?", at(SAID), &zone), None);
}

fn vocabulary() -> impl Strategy<Value = String> {
    let words = "the a few couple of two 7 7th 31 2023 9999 0 99999 2023-02-30 5/7/2023 may march spring fall last next \
                 this past day days week weekend months years ago before after since between and from to until in on \
                 early end mid yesterday tomorrow christmas eve new year's friday will 1990s . , – ’ 五月 now";
    let words: Vec<&'static str> = words.split_whitespace().collect();
    proptest::collection::vec(proptest::sample::select(words), 0..9).prop_map(|words| words.join(" "))
}

fn sound(text: &str, said: Timestamp) -> Result<(), TestCaseError> {
    let zone = Zone::named("America/New_York").expect("a zone");
    let mut end = 0;
    for (range, Span { from, to }) in expressions(text, said, &zone) {
        prop_assert!(from < to);
        prop_assert!(end <= range.start && range.start < range.end);
        prop_assert!(text.get(range.clone()).is_some());
        end = range.end;
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>(), millis in any::<i64>()) {
        sound(&text, Timestamp::from_millis(millis))?;
    }

    #[test]
    fn any_words_of_time_are_read_in_order(text in vocabulary(), millis in any::<i64>()) {
        sound(&text, Timestamp::from_millis(millis))?;
        sound(&text, at(SAID))?;
    }
}
