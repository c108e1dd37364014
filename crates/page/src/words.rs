//! Numbers, dates and addresses in a form for people.
//!
//! Owns: their form. Never: their meaning.

use std::fmt::Display;

pub(crate) use model::{date_of as date, moment_of as moment, percent_encoded as encoded};

/// An address with further query parameters.
pub(crate) fn with_query(mut address: String, query: &[(&str, &dyn Display)]) -> String {
    for (key, value) in query {
        address.extend(["&", key, "=", &encoded(&value.to_string())]);
    }
    address
}

/// The time of day, to the second.
pub(crate) fn time(instant: &str) -> String {
    instant.get(11..19).unwrap_or(instant).to_owned()
}

/// `2026-03` becomes "March 2026".
pub(crate) fn month(month: &str) -> String {
    let named = || {
        let (year, number) = month.split_once('-')?;
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        Some(format!("{} {year}", model::MONTHS.get(index)?))
    };
    named().unwrap_or_else(|| month.to_owned())
}

/// Separates thousands: `12 345` with a narrow no-break space.
pub(crate) fn number(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// "1 fact", "2 facts".
pub(crate) fn count(count: impl Display, one: &str, more: &str) -> String {
    format!("{} {}", number(&count), noun(&count, one, more))
}

/// The noun without the number.
pub(crate) fn noun<'a>(count: impl Display, one: &'a str, more: &'a str) -> &'a str {
    if count.to_string() == "1" { one } else { more }
}

/// The percentage of a part; 0 if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or_default().min(100)
}

/// A duration from milliseconds.
pub(crate) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1e3),
        _ => format!("{} min {} s", millis / 60_000, millis / 1_000 % 60),
    }
}

/// The work of a strategy in words.
pub(crate) fn strategy(name: &str) -> String {
    let words = match name {
        "remember" => "Remember conversations",
        "extract_foresight" => "Note upcoming events",
        "extract_user_profile" => "Bring the profile up to date",
        "dream" => "Tidy up at night",
        "extract_agent_case" => "Note how an agent worked",
        "extract_agent_skill" => "Draft skills for agents",
        other => return spaced(other),
    };
    words.to_owned()
}

/// Why a run started, without ids and schedules.
pub(crate) fn reason(reason: &str) -> String {
    let words = if reason.starts_with("the next time of") {
        "its regular time came"
    } else if reason.contains("then nothing for") {
        "a conversation became memory, and then it was quiet"
    } else if reason.ends_with(" was written") {
        "a conversation became memory"
    } else if reason == "asked for by hand" {
        "somebody asked for it"
    } else {
        reason
    };
    words.to_owned()
}

/// `agent_case` becomes "agent case".
pub(crate) fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

/// The everyday name of a kind of memory.
pub(crate) fn kind(kind: &str) -> &str {
    match kind {
        "episode" => "summary",
        "foresight" => "event",
        other => other,
    }
}

/// The beginning of a text, cut between words.
pub(crate) fn beginning(text: &str, chars_max: usize) -> String {
    model::beginning(text, chars_max, " …")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_have_a_form_for_people() {
        assert_eq!(date("2026-03-01T09:41:45Z"), "1 March 2026");
        assert_eq!(moment("2026-12-10T09:41:45+01:00"), "10 December 2026, 09:41");
        assert_eq!(moment("2026-12-10T00:00:00Z"), "10 December 2026");
        assert_eq!(month("2026-03"), "March 2026");
        assert_eq!(date("soon"), "soon");
        assert_eq!(number(1_234_567_u64), "1\u{202f}234\u{202f}567");
        assert_eq!(number(12_u64), "12");
        assert_eq!(count(1_usize, "fact", "facts"), "1 fact");
        assert_eq!(duration(61_500), "1 min 1 s");
        assert_eq!(beginning("one two  three", 9), "one two …");
    }

    #[test]
    fn run_reasons_omit_ids_and_schedules() {
        assert_eq!(strategy("extract_foresight"), "Note upcoming events");
        assert_eq!(strategy("water_plants"), "water plants");
        assert_eq!(reason("the next time of `30 3 * * *`"), "its regular time came");
        assert_eq!(reason("episode ep_1 was written"), "a conversation became memory");
        let quiet = reason("episode ep_1 was written, then nothing for 60 s");
        assert_eq!(quiet, "a conversation became memory, and then it was quiet");
        assert_eq!(reason("3 cases came together"), "3 cases came together");
    }
}
