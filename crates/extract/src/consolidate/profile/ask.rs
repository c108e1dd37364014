//! A profile by a chat model.
//!
//! Owns: the prompt, and the choice of valid statements in an answer. Never: sending it.

use std::collections::BTreeSet;

use crate::Prompt;
use serde_json::Value;

use super::{ProfileCategory, ProfileEntry, ProfileStatement, category};
use crate::consolidate::answer::{DATA_RULE, is_borne_out, number, numbered, numbers, objects, text};
use crate::consolidate::known::KnownFact;

/// Maximum number of the newest facts in a request.
const FACTS_MAX: usize = 60;
const FACT_CHARS_MAX: usize = 240;
const TOKENS_MAX: u32 = 1_500;

const SYSTEM: &str = "\
You keep the profile of one person for an assistant. You get numbered facts about the person between <facts> and </facts>, \
the oldest first, and the profile's numbered statements between <statements> and </statements>, if it has any.

Give what the facts add or change, the most lasting first, and nothing that a statement says already:
- heading: one of Name, How to answer, Home, Work, Family and pets, Diet and health, Languages, Education, Likes and dislikes, \
Interests, Possessions, Plans, Life
- text: one short sentence with the person's name (or I, if the facts say I)
- facts: the numbers of the facts that say so; where two disagree, the later one counts
- replaces: the number of the statement that this one corrects, else 0
remove: the numbers of statements that a fact says are over
No event of a single day, no mood, no judgement of the person. Empty lists are a good answer.

Example, with \"1. Home: Ada lives in Porto.\" as the one statement and \"2. Ada moved to Braga.\" among the facts:
{\"statements\":[{\"heading\":\"Home\",\"text\":\"Ada moved to Braga.\",\"facts\":[2],\"replaces\":1}],\"remove\":[]}
Wrong: \"Ada loves Braga.\" (no fact says so) \"She moved.\" (who, where) \"Ada is brave.\" (nobody said so)";

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["statements","remove"],"properties":{"statements":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["heading","text","facts","replaces"],"properties":{"heading":{"type":"string"},"text":{"type":"string"},"facts":{"type":"array","items":{"type":"integer"}},"replaces":{"type":"integer"}}}},"remove":{"type":"array","items":{"type":"integer"}}}}"#;

/// A model's answer about a profile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProfileAnswer {
    pub items: Vec<ProfileStatement>,
    /// Ids of our statements that the answer replaces or removes: at most a quarter of them.
    pub remove: Vec<String>,
    /// Number of statements left out because no fact supports them, plus removals of statements
    /// that do not exist.
    pub dropped: usize,
}

/// The facts and statements of a request, in its order.
fn request_content<'a, 'b>(
    facts: &'a [KnownFact<'a>],
    standing: &'b [ProfileEntry<'b>],
) -> (Vec<&'a KnownFact<'a>>, Vec<&'b ProfileEntry<'b>>) {
    let mut current: Vec<&KnownFact<'_>> = facts.iter().filter(|fact| fact.is_current).collect();
    current.sort_by_key(|fact| (fact.time, fact.id));
    let from = current.len().saturating_sub(FACTS_MAX);
    (current.split_off(from), standing.iter().collect())
}

/// The request for a profile: for a new one, or for changes.
pub fn request(facts: &[KnownFact<'_>], standing: &[ProfileEntry<'_>]) -> Prompt {
    let (facts, standing) = request_content(facts, standing);
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
    let system = format!("{SYSTEM}\n{DATA_RULE}");
    Prompt::new(system, user, ("profile", SCHEMA), TOKENS_MAX)
}

/// The parts of an answer to [`request`] with the same input that the facts support. None if there
/// is no answer, if it is empty while the profile is empty, or if no part of it is supported.
pub fn parse_answer(
    answer: &str,
    facts: &[KnownFact<'_>],
    standing: &[ProfileEntry<'_>],
) -> Option<ProfileAnswer> {
    let (facts, standing) = request_content(facts, standing);
    let value = crate::find_json(answer, "statements").filter(|value| value.get("statements").is_some())?;
    let mut said = ProfileAnswer::default();
    let removable = standing.iter().filter(|entry| entry.is_ours()).count() / 4;
    let remove = |number: usize, said: &mut ProfileAnswer| {
        let Some(at) = number.checked_sub(1) else {
            return;
        };
        let Some(old) = standing.get(at) else {
            said.dropped += 1;
            return;
        };
        if old.is_ours() && said.remove.len() < removable {
            said.remove.push(old.id.to_owned());
        }
        said.remove.sort_unstable();
        said.remove.dedup();
    };
    for data in objects(&value, &["statements"]) {
        let Some(item) = item(data, &facts) else {
            said.dropped += 1;
            continue;
        };
        said.items.push(item);
        remove(data.get("replaces").and_then(number).unwrap_or(0), &mut said);
    }
    for number in numbers(value.get("remove")) {
        remove(number, &mut said);
    }
    // A model may repeat a statement and give it as its own successor.
    let said_again: Vec<String> = said.items.iter().map(ProfileStatement::id).collect();
    said.remove.retain(|id| !said_again.contains(id));
    let is_silent = said.items.is_empty() && said.remove.is_empty();
    let is_begun = standing
        .iter()
        .any(|entry| entry.subject != ProfileCategory::Talk.as_str());
    (!is_silent || is_begun && said.dropped == 0).then_some(said)
}

fn item(data: &Value, facts: &[&KnownFact<'_>]) -> Option<ProfileStatement> {
    let heading = text(data, &["heading", "category"])?;
    let body = text(data, &["text", "description"])?;
    let cited: BTreeSet<usize> = numbers(data.get("facts")).into_iter().collect();
    let mut known: Vec<&KnownFact<'_>> = cited
        .iter()
        .filter_map(|number| facts.get(number.checked_sub(1)?).copied())
        .collect();
    let said: Vec<&str> = known.iter().map(|fact| fact.text).collect();
    if !is_borne_out(body, &said) {
        // Small models cite the wrong number: search all facts for the one that supports the
        // statement.
        known = facts
            .iter()
            .copied()
            .filter(|fact| is_borne_out(body, &[fact.text]))
            .take(1)
            .collect();
    }
    // A heading of the model's own, such as "Pets", is replaced by one of the rules.
    let category = ProfileCategory::of_title(heading)
        .or_else(|| category::category(body))
        .unwrap_or(ProfileCategory::Life);
    ProfileStatement::new(category.as_str(), body, &quoted(&known), &known)
}

fn quoted(known: &[&KnownFact<'_>]) -> String {
    let quotes: Vec<&str> = known.iter().take(3).map(|fact| fact.text).collect();
    quotes.join(" ")
}
