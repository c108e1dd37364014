//! What people announced: something to come, with a time.
//!
//! Owns: which sentences announce, and from when to when it holds. Never: a habit, a wish without a time, or what a
//! model said.

use std::collections::BTreeSet;

use extract::Prompt;
use model::{Cell, CellId, CutReason, Message, MessageId, SenderId, Timestamp, Zone};
use recall::time::{Expression, Tense, expressions};
use serde_json::Value;

use crate::answer::{DATA_RULE, numbered, numbers, objects, overlap, text};
use crate::text::{hash, plain};

/// The most foresights of a memcell.
pub const FORESIGHTS_MAX: usize = 10;

const CONTENT_CHARS_MAX: usize = 300;
const DAY_MILLIS: i64 = 86_400_000;
/// What lies further ahead, or takes longer, is no appointment.
const AHEAD_DAYS_MAX: i64 = 800;
const LENGTH_DAYS_MAX: i64 = 120;
const MESSAGES_MAX: usize = 60;
const TOKENS_MAX: u32 = 1_000;
const OVERLAP_MIN: f64 = 0.34;

/// Something that was announced.
#[derive(Debug, Clone, PartialEq)]
pub struct Foresight {
    /// One sentence that says what and when.
    pub content: String,
    /// What was said, and when.
    pub evidence: String,
    pub from: Timestamp,
    /// Not included.
    pub until: Timestamp,
    pub source: MessageId,
    pub sender: SenderId,
    pub said_at: Timestamp,
}

impl Foresight {
    /// Its id: `fs_` and 16 hexadecimal digits, which follow from what it says and from which message.
    pub fn id(&self) -> String {
        format!("fs_{}", hash(&[self.source.as_str(), &self.content], 16))
    }
}

/// Words of habits, suppositions and refusals: what they say has no one time.
const NO_PLAN: &str = "every each usually always often normally sometimes never if whether maybe perhaps might unless wish \
     would could weekly daily monthly yearly used imagine suppose";

/// What the persons of a memcell announced, in the order in which they said it.
pub fn foresights(messages: &[Message], zone: &Zone) -> Vec<Foresight> {
    let mut found: Vec<Foresight> = Vec::new();
    for message in messages {
        let text = extract::own_words(message);
        for sentence in extract::sentences(&text) {
            let Some(foresight) = of_sentence(sentence, message, zone) else {
                continue;
            };
            let known = found
                .iter()
                .any(|known| extract::is_duplicate(&known.content, &foresight.content));
            if !known {
                found.push(foresight);
            }
            if found.len() == FORESIGHTS_MAX {
                return found;
            }
        }
    }
    found
}

fn of_sentence(sentence: &str, message: &Message, zone: &Zone) -> Option<Foresight> {
    if sentence.ends_with(['?', '？']) || is_no_plan(sentence) {
        return None;
    }
    let expression = expressions(sentence, message.time, zone)
        .into_iter()
        .find(|expression| is_ahead(expression, message.time, zone))?;
    Some(Foresight {
        content: plain(&told(sentence, message, zone), CONTENT_CHARS_MAX),
        evidence: evidence(sentence, message, zone),
        from: expression.span.from,
        until: expression.span.to,
        source: message.id.clone(),
        sender: message.sender.clone(),
        said_at: message.time,
    })
}

fn evidence(sentence: &str, message: &Message, zone: &Zone) -> String {
    let said = plain(sentence, CONTENT_CHARS_MAX);
    format!("Said on {}: “{said}”", extract::day(zone.date(message.time)))
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

/// Whether an expression is a stretch that begins on a later day, or one that ends on a later day and that the sentence
/// speaks of as to come.
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

/// A sentence in the third person where the rules for facts can retell it, else as it was said, with its dates.
fn told(sentence: &str, message: &Message, zone: &Zone) -> String {
    let mut alone = message.clone();
    alone.content = model::Content::Text(sentence.to_owned());
    let cell = Cell {
        id: CellId::new("mc_"),
        session: message.session.clone(),
        messages: vec![alone],
        owners: Vec::new(),
        reason: CutReason::Flush,
    };
    let facts = extract::facts(&cell, zone);
    let dated = |text: &str| {
        expressions(text, message.time, zone)
            .iter()
            .any(|expression| is_ahead(expression, message.time, zone))
    };
    if let Some(fact) = facts.into_iter().find(|fact| dated(&fact.text)) {
        return fact.text;
    }
    let (written, _) = extract::written_out(sentence, message.time, zone);
    let name = extract::speaker(message);
    format!("{name} said: “{}”", written.trim_end_matches(['.', '!']))
}

const SYSTEM: &str = "\
You read what people say and note what is to come: trips, appointments, deadlines, moves, visits, with a time. Habits and \
wishes without a time are none. Give at most ten:
{\"foresights\":[{\"content\":\"Ada flies to Rome on 10 May 2024.\",\"evidence\":[2],\"start_time\":\"2024-05-10\",\
\"end_time\":\"2024-05-11\",\"duration_days\":1}]}
`content` is one sentence in the third person with names and full dates, `evidence` the numbers of the messages that say \
so. An empty list is a good answer.";

fn shown(messages: &[Message]) -> Vec<(&Message, String)> {
    let said = messages
        .iter()
        .map(|message| (message, extract::own_words(message)));
    said.filter(|(_, text)| !text.trim().is_empty())
        .take(MESSAGES_MAX)
        .collect()
}

/// The one request for the foresights of a memcell.
pub fn request(messages: &[Message], zone: &Zone) -> Prompt {
    let lines: Vec<String> = shown(messages)
        .into_iter()
        .map(|(message, text)| {
            let (time, name) = (zone.render_short(message.time), extract::speaker(message));
            format!("({time}) {name}: {text}")
        })
        .collect();
    Prompt {
        system: format!("{SYSTEM}\n{DATA_RULE}"),
        user: numbered("messages", lines.iter().map(String::as_str), 600),
        schema_name: "foresights".to_owned(),
        schema_json: r#"{"type":"object","required":["foresights"],"properties":{"foresights":{"type":"array","items":{"type":"object"}}}}"#.to_owned(),
        tokens_max: TOKENS_MAX,
    }
}

/// What an answer to [`request`] with the same messages announces, as far as the messages bear it out; none where it is
/// no answer.
pub fn parse_answer(answer: &str, messages: &[Message], zone: &Zone) -> Option<Vec<Foresight>> {
    let value = extract::find_json(answer, "foresights").filter(|value| value.get("foresights").is_some())?;
    let shown = shown(messages);
    let mut ids = BTreeSet::new();
    let found = objects(&value, &["foresights"])
        .into_iter()
        .filter_map(|data| of_answer(data, &shown, zone))
        .filter(|foresight| ids.insert(foresight.id()));
    Some(found.take(FORESIGHTS_MAX).collect())
}

fn of_answer(data: &Value, shown: &[(&Message, String)], zone: &Zone) -> Option<Foresight> {
    let content = plain(text(data, &["content", "foresight"])?, CONTENT_CHARS_MAX);
    let cited = numbers(data.get("evidence"));
    let cited = cited.iter().find_map(|number| shown.get(number.checked_sub(1)?));
    let share = |(message, text): &(&Message, String)| {
        let (written, _) = extract::written_out(text, message.time, zone);
        overlap(&content, &format!("{} {written}", extract::speaker(message)))
    };
    let (message, said) = cited.filter(|said| share(said) >= OVERLAP_MIN).or_else(|| {
        shown
            .iter()
            .max_by(|a, b| share(a).total_cmp(&share(b)))
            .filter(|said| share(said) >= OVERLAP_MIN)
    })?;
    let day = |key: &str| text(data, &[key]).and_then(|text| zone.parse(text).ok());
    let from = day("start_time")?;
    let days = data
        .get("duration_days")
        .and_then(Value::as_u64)
        .unwrap_or(1)
        .clamp(1, 120);
    let length = i64::try_from(days).unwrap_or(1) * DAY_MILLIS;
    let until = day("end_time")
        .filter(|until| from < *until)
        .unwrap_or(from.plus_millis(length));
    let span = recall::time::Span { from, to: until };
    let expression = Expression {
        range: 0..0,
        span,
        tense: Some(Tense::Future),
    };
    is_ahead(&expression, message.time, zone).then(|| Foresight {
        evidence: evidence(said, message, zone),
        content,
        from,
        until,
        source: message.id.clone(),
        sender: message.sender.clone(),
        said_at: message.time,
    })
}
