//! Upcoming events: announcements by people, with a time.
//!
//! Owns: which sentences are announcements, and their period. Never: a habit, a wish without a time, or a model's text.

use crate::consolidate::text::{hash, plain};
use model::{Cell, CellId, CutReason, Message, MessageId, SenderId, Timestamp, Zone};
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

    /// The same event in the words of a fact of the same message, if that contains the same time: if a model wrote the
    /// fact, it has also worded the event, and no second call is needed.
    pub fn in_words_of(&self, fact: &str, zone: &Zone) -> Option<Self> {
        let is_same = |expression: &Expression| {
            expression.span.from == self.from && is_ahead(expression, self.said_at, zone)
        };
        let mut times = expressions(fact, self.said_at, zone).into_iter();
        times.any(|expression| is_same(&expression)).then(|| Self {
            content: plain(fact, CONTENT_CHARS_MAX),
            ..self.clone()
        })
    }
}

/// Words of habits, suppositions and refusals: what they say has no one time.
const NO_PLAN: &str = "every each usually always often normally sometimes never if whether maybe perhaps might unless wish \
     would could weekly daily monthly yearly used imagine suppose";

/// The upcoming events in people's messages of a segment, in order.
pub fn foresights(messages: &[Message], zone: &Zone) -> Vec<Foresight> {
    let mut found: Vec<Foresight> = Vec::new();
    for message in messages {
        let text = crate::own_words(message);
        for sentence in crate::sentences(&text) {
            let Some(foresight) = of_sentence(sentence, message, zone) else {
                continue;
            };
            let known = found
                .iter()
                .any(|known| crate::is_duplicate(&known.content, &foresight.content));
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
    format!("Said on {}: “{said}”", crate::day(zone.date(message.time)))
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

/// A sentence in the third person if the rules for facts can change it, else in its own words, with its dates.
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
    let facts = crate::facts(&cell, zone);
    let dated = |text: &str| {
        expressions(text, message.time, zone)
            .iter()
            .any(|expression| is_ahead(expression, message.time, zone))
    };
    if let Some(fact) = facts.into_iter().find(|fact| dated(&fact.text)) {
        return fact.text;
    }
    let (written, _) = crate::written_out(sentence, message.time, zone);
    let name = crate::speaker(message);
    format!("{name} said: “{}”", written.trim_end_matches(['.', '!']))
}
