//! Memories in a span that is about to leave the view, found by rules alone.
//!
//! Owns: which sentences become memories, their kind and worth, without repetitions. Never: a model, a place to store
//! them. Its words are few and of few languages: a hint, never the only way to keep something.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use transcript::{Item, ItemId, Role};

use crate::shorten::summary;
use model::redact::redact;

/// Kind of a memory. Declared in the order in which a sentence is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    Decision,
    /// How the user wants things; only the user's own words are.
    Preference,
    Fact,
    /// The present work; only from the assistant.
    Context,
}

/// One sentence worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptMemory {
    pub kind: MemoryKind,
    /// One line in its original words, without secrets.
    pub text: String,
    /// 0 to 1.
    pub importance: f32,
    /// The items with this text, ascending.
    pub sources: Vec<ItemId>,
}

/// No more memories come of one span: more is a log, and comparing all of them has its price.
const MEMORIES_MAX: usize = 256;
/// Two memories whose words overlap more than this are one.
const JACCARD_SAME: f64 = 0.8;
const TEXT_MAX: usize = 500;
/// Tags of each memory, where one is written down.
pub const TAGS: &str = "#auto-extracted #compaction";

/// The memories of a span, in order of the conversation. Of two equal ones the first stays, with the sources of both.
pub fn extract(span: &[(ItemId, &Item)]) -> Vec<KeptMemory> {
    let mut kept: Vec<(KeptMemory, BTreeSet<String>)> = Vec::new();
    for &(id, item) in span {
        let text = said(item);
        for sentence in sentences(&text) {
            let Some((kind, importance)) = kind(sentence, item.role) else {
                continue;
            };
            let text = redact(sentence).into_owned();
            let words = words(&text);
            let room = kept.len() < MEMORIES_MAX;
            match kept
                .iter_mut()
                .find(|(_, other)| jaccard(&words, other) > JACCARD_SAME)
            {
                Some((memory, _)) if memory.sources.last() == Some(&id) => {}
                Some((memory, _)) => memory.sources.push(id),
                None if room => {
                    kept.push((
                        KeptMemory {
                            kind,
                            text,
                            importance,
                            sources: vec![id],
                        },
                        words,
                    ));
                }
                None => {}
            }
        }
    }
    kept.into_iter().map(|(memory, _)| memory).collect()
}

/// The `max` of most importance, that first; among equals in order of the talk.
pub fn best(mut memories: Vec<KeptMemory>, max: usize) -> Vec<KeptMemory> {
    memories.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    memories.truncate(max);
    memories
}

fn said(item: &Item) -> String {
    match item.role {
        Role::System | Role::Tool => String::new(),
        Role::User | Role::Assistant => without_code(&item.prose()),
    }
}

/// Without fenced blocks; a fence that stays open takes the rest.
fn without_code(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Without the marks of lists, quotes and headings.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let marks = ['-', '*', '>', '#', ' '];
    summary::sentences(text).map(move |sentence| sentence.trim_start_matches(marks).trim())
}

fn kind(sentence: &str, role: Role) -> Option<(MemoryKind, f32)> {
    // In a dense script, 10 characters contain as much as 30 in Latin.
    let least = if sentence.is_ascii() { 30 } else { 10 };
    let length = sentence.chars().count();
    if !(least..=TEXT_MAX).contains(&length) || sentence.starts_with(['{', '[']) {
        return None;
    }
    let cues = &*CUES;
    if cues.decision.is_match(sentence) || cues.decision_more.is_match(sentence) {
        return Some((MemoryKind::Decision, 0.8));
    }
    if role == Role::User && cues.preference.is_match(sentence) {
        return Some((MemoryKind::Preference, 0.7));
    }
    if cues.fact.is_match(sentence) || cues.fact_more.is_match(sentence) {
        return Some((MemoryKind::Fact, 0.6));
    }
    let context = role == Role::Assistant && cues.context.is_match(sentence);
    context.then_some((MemoryKind::Context, 0.5))
}

struct MemoryCues {
    decision: Regex,
    decision_more: Regex,
    preference: Regex,
    fact: Regex,
    fact_more: Regex,
    context: Regex,
}

static CUES: LazyLock<MemoryCues> = LazyLock::new(|| {
    let cue = |pattern: &str| Regex::new(pattern).expect("a test compiles every cue");
    MemoryCues {
        decision: cue(
            r"(?i)(?-u:\b)(?:decided|decision|choose|chose|selected|going with|will use|opted for)(?-u:\b)|(?-u:\b)(?:approach|solution):",
        ),
        decision_more: cue(
            r"(?i)\b(?:décidé|décision|choisi|entschieden|entscheidung|decidido|decisión|decidimos|решили|решено)\b|決定|决定|決めました|选择了|にしました",
        ),
        preference: cue(
            r"(?i)\b(?:i prefer|i'd rather|i like|i don't like|i always|i never|please always|please never|always use|never use|from now on|je préfère|ich bevorzuge|ich möchte|prefiero|предпочитаю)\b|喜欢|偏好|以后都|好みます|してください",
        ),
        fact: cue(
            r"(?i)(?-u:\b)(?:note|important|remember|key point|fact):|(?-u:\b)(?:the reason|because|due to|this is because)(?-u:\b)",
        ),
        fact_more: cue(
            r"(?i)\b(?:parce que|à cause de|weil|wegen|porque|debido a|потому что)\b|因为|注意[：:]|なぜなら|ので",
        ),
        context: cue(
            r"(?i)(?-u:\b)(?:context|background):|(?-u:\b)(?:currently|the project|working on|implementing|building)(?-u:\b)",
        ),
    }
});

/// Words in small letters; a character of a script without blanks is a word.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for run in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|run| !run.is_empty())
    {
        if run.chars().any(|c| c >= '\u{2e80}') {
            words.extend(run.chars().map(String::from));
        } else {
            words.insert(run.to_lowercase());
        }
    }
    words
}

fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 {
        1.0
    } else {
        both as f64 / either as f64
    }
}

#[cfg(test)]
mod tests;
