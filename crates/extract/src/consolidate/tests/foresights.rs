//! Which sentences announce an event, and which only look like it.

use model::{Message, Role, Zone};
use proptest::prelude::*;

use crate::consolidate::foresight::{FORESIGHTS_MAX, foresights};

fn found(text: &str) -> Vec<(String, String, String)> {
    let zone = Zone::utc();
    let found = foresights(&[super::message(text)], &zone).into_iter();
    let date = |at| zone.date(at).to_string();
    found
        .map(|foresight| (foresight.content, date(foresight.from), date(foresight.until)))
        .collect()
}

fn span(text: &str) -> Option<(String, String)> {
    found(text)
        .into_iter()
        .next()
        .map(|(_, from, until)| (from, until))
}

#[test]
fn an_announcement_has_a_time() {
    for (text, from, until) in [
        ("I'm flying to Rome on Friday.", "2024-05-10", "2024-05-11"),
        (
            "My dentist appointment is next Tuesday at 3.",
            "2024-05-14",
            "2024-05-15",
        ),
        ("We're moving in June.", "2024-06-01", "2024-07-01"),
        ("My exam is tomorrow!", "2024-05-09", "2024-05-10"),
        ("My flight leaves on 20 May.", "2024-05-20", "2024-05-21"),
        ("The internet man comes on Thursday.", "2024-05-09", "2024-05-10"),
        (
            "I have the dentist on Thursday the 16th.",
            "2024-05-16",
            "2024-05-17",
        ),
        (
            "I've a hearing test on the 20th of May, my right ear had a hearing aid.",
            "2024-05-20",
            "2024-05-21",
        ),
        (
            "It's Ana's birthday dinner on Friday 7 June.",
            "2024-06-07",
            "2024-06-08",
        ),
        ("Die Liesl kommt am 3. August zu mir.", "2024-08-03", "2024-08-04"),
        ("Il matrimonio è sabato 14 settembre.", "2024-09-14", "2024-09-15"),
        (
            "Deadline for the grant is 15 January.",
            "2025-01-15",
            "2025-01-16",
        ),
    ] {
        assert_eq!(span(text), Some((from.to_owned(), until.to_owned())), "{text}");
    }
}

/// Begin and end of the first event in a text.
fn hours(text: &str) -> (String, String) {
    let found = foresights(&[super::message(text)], &Zone::utc());
    let one = found
        .first()
        .unwrap_or_else(|| panic!("{text} announces nothing"));
    (one.from.to_string(), one.until.to_string())
}

#[test]
fn a_named_hour_is_the_events_begin() {
    for (text, from, until) in [
        (
            "My flight leaves on 20 May at 9:40.",
            "2024-05-20T09:40",
            "2024-05-21T00:00",
        ),
        (
            "Callum and Femi have their shots on 1 June at 16:00 in the clinic",
            "2024-06-01T16:00",
            "2024-06-02T00:00",
        ),
        (
            "My mum lands tomorrow at 3 pm.",
            "2024-05-09T15:00",
            "2024-05-10T00:00",
        ),
        (
            "My exam is tomorrow, 14:00-15:30.",
            "2024-05-09T14:00",
            "2024-05-09T15:30",
        ),
        // An afternoon or a night: the sentence leaves it open.
        (
            "My exam is tomorrow at 3:30.",
            "2024-05-09T00:00",
            "2024-05-10T00:00",
        ),
        (
            "My exam is tomorrow in room 12.",
            "2024-05-09T00:00",
            "2024-05-10T00:00",
        ),
        (
            "I'm at a fair from 20 May to 23 May, 9:00.",
            "2024-05-20T00:00",
            "2024-05-24T00:00",
        ),
    ] {
        let (found_from, found_until) = hours(text);
        assert!(
            found_from.starts_with(from) && found_until.starts_with(until),
            "{text}: {found_from} to {found_until}"
        );
    }
}

#[test]
fn an_hour_belongs_to_the_day_before_it_in_the_sentence() {
    for (text, from) in [
        (
            "I'm flying on 16 May at 9:10 and I'm back on 20 May at 22:45.",
            ["2024-05-16T09:10:00Z", "2024-05-20T22:45:00Z"],
        ),
        (
            "I'm flying on 16 May and I'm back on 20 May at 22:45.",
            ["2024-05-16T00:00:00Z", "2024-05-20T22:45:00Z"],
        ),
        (
            "The plumber comes on 16 May at 2 pm, and on 20 May at 4 pm the painter comes.",
            ["2024-05-16T14:00:00Z", "2024-05-20T16:00:00Z"],
        ),
    ] {
        let zone = Zone::utc();
        let found = foresights(&[super::message(text)], &zone).into_iter();
        let found: Vec<String> = found.map(|one| zone.render(one.from)).collect();
        for from in from {
            let day = &from[..10];
            let mut of_day = found.iter().filter(|found| found.starts_with(day));
            assert!(of_day.all(|found| *found == from), "{text}: {found:?}");
        }
        assert!(!found.is_empty(), "{text}");
    }
}

#[test]
fn french_hours_are_read() {
    for (text, from, until) in [
        (
            "Mon cours commence le 9 août à 10h.",
            "2024-08-09T10:00",
            "2024-08-10T00:00",
        ),
        (
            "Mon train part le 9 août à 15h50.",
            "2024-08-09T15:50",
            "2024-08-10T00:00",
        ),
        (
            "Mon cours est le 9 août de 10h à 12h30.",
            "2024-08-09T10:00",
            "2024-08-09T12:30",
        ),
        (
            "Je dois être là le 9 août à 14 heures.",
            "2024-08-09T14:00",
            "2024-08-10T00:00",
        ),
        (
            "Je prends la route le 9 août, 12h de trajet.",
            "2024-08-09T00:00",
            "2024-08-10T00:00",
        ),
    ] {
        let (found_from, found_until) = hours(text);
        assert!(
            found_from.starts_with(from) && found_until.starts_with(until),
            "{text}: {found_from} to {found_until}"
        );
    }
}

#[test]
fn hours_in_words_and_in_german_are_read() {
    for (text, from, until) in [
        (
            "The removal van comes tomorrow at a quarter to nine.",
            "2024-05-09T08:45",
            "2024-05-10T00:00",
        ),
        (
            "My exam is tomorrow at half six in the evening.",
            "2024-05-09T18:30",
            "2024-05-10T00:00",
        ),
        (
            "My exam is tomorrow at nine.",
            "2024-05-09T09:00",
            "2024-05-10T00:00",
        ),
        (
            "Die Liesl kommt am 3. August um 15 Uhr zu mir.",
            "2024-08-03T15:00",
            "2024-08-04T00:00",
        ),
        (
            "We have a table tomorrow for eight.",
            "2024-05-09T00:00",
            "2024-05-10T00:00",
        ),
        (
            "The fair is tomorrow at 10 to 12.",
            "2024-05-09T00:00",
            "2024-05-10T00:00",
        ),
        (
            "My exam is tomorrow at a quarter to seven.",
            "2024-05-09T00:00",
            "2024-05-10T00:00",
        ),
        (
            "My exam is tomorrow at half two.",
            "2024-05-09T00:00",
            "2024-05-10T00:00",
        ),
    ] {
        let (found_from, found_until) = hours(text);
        assert!(
            found_from.starts_with(from) && found_until.starts_with(until),
            "{text}: {found_from} to {found_until}"
        );
    }
}

#[test]
fn an_event_keeps_the_words_of_its_announcement() {
    let announced = "I'm busy. I'm flying to Rome next Tuesday.";
    let found = &foresights(&[super::message(announced)], &Zone::utc())[0];
    assert_eq!(found.content, "Ann says: \"I'm flying to Rome next Tuesday\".");
    assert_eq!(
        found.evidence,
        "Said on 8 May 2024: “I'm flying to Rome next Tuesday.”"
    );
}

#[test]
fn habits_questions_suppositions_and_the_past_announce_nothing() {
    for text in [
        "I go swimming every Friday.",
        "I swim on Fridays.",
        "Are you coming on Friday?",
        "If it rains tomorrow I stay in.",
        "I flew to Rome last Friday.",
        "I met Bob yesterday.",
        "Maybe I'll go tomorrow.",
        "I live in Lisbon.",
        "I'm happy today.",
        "It will be ready tomorrow.",
        "Christmas planning.",
        "I do the bread on Friday nights.",
        "You could call them on Friday.",
        "Does the bread come tomorrow?",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_models_text_and_recalled_text_announce_nothing() {
    let mut answer = super::message("I'm flying to Rome on Friday.");
    answer.role = Role::Assistant;
    let recalled = super::message("<memory>I'm flying to Rome on Friday.</memory> Thanks.");
    assert_eq!(foresights(&[answer, recalled], &Zone::utc()), []);
}

#[test]
fn a_segment_announces_at_most_ten_events() {
    let message = |n: i32| super::message(&format!("I'm flying to Rome on flight {n} on Friday."));
    let messages: Vec<Message> = (0..30).map(message).collect();
    let found = foresights(&messages, &Zone::utc());
    assert_eq!(found.len(), FORESIGHTS_MAX);
    let again = foresights(&messages, &Zone::utc());
    assert_eq!(found, again);
    assert!(found.iter().all(|one| one.id().starts_with("fs_")));
}

proptest! {
    #[test]
    fn any_foresight_is_one_harmless_line(texts in prop::collection::vec(super::pages::hostile(), 0..6)) {
        let messages: Vec<Message> = texts.iter().map(|text| super::message(text)).collect();
        let found = foresights(&messages, &Zone::utc());
        prop_assert!(found.iter().all(|one| one.from < one.until && !one.content.contains(['\n', '<', '['])));
    }
}
