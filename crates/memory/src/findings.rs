//! Problems of the stored memories: duplicates, loops, secrets, ended memories, memories without a source.
//!
//! Owns: the judgement, and its texts. Never: reading a memory, or changing one.
//!
//! Reading order: [`judge`], then [`near`] (when two texts mean the same).

mod near;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ENDED, Entry, EntryId, EntryKind, MessageId, Owner, SCENE, Scope, Timestamp, WRONG};

/// The wrapper of injected memory. A memory extracted from it would confirm itself.
const RECALLED: &str = "<quipu-memory";
/// A memory superseded for longer than this is stale.
const SUPERSEDED_DAYS_MAX: i64 = 180;
const DAY_MS: i64 = 86_400_000;

/// A memory, and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct FiledEntry {
    pub path: Arc<str>,
    pub entry: Entry,
}

model::worded! {
    /// Kinds of problems.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Fault {
        /// Another memory of the owner has the same meaning.
        Duplicate = "duplicate",
        /// A memory extracted from injected memory.
        Loop = "loop",
        /// The file contains a secret.
        Secret = "secret",
        /// It ended, or was superseded long ago.
        Stale = "stale",
        /// None of its sources exists any more.
        Unsupported = "unsupported",
    }
}

/// One problem of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub fault: Fault,
    pub path: Arc<str>,
    pub scope: Scope,
    pub owner: Owner,
    pub id: EntryId,
    /// Explanation; never contains the secret itself.
    pub why: String,
}

/// The source messages that no stored episode contains; the caller may find them elsewhere.
pub fn sources_elsewhere(memories: &[FiledEntry]) -> BTreeMap<Scope, BTreeSet<MessageId>> {
    let turns = episode_messages(memories);
    let mut elsewhere: BTreeMap<Scope, BTreeSet<MessageId>> = BTreeMap::new();
    for FiledEntry { entry, .. } in memories {
        let missing = entry.sources.iter();
        let missing = missing.filter(|id| !turns.contains(&(&entry.scope, *id)));
        let of_scope = elsewhere.entry(entry.scope.clone()).or_default();
        of_scope.extend(missing.cloned());
    }
    elsewhere.retain(|_, ids| !ids.is_empty());
    elsewhere
}

/// Judges memories at a time. `known`: the messages of [`sources_elsewhere`] that are stored elsewhere. Sorted by file,
/// then by memory.
pub fn judge(memories: &[FiledEntry], known: &BTreeSet<(Scope, MessageId)>, now: Timestamp) -> Vec<Finding> {
    let turns = episode_messages(memories);
    let mut by_owner: BTreeMap<(&Scope, &Owner), Vec<&FiledEntry>> = BTreeMap::new();
    for filed in memories {
        let whose = (&filed.entry.scope, &filed.entry.owner);
        by_owner.entry(whose).or_default().push(filed);
    }
    let mut findings = Vec::new();
    for owned in by_owner.values() {
        let superseded = superseded(owned);
        let supporting = supporting(owned);
        for filed in owned {
            let entry = &filed.entry;
            let is_known = |id: &MessageId| match entry.kind {
                // A derived memory: a message alone does not support it.
                EntryKind::Profile | EntryKind::Foresight => supporting.contains(id),
                _ => {
                    turns.contains(&(&entry.scope, id)) || known.contains(&(entry.scope.clone(), id.clone()))
                }
            };
            let stale = stale(entry, superseded.get(&entry.id).copied(), now);
            let faults = [
                (Fault::Loop, recalled(entry)),
                (Fault::Secret, secret(entry)),
                (Fault::Stale, stale),
                (Fault::Unsupported, unsupported(entry, is_known)),
            ];
            let faults = faults.into_iter().filter_map(|(fault, why)| Some((fault, why?)));
            findings.extend(faults.map(|(fault, why)| finding(filed, fault, why)));
        }
        findings.extend(duplicates(owned, &superseded));
    }
    findings.sort_by(|a, b| (&a.path, &a.id, a.fault).cmp(&(&b.path, &b.id, b.fault)));
    findings
}

fn finding(filed: &FiledEntry, fault: Fault, why: String) -> Finding {
    let FiledEntry { path, entry } = filed;
    Finding {
        fault,
        path: path.clone(),
        scope: entry.scope.clone(),
        owner: entry.owner.clone(),
        id: entry.id.clone(),
        why,
    }
}

/// The verbatim messages of episodes.
fn episode_messages(memories: &[FiledEntry]) -> BTreeSet<(&Scope, &MessageId)> {
    memories
        .iter()
        .flat_map(|filed| {
            let entry = &filed.entry;
            entry.turns.iter().map(move |turn| (&entry.scope, &turn.id))
        })
        .collect()
}

/// The messages of an owner's episodes and facts.
fn supporting<'a>(owned: &[&'a FiledEntry]) -> BTreeSet<&'a MessageId> {
    let first = owned
        .iter()
        .filter(|filed| matches!(filed.entry.kind, EntryKind::Episode | EntryKind::Fact));
    first.flat_map(|filed| &filed.entry.sources).collect()
}

/// Superseded memories, each with the first memory that superseded it and that memory's time.
fn superseded<'a>(owned: &[&'a FiledEntry]) -> BTreeMap<&'a EntryId, (Timestamp, &'a EntryId)> {
    let times: BTreeMap<_, _> = owned
        .iter()
        .filter(|filed| !has_label(&filed.entry, &[WRONG, SCENE]))
        .map(|filed| (&filed.entry.id, filed.entry.time))
        .collect();
    let mut superseded = BTreeMap::new();
    for FiledEntry { entry, .. } in owned {
        let olds = entry.supersedes.iter().map(|old| (old, (entry.time, &entry.id)));
        let newer = entry
            .superseded_by
            .as_ref()
            .and_then(|id| Some((*times.get(id)?, id)));
        for (old, by) in olds.chain(newer.map(|by| (&entry.id, by))) {
            let first = superseded.entry(old).or_insert(by);
            *first = by.min(*first);
        }
    }
    superseded
}

/// All text of a memory in its file.
fn texts(entry: &Entry) -> impl Iterator<Item = String> {
    let own = [&entry.subject, &entry.summary, &entry.body].map(Clone::clone);
    let turns: Vec<String> = entry.turns.iter().map(model::Message::text).collect();
    own.into_iter().chain(turns)
}

fn recalled(entry: &Entry) -> Option<String> {
    texts(entry)
        .any(|text| text.contains(RECALLED))
        .then(|| "Quipu extracted text that it had injected before".to_owned())
}

fn secret(entry: &Entry) -> Option<String> {
    let mut kinds = BTreeSet::new();
    for text in texts(entry) {
        let clean = model::redact::redact(&text);
        if clean != text {
            kinds.extend(model::redact::marks(&clean).into_iter().map(str::to_owned));
        }
    }
    let kinds: Vec<String> = kinds.into_iter().collect();
    (!kinds.is_empty()).then(|| format!("it contains a secret: {}", kinds.join(", ")))
}

fn stale(entry: &Entry, superseded: Option<(Timestamp, &EntryId)>, now: Timestamp) -> Option<String> {
    // A memory with a person's answer needs no action.
    let is_answered = has_label(entry, &[WRONG, SCENE, ENDED]);
    if let Some(end) = entry.valid_until.filter(|end| *end < now && !is_answered) {
        return Some(format!("it ended {}", days_ago(end, now)));
    }
    let (at, by) = superseded?;
    (now.millis() - at.millis() > SUPERSEDED_DAYS_MAX * DAY_MS)
        .then(|| format!("`{by}` superseded it {}", days_ago(at, now)))
}

fn has_label(entry: &Entry, any: &[&str]) -> bool {
    entry.labels.iter().any(|label| any.contains(&label.as_str()))
}

fn days_ago(at: Timestamp, now: Timestamp) -> String {
    match (now.millis() - at.millis()) / DAY_MS {
        0 => "today".to_owned(),
        1 => "a day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

fn unsupported(entry: &Entry, is_known: impl Fn(&MessageId) -> bool) -> Option<String> {
    let has_sources = !entry.sources.is_empty();
    (has_sources && !entry.sources.iter().any(is_known))
        .then(|| "all its source messages were deleted".to_owned())
}

/// All memories of the same meaning except the oldest. Superseded memories do not count: their meaning differs by now.
fn duplicates(owned: &[&FiledEntry], superseded: &BTreeMap<&EntryId, (Timestamp, &EntryId)>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for kind in EntryKind::ALL {
        let mut holding: Vec<&FiledEntry> = owned
            .iter()
            .copied()
            .filter(|filed| filed.entry.kind == kind && !superseded.contains_key(&filed.entry.id))
            .filter(|filed| !has_label(&filed.entry, &[WRONG, SCENE, ENDED]))
            .collect();
        holding.sort_by_key(|filed| (filed.entry.time, &filed.entry.id));
        let texts: Vec<&str> = holding.iter().map(|filed| filed.entry.body.as_str()).collect();
        let entry = |at: usize| &holding[at].entry;
        // A repeated fact of another day is kept, as the proof that it lasts.
        let is_proof = |(newer, older): &(usize, usize)| {
            let (newer, older) = (entry(*newer), entry(*older));
            let is_said_twice = !older.sources.is_empty() && older.sources != newer.sources;
            kind == EntryKind::Fact && is_said_twice && extract::is_another_day(older.time, newer.time)
        };
        for (newer, older) in near::repeats(&texts).into_iter().filter(|pair| !is_proof(pair)) {
            let why = format!("it says the same as `{}`", holding[older].entry.id);
            findings.push(finding(holding[newer], Fault::Duplicate, why));
        }
    }
    findings
}
