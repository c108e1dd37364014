//! Writes relative dates out, so that a memory still has its date after years.
//!
//! Owns: which expressions get a date. Never: the meaning of an expression (`recall::time`).

use std::borrow::Cow;

use model::{Date, MONTHS, Timestamp, Zone, date_in_words};
use recall::time::{Expression, Span, Tense, expressions};

use crate::facts::capitalised;

const DAY_MILLIS: i64 = 86_400_000;
/// A longer span is an open end ("since 2019"), not a date.
const SPAN_DAYS_MAX: i64 = 800;

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
        // "On 2 feb".
        let said = &*capitalised_words(&text[range]);
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
        // "Sunday, March 20th" of a year in which that is a Monday is of another year.
        if !is_its_weekday(said, zone.date(span.from)) {
            continue;
        }
        // "For the past six months" says how long.
        let says_when = !is_absolute(said) && !text[..at].contains("past ");
        let dated = || written(&span, said, said_at, zone);
        let Some(date) = says_when.then(dated).flatten() else {
            continue;
        };
        match date.rsplit_once(' ') {
            // "3 June" and "from 3 to 8 June" lack nothing but their year, and "mid-June" is no better known in days.
            Some((days, year))
                if is_bare(said)
                    && names_a_month(said)
                    && (!date.contains(" to ") || said.ends_with(days))
                    || names_a_month(said) && names_a_part(said) =>
            {
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

/// An expression with the names of days and months as they are written.
fn capitalised_words(said: &str) -> Cow<'_, str> {
    let name = |word: &str| {
        let name = capitalised(word);
        if names_a_day(&name) { name } else { word.to_owned() }
    };
    if said.split(' ').all(|word| name(word) == word) {
        return Cow::Borrowed(said);
    }
    Cow::Owned(said.split(' ').map(name).collect::<Vec<_>>().join(" "))
}

/// Whether a date is the weekday that stands beside it, if one does.
fn is_its_weekday(said: &str, date: Date) -> bool {
    let named = DAYS
        .iter()
        .position(|day| said.contains(day))
        .filter(|_| names_a_month(said));
    named.is_none_or(|day| usize::try_from(date.weekday().to_monday_zero_offset()) == Ok(day))
}

/// Parts of a day, of every such day.
const PARTS: [&str; 4] = ["mornings", "afternoons", "evenings", "nights"];

const DAYS: [&str; 7] = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
];

const SEASONS: [&str; 9] = [
    "spring", "summer", "autumn", "fall", "winter", "christmas", "easter", "halloween", "thanksgiving",
];

/// Whether an expression is a weekday, a month or a season that does not say which one.
fn is_bare(text: &str) -> bool {
    const WHICH: [&str; 7] = ["last", "next", "this", "ago", "coming", "since", "previous"];
    let tells = |word: &str| WHICH.iter().any(|which| word.eq_ignore_ascii_case(which));
    (names_a_day(text) || names_a_season(text)) && !is_absolute(text) && !text.split_whitespace().any(tells)
}

/// Whether a text means a part of a month or a season: "early May", "since mid-May", "the end of autumn".
fn names_a_part(text: &str) -> bool {
    const PARTS_OF: [&str; 7] = ["early", "mid", "late", "beginning", "middle", "end", "start"];
    text.split(|c: char| !c.is_alphabetic())
        .any(|word| PARTS_OF.iter().any(|part| word.eq_ignore_ascii_case(part)))
}

fn names_a_season(text: &str) -> bool {
    let season = |word: &str| SEASONS.iter().any(|season| word.eq_ignore_ascii_case(season));
    text.split_whitespace().any(season)
}

/// Whether a text contains the name of a weekday or a month.
pub(crate) fn names_a_day(text: &str) -> bool {
    names_any(text, &DAYS) || names_a_month(text)
}

/// Whether a text contains the name of a month.
pub(crate) fn names_a_month(text: &str) -> bool {
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

fn written(span: &Span, said: &str, said_at: Timestamp, zone: &Zone) -> Option<String> {
    let since = said
        .get(..SINCE.len())
        .filter(|word| word.eq_ignore_ascii_case(SINCE));
    if since.is_some() {
        // "Since last month" means all of that month, and not its first day.
        let what = format!("was in{}", &said[SINCE.len()..]);
        let of = expressions(&what, said_at, zone);
        let of = of.iter().find(|of| of.span.from == span.from)?;
        return written(&of.span, &what[of.range.clone()], said_at, zone);
    }
    let (from, last) = (zone.date(span.from), zone.date(span.to.plus_millis(-1)));
    let millis = span.to.millis().saturating_sub(span.from.millis());
    let days = millis / DAY_MILLIS;
    if days > SPAN_DAYS_MAX {
        return None;
    }
    if from == last {
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
    let is_about = |word: &str| {
        ["ago", "few", "couple"]
            .iter()
            .any(|about| word.eq_ignore_ascii_case(about))
    };
    if said.split_whitespace().any(is_about) {
        // "Two weeks ago" and "in a few weeks" are no exact days: the middle of their range.
        return Some(format!(
            "about {}",
            date_in_words(zone.date(span.from.plus_millis(millis / 2)))
        ));
    }
    // What both ends share is said once: "13 to 14 September 2025".
    let (begin, end) = (date_in_words(from), date_in_words(last));
    let shared = match (from.year() == last.year(), from.month() == last.month()) {
        (true, true) => 2,
        (true, false) => 1,
        _ => 0,
    };
    let begin: Vec<&str> = begin.split(' ').collect();
    let begin = begin[..begin.len() - shared].join(" ");
    Some(format!("{begin} to {end}"))
}

const SINCE: &str = "since";
