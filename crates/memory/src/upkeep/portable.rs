//! Export and import of all memory of one owner, as values.
//!
//! Owns: the parts of an owner's memory, and that a second import changes nothing. Never: its text form (the doors).
//!
//! The Markdown is the memory: an export has the entries of the files, with the verbatim messages of their episodes,
//! and the messages that are in no file yet.

use std::collections::{BTreeMap, BTreeSet};

use model::{Entry, EntryId, EntryKind, Message, MessageId, Owner, Page, Scope, SessionKey};
use ports::{Carried, NewMessage, WrittenCell};

use crate::api::{ImportCounts, OwnedMemory};
use crate::base::Base;
use crate::error::EngineError;
use crate::files::{edit, owned};
use crate::forgetting::{Forgetting, unfinished};
use crate::ids;
use crate::intake::{Intake, memorize};

/// All memory of an owner, in the same order each time.
pub(crate) async fn export(base: &Base, scope: &Scope, owner: &Owner) -> Result<OwnedMemory, EngineError> {
    base.accepting()?;
    let (entries, broken) = owned::entries(&base.parts, scope, owner).await?;
    let mut entries: Vec<Entry> = entries.into_iter().map(|(_, entry)| entry).collect();
    entries.sort_by(|a, b| (a.kind.as_str(), a.time, &a.id).cmp(&(b.kind.as_str(), b.time, &b.id)));
    let mut pages = Vec::new();
    for page in Page::ALL {
        if let Some(text) = base.parts.pages.page(scope, owner, page).await? {
            pages.push((page, text));
        }
    }
    let turns: BTreeSet<MessageId> = turn_ids(&entries).collect();
    let mut messages = base.parts.transcripts.tail(scope, owner).await?;
    // A segment that is being written is in both the files and the buffer.
    messages.retain(|message| !turns.contains(&message.id));
    messages.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
    let ids = turns
        .into_iter()
        .chain(messages.iter().map(|message| message.id.clone()));
    let ids: Vec<MessageId> = ids.collect();
    Ok(OwnedMemory {
        carried: base.parts.transcripts.carried(scope, &ids).await?,
        entries,
        pages,
        made: base.parts.pages.made(scope, owner).await?,
        messages,
        broken,
    })
}

/// Adds entries and messages that are not stored yet, with their ids. Stored ones stay as they are.
pub(crate) async fn import(
    forgetting: &Forgetting,
    scope: &Scope,
    owner: &Owner,
    given: OwnedMemory,
) -> Result<ImportCounts, EngineError> {
    let base = &forgetting.base;
    base.accepting()?;
    let is_theirs = |entry: &Entry| entry.scope == *scope && entry.owner == *owner;
    if !given.entries.iter().all(is_theirs) || given.messages.iter().any(|m| m.session.scope != *scope) {
        return Err(EngineError::invalid("a memory belongs to somebody else"));
    }
    base.answering().await?;
    unfinished::finish(forgetting, |forget| forget.scope() == scope).await?;
    let mut taken = ImportCounts {
        memories: given.entries.len() + given.pages.len(),
        messages: given.messages.len(),
        ..ImportCounts::default()
    };
    let turns = {
        let _alone = base.alone_in(scope).await;
        let (stored, _) = owned::entries(&base.parts, scope, owner).await?;
        let stored: Vec<Entry> = stored.into_iter().map(|(_, entry)| entry).collect();
        let turns: BTreeSet<MessageId> = turn_ids(&stored).chain(turn_ids(&given.entries)).collect();
        let stored = stored.into_iter().map(|entry| (entry.id.clone(), entry));
        let stored: BTreeMap<EntryId, Entry> = stored.collect();
        let mut fresh = Vec::new();
        for entry in given.entries {
            match stored.get(&entry.id) {
                None => fresh.push(entry),
                Some(there) if *there != entry => taken.kept_memories += 1,
                Some(_) => {}
            }
        }
        taken.new_memories = fresh.len();
        // First: a repetition of an interrupted import takes written entries for known ones, and does not adopt them.
        adopt(base, scope, &fresh, &given.carried).await?;
        let written = base.parts.vault_writer.append(&fresh, false).await?;
        edit::follow(base, written.into_iter().map(|written| written.stat.path)).await?;
        turns
    };
    let (pages, writer) = (&base.parts.pages, &base.parts.vault_writer);
    for (page, text) in given.pages {
        match pages.page(scope, owner, page).await? {
            None if writer.replace_page(scope, owner, page, None, &text).await? => taken.new_memories += 1,
            Some(there) if there == text => {}
            _ => taken.kept_memories += 1,
        }
    }
    let mut made = pages.made(scope, owner).await?;
    let before = made.len();
    made.extend(given.made);
    if made.len() > before {
        pages.set_made(scope, owner, &made).await?;
    }
    let open = given.messages.into_iter();
    let open = open.filter(|message| !turns.contains(&message.id));
    taken.new_messages = add(&forgetting.intake, scope, open.collect(), given.carried).await?;
    Ok(taken)
}

/// Puts messages that are in no episode into the buffers of their sessions; returns the number of new ones.
async fn add(
    intake: &Intake,
    scope: &Scope,
    messages: Vec<Message>,
    mut carried: Carried,
) -> Result<usize, EngineError> {
    let ids: Vec<MessageId> = messages.iter().map(|message| message.id.clone()).collect();
    let there = intake.base.parts.transcripts.messages(scope, &ids).await?;
    let there: BTreeSet<MessageId> = there.into_iter().map(|message| message.id).collect();
    let mut sessions: BTreeMap<SessionKey, Vec<NewMessage>> = BTreeMap::new();
    for message in messages {
        if !there.contains(&message.id) {
            let client_id = carried.client_ids.remove(&message.id);
            let new = NewMessage::new(message, client_id);
            sessions.entry(new.message.session.clone()).or_default().push(new);
        }
    }
    let mut added = 0;
    for (session, messages) in sessions {
        added += memorize::import(intake, &session, messages).await?;
    }
    Ok(added)
}

/// Tells the ledger the messages of new episodes, and which messages were deleted before.
async fn adopt(base: &Base, scope: &Scope, fresh: &[Entry], carried: &Carried) -> Result<(), EngineError> {
    let cells = fresh.iter().filter_map(|entry| written_cell(entry, carried));
    let forgotten = carried.forgotten.clone();
    let transcripts = &base.parts.transcripts;
    Ok(transcripts.adopt(scope, cells.collect(), forgotten).await?)
}

/// Tells a new ledger the messages in the files, so that none of them is stored again.
pub(crate) async fn adopt_files(base: &Base) -> Result<(), EngineError> {
    for stat in base.parts.vault.scan().await? {
        let Some(file) = base.parts.vault.read(&stat.path).await? else {
            continue;
        };
        let entries: Vec<Entry> = file.entries.into_iter().map(|read| read.entry).collect();
        let episodes = entries.iter().filter(|entry| entry.kind == EntryKind::Episode);
        if let Some(scope) = episodes.map(|entry| &entry.scope).next() {
            adopt(base, scope, &entries, &Carried::default()).await?;
        }
    }
    Ok(())
}

/// The segment of an episode.
fn written_cell(entry: &Entry, carried: &Carried) -> Option<WrittenCell> {
    let session = SessionKey::new(entry.scope.clone(), entry.session.clone()?);
    let turns = entry.turns.iter().filter(|turn| turn.session == session);
    let messages: Vec<NewMessage> = turns
        .map(|turn| NewMessage::new(turn.clone(), carried.client_ids.get(&turn.id).cloned()))
        .collect();
    Some(WrittenCell {
        id: ids::cell_of_parent(entry.parent.as_ref())?,
        session,
        owner: entry.owner.clone(),
        messages,
    })
}

/// The ids of the messages in episodes.
fn turn_ids(entries: &[Entry]) -> impl Iterator<Item = MessageId> {
    let episodes = entries.iter().filter(|entry| entry.kind == EntryKind::Episode);
    episodes.flat_map(|entry| entry.turns.iter().map(|turn| turn.id.clone()))
}
