//! A profile asked of a chat model.
//!
//! Owns: the prompt, and what of an answer may be believed. Never: sending it.

use crate::Prompt;
use serde_json::Value;

use super::{ProfileEntry, ProfileStatement};
use crate::consolidate::answer::{DATA_RULE, number, numbered, numbers, objects, overlap, text};
use crate::consolidate::known::KnownFact;

/// Maximum number of the newest facts in a request.
const FACTS_MAX: usize = 60;
const FACT_CHARS_MAX: usize = 240;
const TOKENS_MAX: u32 = 1_500;
/// A statement shares at least so much of its words with the facts that it rests on.
const OVERLAP_MIN: f64 = 0.34;

const SYSTEM: &str = "\
You keep the profile of one person. You get numbered facts about them and the numbered statements that the profile \
already has. Write what is lasting: name, how they want to be answered, home, work, family, diet and health, languages, \
tastes, interests, possessions, plans. A trait needs at least three facts.
Without statements so far, give:
{\"explicit_info\":[{\"category\":\"Home\",\"description\":\"Ada lives in Porto.\",\"evidence\":[2]}],\
\"implicit_traits\":[{\"trait\":\"Thrifty\",\"description\":\"Ada looks for the cheaper way.\",\"basis\":\"three purchases\",\"evidence\":[1,4,7]}]}
With statements so far, give the changes alone:
{\"operations\":[{\"action\":\"add\",\"type\":\"explicit_info\",\"data\":{\"category\":\"Work\",\"description\":\"Ada is a nurse.\",\"evidence\":[3]}},\
{\"action\":\"update\",\"type\":\"explicit_info\",\"index\":1,\"data\":{\"category\":\"Home\",\"description\":\"Ada lives in Braga.\",\"evidence\":[5]}},\
{\"action\":\"delete\",\"type\":\"explicit_info\",\"index\":2}],\"update_note\":\"\"}
Each description is one short sentence in the third person with the person's name. `evidence` is the numbers of the facts.";

/// A model's answer about a profile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProfileAnswer {
    pub items: Vec<ProfileStatement>,
    /// Ids of statements of ours that it would replace or remove: at most a quarter of them.
    pub remove: Vec<String>,
}

/// The facts and statements that a request shows, in its order.
fn shown<'a, 'b>(
    facts: &'a [KnownFact<'a>],
    standing: &'b [ProfileEntry<'b>],
) -> (Vec<&'a KnownFact<'a>>, Vec<&'b ProfileEntry<'b>>) {
    let mut current: Vec<&KnownFact<'_>> = facts.iter().filter(|fact| fact.is_current).collect();
    current.sort_by_key(|fact| (fact.time, fact.id));
    let from = current.len().saturating_sub(FACTS_MAX);
    (current.split_off(from), standing.iter().collect())
}

/// The one request for a profile: its beginning, or what changes.
pub fn request(facts: &[KnownFact<'_>], standing: &[ProfileEntry<'_>]) -> Prompt {
    let (facts, standing) = shown(facts, standing);
    let mut user = numbered("facts", facts.iter().map(|fact| fact.text), FACT_CHARS_MAX);
    let lines: Vec<String> = standing
        .iter()
        .map(|entry| format!("{}: {}", entry.subject, entry.body))
        .collect();
    if !lines.is_empty() {
        user.push_str(&numbered(
            "statements",
            lines.iter().map(String::as_str),
            FACT_CHARS_MAX,
        ));
    }
    Prompt {
        system: format!("{SYSTEM}\n{DATA_RULE}"),
        user,
        schema_name: "profile".to_owned(),
        schema_json: r#"{"type":"object"}"#.to_owned(),
        tokens_max: TOKENS_MAX,
    }
}

/// The statements in an answer to [`request`] with the same input that facts support; none if it has none.
pub fn parse_answer(
    answer: &str,
    facts: &[KnownFact<'_>],
    standing: &[ProfileEntry<'_>],
) -> Option<ProfileAnswer> {
    let (facts, standing) = shown(facts, standing);
    let value = ["operations", "explicit_info", "implicit_traits"]
        .into_iter()
        .find_map(|key| crate::find_json(answer, key).filter(|value| value.get(key).is_some()))?;
    let mut said = ProfileAnswer::default();
    for (key, is_trait) in [("explicit_info", false), ("implicit_traits", true)] {
        let data = objects(&value, &[key]).into_iter();
        said.items
            .extend(data.filter_map(|data| item(data, is_trait, &facts)));
    }
    let ours = standing.iter().filter(|entry| entry.is_ours()).count();
    for operation in objects(&value, &["operations"]) {
        let action = text(operation, &["action", "op"])
            .unwrap_or_default()
            .to_lowercase();
        let is_trait = text(operation, &["type"]).is_some_and(|kind| kind.contains("trait"));
        let new = operation
            .get("data")
            .and_then(|data| item(data, is_trait, &facts));
        let old = operation
            .get("index")
            .and_then(number)
            .and_then(|number| standing.get(number.checked_sub(1)?))
            .filter(|entry| entry.is_ours() && said.remove.len() < ours / 4);
        match (action.as_str(), new, old) {
            ("add", Some(new), _) => said.items.push(new),
            ("update", Some(new), Some(old)) => {
                said.items.push(new);
                said.remove.push(old.id.to_owned());
            }
            ("delete", _, Some(old)) => said.remove.push(old.id.to_owned()),
            _ => {}
        }
    }
    said.remove.sort_unstable();
    said.remove.dedup();
    (said != ProfileAnswer::default()).then_some(said)
}

fn item(data: &Value, is_trait: bool, facts: &[&KnownFact<'_>]) -> Option<ProfileStatement> {
    let subject = text(data, &["category", "trait", "name"])?;
    let body = text(data, &["description", "content"])?;
    let cited = numbers(data.get("evidence"));
    let mut known: Vec<&KnownFact<'_>> = cited
        .iter()
        .filter_map(|number| facts.get(number.checked_sub(1)?).copied())
        .collect();
    let all = known.iter().map(|fact| fact.text).collect::<Vec<_>>().join(" ");
    if known.is_empty() || (!is_trait && overlap(rest(body), &all) < OVERLAP_MIN) {
        // Small models cite in words, or the wrong number: what bears it out is looked for.
        let mut near: Vec<(f64, &KnownFact<'_>)> = facts
            .iter()
            .map(|fact| (overlap(rest(body), fact.text), *fact))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        known = near
            .into_iter()
            .take(1)
            .filter(|(share, _)| *share >= 2.0 * OVERLAP_MIN)
            .map(|(_, fact)| fact)
            .collect();
    }
    let quotes: Vec<&str> = known.iter().take(3).map(|fact| fact.text).collect();
    let basis = text(data, &["basis"]).unwrap_or_default();
    let evidence = format!("{basis} {}", quotes.join(" "));
    let item = ProfileStatement::new(subject, body, evidence.trim(), &known)?;
    (!is_trait || known.len() >= 3).then_some(ProfileStatement { is_trait, ..item })
}

/// A sentence without its first word, the person's name, which bears nothing out.
fn rest(body: &str) -> &str {
    body.split_once(' ').map_or(body, |(_, rest)| rest)
}
