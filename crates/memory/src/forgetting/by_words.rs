//! Deletion by words: the messages and memories of an owner that contain them, and episodes rewritten without some
//! messages.
//!
//! Owns: the targets of some words, and the rewritten memories. Never: deleting (`forget`).

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Cell, CellId, CutReason, Doc, Entry, EntryKind, Message, MessageId, Origin, Owner, Role, SessionKey, Zone,
};
use ports::VaultPath;

use crate::api::WordsTarget;
use crate::base::Base;
use crate::derived;
use crate::derived::DeletionPlan;
use crate::error::EngineError;
use crate::files::owned;
use crate::intake::{Intake, boundaries, settle};
use crate::words::Words;

/// Entries and buffered messages of an owner.
#[derive(Debug, Default)]
pub(crate) struct Owned {
    pub(crate) entries: Vec<(VaultPath, Entry)>,
    /// Messages that are in no episode yet.
    pub(crate) tail: Vec<Message>,
}

/// Reads an owner's memory. A file that cannot be read in full is an error if it contains the words or is no text: the
/// words could stay in it.
pub(crate) async fn owned(base: &Base, target: &WordsTarget, words: &Words) -> Result<Owned, EngineError> {
    let (entries, broken) = owned::entries(&base.parts, &target.scope, &target.owner).await?;
    for path in broken {
        let bytes = base.parts.vault.bytes(&path).await?.unwrap_or_default();
        if std::str::from_utf8(&bytes).map_or(true, |text| words.are_in([text])) {
            return Err(EngineError::Invalid(format!(
                "nothing was forgotten: `{path}` cannot be read in full and may have these words; repair it first"
            )));
        }
    }
    let tail = base.parts.transcripts.tail(&target.scope, &target.owner).await?;
    Ok(Owned { entries, tail })
}

/// Deletions and rewrites of a deletion by words.
#[derive(Debug, Default)]
pub(crate) struct WordsPlan {
    /// The owner's rows, messages of episodes included; rewritten memories in their new form.
    pub(crate) rows: Vec<Doc>,
    /// Ids of the rows to delete because they contain the words.
    pub(crate) targets: BTreeSet<String>,
    /// The messages to delete, in order of time.
    pub(crate) messages: Vec<Message>,
    /// Memories that lose some of their messages, in their new form.
    pub(crate) rewritten: Vec<(VaultPath, Entry)>,
}

impl WordsPlan {
    /// The deletion among these rows of the plan.
    pub(crate) fn deletion<'a>(&self, rows: &[&'a Doc]) -> DeletionPlan<'a> {
        let is_named = |row: &&Doc| self.targets.contains(&*row.key.id);
        DeletionPlan::of(rows, rows.iter().copied().filter(is_named).collect())
    }
}

/// Plans the deletion for an owner's memory.
pub(crate) fn plan(owned: &Owned, words: &Words, target: &WordsTarget, zone: &Zone) -> WordsPlan {
    let kept = kept(owned, &target.keep);
    let going = messages(owned).filter(|message| goes(message, words, target, &kept));
    let messages: BTreeMap<&str, &Message> = going.map(|message| (message.id.as_str(), message)).collect();
    let mut plan = WordsPlan::default();
    for (path, entry) in &owned.entries {
        let mut now = entry.clone();
        if !kept.contains(entry.id.as_str()) {
            match without(&mut now, words, &messages, zone) {
                Fate::Stays => {}
                Fate::Goes => _ = plan.targets.insert(entry.id.as_str().to_owned()),
                Fate::Rewritten => plan.rewritten.push((path.clone(), now.clone())),
            }
        }
        plan.rows.extend(Doc::of_entry(&now, path).into_iter().take(1));
        if !derived::is_merged(entry) {
            plan.rows.extend(Doc::of_entry(entry, path).into_iter().skip(1));
        }
    }
    plan.targets.extend(messages.keys().map(|id| (*id).to_owned()));
    plan.messages = messages.into_values().cloned().collect();
    plan.messages
        .sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
    plan
}

/// The messages without the words directly before and after deleted ones.
pub(crate) fn nearby<'a>(owned: &'a Owned, plan: &WordsPlan, words: &Words, of: &Owner) -> Vec<&'a Message> {
    let goes = |message: &Message| plan.targets.contains(message.id.as_str());
    let mut all: Vec<&Message> = messages(owned).collect();
    all.sort_by_key(|message| (&message.session, message.time, &message.id));
    let pairs = all.windows(2).filter(|pair| pair[0].session == pair[1].session);
    let nearby = pairs.filter(|pair| goes(pair[0]) != goes(pair[1])).flatten();
    let mut nearby: Vec<&Message> = nearby.copied().collect();
    nearby.retain(|message| !goes(message) && !words.are_in_message(message, of));
    nearby.dedup();
    nearby
}

/// An owner's messages. Those of a merged memory are left out, because it repeats messages of others.
fn messages(owned: &Owned) -> impl Iterator<Item = &Message> {
    let entries = owned.entries.iter().map(|(_, entry)| entry);
    let first = entries.filter(|entry| !derived::is_merged(entry));
    first.flat_map(|entry| &entry.turns).chain(&owned.tail)
}

/// Whether to delete a message: it contains the words or the request names it, and it is not kept.
fn goes(message: &Message, words: &Words, target: &WordsTarget, kept: &BTreeSet<&str>) -> bool {
    let id = message.id.as_str();
    !kept.contains(id) && (target.also.contains(id) || words.are_in_message(message, &target.owner))
}

/// The ids that stay: those that the request names, and the source messages of the named memories.
fn kept<'a>(owned: &'a Owned, keep: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    let mut kept: BTreeSet<&str> = keep.iter().map(String::as_str).collect();
    for (_, entry) in &owned.entries {
        if keep.contains(entry.id.as_str()) {
            kept.extend(entry.sources.iter().map(MessageId::as_str));
            kept.extend(entry.turns.iter().map(|turn| turn.id.as_str()));
        }
    }
    kept
}

enum Fate {
    Stays,
    Goes,
    Rewritten,
}

/// Removes messages and words from a memory. A memory made of several memories is not rewritten: it is deleted with its
/// sources, and the next run makes it again.
fn without(entry: &mut Entry, words: &Words, gone: &BTreeMap<&str, &Message>, zone: &Zone) -> Fate {
    let has_words = words.are_in_text(entry);
    if derived::entry_is_derived(entry)
        || matches!(entry.kind, EntryKind::Case | EntryKind::Skill | EntryKind::Topic)
    {
        return if has_words { Fate::Goes } else { Fate::Stays };
    }
    let sources = entry.sources.len();
    entry.sources.retain(|source| !gone.contains_key(source.as_str()));
    let is_touched = entry.sources.len() < sources;
    let is_sourceless = is_touched && entry.sources.is_empty();
    if entry.kind == EntryKind::Fact {
        return match (has_words || is_sourceless, is_touched) {
            (true, _) => Fate::Goes,
            (false, true) => Fate::Rewritten,
            (false, false) => Fate::Stays,
        };
    }
    let turns = entry.turns.len();
    entry.turns.retain(|turn| !gone.contains_key(turn.id.as_str()));
    if entry.turns.is_empty() && (has_words || is_sourceless || turns > 0) {
        return Fate::Goes;
    }
    if entry.turns.len() == turns && !has_words {
        return Fate::Stays;
    }
    if has_words || entry.origin != Origin::Hand {
        summarise(entry, words, zone);
    }
    entry.senders = entry.turns.iter().map(|turn| turn.sender.clone()).collect();
    entry.senders.sort();
    entry.senders.dedup();
    Fate::Rewritten
}

/// Gives an episode the heading and summary that the rules make of its remaining messages.
fn summarise(entry: &mut Entry, words: &Words, zone: &Zone) {
    let Some(first) = entry.turns.first() else { return };
    let cell = Cell {
        id: CellId::new(entry.id.as_str()),
        session: first.session.clone(),
        messages: entry.turns.clone(),
        owners: vec![entry.owner.clone()],
        reason: CutReason::Flush,
    };
    let episode = extract::episode(&cell, zone);
    entry.subject = episode.subject;
    entry.summary = episode.summary;
    entry.author = Some(extract::RULES_VERSION.to_owned());
    if words.are_in([&*entry.body]) {
        entry.body = String::new();
    }
}

/// Whether another user speaks in a session.
pub(crate) fn is_shared(owned: &Owned, session: &SessionKey, owner: &Owner) -> bool {
    let turns = owned.entries.iter().flat_map(|(_, entry)| &entry.turns);
    turns.chain(&owned.tail).any(|message| {
        message.session == *session && message.role == Role::User && message.sender != owner.id
    })
}

/// Before a deletion, has buffered messages with the words written if others own them too: each owner then has a copy.
/// Returns those buffered messages with the words; some of them stay as memory of others only.
pub(crate) async fn write_shared(
    intake: &Intake,
    target: &WordsTarget,
    words: &Words,
) -> Result<BTreeSet<MessageId>, EngineError> {
    let owned = owned(&intake.base, target, words).await?;
    let kept = kept(&owned, &target.keep);
    let said = |message: &&Message| goes(message, words, target, &kept);
    let said: Vec<&Message> = owned.tail.iter().filter(said).collect();
    let sessions: BTreeSet<&SessionKey> = said.iter().map(|message| &message.session).collect();
    for session in sessions {
        if is_shared(&owned, session, &target.owner) {
            boundaries::cut_all(intake, session).await?;
        }
        settle::session(intake, session).await?;
    }
    Ok(said.into_iter().map(|message| message.id.clone()).collect())
}

/// The sessions of an owner's messages.
pub(crate) fn sessions(owned: &Owned) -> BTreeSet<SessionKey> {
    let turns = owned.entries.iter().flat_map(|(_, entry)| &entry.turns);
    turns
        .chain(&owned.tail)
        .map(|message| message.session.clone())
        .collect()
}
