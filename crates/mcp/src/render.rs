//! Memories as a model reads them.
//!
//! Owns: one shape for every kind of memory, the lines of an answer, and the marks that declare them data. Never: the
//! selection or the order of memories (the API decides both).

use std::collections::BTreeSet;

use gateway::wire::conversation::OriginalItem;
use gateway::wire::{
    EpisodeItem, Explain, FactItem, ForesightItem, FoundMessage, GetData, MessageContent, ProfileData,
    SearchData, UnprocessedMessage,
};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};
use serde_with::skip_serializing_none;

/// Approximate maximum of a hit's line, in characters.
const LINE_CHARS_MAX: usize = 300;
/// Maximum for a message that no episode contains yet, in characters: no other answer contains its full text.
const WAITING_CHARS_MAX: usize = 4_000;
/// The text of an answer without memories.
pub(crate) const NOTHING: &str = "nothing found";
/// The smallest part of a score that counts as a reason.
const REASON_MIN: f32 = 0.05;

/// A memory with its metadata, in the form of an answer.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct ToolMemory {
    /// The argument of other tools. A message has the id of its episode, which contains it word for word.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) date: String,
    pub(crate) who: Option<String>,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) score: Option<f64>,
    pub(crate) why: Option<String>,
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
    pub(crate) superseded_by: Option<String>,
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) project_only: bool,
    /// Ids of facts with the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) facts: Vec<String>,
    /// Ids of the messages that support the memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<String>,
    pub(crate) file: Option<String>,
}

/// An answer with memories. `beside` has further fields of the structured content.
pub(crate) fn memories(memories: &[ToolMemory], beside: &Value) -> CallToolResult {
    let mut structured = Map::new();
    structured.insert("note".to_owned(), json!(gateway::NOTE));
    structured.extend(beside.as_object().cloned().unwrap_or_default());
    structured.insert("memories".to_owned(), json!(memories));
    let beside = beside.as_object().into_iter().flatten();
    let beside = beside.map(|(name, value)| format!("{name}: {value}"));
    let lines: Vec<String> = std::iter::once(text(memories)).chain(beside).collect();
    result(lines.join("\n"), Value::Object(structured))
}

/// Memories as one text that is marked as data.
pub(crate) fn text(memories: &[ToolMemory]) -> String {
    if memories.is_empty() {
        return NOTHING.to_owned();
    }
    let lines: Vec<String> = memories.iter().map(ToolMemory::line).collect();
    gateway::wrapped(lines.iter().map(String::as_str))
}

/// An answer. The tags of markup in `structured` are defused, so that a client cannot mistake memory for
/// instructions.
pub(crate) fn result(text: String, mut structured: Value) -> CallToolResult {
    defuse(&mut structured);
    let mut result = CallToolResult::structured(structured);
    result.content = vec![ContentBlock::text(text)];
    result
}

fn defuse(value: &mut Value) {
    match value {
        Value::String(text) => *text = gateway::defused(text),
        Value::Array(items) => items.iter_mut().for_each(defuse),
        Value::Object(fields) => fields.values_mut().for_each(defuse),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl ToolMemory {
    fn line(&self) -> String {
        let about = [
            (!self.date.is_empty()).then(|| self.date.clone()),
            Some(self.kind.to_owned()),
            self.who.as_ref().map(|who| format!("by {who}")),
            self.since.as_ref().map(|since| format!("since {since}")),
            self.until.as_ref().map(|until| format!("until {until}")),
            self.superseded_by
                .as_ref()
                .map(|id| format!("superseded by {id}")),
            self.session.as_ref().map(|session| format!("session {session}")),
            self.project_only.then(|| "project only".to_owned()),
            self.score.map(|score| format!("score {score:.2}")),
            self.why.clone(),
        ];
        let about: Vec<String> = about.into_iter().flatten().collect();
        let mut lines = vec![format!("{} ({}): {}", self.id, about.join(", "), self.text)];
        for (name, values) in [("facts", &self.facts), ("made from", &self.messages)] {
            if !values.is_empty() {
                lines.push(format!("{name}: {}", values.join(", ")));
            }
        }
        lines.extend(self.file.as_ref().map(|file| format!("file: {file}")));
        lines.join("\n")
    }

    /// Shortens the memory to a line of a list: its text around the search terms, without messages and file.
    fn cut(mut self, terms: &[String], chars_max: usize) -> Self {
        self.text = passage(&self.text, terms, chars_max);
        (self.messages, self.file) = (Vec::new(), None);
        self
    }
}

/// The answer to a search as one list, best first. A fact that repeats a listed message becomes part of that
/// message's entry.
pub(crate) fn found(data: &SearchData, limit: usize) -> Vec<ToolMemory> {
    let mut listed: Vec<ToolMemory> = data.messages.iter().map(message).collect();
    let said: BTreeSet<&str> = data.messages.iter().map(|message| &*message.id).collect();
    let is_said = |ids: &[String]| ids.iter().any(|id| said.contains(id.as_str()));
    for fact in &data.facts {
        let says = |(message, _): &(&FoundMessage, &mut ToolMemory)| {
            fact.message_ids.contains(&message.id) && message.content.contains(&fact.content)
        };
        let mut messages = data.messages.iter().zip(&mut listed);
        match messages.find(says).filter(|_| fact.superseded_by.is_none()) {
            Some((_, memory)) => memory.facts.push(fact.id.clone()),
            None => listed.push(of_fact(fact).cut(terms(fact.explain.as_ref()), LINE_CHARS_MAX)),
        }
    }
    let told: BTreeSet<&str> = data
        .facts
        .iter()
        .filter_map(|fact| fact.episode_id.as_deref())
        .collect();
    let says_more = |episode: &&EpisodeItem| !is_said(&episode.message_ids) && !told.contains(&*episode.id);
    let episodes = data.episodes.iter().filter(says_more);
    listed.extend(episodes.map(summary));
    let events = data
        .foresights
        .iter()
        .filter(|event| !is_said(&event.message_ids));
    listed.extend(events.map(of_event).map(brief));
    listed.sort_by(|a, b| {
        b.score
            .unwrap_or_default()
            .total_cmp(&a.score.unwrap_or_default())
    });
    listed.truncate(limit);
    listed
}

fn message(message: &FoundMessage) -> ToolMemory {
    let chars_max = if message.episode_id.is_some() {
        LINE_CHARS_MAX
    } else {
        WAITING_CHARS_MAX
    };
    ToolMemory {
        id: message.episode_id.clone().unwrap_or_else(|| message.id.clone()),
        kind: "message",
        date: date(&message.timestamp),
        who: message.sender_name.clone().or_else(|| message.sender_id.clone()),
        text: message.content.clone(),
        score: Some(rounded(message.score)),
        why: why(message.explain.as_ref()),
        session: message.session_id.clone(),
        ..ToolMemory::default()
    }
    .cut(terms(message.explain.as_ref()), chars_max)
}

/// A message that no episode contains yet.
pub(crate) fn waiting(message: &UnprocessedMessage) -> ToolMemory {
    let text = match &message.content {
        MessageContent::Text(text) => text.clone(),
        MessageContent::Parts(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
            texts.join("\n")
        }
    };
    ToolMemory {
        id: message.id.clone(),
        kind: "message",
        date: date(&message.timestamp),
        who: message
            .sender_name
            .clone()
            .or_else(|| Some(message.sender_id.clone())),
        text,
        ..ToolMemory::default()
    }
}

/// A message of a conversation in its form before a compaction.
pub(crate) fn original(item: &OriginalItem) -> ToolMemory {
    let of = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ToolMemory {
        id: item.id.clone(),
        kind: "original",
        who: item.message.get("role").map(of),
        text: item
            .message
            .get("content")
            .map_or_else(|| item.message.to_string(), of),
        ..ToolMemory::default()
    }
}

pub(crate) fn of_episode(episode: &EpisodeItem) -> ToolMemory {
    ToolMemory {
        id: episode.id.clone(),
        kind: "episode",
        date: date(&episode.timestamp),
        who: Some(episode.sender_ids.join(", ")).filter(|who| !who.is_empty()),
        text: episode.episode.clone(),
        score: episode.score.map(rounded),
        why: why(episode.explain.as_ref()),
        superseded_by: episode.superseded_by.clone(),
        session: episode.session_id.clone(),
        messages: episode.message_ids.clone(),
        file: some(&episode.path),
        ..ToolMemory::default()
    }
}

/// An episode in a list: its summary if it has one, else its text.
pub(crate) fn summary(episode: &EpisodeItem) -> ToolMemory {
    let mut memory = of_episode(episode);
    if !episode.summary.is_empty() {
        memory.text.clone_from(&episode.summary);
    }
    memory.cut(terms(episode.explain.as_ref()), LINE_CHARS_MAX)
}

pub(crate) fn of_fact(fact: &FactItem) -> ToolMemory {
    ToolMemory {
        id: fact.id.clone(),
        kind: if fact.superseded_by.is_some() {
            "past fact"
        } else {
            "fact"
        },
        date: date(&fact.timestamp),
        text: fact.content.clone(),
        score: fact.score.map(rounded),
        why: why(fact.explain.as_ref()),
        since: fact.valid_from.as_deref().map(date),
        until: fact.valid_until.as_deref().map(date),
        superseded_by: fact.superseded_by.clone(),
        session: fact.session_id.clone(),
        project_only: fact.project_only,
        messages: fact.message_ids.clone(),
        file: some(&fact.path),
        ..ToolMemory::default()
    }
}

pub(crate) fn of_event(event: &ForesightItem) -> ToolMemory {
    ToolMemory {
        id: event.id.clone(),
        kind: "event",
        date: date(&event.timestamp),
        text: event.content.clone(),
        score: event.score.map(rounded),
        since: event.start_time.as_deref().map(date),
        until: event.end_time.as_deref().map(date),
        session: event.session_id.clone(),
        messages: event.message_ids.clone(),
        file: some(&event.path),
        ..ToolMemory::default()
    }
}

/// The statements and then the traits of a profile.
pub(crate) fn of_profile(profile: &ProfileData) -> Vec<ToolMemory> {
    let line = |kind, id: &String, title: &str, text: &str, messages: &[String]| ToolMemory {
        id: id.clone(),
        kind,
        text: titled(title, text),
        messages: messages.to_vec(),
        ..ToolMemory::default()
    };
    let stated = profile.explicit_info.iter();
    let stated = stated.map(|one| {
        line(
            "profile",
            &one.id,
            &one.category,
            &one.description,
            &one.message_ids,
        )
    });
    let traits = profile.implicit_traits.iter();
    let traits = traits.map(|one| line("trait", &one.id, &one.name, &one.description, &one.message_ids));
    stated.chain(traits).collect()
}

/// The memories of an answer in full.
pub(crate) fn all(data: &GetData) -> Vec<ToolMemory> {
    let shown = data.episodes.iter().map(of_episode);
    let shown = shown.chain(data.facts.iter().map(of_fact));
    let shown = shown.chain(data.foresights.iter().map(of_event));
    let profiles = data.profiles.iter().map(|profile| &profile.profile_data);
    shown.chain(profiles.flat_map(of_profile)).collect()
}

/// A memory in a list: shortened, without messages and file.
pub(crate) fn brief(memory: ToolMemory) -> ToolMemory {
    memory.cut(&[], LINE_CHARS_MAX)
}

fn titled(title: &str, text: &str) -> String {
    if title.is_empty() || text.contains(title) {
        return text.to_owned();
    }
    format!("{title}: {text}")
}

/// A score with two decimal places: more digits cost tokens and add nothing.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 100.0).round() / 100.0
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The day of a time: `2026-11-23`.
pub(crate) fn date(time: &str) -> String {
    time.get(..10).unwrap_or(time).to_owned()
}

fn terms(explain: Option<&Explain>) -> &[String] {
    explain.map_or(&[], |explain| &explain.terms)
}

/// The reasons of a hit in words, the strongest ones.
fn why(explain: Option<&Explain>) -> Option<String> {
    let explain = explain?;
    let parts = [
        ("keyword", explain.keyword),
        ("meaning", explain.vector),
        ("time", explain.time.unwrap_or_default()),
    ];
    let reasons = parts.iter().filter(|(_, share)| *share >= REASON_MIN);
    let mut reasons: Vec<String> = reasons
        .map(|(name, share)| format!("{name} {share:.2}"))
        .collect();
    if !explain.terms.is_empty() {
        reasons.push(format!("words: {}", explain.terms.join(" ")));
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// An extract of about `chars_max` characters around the first of the given words.
fn passage(text: &str, words: &[String], chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let has = |piece: &str| {
        let piece = piece.to_lowercase();
        words.iter().any(|word| piece.contains(&word.to_lowercase()))
    };
    let pieces: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let hit = pieces.iter().position(|piece| has(piece)).unwrap_or_default();
    let before: usize = pieces[..hit].iter().map(|piece| piece.chars().count()).sum();
    let skipped = before.saturating_sub(chars_max / 3);
    let mut cut: String = text.chars().skip(skipped).take(chars_max).collect();
    if skipped > 0 {
        cut.insert(0, '…');
    }
    if skipped + chars_max < text.chars().count() {
        cut.push('…');
    }
    cut
}
