//! Upcoming events: announcements by people, with a time.
//!
//! Owns: which facts are announcements, and their period. Never: a habit, a wish without a time, or a model's text.

use crate::consolidate::text::{hash, plain};
use crate::facts::{Told, told};
use model::{Message, MessageId, SenderId, Timestamp, Zone};
use recall::time::{Expression, Tense, expressions};

/// The most upcoming events of a segment.
pub const FORESIGHTS_MAX: usize = 10;

const CONTENT_CHARS_MAX: usize = 300;
const DAY_MILLIS: i64 = 86_400_000;
/// An event further ahead, or longer, is not an appointment.
const AHEAD_DAYS_MAX: i64 = 800;
const LENGTH_DAYS_MAX: i64 = 120;

/// Something that was announced.
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

/// Words of habits, suppositions and refusals: what they say has no one time.
const NO_PLAN: &str = "every each usually always often normally sometimes never if whether maybe perhaps might unless wish \
     would could weekly daily monthly yearly used imagine suppose";

/// The upcoming events in people's messages of a segment, in order: facts with a time to come.
pub fn foresights(messages: &[Message], zone: &Zone) -> Vec<Foresight> {
    let mut found: Vec<Foresight> = Vec::new();
    for told in told(messages, zone).filter(|told| !is_no_plan(&told.sentence)) {
        let Some(foresight) = of_fact(told, zone) else {
            continue;
        };
        let known = found
            .iter()
            .any(|known| crate::is_duplicate(&known.content, &foresight.content));
        if !known {
            found.push(foresight);
        }
        if found.len() == FORESIGHTS_MAX {
            break;
        }
    }
    found
}

fn of_fact(Told { fact, sentence }: Told, zone: &Zone) -> Option<Foresight> {
    let is_over = |word: &str| matches!(word, "had" | "was" | "were" | "lost");
    if fact.text.split(' ').any(is_over) {
        return None;
    }
    let expression = expressions(&fact.text, fact.said_at, zone)
        .into_iter()
        .find(|expression| is_ahead(expression, fact.said_at, zone))?;
    Some(Foresight {
        content: plain(&fact.text, CONTENT_CHARS_MAX),
        evidence: evidence(&sentence, fact.said_at, zone),
        from: expression.span.from,
        until: expression.span.to,
        source: fact.sources.into_iter().next()?,
        sender: fact.sender,
        said_at: fact.said_at,
    })
}

fn evidence(sentence: &str, said_at: Timestamp, zone: &Zone) -> String {
    let said = plain(sentence, CONTENT_CHARS_MAX);
    format!("Said on {}: “{said}”", model::date_in_words(zone.date(said_at)))
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
