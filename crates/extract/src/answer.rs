//! Reading a model's answer: nothing in it is believed that the messages do not support.
//!
//! Owns: the checks between a model and the memory. Never: asking again (the caller does, with [`retry_hint`]).

use std::collections::BTreeSet;

use model::{Cell, Message, Role, Timestamp, Zone};
use serde_json::Value;
use text::{term_set, terms};

use crate::boundary::holds;
use crate::facts::lexicon::SECRETS;
use crate::prompt::Tail;
use crate::slot::is_duplicate;
use crate::visible::{own_words, shown, speaker};
use crate::words::{cut, one_line, words};
use crate::{Episode, Fact, dates, episode, repair};

const TITLE_CHARS_MAX: usize = 80;
const SUMMARY_CHARS_MAX: usize = 800;
const FACT_CHARS_MAX: usize = 300;
const FACTS_A_PART_MAX: usize = 30;
/// The share of a fact's words, in percent, that its sources must contain.
const FACT_SUPPORT_MIN: usize = 60;
/// The same for titles and summaries, which may use more words of their own.
const SUMMARY_SUPPORT_MIN: usize = 40;

/// One part by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerPart {
    /// One past the part's last message.
    pub end: usize,
    /// Empty when the model gave none that the messages support.
    pub title: String,
    /// As `title`.
    pub summary: String,
    pub facts: Vec<Fact>,
}

impl AnswerPart {
    /// The part's episode: the model's title and summary, the rules' where it gave none, and the rules' digest.
    pub fn episode(&self, cell: &Cell, zone: &Zone) -> Episode {
        let rules = episode(cell, zone);
        let or = |own: &str, rules: String| if own.is_empty() { rules } else { own.to_owned() };
        Episode {
            subject: or(&self.title, rules.subject),
            summary: or(&self.summary, rules.summary),
            body: rules.body,
        }
    }
}

/// A model's answer, checked against the messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// In order; with [`Tail::Closed`] the last one ends with the last message. May be empty with [`Tail::Open`].
    pub parts: Vec<AnswerPart>,
    /// How many facts were left out because the messages do not support them.
    pub dropped: usize,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerProblem {
    /// There is no JSON in it, even after repair.
    #[error("the answer is not a JSON object")]
    NotJson,
    /// A field is missing or of the wrong type.
    #[error("the answer does not follow the schema: {reason}")]
    Shape { reason: &'static str },
    /// A part's end is out of range or out of order.
    #[error("`last` is {found}, but must be one of {low} to {high} here")]
    Range { found: i64, low: usize, high: usize },
}

/// Text for the model before a second try.
pub fn retry_hint(problem: &AnswerProblem) -> String {
    format!(
        "Your answer could not be used: {problem}. Answer again, with only the JSON object, in the form of the example."
    )
}

/// Reads an answer to the request that [`crate::memcell_request`] made of the same messages.
pub fn parse_answer(
    text: &str,
    messages: &[Message],
    zone: &Zone,
    tail: Tail,
) -> Result<Answer, AnswerProblem> {
    let value = repair::find(text, "parts").ok_or(AnswerProblem::NotJson)?;
    let list = match &value {
        Value::Array(list) => list.as_slice(),
        Value::Object(map) => match map.get("parts") {
            Some(Value::Array(list)) => list.as_slice(),
            Some(_) => {
                return Err(AnswerProblem::Shape {
                    reason: "`parts` must be a list",
                });
            }
            None if map.contains_key("last") => std::slice::from_ref(&value),
            None => {
                return Err(AnswerProblem::Shape {
                    reason: "`parts` is missing",
                });
            }
        },
        _ => return Err(AnswerProblem::NotJson),
    };
    let ends = ends(list, messages, tail)?;
    let mut answer = Answer::default();
    let mut start = 0;
    for (part, end) in ends {
        let part = read_part(&part, messages, start, end, zone, &mut answer.dropped);
        answer.parts.push(part);
        start = end;
    }
    if tail == Tail::Open {
        answer.parts.retain(|part| part.end < messages.len());
    }
    Ok(answer)
}

/// The parts with their ends, joined where a cut would part a tool call from its result, or where no person speaks.
fn ends<'a>(
    list: &'a [Value],
    messages: &[Message],
    tail: Tail,
) -> Result<Vec<(Vec<&'a Value>, usize)>, AnswerProblem> {
    let count = messages.len();
    let held = holds(messages);
    let mut ends: Vec<(Vec<&Value>, usize)> = Vec::new();
    let (mut low, mut start) = (1, 0);
    let mut waiting: Vec<&Value> = Vec::new();
    for part in list {
        if !part.is_object() {
            return Err(AnswerProblem::Shape {
                reason: "each part must be an object",
            });
        }
        let last = number(part.get("last")).ok_or(AnswerProblem::Shape {
            reason: "`last` must be a number",
        })?;
        let end = usize::try_from(last)
            .ok()
            .filter(|end| (low..=count).contains(end));
        let end = end.ok_or(AnswerProblem::Range {
            found: last,
            low,
            high: count,
        })?;
        low = end + 1;
        waiting.push(part);
        let spoken = messages[start..end]
            .iter()
            .any(|message| message.role == Role::User);
        if spoken && !held.get(end).copied().unwrap_or(false) {
            ends.push((std::mem::take(&mut waiting), end));
            start = end;
        }
    }
    if tail == Tail::Closed && (start < count || !waiting.is_empty()) {
        match ends.last_mut() {
            Some((parts, end)) => {
                parts.extend(waiting);
                *end = count;
            }
            None if waiting.is_empty() => {
                return Err(AnswerProblem::Shape {
                    reason: "`parts` is empty",
                });
            }
            None => ends.push((waiting, count)),
        }
    }
    Ok(ends)
}

fn number(value: Option<&Value>) -> Option<i64> {
    match value? {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "message numbers are small, and the range is checked"
        )]
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|number| number as i64)),
        Value::String(text) => text
            .trim()
            .trim_start_matches(['#', '['])
            .trim_end_matches([']', '.'])
            .parse()
            .ok(),
        _ => None,
    }
}

fn string(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .map(one_line)
        .unwrap_or_default()
}

fn read_part(
    told: &[&Value],
    messages: &[Message],
    start: usize,
    end: usize,
    zone: &Zone,
    dropped: &mut usize,
) -> AnswerPart {
    let all: Vec<usize> = (start..end).collect();
    let evidence = Evidence::of(messages, &all, zone);
    let supported = |text: String| {
        if evidence.support(&text) >= SUMMARY_SUPPORT_MIN {
            text
        } else {
            String::new()
        }
    };
    let title = told
        .iter()
        .map(|part| string(part, "title"))
        .find(|title| !title.is_empty())
        .unwrap_or_default();
    let summary = told
        .iter()
        .map(|part| string(part, "summary"))
        .filter(|summary| !summary.is_empty());
    let summary = summary.collect::<Vec<_>>().join(" ");
    let mut facts: Vec<Fact> = Vec::new();
    for part in told {
        let list = part
            .get("facts")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        for fact in list {
            match read_fact(fact, messages, start..end, zone) {
                Some(fact) if facts.iter().any(|known| is_duplicate(&known.text, &fact.text)) => {}
                Some(fact) if facts.len() < FACTS_A_PART_MAX => facts.push(fact),
                _ => *dropped += 1,
            }
        }
    }
    AnswerPart {
        end,
        title: supported(cut(&title, TITLE_CHARS_MAX)),
        summary: supported(cut(&summary, SUMMARY_CHARS_MAX)),
        facts,
    }
}

fn read_fact(fact: &Value, messages: &[Message], part: std::ops::Range<usize>, zone: &Zone) -> Option<Fact> {
    let text = string(fact, "text");
    let secret = words(&text).iter().any(|word| SECRETS.contains(&word.text));
    if text.is_empty() || secret || text.chars().count() > FACT_CHARS_MAX {
        return None;
    }
    let cited = fact.get("messages").or_else(|| fact.get("sources"))?;
    let cited = cited
        .as_array()
        .map_or(std::slice::from_ref(cited), Vec::as_slice);
    let mut places: Vec<usize> = cited
        .iter()
        .filter_map(|value| usize::try_from(number(Some(value))?).ok()?.checked_sub(1))
        .filter(|place| part.contains(place) && messages[*place].role != Role::Tool)
        .collect();
    places.sort_unstable();
    places.dedup();
    let first = places
        .iter()
        .map(|place| &messages[*place])
        .find(|message| message.role == Role::User)?;
    let evidence = Evidence::of(messages, &places, zone);
    if evidence.support(&text) < FACT_SUPPORT_MIN || !evidence.names(&text) {
        return None;
    }
    Some(Fact {
        sources: places.iter().map(|place| messages[*place].id.clone()).collect(),
        sender: first.sender.clone(),
        said_at: first.time,
        valid_from: date(&string(fact, "date"), zone).filter(|date| *date <= first.time),
        text,
    })
}

/// A day, a month or a year as its first instant.
fn date(text: &str, zone: &Zone) -> Option<Timestamp> {
    let full = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    zone.parse(&full).ok()
}

/// The words that messages contain, with the dates that they mean and the names of who speaks.
struct Evidence {
    said: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Evidence {
    fn of(messages: &[Message], places: &[usize], zone: &Zone) -> Self {
        let mut said = BTreeSet::new();
        for message in places.iter().map(|place| &messages[*place]) {
            let text = if message.role == Role::User {
                own_words(message)
            } else {
                shown(message)
            };
            said.extend(terms(&dates::written_out(&text, message.time, zone).0));
            said.extend(terms(&model::date_in_words(zone.date(message.time))));
        }
        let names = messages
            .iter()
            .flat_map(|message| terms(&speaker(message)))
            .collect();
        Self { said, names }
    }

    fn knows(&self, term: &str) -> bool {
        self.said.contains(term) || self.names.contains(term)
    }

    /// How many percent of a text's words occur; of a text without words, none.
    fn support(&self, text: &str) -> usize {
        let mut terms = term_set(text);
        terms.retain(|term| !self.names.contains(term));
        let found = terms.iter().filter(|term| self.said.contains(*term)).count();
        (found * 100).checked_div(terms.len()).unwrap_or(0)
    }

    /// Whether every number and every name in a text occurs: these are what models invent.
    fn names(&self, text: &str) -> bool {
        words(text).iter().skip(1).all(|word| {
            let number = word.text.starts_with(|c: char| c.is_ascii_digit());
            !(number || word.capital)
                || terms(&word.text)
                    .iter()
                    .all(|term| self.knows(term) || !number && term.len() < 3)
        })
    }
}
