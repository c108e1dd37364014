//! Reads a model's answer and drops every statement that the messages do not support.
//!
//! Owns: the problems of an answer, and the choice of its valid statements. Never: asking again
//! (`interview`), or the meaning of the messages (`claim`).

use model::{Message, Role};
use serde_json::Value;

use crate::boundary::holds;
use crate::claim::{Doubt, KnownWords, StatedTalk};
use crate::episode::TITLE_CHARS_MAX;
use crate::prompt::Tail;
use crate::sentence::sentences;
use crate::succession::is_duplicate;
use crate::visible::{readable_text, speaker};
use crate::words::{cut, one_line};
use crate::{Fact, repair};

const SUMMARY_CHARS_MAX: usize = 800;
/// Maximum number of statements checked in an answer: each check reads all clauses of the talk.
const FACTS_MAX: usize = 200;

/// One part of the conversation, as the model cut it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerPart {
    /// One past the part's last message.
    pub end: usize,
    /// Empty when the model gave none that the messages support.
    pub title: String,
    /// As `title`.
    pub summary: String,
}

/// A model's answer, checked against the messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// In order; with [`Tail::Closed`] the last one ends with the last message. May be empty with [`Tail::Open`].
    pub parts: Vec<AnswerPart>,
    /// Facts that people stated, in the order of the answer.
    pub facts: Vec<Fact>,
    /// Statements that were left out because the messages do not support them.
    pub dropped: Vec<Dropped>,
}

/// A statement of a model that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    pub text: String,
    pub why: Doubt,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerProblem {
    /// There is no JSON in it, even after repair.
    #[error("the answer is not a JSON object")]
    NotJson,
    /// A field is missing or of the wrong type.
    #[error("the answer does not follow the schema: {0}")]
    Shape(&'static str),
    /// A part's end is out of range or out of order.
    #[error("`last` is {found}, but must be one of {low} to {high} here")]
    Range { found: i64, low: usize, high: usize },
}

/// Text for the model before a second try.
pub(crate) fn retry_hint(problem: &AnswerProblem) -> String {
    format!(
        "Your answer could not be used: {problem}. Answer again, with only the JSON object, in the form of the example."
    )
}

/// Reads an answer to the request that [`parts_request`](crate::parts_request) made of the same messages.
pub(crate) fn parse_parts(text: &str, messages: &[Message], tail: Tail) -> Result<Answer, AnswerProblem> {
    let value = repair::find(text, "parts").ok_or(AnswerProblem::NotJson)?;
    let list = match &value {
        Value::Array(list) => list.as_slice(),
        Value::Object(map) => match map.get("parts") {
            Some(Value::Array(list)) => list.as_slice(),
            Some(_) => return Err(AnswerProblem::Shape("`parts` must be a list")),
            None if map.contains_key("last") => std::slice::from_ref(&value),
            None => return Err(AnswerProblem::Shape("`parts` is missing")),
        },
        _ => return Err(AnswerProblem::NotJson),
    };
    let ends = ends(list, messages, tail)?;
    let mut answer = Answer::default();
    let mut start = 0;
    for (part, end) in ends {
        let said = messages[start..end]
            .iter()
            .map(|message| speaker(message) + " " + &readable_text(message));
        let known = KnownWords::of(&said.collect::<Vec<_>>().join(" "));
        answer
            .parts
            .push(read_part(&part, end, &known, &mut answer.dropped));
        start = end;
    }
    if tail == Tail::Open {
        answer.parts.retain(|part| part.end < messages.len());
    }
    Ok(answer)
}

/// The model's parts with their ends. Joins two parts where the cut would separate a tool call from
/// its result, or where no person speaks.
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
            return Err(AnswerProblem::Shape("each part must be an object"));
        }
        let last = number(part.get("last")).ok_or(AnswerProblem::Shape("`last` must be a number"))?;
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
            None if waiting.is_empty() => return Err(AnswerProblem::Shape("`parts` is empty")),
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

fn read_part(told: &[&Value], end: usize, known: &KnownWords, dropped: &mut Vec<Dropped>) -> AnswerPart {
    let texts = |key: &'static str| {
        let texts = told.iter().map(move |part| string(part, key));
        texts.filter(|text| !text.is_empty())
    };
    let mut is_said = |text: &str| {
        let why = known.unsaid(text).map(Doubt::Unsaid);
        let text = text.to_owned();
        let left_out = why.map(|why| Dropped { text, why });
        let is_said = left_out.is_none();
        dropped.extend(left_out);
        is_said
    };
    let title = texts("title").next().filter(|title| is_said(title));
    let summary = texts("summary").collect::<Vec<_>>().join(" ");
    let kept: Vec<&str> = sentences(&summary)
        .into_iter()
        .filter(|sentence| is_said(sentence))
        .collect();
    AnswerPart {
        end,
        title: cut(&title.unwrap_or_default(), TITLE_CHARS_MAX),
        summary: cut(&kept.join(" "), SUMMARY_CHARS_MAX),
    }
}

/// Reads an answer to the request for facts of the same talk.
pub(crate) fn parse_facts(text: &str, talk: &StatedTalk<'_>) -> Result<Answer, AnswerProblem> {
    let value = repair::find(text, "facts").ok_or(AnswerProblem::NotJson)?;
    let list = value.as_array().or_else(|| value.get("facts")?.as_array());
    let list = list.ok_or(AnswerProblem::Shape("`facts` must be a list"))?;
    let mut answer = Answer::default();
    for told in list.iter().take(FACTS_MAX) {
        let text = told.as_str().map_or_else(|| string(told, "text"), one_line);
        match talk.fact(&text) {
            Ok(fact)
                if answer
                    .facts
                    .iter()
                    .any(|known| is_duplicate(&known.text, &fact.text)) => {}
            Ok(fact) => answer.facts.push(fact),
            Err(why) => answer.dropped.push(Dropped { text, why }),
        }
    }
    Ok(answer)
}
