//! Upcoming events: announcements by people, with a time.
//!
//! Owns: which statements are announcements, and their period. Never: a habit, a wish without a time, or a model's text.

use crate::consolidate::text::{hash, plain};
use crate::facts::{StatedFact, announced};
use model::{Message, MessageId, SenderId, Timestamp, Zone, text};
use recall::time::{Expression, NUMBERS, Span, Tense, expressions};

/// The most upcoming events of a segment.
pub const FORESIGHTS_MAX: usize = 10;

const CONTENT_CHARS_MAX: usize = 300;
const DAY_MILLIS: i64 = 86_400_000;
/// An event further ahead, or longer, is no appointment.
const AHEAD_DAYS_MAX: i64 = 800;
const LENGTH_DAYS_MAX: i64 = 120;

/// An announced event.
#[derive(Debug, Clone, PartialEq)]
pub struct Foresight {
    /// One sentence with the event and its time.
    pub content: String,
    /// The original text, with its time.
    pub evidence: String,
    pub from: Timestamp,
    /// Not included.
    pub until: Timestamp,
    pub source: MessageId,
    pub sender: SenderId,
    pub said_at: Timestamp,
}

impl Foresight {
    /// Its id: `fs_` and 16 hexadecimal digits, computed from its content and its message.
    pub fn id(&self) -> String {
        format!("fs_{}", hash(&[self.source.as_str(), &self.content], 16))
    }
}

/// Words of habits, suppositions and refusals: such a sentence has no single time.
const NO_PLAN: &str = "every each usually always often normally sometimes never if whether maybe perhaps might unless wish \
     would could weekly daily monthly yearly used imagine suppose";

/// The upcoming events in people's messages of a segment, in order: statements with a future time.
pub fn foresights(messages: &[Message], zone: &Zone) -> Vec<Foresight> {
    let mut found: Vec<Foresight> = Vec::new();
    let is_dated = |message: &Message| !expressions(&message.text(), message.time, zone).is_empty();
    let told = messages.iter().any(is_dated).then(|| announced(messages, zone));
    let told = told.into_iter().flatten();
    for told in told.filter(|told| !told.is_corrected && !is_no_plan(&told.sentence)) {
        let Some(foresight) = of_fact(told, zone) else {
            continue;
        };
        let is_same =
            |known: &Foresight| known.evidence == foresight.evidence && known.from == foresight.from;
        let known = found
            .iter()
            .any(|known| is_same(known) || crate::is_duplicate(&known.content, &foresight.content));
        if !known {
            found.push(foresight);
        }
        if found.len() == FORESIGHTS_MAX {
            break;
        }
    }
    found
}

fn of_fact(StatedFact { fact, sentence, .. }: StatedFact, zone: &Zone) -> Option<Foresight> {
    let is_over = |word: &str| matches!(word, "had" | "was" | "were" | "lost");
    if fact.text.split(' ').any(is_over) {
        return None;
    }
    let ahead: Vec<Expression> = expressions(&fact.text, fact.said_at, zone)
        .into_iter()
        .filter(|expression| is_ahead(expression, fact.said_at, zone))
        .collect();
    let has_digits =
        |expression: &&Expression| fact.text[expression.range.clone()].contains(|c: char| c.is_ascii_digit());
    let named = |expression: &&Expression| !is_of_the_next_word(&fact.text[expression.range.end..]);
    let expression = ahead
        .iter()
        .find(has_digits)
        .or_else(|| ahead.iter().find(named))?;
    let (from, until) = within(
        expression.span,
        text_about(&sentence, expression.span, fact.said_at, zone),
    );
    Some(Foresight {
        content: plain(&fact.text, CONTENT_CHARS_MAX),
        evidence: evidence(&sentence, fact.said_at, zone),
        from,
        until,
        source: fact.sources.into_iter().next()?,
        sender: fact.sender,
        said_at: fact.said_at,
    })
}

/// The part of a sentence about a day: all of it, or, if it names other days too, the text between
/// this day and the next.
fn text_about<'a>(sentence: &'a str, day: Span, said_at: Timestamp, zone: &Zone) -> &'a str {
    let mut days = expressions(sentence, said_at, zone);
    days.retain(|one| one.span.to.millis() - one.span.from.millis() <= DAY_MILLIS);
    let is_this = |one: &&Expression| zone.date(one.span.from) == zone.date(day.from);
    if days.iter().all(|one| is_this(&one)) {
        return sentence;
    }
    let Some(this) = days.iter().find(is_this) else {
        return "";
    };
    let later = days
        .iter()
        .filter(|one| one.range.start >= this.range.end && !is_this(one));
    let next = later.map(|one| one.range.start).min();
    &sentence[this.range.end..next.unwrap_or(sentence.len())]
}

/// A day from its hour on, if its sentence names one: "9:40", "16:00 to 17:30". Other spans stay as
/// they are.
fn within(span: Span, sentence: &str) -> (Timestamp, Timestamp) {
    let is_day = span.to.millis() - span.from.millis() <= DAY_MILLIS;
    let words = sentence.split(|c: char| c.is_whitespace() || matches!(c, '-' | '–' | ',' | '(' | ')'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_led = |at: usize| {
        let lead = words[..at].iter().rfind(|word| **word != "a");
        lead.is_some_and(|word| HOUR_LEADS.contains(word))
    };
    let hours = (0..words.len())
        .filter_map(|at| Some(span.from.plus_millis(minutes(&words[at..], is_led(at))? * 60_000)));
    match hours.collect::<Vec<_>>()[..] {
        [from] if is_day => (from, span.to),
        [from, until] if is_day && from < until => (from, until),
        _ => (span.from, span.to),
    }
}

/// Before this hour, a number may mean the afternoon, unless the sentence names the half of the
/// day.
const EARLY_HOURS: i64 = 7;
/// Words before an hour, in English, French, German, Italian, Portuguese and Spanish.
const HOUR_LEADS: [&str; 6] = ["at", "um", "alle", "às", "à", "las"];

/// A word of a sentence in lower case, without its final punctuation.
fn word(words: &[&str], at: usize) -> String {
    let word = words.get(at).map(|word| word.trim_end_matches(['.', '!']));
    word.map_or_else(String::new, str::to_lowercase)
}

/// The half of the day in a sentence, as the hours before it.
fn half_of_day(words: &[&str]) -> Option<i64> {
    let word = |at: usize| word(words, at);
    match (&*word(0), &*word(1), &*word(2)) {
        ("am" | "a.m", ..) | ("in", "the", "morning") => Some(0),
        ("pm" | "p.m", ..) | ("in", "the", "afternoon" | "evening") | ("at", "night", _) => Some(12),
        _ => None,
    }
}

/// The time of day at the beginning of these words, in minutes: "half past nine", "quarter to
/// eight", "ten".
fn minutes_in_words(words: &[&str]) -> Option<i64> {
    let number = |at: usize| -> Option<i64> {
        let word = word(words, at);
        let named = NUMBERS.iter().position(|hour| *hour == word);
        let named = named.and_then(|at| i64::try_from(at + 1).ok());
        named.or_else(|| word.parse().ok().filter(|hour| (1..24).contains(hour)))
    };
    let is = |at: usize, any: &[&str]| any.contains(&&*word(words, at));
    let (hour, minute, next) = if is(0, &["half"]) {
        let hour = 1 + usize::from(is(1, &["past"]));
        (number(hour)?, 30, hour + 1)
    } else if is(1, &["past", "to"]) {
        // "At 10 to 12" may be two hours.
        if is(1, &["to"]) && word(words, 0).starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let minute = if is(0, &["quarter"]) { Some(15) } else { number(0) };
        let sign = if is(1, &["past"]) { 1 } else { -1 };
        (number(2)?, sign * minute?, 3)
    } else {
        let is_alone = words
            .get(1)
            .is_none_or(|next| text::is_stop_word(&next.to_lowercase()));
        (number(0).filter(|_| is_alone)?, 0, 1)
    };
    let half = half_of_day(&words[next..]);
    let is_sure = half.is_some() || hour * 60 + minute >= EARLY_HOURS * 60;
    is_sure.then(|| half.map_or(hour, |half| hour % 12 + half) * 60 + minute)
}

/// The time of day at the beginning of these words, in minutes: "9:40", "3 pm", "7.30pm", "at
/// 8.15", "at nine", "à 15h50", "10h à 12h".
fn minutes(words: &[&str], is_led: bool) -> Option<i64> {
    if let Some(minutes) = minutes_in_words(words).filter(|_| is_led) {
        return Some(minutes);
    }
    let first = word(words, 0);
    let (digits, joined) = first.split_at(first.find(char::is_alphabetic).unwrap_or(first.len()));
    let half = match joined {
        "am" => Some(0),
        "pm" => Some(12),
        "" => half_of_day(&words[1..]),
        _ => None,
    };
    // Hours of a duration ("12h de route") have no such word before them.
    let past_hour = joined
        .strip_prefix('h')
        .filter(|_| is_led || word(words, 1) == "à");
    if half.is_none() && past_hour.is_none() && !joined.is_empty() {
        return None;
    }
    let marks: &[char] = if is_led || half.is_some() {
        &[':', '.']
    } else {
        &[':']
    };
    let (hour, minute) = digits
        .split_once(marks)
        .unwrap_or((digits, past_hour.unwrap_or_default()));
    let is_unit = ["uhr", "heures", "h"].contains(&&*word(words, 1));
    let is_whole = half.is_some() || past_hour.is_some() || is_led && is_unit;
    let (hour, minute): (i64, i64) = match minute {
        "" => (Some(hour).filter(|_| is_whole)?.parse().ok()?, 0),
        minute => (hour.parse().ok()?, minute.parse().ok()?),
    };
    let hour = match half {
        Some(half) => hour % 12 + half,
        None if hour < EARLY_HOURS && !digits.starts_with('0') => return None,
        None => hour,
    };
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn evidence(sentence: &str, said_at: Timestamp, zone: &Zone) -> String {
    let said = plain(sentence, CONTENT_CHARS_MAX);
    format!("Said on {}: “{said}”", model::date_in_words(zone.date(said_at)))
}

/// Whether a name of a day qualifies the word after it: "Christmas planning", "Friday nights".
fn is_of_the_next_word(behind: &str) -> bool {
    let next = behind.strip_prefix(' ').unwrap_or_default();
    let word = next
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    word.starts_with(char::is_alphabetic) && !text::is_stop_word(&word.to_lowercase())
}

fn is_no_plan(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    words.any(|word| {
        let is_weekdays =
            word.ends_with("days") && word.len() > "days".len() && word != "holidays" && word != "birthdays";
        is_weekdays || NO_PLAN.split_whitespace().any(|no| no == word)
    })
}

/// Whether an expression is a span that begins on a later day, or one that ends on a later day in a
/// sentence about the future.
fn is_ahead(expression: &Expression, said_at: Timestamp, zone: &Zone) -> bool {
    let (from, to) = (expression.span.from, expression.span.to);
    let is_short = to.millis().saturating_sub(from.millis()) <= LENGTH_DAYS_MAX * DAY_MILLIS;
    let is_near = from.millis().saturating_sub(said_at.millis()) <= AHEAD_DAYS_MAX * DAY_MILLIS;
    let is_later = zone.date(from) > zone.date(said_at);
    let is_to_come = match expression.tense {
        Some(Tense::Past) => false,
        Some(Tense::Future) => zone.date(to.plus_millis(-1)) > zone.date(said_at),
        None => is_later,
    };
    is_short && is_near && is_to_come
}
