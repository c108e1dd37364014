//! Reading a model's answer: nothing in it is believed that the messages do not support.
//!
//! Owns: what is wrong with an answer, and which of its statements count. Never: asking again (`interview`), or what was
//! said (`evidence`).

use std::ops::Range;

use model::{Cell, Message, Role, Timestamp, Zone};
use serde_json::Value;
use text::Language;

use crate::boundary::holds;
use crate::episode::TITLE_CHARS_MAX;
use crate::evidence::{Evidence, states};
use crate::facts::SECRETS;
use crate::prompt::Tail;
use crate::sentence::sentences;
use crate::succession::is_duplicate;
use crate::visible::{FIRST_PERSON, speaker};
use crate::words::{cut, one_line, words};
use crate::{Episode, Fact, episode, repair};

const SUMMARY_CHARS_MAX: usize = 800;
const FACT_CHARS_MAX: usize = 300;
const FACTS_A_PART_MAX: usize = 30;
/// Later ones are not checked: a check reads all that a fact cites.
const FACTS_CHECKED_MAX: usize = 100;
/// The share of a fact's words, in percent, that its sources and what they answer must contain,
const FACT_SUPPORT_MIN: usize = 60;
/// and that the cited persons must have said themselves.
const FACT_OWN_MIN: usize = 33;
/// The same for titles and summaries, which may use more words of their own.
const SUMMARY_SUPPORT_MIN: usize = 40;
/// Names of a fact that earlier messages of the same person may give.
const NAMED_EARLIER_MAX: usize = 2;

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
    /// What was left out because the messages do not bear it out.
    pub dropped: Vec<Dropped>,
}

/// A statement of a model that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    pub text: String,
    pub why: Doubt,
}

/// Why a statement was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("it has no text, or too much")]
    Form,
    #[error("it cites no message of a person in its part")]
    Uncited,
    #[error("it may tell a secret")]
    Secret,
    #[error("nobody said `{0}`")]
    Invented(String),
    #[error("its words are not those of the cited messages")]
    Unsaid,
    #[error("another person said it")]
    OfAnother,
    /// The fact stays, without the date.
    #[error("the cited messages do not mean its date `{0}`")]
    Date(String),
    #[error("its part has too many facts")]
    TooMany,
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
pub(crate) fn retry_hint(problem: &AnswerProblem) -> String {
    format!(
        "Your answer could not be used: {problem}. Answer again, with only the JSON object, in the form of the example."
    )
}

/// Reads an answer to the request that [`memcell_request`](crate::memcell_request) made of the same messages.
pub(crate) fn parse_answer(
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
        let part = read_part(&part, messages, start..end, zone, &mut answer.dropped);
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
    part: Range<usize>,
    zone: &Zone,
    dropped: &mut Vec<Dropped>,
) -> AnswerPart {
    let evidence = Evidence::of_all(&messages[part.clone()], zone);
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
    let lists = told.iter().filter_map(|part| part.get("facts")?.as_array());
    for (nth, told) in lists.flatten().enumerate() {
        let doubt = if nth >= FACTS_CHECKED_MAX || facts.len() == FACTS_A_PART_MAX {
            Some(Doubt::TooMany)
        } else {
            match read_fact(told, messages, part.clone(), zone) {
                Ok((fact, _)) if facts.iter().any(|known| is_duplicate(&known.text, &fact.text)) => None,
                Ok((fact, doubt)) => {
                    facts.push(fact);
                    doubt
                }
                Err(why) => Some(why),
            }
        };
        let text = fact_text(told);
        dropped.extend(doubt.map(|why| Dropped { text, why }));
    }
    AnswerPart {
        end: part.end,
        title: borne_out_title(cut(&title, TITLE_CHARS_MAX), &evidence, dropped),
        summary: borne_out_summary(&summary, &evidence, dropped),
        facts,
    }
}

/// A title that the messages bear out, else none. Its capital letters do not tell names.
fn borne_out_title(title: String, evidence: &Evidence, dropped: &mut Vec<Dropped>) -> String {
    let why = if title.is_empty() {
        return title;
    } else if let Some(number) = evidence.invented_number(&title) {
        Doubt::Invented(number)
    } else if evidence.support(&title) < SUMMARY_SUPPORT_MIN {
        Doubt::Unsaid
    } else {
        return title;
    };
    dropped.push(Dropped { text: title, why });
    String::new()
}

/// The sentences of a summary that the messages bear out.
fn borne_out_summary(summary: &str, evidence: &Evidence, dropped: &mut Vec<Dropped>) -> String {
    // German writes every noun with a capital letter.
    let tells_names = Language::of(summary) != Language::German;
    let mut kept: Vec<&str> = Vec::new();
    for sentence in sentences(summary) {
        let invented = if tells_names {
            evidence.invented(sentence)
        } else {
            evidence.invented_number(sentence)
        };
        let why = match invented {
            Some(word) => Doubt::Invented(word),
            None if evidence.support(sentence) < SUMMARY_SUPPORT_MIN => Doubt::Unsaid,
            None => {
                kept.push(sentence.trim());
                continue;
            }
        };
        let text = sentence.to_owned();
        dropped.push(Dropped { text, why });
    }
    cut(&kept.join(" "), SUMMARY_CHARS_MAX)
}

/// A fact's text; a weak model gives the text alone.
fn fact_text(told: &Value) -> String {
    told.as_str().map_or_else(|| string(told, "text"), one_line)
}

/// A fact that its sources bear out, and a doubt about its date if that was left out.
fn read_fact(
    told: &Value,
    messages: &[Message],
    part: Range<usize>,
    zone: &Zone,
) -> Result<(Fact, Option<Doubt>), Doubt> {
    let text = fact_text(told);
    if text.is_empty() || text.chars().count() > FACT_CHARS_MAX {
        return Err(Doubt::Form);
    }
    if words(&text).iter().any(|word| SECRETS.contains(&word.text)) {
        return Err(Doubt::Secret);
    }
    let mut places = cited(told, messages, &part);
    let first = places
        .iter()
        .map(|place| &messages[*place])
        .find(|message| message.role == Role::User)
        .ok_or(Doubt::Uncited)?;
    let text = named(text, &speaker(first));
    let mut evidence = Evidence::of_cited(messages, &places, zone);
    // "She can't stand carrots": who she is was said earlier, and is a source as well.
    for _ in 0..NAMED_EARLIER_MAX {
        let earlier = |word: &str| {
            let mut before = (part.start..places[0]).rev();
            before.find(|at| messages[*at].sender == first.sender && states(&messages[*at], word))
        };
        let unsaid = evidence
            .invented_name(&text)
            .filter(|_| evidence.own_support(&text) > 0);
        let Some(at) = unsaid.and_then(|word| earlier(&word)) else {
            break;
        };
        places.insert(0, at);
        evidence = Evidence::of_cited(messages, &places, zone);
    }
    if let Some(word) = evidence.invented(&text) {
        return Err(Doubt::Invented(word));
    }
    if evidence.is_of_another(&text) {
        return Err(Doubt::OfAnother);
    }
    if evidence.support(&text) < FACT_SUPPORT_MIN || evidence.own_support(&text) < FACT_OWN_MIN {
        return Err(Doubt::Unsaid);
    }
    let told_date = string(told, "date");
    let day = date(&told_date, zone);
    let since = day.filter(|day| *day <= first.time && evidence.means(*day));
    // A day to come is when something happens, not since when it holds.
    let doubt = day.filter(|day| since.is_none() && *day <= first.time);
    let fact = Fact {
        sources: places.iter().map(|place| messages[*place].id.clone()).collect(),
        sender: first.sender.clone(),
        said_at: first.time,
        valid_from: since,
        text,
    };
    Ok((fact, doubt.map(|_| Doubt::Date(told_date))))
}

/// The places of the messages that a fact cites, without those of tools and of other parts.
fn cited(told: &Value, messages: &[Message], part: &Range<usize>) -> Vec<usize> {
    let cited = told.get("messages").or_else(|| told.get("sources"));
    let cited = match cited {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let mut places: Vec<usize> = cited
        .iter()
        .filter_map(|value| usize::try_from(number(Some(value))?).ok()?.checked_sub(1))
        .filter(|place| part.contains(place) && messages[*place].role != Role::Tool)
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// A fact with its speaker's name where a model wrote "the user".
fn named(text: String, speaker: &str) -> String {
    let rest = text
        .strip_prefix("The user")
        .or_else(|| text.strip_prefix("User"));
    match rest {
        Some(rest) if speaker != FIRST_PERSON && rest.starts_with([' ', '\'', '’']) => {
            format!("{speaker}{rest}")
        }
        _ => text,
    }
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
