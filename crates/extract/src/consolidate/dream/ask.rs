//! The curation of a page by a chat model.
//!
//! Owns: the prompt, and the choice of valid operations in an answer. Never: trusting it; `apply`
//! checks every limit.

use crate::Prompt;
use serde_json::Value;

use super::{Candidate, Operation, ours};
use crate::consolidate::answer::{DATA_RULE, is_borne_out, numbered, numbers, objects, text};
use crate::consolidate::page::{Own, lines};

const CANDIDATES_MAX: usize = 60;
const LINE_CHARS_MAX: usize = 300;
const TOKENS_MAX: u32 = 1_200;

const SYSTEM: &str = "\
You keep a short page about one person, which an assistant reads before every talk. You get the page's numbered lines \
between <page> and </page>, and numbered memories that are not on it between <memories> and </memories>.

Say what to change; what you do not name stays:
- add: memories that will matter in most talks, the most important first: text, and the numbers of its memories
- merge: one text in the place of lines that say nearly the same, and the numbers of these lines
- drop: numbers of lines that no longer matter, at most one line in four
Each text is one short sentence with the names, numbers and dates of what it was made of. Empty lists are a good answer.

Example:
{\"add\":[{\"text\":\"Ada lives in Porto.\",\"memories\":[2]}],\"merge\":[{\"text\":\"Ada runs and swims.\",\"lines\":[1,4]}],\"drop\":[3]}
Wrong: a text without its memories, a line in both lists, \"Ada is sporty.\" for \"Ada runs.\"";

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["add","merge","drop"],"properties":{"add":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["text","memories"],"properties":{"text":{"type":"string"},"memories":{"type":"array","items":{"type":"integer"}}}}},"merge":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["text","lines"],"properties":{"text":{"type":"string"},"lines":{"type":"array","items":{"type":"integer"}}}}},"drop":{"type":"array","items":{"type":"integer"}}}}"#;

/// A model's answer about a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PageAnswer {
    pub operations: Vec<Operation>,
    /// Number of changes left out: they name a line or memory that the request does not show, or
    /// their text has no support in it.
    pub dropped: usize,
}

/// Content of a request: our lines of the page that can change, and the memories that no line
/// cites.
fn request_content<'a>(page: &str, candidates: &'a [Candidate]) -> (Vec<(usize, Own)>, Vec<&'a Candidate>) {
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
    let (own, new) = request_content(page, candidates);
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
    let system = format!("{SYSTEM}\n{DATA_RULE}");
    Prompt::new(system, user, ("page_operations", SCHEMA), TOKENS_MAX)
}

/// The changes in an answer to [`request`] with the same input, as far as the request's lines and
/// memories support them; none if the text is no answer.
pub fn parse_answer(answer: &str, page: &str, candidates: &[Candidate]) -> Option<PageAnswer> {
    let (own, new) = request_content(page, candidates);
    let value = ["add", "merge", "drop"]
        .into_iter()
        .find_map(|key| crate::find_json(answer, key).filter(|value| value.get(key).is_some()))?;
    let drops = numbers(value.get("drop"));
    let drops = drops
        .into_iter()
        .map(|at| Some(Operation::Drop(line(&own, at)?.0)));
    let merges = objects(&value, &["merge"])
        .into_iter()
        .map(|said| merged(said, &own));
    let adds = objects(&value, &["add"])
        .into_iter()
        .map(|said| added(said, &new));
    let mut said = PageAnswer::default();
    for operation in merges.chain(drops).chain(adds) {
        match operation {
            Some(operation) => said.operations.push(operation),
            None => said.dropped += 1,
        }
    }
    Some(said)
}

fn line(own: &[(usize, Own)], number: usize) -> Option<&(usize, Own)> {
    own.get(number.checked_sub(1)?)
}

fn added(said: &Value, new: &[&Candidate]) -> Option<Operation> {
    let cited = numbers(said.get("memories").or_else(|| said.get("memory")));
    let cited: Option<Vec<&Candidate>> = cited
        .iter()
        .map(|number| new.get(number.checked_sub(1)?).copied())
        .collect();
    let cited = cited.filter(|cited| !cited.is_empty())?;
    let texts = cited.iter().map(|candidate| candidate.text.as_str());
    let cites = cited.iter().map(|candidate| candidate.id.as_str());
    let own = own(said, texts, cites)?;
    Some(Operation::Add(own, None))
}

fn merged(said: &Value, ours: &[(usize, Own)]) -> Option<Operation> {
    let from = numbers(said.get("lines"));
    let from: Option<Vec<&(usize, Own)>> = from.iter().map(|number| line(ours, *number)).collect();
    let from = from.filter(|from| from.len() > 1)?;
    let texts = from.iter().map(|(_, own)| own.text.as_str());
    let cites = from.iter().flat_map(|(_, own)| &own.cites).map(String::as_str);
    let merged = own(said, texts, cites)?;
    Some(Operation::Merge(from.iter().map(|(at, _)| *at).collect(), merged))
}

/// The line in an answer, if its source texts support it.
fn own<'a>(
    said: &Value,
    by: impl Iterator<Item = &'a str>,
    cites: impl Iterator<Item = &'a str>,
) -> Option<Own> {
    let text = text(said, &["text", "content"])?;
    let by: Vec<&str> = by.collect();
    is_borne_out(text, &by).then(|| Own::new(text, cites)).flatten()
}
