//! The history of the vault: who changed what, when and why.
//!
//! Owns: that a version is recorded before the file contains it, and the author of each write. Never: deciding what is
//! written.
//!
//! Every write of the engine goes through `base::recorded`, which announces it in the ledger. A sync takes every other
//! difference for a person's change. Nothing is inferred from times.

pub(super) mod log;
mod other_files;
mod past;
mod purge;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{Doc, EntryId, Owner, Scope, warned};
use ports::{
    By, FileMark, FileRecord, NewVersion, ParsedFile, Run, VaultPath, VersionKey, VersionQuery, VersionText,
};

pub(crate) use log::{diff, log, states, writers};
pub(crate) use other_files::{end, keep};
pub(crate) use past::files_then;
pub use past::{Moment, PastFile};
pub(crate) use purge::{Targets, purge, purge_owner, purge_session};

use crate::api::RecordedChange;
use crate::base::chronicle::{DOING, as_run, text_of};
use crate::base::{Base, Doing, Going};
use crate::error::EngineError;
use crate::ids;

/// Writes new memories of conversations, as a run of its own.
pub(crate) async fn remembered<T>(base: &Base, work: impl Future<Output = T>) -> T {
    let at = base.now();
    let run = Run {
        id: ids::run_id(&*base.parts.ids, at, &base.settings.zone),
        strategy: "remember".to_owned(),
        reason: "new memories of conversations".to_owned(),
    };
    as_run((By::Run { run, undoes: None }, at, None), work).await.0
}

/// Whether the current task may change an entry or a page. If several ledgers write to the vault, a run may change only
/// text that its own ledger's runs wrote last: other text is a person's or another ledger's. `text` is the present
/// text, if the history may not have it yet.
pub(crate) async fn may_change(
    base: &Base,
    key: VersionKey,
    text: Option<&str>,
) -> Result<bool, EngineError> {
    let vault = &base.parts.vault;
    let doing = DOING.try_with(Arc::clone).ok();
    let is_run = matches!(doing.as_deref(), Some(Doing::Run { .. }));
    if !is_run || vault.name().is_none() || vault.is_own_file(&key.path) {
        return Ok(true);
    }
    let history = base.chronicle.up_to_date().await?;
    let versions = history.versions(&VersionQuery::Keys(vec![key])).await?;
    Ok(versions.last().is_some_and(|last| {
        let change = last.change.as_ref();
        let is_of_run = change.is_some_and(|change| change.by.run().is_some());
        let stood = last.after.as_ref().map(|after| after.digest);
        is_of_run && text.is_none_or(|text| Some(text_of(text.as_bytes()).digest) == stood)
    }))
}

/// Does a run's work and records it as one change.
pub(crate) async fn recorded<T>(
    base: &Base,
    run: Run,
    work: impl Future<Output = T>,
) -> (T, Option<RecordedChange>) {
    let chronicle = &base.chronicle;
    if !chronicle.is_recording {
        return (work.await, None);
    }
    let _turn = chronicle.turn.lock().await;
    let by = By::Run { run, undoes: None };
    let (done, change) = as_run((by, base.now(), None), work).await;
    let made = match change {
        Some(change) => log::change(base, change).await,
        None => Ok(None),
    };
    (done, warned!(made, "cannot read a change").flatten())
}

/// Does the work of a deletion: deleted text keeps no version. Returns whether the history that an earlier version kept
/// was deleted too.
pub(crate) async fn forgetting<T>(
    base: &Base,
    work: impl Future<Output = T>,
) -> Result<(T, bool), EngineError> {
    let doing = Arc::new(Doing::Forgetting(Going::default()));
    let done = DOING.scope(doing.clone(), work).await;
    let Doing::Forgetting(going) = &*doing else {
        return Ok((done, false));
    };
    let entries = std::mem::take(&mut *going.entries.lock());
    // Versions that a sync added meanwhile when it found these entries gone.
    for ((scope, owner), entries) in entries {
        let targets = Targets {
            entries,
            ..Targets::default()
        };
        purge_owner(base, (&scope, &owner), targets).await?;
    }
    let files = std::mem::take(&mut *going.files.lock());
    let mut gone = Vec::new();
    for path in files {
        // A file that stays keeps its recorded stat, or it would be recorded again.
        if base.parts.vault.bytes(&path).await?.is_none() {
            gone.push(path);
        }
    }
    if !gone.is_empty() {
        base.chronicle.history.drop_others(gone).await?;
    }
    Ok((done, going.has_dropped_old.load(Ordering::Relaxed)))
}

/// Called before rows of an owner are removed: in a deletion, their history is deleted first.
pub(crate) async fn going<'a>(
    base: &Base,
    (scope, owner): (&Scope, &Owner),
    gone: impl Iterator<Item = &'a Doc>,
) -> Result<(), EngineError> {
    let doing = DOING.try_with(Arc::clone).ok();
    let Some(Doing::Forgetting(going)) = doing.as_deref() else {
        return Ok(());
    };
    let mut targets = Targets::default();
    for doc in gone {
        targets.entries.insert(doc.key.id.to_string());
        targets.messages.extend(doc.sources.iter().cloned());
    }
    if targets.entries.is_empty() {
        return Ok(());
    }
    if base.parts.vault.delete_old_history().await? {
        going.has_dropped_old.store(true, Ordering::Relaxed);
    }
    let of_owner = (scope.clone(), owner.clone());
    going
        .entries
        .lock()
        .entry(of_owner)
        .or_default()
        .extend(targets.entries.clone());
    purge_owner(base, (scope, owner), targets).await
}

/// Records the differences that a sync found in files as a person's changes.
pub(crate) async fn find<'a>(
    base: &Base,
    files: impl Iterator<Item = (&'a VaultPath, Option<&'a ParsedFile>, Option<&'a FileRecord>)>,
) -> Result<(), EngineError> {
    if !base.chronicle.is_recording {
        return Ok(());
    }
    let mut found = Vec::new();
    for (path, file, record) in files {
        found.extend(differences(base, path, file, record));
    }
    if !found.is_empty() {
        let history = base.chronicle.up_to_date().await?;
        history.find(found, base.now()).await?;
    }
    Ok(())
}

/// The digest of an entry in an unknown state.
pub(crate) const UNKNOWN: u64 = 0;

/// The differences between the entries of a file and its record. Entries that existed when the ledger was new count as
/// unchanged.
fn differences(
    base: &Base,
    path: &VaultPath,
    file: Option<&ParsedFile>,
    record: Option<&FileRecord>,
) -> Vec<NewVersion> {
    let marks = record.into_iter().flat_map(|record| &record.marks);
    let mut marks: BTreeMap<&EntryId, &FileMark> = marks.map(|mark| (&mark.entry, mark)).collect();
    let mut found = Vec::new();
    for read in file.into_iter().flat_map(|file| &file.entries) {
        let mark = marks.get(&read.entry.id);
        if mark.is_some_and(|mark| mark.digest == read.digest) {
            continue;
        }
        let after = base.parts.vault.text_of(&read.entry);
        let before = match mark {
            Some(mark) if mark.digest != UNKNOWN => Some(known(mark)),
            None if !base.chronicle.is_new.load(Ordering::Relaxed) => None,
            _ => Some(after.clone()),
        };
        found.push(NewVersion {
            key: VersionKey::of_entry(path, &read.entry.id),
            owner: Some((read.entry.scope.clone(), read.entry.owner.clone())),
            session: read.entry.session.clone(),
            before,
            after: Some(after),
        });
    }
    // An unreadable entry is not gone.
    if let Some(file) = file {
        for read in &file.entries {
            marks.remove(&read.entry.id);
        }
        marks.retain(|id, _| !file.unreadable.contains(*id));
    }
    let is_unread = file.is_some_and(|file| file.is_unread);
    if let Some(record) = record.filter(|_| !is_unread) {
        found.extend(marks.into_values().map(|mark| NewVersion {
            key: VersionKey::of_entry(path, &mark.entry),
            owner: Some((record.scope.clone(), record.owner.clone())),
            session: None,
            before: (mark.digest != UNKNOWN).then(|| known(mark)),
            after: None,
        }));
    }
    found
}

fn known(mark: &FileMark) -> VersionText {
    VersionText {
        digest: mark.digest,
        bytes: 0,
        text: None,
    }
}

/// Settles the versions that an earlier process announced and perhaps wrote, by comparison with the files. Must run
/// before any write.
pub(crate) async fn recover(base: &Base) {
    if base.settings.asks_only || !base.chronicle.is_recording {
        return;
    }
    let settled = settle_all(base).await;
    warned!(settled, "cannot settle the history; the next start does");
}

async fn settle_all(base: &Base) -> Result<(), EngineError> {
    let history = &base.chronicle.history;
    let unsettled = history.versions(&VersionQuery::Unsettled).await?;
    let mut found = Vec::new();
    for version in unsettled {
        let now = states(base, &version).await?;
        found.push(NewVersion {
            key: version.key,
            owner: version.owner,
            session: version.session,
            before: None,
            after: now,
        });
    }
    if !found.is_empty() {
        history.find(found, base.now()).await?;
    }
    Ok(())
}
