//! The history of the vault: who changed what, when and why.
//!
//! Owns: that a version is recorded before the file has it, and whose work a write is. Never: deciding what is written.
//!
//! Every write of the engine goes through [`recorded`], which announces it in the ledger. What a sync finds otherwise than
//! announced is a person's. Nothing is inferred from times.

mod others;
mod purge;
mod reading;
mod recorded;
mod then;
mod undone;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Doc, EntryId, Owner, Scope, Timestamp};
use parking_lot::Mutex;
use ports::{
    By, ChangeId, ChangeTarget, FileMark, FileRecord, History, HistoryChange, LedgerError, NewVersion,
    ParsedFile, Run, Touching, VaultPath, Version, VersionId, VersionKey, VersionQuery, VersionText,
};
use tokio::sync::Notify;

pub(crate) use others::{end, keep};
pub(crate) use purge::{Named, purge, purge_owner, purge_session};
pub(crate) use reading::{diff, log, states, writers};
use recorded::RecordedVault;
pub use then::{Moment, PastFile};
use undone::finish_open;
pub(crate) use undone::undo;

use crate::api::RecordedChange;
use crate::error::EngineError;
use crate::ids;
use crate::parts::Parts;
use crate::world::World;

tokio::task_local! {
    /// What the work that is polled writes for.
    static DOING: Arc<Doing>;
}

/// What a write is made for. Outside of it, a write is a person's, through a door.
#[derive(Debug)]
enum Doing {
    Run {
        by: By,
        at: Timestamp,
        /// The change of the run, once it wrote something.
        change: Mutex<Option<ChangeId>>,
    },
    /// What goes leaves the history too.
    Forgetting(Going),
}

/// What a deletion took out.
#[derive(Debug, Default)]
struct Going {
    entries: Mutex<BTreeMap<(Scope, Owner), BTreeSet<String>>>,
    /// Files beside memory whose versions went.
    files: Mutex<BTreeSet<VaultPath>>,
    /// The history of an earlier version went too.
    has_dropped_old: AtomicBool,
}

/// What is known of the history, and of what it does not have yet.
#[derive(Debug)]
pub(crate) struct Chronicle {
    history: Arc<dyn History>,
    is_recording: bool,
    /// One run or undo at a time.
    turn: tokio::sync::Mutex<()>,
    /// Versions that are in their files, which the ledger does not know yet.
    settled: Mutex<Vec<VersionId>>,
    /// When the first and the last change of files beside memory were seen, by the clock that never goes back.
    changed: Mutex<Option<(Duration, Duration)>>,
    begun: Notify,
    /// The ledger knew no file at the start, and the vault was not looked at yet: what stands there was not changed.
    is_new: AtomicBool,
}

impl Chronicle {
    pub(crate) fn new(history: Arc<dyn History>, is_recording: bool) -> Self {
        Self {
            history,
            is_recording,
            turn: tokio::sync::Mutex::default(),
            settled: Mutex::default(),
            changed: Mutex::default(),
            begun: Notify::new(),
            is_new: AtomicBool::default(),
        }
    }

    /// Has every write through the parts announced from now on.
    pub(crate) async fn begin(self: &Arc<Self>, parts: &mut Parts) -> Result<(), LedgerError> {
        let is_new = parts.file_changes.count().await? == 0;
        self.is_new.store(is_new, Ordering::Relaxed);
        let recorded = Arc::new(RecordedVault {
            vault: parts.vault.clone(),
            pages: parts.pages.clone(),
            chronicle: self.clone(),
            clock: parts.clock.clone(),
        });
        (parts.vault, parts.pages) = (recorded.clone(), recorded);
        Ok(())
    }

    /// The whole vault was looked at.
    pub(crate) fn has_looked(&self) {
        self.is_new.store(false, Ordering::Relaxed);
    }

    /// Records versions that are about to be written, for whom the work is. None if nothing is recorded of it.
    async fn announce(
        &self,
        versions: Vec<NewVersion>,
        now: Timestamp,
    ) -> Result<Vec<VersionId>, LedgerError> {
        let doing = DOING.try_with(Arc::clone).ok();
        let is_forgetting = matches!(doing.as_deref(), Some(Doing::Forgetting(_)));
        if !self.is_recording || is_forgetting || versions.is_empty() {
            return Ok(Vec::new());
        }
        let target = match doing.as_deref() {
            Some(Doing::Run { by, at, change }) => ChangeTarget {
                known: *change.lock(),
                by: by.clone(),
                at: *at,
            },
            _ => ChangeTarget {
                known: None,
                by: By::Person,
                at: now,
            },
        };
        let settled = self.take_settled();
        let announced = self.history.announce(target, versions, settled.clone()).await;
        let announced = announced.inspect_err(|_| self.settled.lock().extend(settled))?;
        if let Some(Doing::Run { change, .. }) = doing.as_deref() {
            *change.lock() = Some(announced.change);
        }
        Ok(announced.versions)
    }

    /// Versions are in their files.
    fn are_written(&self, versions: impl IntoIterator<Item = VersionId>) {
        self.settled.lock().extend(versions);
    }

    fn take_settled(&self) -> Vec<VersionId> {
        std::mem::take(&mut *self.settled.lock())
    }

    /// The ledger's history, which knows all that was written.
    async fn up_to_date(&self) -> Result<&Arc<dyn History>, LedgerError> {
        let settled = self.take_settled();
        if !settled.is_empty() {
            let done = self.history.settle(settled.clone()).await;
            done.inspect_err(|_| self.settled.lock().extend(settled))?;
        }
        Ok(&self.history)
    }
}

/// Does work whose writes are a run's; the caller's future alone counts, not what it spawns.
async fn as_run<T>(
    (by, at, known): (By, Timestamp, Option<ChangeId>),
    work: impl Future<Output = T>,
) -> (T, Option<ChangeId>) {
    let doing = Arc::new(Doing::Run {
        by,
        at,
        change: Mutex::new(known),
    });
    let done = DOING.scope(doing.clone(), work).await;
    let made = match &*doing {
        Doing::Run { change, .. } => *change.lock(),
        Doing::Forgetting(_) => None,
    };
    (done, made)
}

/// Does the work of writing new memories of conversations.
pub(crate) async fn remembered<T>(world: &World, work: impl Future<Output = T>) -> T {
    let at = world.now();
    let run = Run {
        id: ids::run_id(&*world.parts.ids, at, &world.settings.zone),
        strategy: "remember".to_owned(),
        reason: "new memories of conversations".to_owned(),
    };
    as_run((By::Run { run, undoes: None }, at, None), work).await.0
}

/// Whether the work that is polled may change what stands in the vault. Where several ledgers write, a run leaves what
/// its own ledger's runs did not write last: it is a person's or another ledger's. `text` is what stands there, where that may not
/// be in the history yet.
pub(crate) async fn may_change(
    world: &World,
    key: VersionKey,
    text: Option<&str>,
) -> Result<bool, EngineError> {
    let vault = &world.parts.vault;
    let doing = DOING.try_with(Arc::clone).ok();
    let is_run = matches!(doing.as_deref(), Some(Doing::Run { .. }));
    if !is_run || vault.name().is_none() || vault.is_named(&key.path) {
        return Ok(true);
    }
    let history = world.chronicle.up_to_date().await?;
    let versions = history.versions(&VersionQuery::Keys(vec![key])).await?;
    Ok(versions.last().is_some_and(|last| {
        let is_of_run = last
            .change
            .as_ref()
            .is_some_and(|change| change.by.run().is_some());
        let stood = last.after.as_ref().map(|after| after.digest);
        is_of_run && text.is_none_or(|text| Some(others::text_of(text.as_bytes()).digest) == stood)
    }))
}

/// Does a run's work as a change of its own.
pub(crate) async fn recorded<T>(
    world: &World,
    run: Run,
    work: impl Future<Output = T>,
) -> (T, Option<RecordedChange>) {
    let chronicle = &world.chronicle;
    if !chronicle.is_recording {
        return (work.await, None);
    }
    let _turn = chronicle.turn.lock().await;
    let by = By::Run { run, undoes: None };
    let (done, change) = as_run((by, world.now(), None), work).await;
    let made = match change {
        Some(change) => reading::change(world, change).await,
        None => Ok(None),
    };
    let told = |error: &EngineError| tracing::warn!(error = text::chain(error), "cannot read a change");
    (done, made.inspect_err(told).ok().flatten())
}

/// Does the work of forgetting: what it takes out leaves no version behind. Returns whether the history that an earlier version
/// kept went too.
pub(crate) async fn forgetting<T>(
    world: &World,
    work: impl Future<Output = T>,
) -> Result<(T, bool), EngineError> {
    let doing = Arc::new(Doing::Forgetting(Going::default()));
    let done = DOING.scope(doing.clone(), work).await;
    let Doing::Forgetting(going) = &*doing else {
        return Ok((done, false));
    };
    let entries = std::mem::take(&mut *going.entries.lock());
    // A sync found them gone meanwhile.
    for ((scope, owner), entries) in entries {
        let named = Named {
            entries,
            ..Named::default()
        };
        purge_owner(world, (&scope, &owner), named).await?;
    }
    let files = std::mem::take(&mut *going.files.lock());
    let mut gone = Vec::new();
    for path in files {
        // One that stays keeps its place, or it would be recorded again.
        if world.parts.vault.bytes(&path).await?.is_none() {
            gone.push(path);
        }
    }
    if !gone.is_empty() {
        world.chronicle.history.drop_others(gone).await?;
    }
    Ok((done, going.has_dropped_old.load(Ordering::Relaxed)))
}

/// Notes files beside memory of which a deletion takes versions out.
fn note_files(paths: impl Iterator<Item = VaultPath>) {
    if let Ok(Doing::Forgetting(going)) = DOING.try_with(Arc::clone).as_deref() {
        going.files.lock().extend(paths);
    }
}

/// Rows of an owner are about to be taken out: if they are forgotten, the history goes first.
pub(crate) async fn going<'a>(
    world: &World,
    (scope, owner): (&Scope, &Owner),
    gone: impl Iterator<Item = &'a Doc>,
) -> Result<(), EngineError> {
    let doing = DOING.try_with(Arc::clone).ok();
    let Some(Doing::Forgetting(going)) = doing.as_deref() else {
        return Ok(());
    };
    let mut named = Named::default();
    for doc in gone {
        named.entries.insert(doc.key.id.to_string());
        named.messages.extend(doc.sources.iter().cloned());
    }
    if named.entries.is_empty() {
        return Ok(());
    }
    if world.parts.vault.delete_old_history().await? {
        going.has_dropped_old.store(true, Ordering::Relaxed);
    }
    let of_owner = (scope.clone(), owner.clone());
    going
        .entries
        .lock()
        .entry(of_owner)
        .or_default()
        .extend(named.entries.clone());
    purge_owner(world, (scope, owner), named).await
}

/// Waits until no file of the ledger has what was purged.
pub(crate) async fn erased(world: &World) -> Result<(), EngineError> {
    Ok(world.chronicle.history.erased().await?)
}

/// Compares files that a sync read with the history.
pub(crate) async fn find<'a>(
    world: &World,
    files: impl Iterator<Item = (&'a VaultPath, Option<&'a ParsedFile>, Option<&'a FileRecord>)>,
) -> Result<(), EngineError> {
    if !world.chronicle.is_recording {
        return Ok(());
    }
    let mut found = Vec::new();
    for (path, file, record) in files {
        found.extend(differences(world, path, file, record));
    }
    if !found.is_empty() {
        let history = world.chronicle.up_to_date().await?;
        history.find(found, world.now()).await?;
    }
    Ok(())
}

/// The digest of an entry whose state nobody knows.
pub(crate) const UNKNOWN: u64 = 0;

/// How the entries of a file differ from its record. What stood when the ledger was new is no change.
fn differences(
    world: &World,
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
        let after = world.parts.vault.text_of(&read.entry);
        let before = match mark {
            Some(mark) if mark.digest != UNKNOWN => Some(known(mark)),
            None if !world.chronicle.is_new.load(Ordering::Relaxed) => None,
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

/// Settles what an earlier process announced and perhaps wrote, by what its files have. To be called before anything is
/// written.
pub(crate) async fn recover(world: &World) {
    if world.settings.asks_only || !world.chronicle.is_recording {
        return;
    }
    if let Err(error) = settle_all(world).await {
        tracing::warn!(
            error = text::chain(&error),
            "cannot settle the history; the next start does"
        );
    }
}

async fn settle_all(world: &World) -> Result<(), EngineError> {
    let history = &world.chronicle.history;
    let unsettled = history.versions(&VersionQuery::Unsettled).await?;
    let mut found = Vec::new();
    for version in unsettled {
        let now = states(world, &version).await?;
        found.push(NewVersion {
            key: version.key,
            owner: version.owner,
            session: version.session,
            before: None,
            after: now,
        });
    }
    if !found.is_empty() {
        history.find(found, world.now()).await?;
    }
    Ok(())
}

/// As a change is told: with a summary.
fn told(change: &HistoryChange, versions: &[&Version]) -> RecordedChange {
    RecordedChange {
        id: change.id,
        at: change.at,
        by: change.by.clone(),
        subject: reading::subject(versions),
        files: reading::files(versions),
    }
}

/// Whose versions a request may see.
fn touching(within: Option<&Scope>, owner: Option<&(Scope, Owner)>) -> Touching {
    match (owner, within) {
        (Some((scope, owner)), _) => Touching::Owner(scope.clone(), owner.clone()),
        (None, Some(scope)) => Touching::Scope(scope.clone()),
        (None, None) => Touching::All,
    }
}
