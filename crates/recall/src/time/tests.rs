//! Time expressions as tables: a sentence written on a day, and its dates.

use std::fmt::Write;

use model::{Date, Timestamp, Zone};
use proptest::prelude::*;

use super::{Expression, Span, Tense, asked, expressions, narrowest};

/// Wednesday.
const SAID: &str = "2023-06-14T15:30:00Z";

fn at(text: &str) -> Timestamp {
    Zone::utc().parse(text).expect("a test's date")
}

fn show(text: &str) -> String {
    let zone = Zone::utc();
    let found = expressions(text, at(SAID), &zone).into_iter().map(|found| {
        let (from, to) = (zone.date(found.span.from), zone.date(found.span.to));
        format!("{}={from}..{to}", &text[found.range])
    });
    found.collect::<Vec<_>>().join("; ")
}

/// The rows of a table whose result differs.
fn wrong(table: &str, have: impl Fn(&str) -> String) -> String {
    let cases = table.lines().filter(|line| !line.is_empty());
    let mut wrong = String::new();
    for case in cases {
        let (text, want) = case.split_once(" =>").expect("text => meaning");
        let have = have(text);
        if have != want.trim() {
            writeln!(wrong, "{text} => {have}\n   not {want}").expect("a text takes all");
        }
    }
    wrong
}

/// The last expression's tense and first day.
fn meant(found: &[Expression]) -> Option<(Option<Tense>, Date)> {
    let last = found.last()?;
    Some((last.tense, Zone::utc().date(last.span.from)))
}

#[test]
fn expressions_have_the_spans_of_the_table() {
    let wrong = wrong(include_str!("cases.txt"), show);
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_date_has_the_tense_of_its_sentence() {
    let wrong = wrong(include_str!("tenses.txt"), |text| {
        let found = expressions(text, at(SAID), &Zone::utc());
        let shown = |tense: Option<Tense>| tense.map_or("-".to_owned(), |tense| format!("{tense:?}"));
        meant(&found).map_or_else(String::new, |(tense, day)| format!("{} {day}", shown(tense)))
    });
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_question_means_the_past_unless_it_says_otherwise() {
    let wrong = wrong(include_str!("asked.txt"), |text| {
        let found = asked(text, at(SAID), &Zone::utc());
        meant(&found).map_or_else(String::new, |(_, day)| day.to_string())
    });
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn resolve(text: &str, asked_at: Timestamp, zone: &Zone) -> Option<Span> {
    narrowest(&asked(text, asked_at, zone))
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
    let words = "the a few couple of two 7 7th 31 2023 9999 0 99999 2023-02-30 5/7/2023 third twenty first 3rd fortnight \
                 may march spring fall last next this past day days week weekend months years ago before after since \
                 between and from to until in on early end mid yesterday tomorrow christmas eve new year's friday will \
                 1990s . , – ’ 五月 now";
    let words: Vec<&'static str> = words.split_whitespace().collect();
    proptest::collection::vec(proptest::sample::select(words), 0..9).prop_map(|words| words.join(" "))
}

fn sound(text: &str, said: Timestamp) -> Result<(), TestCaseError> {
    let zone = Zone::named("America/New_York").expect("a zone");
    let mut end = 0;
    let found = expressions(text, said, &zone).into_iter();
    for Expression {
        range,
        span: Span { from, to },
        ..
    } in found
    {
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

    #[test]
    fn a_date_keeps_its_day_and_month_and_is_the_closest_on_its_side(
        told in told_dates(), days in 0..20_000i64, asking in any::<bool>(),
    ) {
        let (text, (day, month), side) = told;
        let said = Timestamp::from_millis(days * 86_400_000);
        let zone = Zone::utc();
        let found = if asking { asked(&text, said, &zone) } else { expressions(&text, said, &zone) };
        prop_assert_eq!(found.len(), 1, "{}", text);
        let (date, today) = (zone.date(found[0].span.from), zone.date(said));
        prop_assert_eq!((date.day(), date.month()), (day, month));
        let apart = (found[0].span.from.millis() - said.millis()) / 86_400_000;
        // A leap day comes every fourth year, and sometimes only after eight.
        let years = if (day, month) == (29, 2) { 8 } else { 1 };
        prop_assert!(apart.abs() <= years * 366);
        match side {
            Some(Tense::Future) => prop_assert!(date >= today),
            Some(Tense::Past) => prop_assert!(date <= today),
            None if asking => prop_assert!(date <= today),
            None => prop_assert!((day, month) == (29, 2) || apart.abs() <= 184),
        }
    }
}

/// A sentence with a date, the date, and its tense.
fn told_dates() -> impl Strategy<Value = (String, (i8, i8), Option<Tense>)> {
    const MONTHS: [(&str, i8); 12] = [
        ("January", 31),
        ("February", 29),
        ("March", 31),
        ("April", 30),
        ("May", 31),
        ("June", 30),
        ("July", 31),
        ("August", 31),
        ("September", 30),
        ("October", 31),
        ("November", 30),
        ("December", 31),
    ];
    let told = [
        ("we will marry on DATE", Some(Tense::Future)),
        ("on DATE the next race is due", Some(Tense::Future)),
        (
            "I met Tom, and on DATE I am going to meet him again",
            Some(Tense::Future),
        ),
        ("we married on DATE", Some(Tense::Past)),
        ("on DATE, which was a Monday, it rained", Some(Tense::Past)),
        ("photos of DATE", None),
    ];
    let date = (0..12usize).prop_flat_map(|month| (1..=MONTHS[month].1, Just(month)));
    (proptest::sample::select(told.to_vec()), date, any::<bool>()).prop_map(
        |((told, side), (day, month), day_first)| {
            let (name, number) = (MONTHS[month].0, i8::try_from(month + 1).expect("at most 12"));
            let date = if day_first {
                format!("{day} {name}")
            } else {
                format!("{name} {day}")
            };
            (told.replace("DATE", &date), (day, number), side)
        },
    )
}
