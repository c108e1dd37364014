//! A page's curation asked of a chat model.
//!
//! Owns: the prompt, and what of an answer can be carried out. Never: trusting it; `apply` checks every limit.

use crate::Prompt;
use serde_json::Value;

use super::{Candidate, Operation, ours};
use crate::consolidate::answer::{DATA_RULE, number, numbered, numbers, objects, overlap, text};
use crate::consolidate::page::{Own, lines};

const CANDIDATES_MAX: usize = 60;
const LINE_CHARS_MAX: usize = 300;
const TOKENS_MAX: u32 = 1_200;
/// A statement shares at least so much of its words with what it was made of.
const OVERLAP_MIN: f64 = 0.34;

const SYSTEM: &str = "\
You keep a short page about one person at hand for an assistant. You get the page's numbered lines and numbered memories \
that are not on it. Say what to change, most important first; what you do not name stays:
{\"operations\":[{\"action\":\"add\",\"memories\":[2],\"text\":\"Ada lives in Porto.\"},\
{\"action\":\"merge\",\"lines\":[1,4],\"text\":\"Ada runs and swims.\"},{\"action\":\"drop\",\"line\":3}]}
Add what will matter in most talks. Merge lines that say nearly the same. Drop at most one line in four, and only what no \
longer matters. No operations is a good answer.";

/// Content of a request: our lines of the page that can change, and the memories that are in no line.
fn shown<'a>(page: &str, candidates: &'a [Candidate]) -> (Vec<(usize, Own)>, Vec<&'a Candidate>) {
    let read = lines(page);
    let own: Vec<(usize, Own)> = ours(&read)
        .filter(|(at, _)| !read[*at].is_pinned)
        .map(|(at, own)| (at, own.clone()))
        .collect();
    let told = |id: &String| ours(&read).any(|(_, own)| own.cites.contains(id));
    let new = candidates.iter().filter(|candidate| !told(&candidate.id));
    (own, new.take(CANDIDATES_MAX).collect())
}

/// The one request for a page.
pub fn request(page: &str, candidates: &[Candidate]) -> Prompt {
    let (own, new) = shown(page, candidates);
    let mut user = numbered(
        "page",
        own.iter().map(|(_, own)| own.text.as_str()),
        LINE_CHARS_MAX,
    );
    user.push_str(&numbered(
        "memories",
        new.iter().map(|new| new.text.as_str()),
        LINE_CHARS_MAX,
    ));
    Prompt {
        system: format!("{SYSTEM}\n{DATA_RULE}"),
        user,
        schema_name: "page_operations".to_owned(),
        schema_json: r#"{"type":"object","required":["operations"],"properties":{"operations":{"type":"array","items":{"type":"object"}}}}"#.to_owned(),
        tokens_max: TOKENS_MAX,
    }
}

/// The operations that an answer to [`request`] with the same input names; none where it is no answer, or names a line
/// or memory that was not shown.
pub fn parse_answer(answer: &str, page: &str, candidates: &[Candidate]) -> Option<Vec<Operation>> {
    let (own, new) = shown(page, candidates);
    let value = crate::find_json(answer, "operations").filter(|value| value.get("operations").is_some())?;
    let mut operations = Vec::new();
    for said in objects(&value, &["operations"]) {
        let action = text(said, &["action", "op"]).unwrap_or_default().to_lowercase();
        match action.as_str() {
            "keep" | "none" => {}
            "drop" | "delete" => operations.push(Operation::Drop(line(&own, number(said.get("line")?)?)?.0)),
            "add" => operations.push(Operation::Add(added(said, &new)?)),
            "merge" => operations.push(merged(said, &own)?),
            _ => return None,
        }
    }
    Some(operations)
}

fn line(own: &[(usize, Own)], number: usize) -> Option<&(usize, Own)> {
    own.get(number.checked_sub(1)?)
}

fn added(said: &Value, new: &[&Candidate]) -> Option<Own> {
    let cited = numbers(said.get("memories").or_else(|| said.get("memory")));
    let cited: Option<Vec<&Candidate>> = cited
        .iter()
        .map(|number| new.get(number.checked_sub(1)?).copied())
        .collect();
    let cited = cited.filter(|cited| !cited.is_empty())?;
    let all = cited
        .iter()
        .map(|candidate| candidate.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    borne_out(said, &all, cited.iter().map(|candidate| candidate.id.as_str()))
}

fn merged(said: &Value, own: &[(usize, Own)]) -> Option<Operation> {
    let from = numbers(said.get("lines"));
    let from: Option<Vec<&(usize, Own)>> = from.iter().map(|number| line(own, *number)).collect();
    let from = from.filter(|from| from.len() > 1)?;
    let all = from
        .iter()
        .map(|(_, own)| own.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    let cites = from.iter().flat_map(|(_, own)| &own.cites).map(String::as_str);
    let own = borne_out(said, &all, cites)?;
    Some(Operation::Merge(from.iter().map(|(at, _)| *at).collect(), own))
}

fn borne_out<'a>(said: &Value, by: &str, cites: impl Iterator<Item = &'a str>) -> Option<Own> {
    let text = text(said, &["text", "content"])?;
    (overlap(text, by) >= OVERLAP_MIN)
        .then(|| Own::new(text, cites))
        .flatten()
}
