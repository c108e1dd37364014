//! The in-memory history: states of a [`MemoryVault`], each kept whole.
//!
//! Owns: the port's behaviour without a disk, and planned faults. Never: waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use markdown::sections::{Counts, headline, merge, with_entries};
use model::{Owner, Scope, Timestamp};
use ports::{
    Author, By, CommitPart, Debt, History, HistoryError, RecordedChange, Run, RunId, Touching, VaultPath,
};

use crate::vault::MemoryVault;

/// The history of a vault in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct MemoryHistory {
    vault: MemoryVault,
    shared: Arc<Mutex<Shared>>,
}

/// States share what is the same in them.
type Files = BTreeMap<VaultPath, Arc<[u8]>>;

#[derive(Debug, Default)]
struct Shared {
    /// The oldest first.
    kept: Vec<Kept>,
    /// How many changes there ever were, for their ids.
    made: usize,
    calls: u64,
    fail_call: Option<u64>,
    owed: BTreeMap<u64, Debt>,
}

#[derive(Debug, Clone)]
struct Kept {
    change: RecordedChange,
    before: Files,
    after: Files,
}

impl MemoryHistory {
    /// An empty history of a vault.
    pub fn new(vault: MemoryVault) -> Self {
        let shared = Arc::default();
        Self { vault, shared }
    }

    /// Makes the n-th call from now fail, counted from 1; it does nothing.
    pub fn fail_call(&self, n: u64) {
        let mut shared = self.lock();
        shared.fail_call = Some(shared.calls + n);
    }

    /// How many calls there were, failed ones included.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared
            .lock()
            .expect("no call panics while it holds the lock")
    }

    fn serving(&self) -> Result<MutexGuard<'_, Shared>, HistoryError> {
        let mut shared = self.lock();
        shared.calls += 1;
        if shared.fail_call == Some(shared.calls) {
            return Err(HistoryError::Io {
                path: String::new(),
                source: std::io::Error::other("a planned fault"),
            });
        }
        Ok(shared)
    }

    /// What stands in the vault and is memory by its name, shared with what was recorded last.
    fn files(&self, shared: &Shared) -> Files {
        let is_kept = |path: &VaultPath| !path.split('/').any(|part| part.starts_with(['.', '#', '~']));
        let paths = self.vault.paths().into_iter().filter(is_kept);
        let last = shared.kept.last().map(|kept| &kept.after);
        let read = |path: VaultPath| {
            let bytes = self.vault.bytes(&path)?;
            let recorded = last.and_then(|files| files.get(&path));
            let recorded = recorded.filter(|recorded| ***recorded == *bytes).cloned();
            Some((path, recorded.unwrap_or_else(|| bytes.into())))
        };
        paths.filter_map(read).collect()
    }
}

impl Shared {
    fn now(&self) -> Files {
        self.kept
            .last()
            .map(|kept| kept.after.clone())
            .unwrap_or_default()
    }

    /// Takes what some debts concern out of every change, and records what of it stands in the files now.
    fn begin_anew(&mut self, debts: &[Debt], files: &Files) {
        let concerns = |path: &VaultPath| debts.iter().any(|debt| debt.concerns(path));
        for mut kept in std::mem::take(&mut self.kept) {
            for files in [&mut kept.before, &mut kept.after] {
                files.retain(|path, _| !concerns(path));
            }
            if kept.change.files.iter().any(concerns) {
                kept.change.files.retain(|path| !concerns(path));
                kept.change.subject = subject(&kept.before, &kept.after, &kept.change.files);
            }
            if !kept.change.files.is_empty() {
                self.kept.push(kept);
            }
        }
        let before = self.now();
        let mut after = before.clone();
        after.extend(
            files
                .iter()
                .filter(|(path, _)| concerns(path))
                .map(|(path, bytes)| (path.clone(), bytes.clone())),
        );
        let paths: Vec<VaultPath> = differing(&before, &after).into_iter().collect();
        if !paths.is_empty() || self.kept.is_empty() {
            let at = debts.iter().map(|debt| debt.at).max().unwrap_or_default();
            let subject = "history restarted after a deletion".to_owned();
            self.keep(By::Purge, at, subject, before, after, paths);
        }
        for debt in debts {
            self.owed.remove(&debt.id);
        }
    }

    fn record(&mut self, by: By, at: Timestamp, after: Files) -> Option<RecordedChange> {
        let before = self.now();
        let files: Vec<VaultPath> = differing(&before, &after).into_iter().collect();
        if files.is_empty() {
            return None;
        }
        let subject = subject(&before, &after, &files);
        Some(self.keep(by, at, subject, before, after, files))
    }

    fn keep(
        &mut self,
        by: By,
        at: Timestamp,
        subject: String,
        before: Files,
        after: Files,
        files: Vec<VaultPath>,
    ) -> RecordedChange {
        self.made += 1;
        let change = RecordedChange {
            id: format!("{:040x}", self.made).into(),
            at: Timestamp::from_millis(at.millis().div_euclid(1000) * 1000),
            by,
            subject,
            files,
        };
        self.kept.push(Kept {
            change: change.clone(),
            before,
            after,
        });
        change
    }

    fn made_by(&self, run: &RunId) -> Result<Vec<Kept>, HistoryError> {
        let mut undone: BTreeMap<&RunId, &RunId> = BTreeMap::new();
        let mut made = Vec::new();
        for kept in self.kept.iter().rev() {
            let By::Run { run: maker, undoes } = &kept.change.by else {
                continue;
            };
            if let Some(undoes) = undoes.as_ref().filter(|_| !undone.contains_key(&maker.id)) {
                undone.insert(undoes, &maker.id);
            }
            if maker.id == *run {
                made.push(kept.clone());
            }
        }
        let run = run.clone();
        match undone.get(&run) {
            _ if made.is_empty() => Err(HistoryError::NoRun { run }),
            Some(&by) => Err(HistoryError::Undone { by: by.clone(), run }),
            None => Ok(made),
        }
    }
}

/// What changed in some files, in one line.
fn subject(before: &Files, after: &Files, paths: &[VaultPath]) -> String {
    let text = |files: &Files, path: &VaultPath| match files.get(path) {
        Some(bytes) if path.ends_with(".md") => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    };
    let counts = |path| Counts::of(&text(before, path), &text(after, path));
    let counts: Vec<(&str, Counts)> = paths.iter().map(|path| (&**path, counts(path))).collect();
    headline(&counts)
}

/// Recorded files with a part of what stands on disk.
fn taken(mut files: Files, disk: &Files, part: &CommitPart) -> Files {
    for path in differing(&files, disk) {
        let now = match part {
            CommitPart::All => disk.get(&path).cloned(),
            CommitPart::Files(some) if some.contains(&path) => disk.get(&path).cloned(),
            CommitPart::Files(_) => continue,
            CommitPart::Entries(entries) => {
                let (Some(ids), Some(now)) = (entries.get(&path), disk.get(&path)) else {
                    continue;
                };
                let [was, now] = [files.get(&path), Some(now)]
                    .map(|bytes| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()));
                let is_brought = |id: &str| ids.iter().any(|brought| brought.as_str() == id);
                let text = with_entries(was.as_deref(), &now.unwrap_or_default(), is_brought);
                let Some(text) = text else { continue };
                Some(text.into_bytes().into())
            }
        };
        match now {
            Some(bytes) => drop(files.insert(path, bytes)),
            None => drop(files.remove(&path)),
        }
    }
    files
}

/// The files without what a change did, or the paths where that was changed again.
fn without(files: &Files, kept: &Kept) -> Result<Files, Vec<VaultPath>> {
    let mut merged = files.clone();
    let mut conflicts = Vec::new();
    for path in differing(&kept.before, &kept.after) {
        let [was, now, then] = [&kept.after, files, &kept.before].map(|files| files.get(&path));
        let text = |bytes: &Arc<[u8]>| String::from_utf8(bytes.to_vec()).ok();
        let result = if now == was {
            then.cloned()
        } else if now == then {
            continue;
        } else if let (Some(was), Some(now)) = (was.and_then(text), now.and_then(text))
            && let Some(text) = merge(&was, &now, then.and_then(text).as_deref())
        {
            Some(text.into_bytes().into())
        } else {
            conflicts.push(path);
            continue;
        };
        match result {
            Some(bytes) => drop(merged.insert(path, bytes)),
            None => drop(merged.remove(&path)),
        }
    }
    if conflicts.is_empty() {
        Ok(merged)
    } else {
        Err(conflicts)
    }
}

fn differing(before: &Files, after: &Files) -> BTreeSet<VaultPath> {
    let paths = before.keys().chain(after.keys());
    let differ = paths.filter(|path| before.get(*path) != after.get(*path));
    differ.cloned().collect()
}

/// As a diff without context: per file, all between the first line that differs and the last.
fn unified(before: &Files, after: &Files) -> String {
    let mut out = String::new();
    for path in differing(before, after) {
        let [old, new] = [before, after].map(|files| {
            let bytes = files.get(&path).map(AsRef::as_ref).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        });
        let [old, new]: [Vec<&str>; 2] = [&old, &new].map(|text| text.lines().collect());
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[start..], &new[start..]);
        let equal = |(old, new): &(&&str, &&str)| old == new;
        let end = old.iter().rev().zip(new.iter().rev()).take_while(equal).count();
        let lines = [
            ("--- a/", vec![&*path]),
            ("+++ b/", vec![&*path]),
            ("-", old[..old.len() - end].to_vec()),
            ("+", new[..new.len() - end].to_vec()),
        ];
        for (sign, lines) in lines {
            out.extend(lines.iter().map(|line| format!("{sign}{line}\n")));
        }
    }
    out
}

fn check(run: &RunId) -> Result<(), HistoryError> {
    let is_bad = run.is_empty() || run.contains(|c: char| c.is_whitespace() || c.is_control());
    let run = run.clone();
    if is_bad {
        Err(HistoryError::BadRun { run })
    } else {
        Ok(())
    }
}

/// A run as it is kept: all of it in one line each.
fn told(run: &Run) -> Run {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Run {
        id: run.id.clone(),
        strategy: line(&run.strategy),
        reason: line(&run.reason),
    }
}

fn person() -> By {
    let name = "hand".to_owned();
    By::Person { name }
}

#[async_trait]
impl History for MemoryHistory {
    async fn commit(
        &self,
        author: &Author,
        part: &CommitPart,
        at: Timestamp,
    ) -> Result<Option<RecordedChange>, HistoryError> {
        let mut shared = self.serving()?;
        let by = match author {
            Author::Person => person(),
            Author::Run(run) => {
                check(&run.id)?;
                let run = told(run);
                By::Run { run, undoes: None }
            }
        };
        let after = taken(shared.now(), &self.files(&shared), part);
        Ok(shared.record(by, at, after))
    }

    async fn log(&self, touching: &Touching, limit: usize) -> Result<Vec<RecordedChange>, HistoryError> {
        let shared = self.serving()?;
        let below = match touching {
            Touching::All => String::new(),
            Touching::Path(path) => format!("{}/", path.trim_end_matches('/')),
            Touching::Owner(scope, owner) => format!("{}/", markdown::place::folder_of(scope, Some(owner))),
            Touching::Alone(scope) => format!("{}/", markdown::place::folder_of(scope, None)),
        };
        let touches = |change: &&RecordedChange| {
            let mut files = change.files.iter();
            let is_below = |file: &VaultPath| format!("{file}/").starts_with(&below);
            match touching {
                Touching::Alone(_) => files.len() > 0 && files.all(is_below),
                _ => files.any(is_below) || (change.files.is_empty() && below.is_empty()),
            }
        };
        let newest = shared.kept.iter().rev().map(|kept| &kept.change);
        Ok(newest.filter(touches).take(limit).cloned().collect())
    }

    async fn diff(&self, id: Option<&str>) -> Result<String, HistoryError> {
        let shared = self.serving()?;
        let Some(id) = id else {
            return Ok(unified(&shared.now(), &self.files(&shared)));
        };
        let kept = shared.kept.iter().find(|kept| *kept.change.id == *id);
        let unknown = || HistoryError::NoChange { id: id.to_owned() };
        kept.map(|kept| unified(&kept.before, &kept.after))
            .ok_or_else(unknown)
    }

    async fn undo(&self, run: &str, by: &Run, at: Timestamp) -> Result<Option<RecordedChange>, HistoryError> {
        let mut shared = self.serving()?;
        let run: RunId = run.into();
        check(&by.id)?;
        let disk = self.files(&shared);
        shared.record(person(), at, disk);
        let mut files = shared.now();
        for kept in shared.made_by(&run)? {
            files = without(&files, &kept).map_err(|paths| HistoryError::Conflict {
                run: run.clone(),
                paths,
            })?;
        }
        for path in differing(&shared.now(), &files) {
            match files.get(&path) {
                Some(bytes) => self.vault.write(&path, bytes.to_vec()),
                None => self.vault.delete(&path),
            }
        }
        let by = By::Run {
            run: told(by),
            undoes: Some(run),
        };
        Ok(shared.record(by, at, files))
    }

    async fn tidy(&self, _: Timestamp) -> Result<(), HistoryError> {
        self.serving().map(drop)
    }

    fn folder_of(&self, scope: &Scope, owner: Option<&Owner>) -> VaultPath {
        markdown::place::folder_of(scope, owner).into()
    }

    async fn purge(&self, debts: &[Debt]) -> Result<(), HistoryError> {
        let owe = |shared: &mut Shared| {
            shared
                .owed
                .extend(debts.iter().map(|debt| (debt.id, debt.clone())));
        };
        let mut shared = self.serving().inspect_err(|_| owe(&mut self.lock()))?;
        let files = self.files(&shared);
        shared.begin_anew(debts, &files);
        Ok(())
    }

    async fn owe_purge(&self, debt: &Debt) -> Result<(), HistoryError> {
        self.serving()?.owed.insert(debt.id, debt.clone());
        Ok(())
    }

    async fn forgive(&self, debt: &Debt) -> Result<(), HistoryError> {
        self.serving()?.owed.remove(&debt.id);
        Ok(())
    }

    async fn owed(&self) -> Result<Vec<Debt>, HistoryError> {
        Ok(self.serving()?.owed.values().cloned().collect())
    }
}
