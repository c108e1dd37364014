//! Writes relative dates out, so that a memory still has its date after years.
//!
//! Owns: which expressions get a date. Never: the meaning of an expression (`recall::time`).

use model::{Timestamp, Zone, date_in_words};
use recall::time::{Expression, Span, Tense, expressions};

const DAY_MILLIS: i64 = 86_400_000;
/// A longer span is an open end ("since 2019"), not a date.
const SPAN_DAYS_MAX: i64 = 800;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A text with dates after its relative expressions ("yesterday" becomes "yesterday (7 May 2023)"), and the start of
/// the first expression that had begun at the time of the text. A bare "Friday" or "3 June" stays if the text does not
/// show whether it is past or future.
pub fn written_out(text: &str, said_at: Timestamp, zone: &Zone) -> (String, Option<Timestamp>) {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut since = None;
    for Expression { range, span, tense } in expressions(text, said_at, zone) {
        out.push_str(&text[at..range.end]);
        at = range.end;
        let said = &text[range];
        // "She needs a coat in winter" means no winter in particular.
        let unsaid = tense.is_none() || tense == Some(Tense::Future) && names_a_season(said);
        // So does "on Tuesday evenings", and "one lesson a week on Tuesday".
        let repeated = ["every ", "each ", "per week", "a week", "usually"]
            .iter()
            .any(|often| text.contains(often));
        let next = text[at..]
            .split(|c: char| !c.is_alphabetic())
            .find(|word| !word.is_empty());
        let parts_follow = next.is_some_and(|next| PARTS.contains(&next));
        if is_bare(said) && (unsaid || repeated || parts_follow) {
            continue;
        }
        if since.is_none() && span.from <= said_at && tense != Some(Tense::Future) {
            since = Some(span.from);
        }
        // "For the past six months" says how long.
        let says_when = !is_absolute(said) && !text[..at].contains("past ");
        let Some(date) = written(&span, said, zone).filter(|_| says_when) else {
            continue;
        };
        match date.rsplit_once(' ') {
            // "3 June" lacks nothing but its year.
            Some((_, year)) if is_bare(said) && names_a_month(said) && !date.contains(" to ") => {
                out.push(' ');
                out.push_str(year);
            }
            _ => {
                out.push_str(" (");
                out.push_str(&date);
                out.push(')');
            }
        }
    }
    out.push_str(&text[at..]);
    (out, since)
}

/// Parts of a day, of every such day.
const PARTS: [&str; 4] = ["mornings", "afternoons", "evenings", "nights"];

const SEASONS: [&str; 9] = [
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "christmas",
    "easter",
    "halloween",
    "thanksgiving",
];

/// Whether an expression is a weekday, a month or a season that does not say which one.
fn is_bare(text: &str) -> bool {
    const WHICH: [&str; 7] = ["last", "next", "this", "ago", "coming", "since", "previous"];
    let tells = |word: &str| WHICH.iter().any(|which| word.eq_ignore_ascii_case(which));
    (names_a_day(text) || names_a_season(text)) && !is_absolute(text) && !text.split_whitespace().any(tells)
}

fn names_a_season(text: &str) -> bool {
    let season = |word: &str| SEASONS.iter().any(|season| word.eq_ignore_ascii_case(season));
    text.split_whitespace().any(season)
}

/// Whether a text contains the name of a weekday or a month.
pub(crate) fn names_a_day(text: &str) -> bool {
    const DAYS: [&str; 7] = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ];
    names_any(text, &DAYS) || names_a_month(text)
}

fn names_a_month(text: &str) -> bool {
    names_any(text, &MONTHS)
}

fn names_any(text: &str, names: &[&str]) -> bool {
    let is_name = |word: &str| {
        names
            .iter()
            .any(|name| *name == word || (word.len() == 3 && name.starts_with(word)))
    };
    text.split(|c: char| !c.is_alphanumeric()).any(is_name)
}

/// Whether a text names its year already.
pub(crate) fn is_absolute(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit())
        .any(|digits| digits.len() == 4)
}

fn written(span: &Span, said: &str, zone: &Zone) -> Option<String> {
    let begins = |word: &str| {
        said.split_whitespace()
            .next()
            .is_some_and(|first| first.eq_ignore_ascii_case(word))
    };
    let (from, last) = (zone.date(span.from), zone.date(span.to.plus_millis(-1)));
    let millis = span.to.millis().saturating_sub(span.from.millis());
    let days = millis / DAY_MILLIS;
    if days > SPAN_DAYS_MAX {
        return None;
    }
    if from == last || begins("since") {
        return Some(date_in_words(from));
    }
    let after = zone.date(span.to);
    if from.day() == 1 && after.day() == 1 && (28..=31).contains(&days) {
        return date_in_words(from)
            .split_once(' ')
            .map(|(_, month)| month.to_owned());
    }
    if (from.month(), from.day(), after.month(), after.day()) == (1, 1, 1, 1) && days < 370 {
        return Some(from.year().to_string());
    }
    if said
        .split_whitespace()
        .any(|word| word.eq_ignore_ascii_case("ago"))
    {
        // "Two weeks ago" is not an exact day: the middle of its range.
        return Some(format!(
            "about {}",
            date_in_words(zone.date(span.from.plus_millis(millis / 2)))
        ));
    }
    Some(format!("{} to {}", date_in_words(from), date_in_words(last)))
}
