//! The vault's history: the time and the author of each recorded change.
//!
//! Owns: who wrote what since it was last recorded, the quiet time before that, runs one after the other, and trying
//! again. Never: git, and failing anything of memory because of it.
//!
//! What memcells wrote is known by entry ([`penned`]), what a run wrote by file; all else is a person's. All three are
//! recorded with the gate held alone, so that nothing is written meanwhile. Whoever takes the turn takes it before the gate.

pub(crate) mod debts;
pub(crate) mod penned;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Doc, EntryId, Owner, Scope};
use ports::{
    Author, By, CommitPart, Debt, FileStat, History, HistoryError, RecordedChange, Run, Touching, VaultError,
    VaultPath,
};
use text::chain;
use tokio::sync::Notify;

pub(crate) use reading::{diff, log, writers};

use crate::api::EngineError;
use crate::world::World;
use crate::{edit, forget, ids, list};

/// Changes are recorded when the vault was quiet for so long,
const QUIET: Duration = Duration::from_secs(10);
/// or the first of them is so old.
const WAIT_MAX: Duration = Duration::from_mins(5);

tokio::task_local! {
    /// Set while the work of a run is polled: what it writes is the run's.
    static IN_RUN: ();
}

/// What is known of the history, and of what it does not have yet.
#[derive(Debug)]
pub(crate) struct Chronicle {
    history: Option<Arc<dyn History>>,
    is_recording: bool,
    /// One run, undo or recording at a time.
    turn: tokio::sync::Mutex<()>,
    state: Mutex<HistoryState>,
    begun: Notify,
}

#[derive(Debug, Default)]
struct HistoryState {
    /// Files that stood as the engine had left them when it started, and how.
    standing: Option<BTreeMap<VaultPath, FileStat>>,
    /// Files that a person changed before the engine first looked at the whole vault.
    changed_early: BTreeSet<VaultPath>,
    /// What memcells wrote, and its digest where that is known.
    told: BTreeMap<VaultPath, BTreeMap<EntryId, Option<u64>>>,
    /// Runs and the files that they wrote, the latest last.
    runs: Vec<(Run, BTreeSet<VaultPath>)>,
    /// When the first and the last change were seen, by the clock that never goes back.
    changed: Option<(Duration, Duration)>,
    /// Debts of forgettings that are under way.
    open: BTreeSet<u64>,
    /// Purges to be done.
    due: BTreeMap<u64, Debt>,
    /// Whether those are due as well that an earlier process owed.
    knows_debts: bool,
    trouble: Option<String>,
}

impl Chronicle {
    pub(crate) fn new(history: Option<Arc<dyn History>>, is_recording: bool) -> Self {
        Self {
            is_recording: is_recording && history.is_some(),
            history,
            turn: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            begun: Notify::new(),
        }
    }

    /// What is wrong with the history, in words.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.state().trouble.clone()
    }

    /// The first look at the whole vault found these files as the engine had left them.
    pub(crate) fn found_standing(&self, stats: impl Iterator<Item = FileStat>) {
        let mut state = self.state();
        if self.is_recording && state.standing.is_none() {
            let changed = std::mem::take(&mut state.changed_early);
            let stats = stats.filter(|stat| !changed.contains(&stat.path));
            state.standing = Some(stats.map(|stat| (stat.path.clone(), stat)).collect());
        }
    }

    /// A person changed a file.
    pub(crate) fn is_by_hand(&self, path: &VaultPath) {
        let mut state = self.state();
        match &mut state.standing {
            Some(standing) => drop(standing.remove(path)),
            None if self.is_recording => drop(state.changed_early.insert(path.clone())),
            None => {}
        }
    }

    /// Somebody changed an entry: it is theirs, also if a memcell wrote it a moment ago, so that no undo takes their words.
    pub(crate) fn is_changed(&self, path: &VaultPath, entry: &EntryId) {
        if let Some(told) = self.state().told.get_mut(path) {
            told.remove(entry);
        }
    }

    /// A sync read an entry that no record has like this. It is theirs, unless it stands as a memcell wrote it: the records
    /// of a new index do not say how an entry stood.
    pub(crate) fn is_read_anew(&self, path: &VaultPath, entry: &EntryId, digest: u64) {
        if let Some(told) = self.state().told.get_mut(path)
            && told.get(entry) != Some(&Some(digest))
        {
            told.remove(entry);
        }
    }

    /// Something in the vault changed.
    pub(crate) fn touch(&self, now: Duration) {
        if self.is_recording {
            self.mark(now);
        }
    }

    fn mark(&self, now: Duration) {
        let mut state = self.state();
        let first = state.changed.map_or(now, |(first, _)| first);
        let is_first = state.changed.replace((first, now)).is_none();
        drop(state);
        if is_first {
            self.begun.notify_one();
        }
    }

    /// A memcell's entries are in a file, or those of the run under way.
    fn is_written(&self, path: &VaultPath, entries: impl Iterator<Item = (EntryId, Option<u64>)>) {
        let mut state = self.state();
        match state.runs.last_mut().filter(|_| IN_RUN.try_with(|()| ()).is_ok()) {
            Some((_, files)) => drop(files.insert(path.clone())),
            None => state.told.entry(path.clone()).or_default().extend(entries),
        }
    }

    /// A file was changed or taken away through the port: the run's, or for a person.
    pub(crate) fn is_edited(&self, path: &VaultPath) {
        let mut state = self.state();
        if let Some((_, files)) = state.runs.last_mut().filter(|_| IN_RUN.try_with(|()| ()).is_ok()) {
            files.insert(path.clone());
            return;
        }
        drop(state);
        self.is_by_hand(path);
    }

    fn due(&self) -> Option<Duration> {
        let (first, last) = self.state().changed?;
        Some((last + QUIET).min(first + WAIT_MAX))
    }

    fn state(&self) -> MutexGuard<'_, HistoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records what changed at quiet moments until the engine stops; with no history there is nothing to do. First come the
/// purges that an earlier process owed.
pub(crate) async fn keep(world: Arc<World>) {
    let clock = &world.parts.clock;
    debts::pay_due(&world).await;
    loop {
        let pause = world
            .chronicle
            .due()
            .map(|due| due.saturating_sub(clock.elapsed()));
        if pause.is_some_and(|pause| pause.is_zero()) {
            record(&world).await;
            continue;
        }
        tokio::select! {
            biased;
            () = world.work.stopping() => return,
            () = world.chronicle.begun.notified() => {}
            () = clock.sleep(pause.unwrap_or_default()), if pause.is_some() => {}
        }
    }
}

/// Records what changed since the last time, if anything did.
pub(crate) async fn record(world: &World) {
    if let Some(history) = &world.chronicle.history
        && world.chronicle.due().is_some()
    {
        let _turn = world.chronicle.turn.lock().await;
        settle(world, history).await;
        // Only after a success: a tidy history must not hide that something is not recorded. The gate is open again.
        if world.chronicle.trouble().is_none() {
            note(world, history.tidy(world.now()).await.map(Some));
        }
    }
}

/// Records the last changes when the engine ends: the watcher can still owe the newest one. Before the first scan of the vault
/// the author of a file is unknown, so this marks none.
pub(crate) async fn record_last(world: &World) {
    let is_known = world.chronicle.state().standing.is_some();
    if is_known && !world.settings.asks_only {
        world.chronicle.mark(world.parts.clock.elapsed());
    }
    record(world).await;
}

/// Does a run's work as a change of its own; the caller's future alone counts, not what it spawns.
pub(crate) async fn recorded<T>(
    world: &World,
    run: Run,
    work: impl Future<Output = T>,
) -> (T, Option<RecordedChange>) {
    let chronicle = &world.chronicle;
    let Some(history) = chronicle.history.as_ref().filter(|_| chronicle.is_recording) else {
        return (work.await, None);
    };
    let _turn = chronicle.turn.lock().await;
    settle(world, history).await;
    chronicle.state().runs.push((run.clone(), BTreeSet::new()));
    let done = IN_RUN.scope((), work).await;
    let _alone = world.gate.alone_when_quiet().await;
    let recorded = commit_own(world, history).await;
    (done, note(world, recorded))
}

/// Records all that is not recorded yet; a failure is told, and tried again after a quiet time. Gives the last run's change.
async fn settle(world: &World, history: &Arc<dyn History>) -> Option<RecordedChange> {
    let paid = debts::pay(world, history).await;
    note(world, paid.map(Some))?;
    let _alone = world.gate.alone_when_quiet().await;
    let settled = commit_all(world, history).await;
    note(world, settled)
}

/// What became of an attempt to record, for `status`.
fn note<T>(world: &World, outcome: Result<Option<T>, HistoryError>) -> Option<T> {
    let chronicle = &world.chronicle;
    match outcome {
        Ok(done) => {
            chronicle.state().trouble = None;
            done
        }
        Err(error) => {
            let trouble = chain(&error);
            let is_news = chronicle.state().trouble.replace(trouble.clone()).as_ref() != Some(&trouble);
            if is_news {
                tracing::warn!(error = trouble, "cannot record the history; retrying");
            }
            chronicle.mark(world.parts.clock.elapsed());
            None
        }
    }
}

/// First what memcells wrote, then what runs did, then the rest as a person's. The caller holds the turn, and the gate alone.
async fn commit_all(
    world: &World,
    history: &Arc<dyn History>,
) -> Result<Option<RecordedChange>, HistoryError> {
    if let Err(VaultError::Io { path, source }) = world.parts.vault.is_present().await {
        return Err(HistoryError::Io { path, source });
    }
    world.chronicle.state().changed = None;
    let last = commit_own(world, history).await?;
    if world.chronicle.is_recording {
        history
            .commit(&Author::Person, &CommitPart::All, world.now())
            .await?;
    }
    Ok(last)
}

/// Records what memcells wrote, then what runs did: only these files are looked at. Gives the last run's change.
async fn commit_own(
    world: &World,
    history: &Arc<dyn History>,
) -> Result<Option<RecordedChange>, HistoryError> {
    let chronicle = &world.chronicle;
    if !chronicle.is_recording {
        return Ok(None);
    }
    let at = world.now();
    let (stood, told, runs) = {
        let state = chronicle.state();
        let stood = state.standing.clone().unwrap_or_default();
        (stood, state.told.clone(), state.runs.clone())
    };
    let own = Author::Run(Run {
        id: ids::run_id(&*world.parts.ids, at, &world.settings.zone),
        strategy: "remember".to_owned(),
        reason: "new memories of conversations".to_owned(),
    });
    let mut standing = BTreeSet::new();
    for (path, stat) in stood {
        // A person may have changed it a moment ago.
        let is_as_it_stood = world.parts.vault.stat(&path).await.ok().flatten() == Some(stat);
        if is_as_it_stood || told.contains_key(&path) {
            standing.insert(path);
        }
    }
    if !standing.is_empty() {
        history.commit(&own, &CommitPart::Files(standing), at).await?;
    }
    if !told.is_empty() {
        let entries = told
            .into_iter()
            .map(|(path, told)| (path, told.into_keys().collect()));
        let part = CommitPart::Entries(entries.collect());
        history.commit(&own, &part, at).await?;
    }
    {
        let mut state = chronicle.state();
        state.told.clear();
        state.standing = state.standing.take().map(|_| BTreeMap::new());
    }
    let mut last = None;
    for (run, files) in runs {
        last = if files.is_empty() {
            None
        } else {
            history
                .commit(&Author::Run(run), &CommitPart::Files(files), at)
                .await?
        };
        chronicle.state().runs.remove(0);
    }
    Ok(last)
}

/// Takes back a run, one that a scope may see where there is one; search sees it when this answers.
pub(crate) async fn undo(
    world: &World,
    run: &str,
    within: Option<&Scope>,
) -> Result<Option<RecordedChange>, EngineError> {
    world.accepting()?;
    world.gauge.answering(&*world.parts.clock).await?;
    let history = world.history()?;
    let _turn = world.chronicle.turn.lock().await;
    debts::pay(world, history).await?;
    let _alone = world.gate.alone().await;
    commit_all(world, history)
        .await
        .inspect_err(|_| world.chronicle.mark(world.parts.clock.elapsed()))?;
    if let Some(scope) = within {
        reading::check_run(&**history, run, scope).await?;
    }
    let at = world.now();
    let by = Run {
        id: ids::run_id(&*world.parts.ids, at, &world.settings.zone),
        strategy: "undo".to_owned(),
        reason: format!("`{run}` undone on request"),
    };
    let before = rows_of(world, &**history, run).await?;
    let undone = history.undo(run, &by, at).await?;
    if let Some(change) = &undone {
        edit::follow(world, change.files.iter().cloned()).await?;
        let mut files = BTreeSet::new();
        for ((scope, owner), rows) in &before {
            files.extend(forget::follow_undone(world, (scope, owner), rows).await?);
        }
        // Part of the same run, so that taking it back brings all of it again.
        world.chronicle.state().runs.push((by, files));
        let recorded = commit_all(world, history).await;
        note(world, recorded);
    }
    Ok(undone)
}

/// All rows of those of whom a run changed a file.
async fn rows_of(
    world: &World,
    history: &dyn History,
    run: &str,
) -> Result<BTreeMap<(Scope, Owner), Vec<Doc>>, EngineError> {
    let changes = history.log(&Touching::All, usize::MAX).await?;
    let made = changes
        .iter()
        .filter(|change| matches!(&change.by, By::Run { run: maker, .. } if *maker.id == *run));
    let files: BTreeSet<&VaultPath> = made.flat_map(|change| &change.files).collect();
    let mut rows = BTreeMap::new();
    for (scope, owner) in list::holdings(world).await?.into_keys() {
        let folder = format!("{}/", history.folder_of(&scope, Some(&owner)));
        if files.iter().any(|file| file.starts_with(&folder)) {
            let theirs = world.parts.index.load(&scope, &owner).await?;
            rows.insert((scope, owner), theirs);
        }
    }
    Ok(rows)
}

impl World {
    /// The history, if one is kept.
    pub(crate) fn history(&self) -> Result<&Arc<dyn History>, EngineError> {
        self.chronicle.history.as_ref().ok_or_else(|| {
            EngineError::Unfit("no history is kept: set `history.enabled` to true and start again".to_owned())
        })
    }
}
