//! A vault of paper: files of entries in memory, with a person who writes in them.
//!
//! Owns: the vault port's promises, strictly (an append that claims to be fresh and is not panics), and hand edits.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use model::{Entry, EntryId, Owner, OwnerKind, Page, Scope, Zone};
use ports::{
    Edit, EntryProblem, FileStat, ParsedFile, ReadEntry, Vault, VaultChange, VaultError, VaultPath,
    VaultWriter, VersionText, Written,
};
use testkit::vault::MemoryVault;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct PaperVault {
    state: Mutex<PaperState>,
    changed: Notify,
    /// Appends with an entry of such an id panic.
    poison: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct PaperState {
    files: BTreeMap<VaultPath, File>,
    /// The files while the folder is unmounted.
    away: Option<BTreeMap<VaultPath, File>>,
    writes: i128,
    change: VaultChange,
    going: Vec<String>,
    has_old_history: bool,
    reads: usize,
    /// Appends with an entry of such an id fail.
    refused: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct File {
    entries: Vec<Entry>,
    modified: i128,
    broken: Option<String>,
    problem: Option<String>,
    is_unreadable: bool,
    is_link: bool,
}

impl File {
    fn stat(&self, path: &VaultPath) -> FileStat {
        let bytes = self
            .entries
            .iter()
            .map(|entry| format!("{entry:?}").len() as u64)
            .sum();
        FileStat {
            path: path.clone(),
            bytes,
            modified_ns: self.modified,
        }
    }
}

pub(crate) fn digest(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{entry:?}").hash(&mut hasher);
    hasher.finish().max(1)
}

impl PaperVault {
    /// Unmounts the folder, or mounts it again.
    pub(crate) fn set_away(&self, is_away: bool) {
        let mut state = self.state();
        match (is_away, state.away.take()) {
            (true, None) => state.away = Some(std::mem::take(&mut state.files)),
            (false, Some(files)) => state.files = files,
            (_, away) => state.away = away,
        }
        state.change.all = true;
        self.changed.notify_one();
    }

    /// Puts the history of an earlier version next to the folder.
    pub(crate) fn begin_old_history(&self) {
        self.state().has_old_history = true;
    }

    pub(crate) fn has_old_history_now(&self) -> bool {
        self.state().has_old_history
    }

    /// A person changes a file; `watched` says whether the watcher sees it.
    pub(crate) fn by_hand(&self, path: &str, watched: bool, change: impl FnOnce(&mut Vec<Entry>)) {
        let path: VaultPath = path.into();
        let mut state = self.state();
        change(&mut state.touch(&path).entries);
        if watched {
            state.change.paths.insert(path);
            self.changed.notify_one();
        }
    }

    /// A person moves a file.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        let mut state = self.state();
        let file = state.files.remove(from).expect("the file is there");
        state.files.insert(to.into(), file);
        state.change.paths.extend([from.into(), to.into()]);
        self.changed.notify_one();
    }

    /// A person deletes a file.
    pub(crate) fn delete(&self, path: &str) {
        let mut state = self.state();
        state.files.remove(path).expect("the file is there");
        state.change.paths.insert(path.into());
        self.changed.notify_one();
    }

    /// A person breaks a file so that nothing in it can be read, or repairs it.
    pub(crate) fn set_broken(&self, path: &str, broken: bool) {
        let mut state = self.state();
        state.touch(&path.into()).broken = broken.then(|| "its front matter is not closed".to_owned());
        state.change.paths.insert(path.into());
        self.changed.notify_one();
    }

    /// A person breaks one entry of a file, so that it cannot be read, or repairs it.
    pub(crate) fn set_problem(&self, path: &str, entry: Option<&str>) {
        let mut state = self.state();
        state.touch(&path.into()).problem = entry.map(str::to_owned);
        state.change.paths.insert(path.into());
        self.changed.notify_one();
    }

    /// A person removes the right to read a file, or restores it.
    pub(crate) fn set_unreadable(&self, path: &str, is_unreadable: bool) {
        let mut state = self.state();
        state
            .files
            .get_mut(path)
            .expect("the file is there")
            .is_unreadable = is_unreadable;
        state.change.paths.insert(path.into());
        self.changed.notify_one();
    }

    /// A person puts a link in a file's place, or the file back.
    pub(crate) fn set_link(&self, path: &str, is_link: bool, watched: bool) {
        let mut state = self.state();
        state.files.get_mut(path).expect("the file is there").is_link = is_link;
        if watched {
            state.change.paths.insert(path.into());
            self.changed.notify_one();
        }
    }

    /// Makes appends of an entry with this text in its id fail, until it is set to none.
    pub(crate) fn refuse(&self, id: Option<&str>) {
        self.state().refused = id.map(str::to_owned);
    }

    /// Makes appends of an entry with this text in its id panic, until it is set to none.
    pub(crate) fn poison(&self, id: Option<&str>) {
        *self.poison.lock().expect("it is not held while something panics") = id.map(str::to_owned);
    }

    pub(crate) fn entries(&self) -> Vec<(VaultPath, Entry)> {
        let state = self.state();
        let files = state.files.iter();
        files
            .flat_map(|(path, file)| file.entries.iter().map(|e| (path.clone(), e.clone())))
            .collect()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.state().files.keys().map(ToString::to_string).collect()
    }

    pub(crate) fn stats(&self) -> Vec<FileStat> {
        self.state()
            .files
            .iter()
            .filter(|(_, file)| !file.is_link)
            .map(|(path, file)| file.stat(path))
            .collect()
    }

    /// Number of files that were read and parsed.
    pub(crate) fn reads(&self) -> usize {
        self.state().reads
    }

    fn panic_if_poisoned(&self, entries: &[Entry]) {
        let poison = self.poison.lock();
        let poison = poison.expect("it is not held while something panics").clone();
        let is_poisoned = |entry: &Entry| poison.as_ref().is_some_and(|id| entry.id.as_str().contains(id));
        assert!(!entries.iter().any(is_poisoned), "the test wants it");
    }

    fn state(&self) -> MutexGuard<'_, PaperState> {
        self.state
            .lock()
            .expect("no call panics, except to fail its test")
    }
}

impl PaperState {
    fn check_no_link(&self, path: &VaultPath) -> Result<(), VaultError> {
        if self.files.get(path).is_some_and(|file| file.is_link) {
            return Err(VaultError::Outside {
                path: path.to_string(),
            });
        }
        Ok(())
    }

    fn check_takes(&self, entry: &Entry, path: &VaultPath) -> Result<(), VaultError> {
        if self
            .refused
            .as_ref()
            .is_some_and(|id| entry.id.as_str().contains(id))
        {
            return Err(VaultError::Io {
                path: path.to_string(),
                source: std::io::Error::other("disk full"),
            });
        }
        self.check_no_link(path)?;
        match self.files.get(path).and_then(|file| file.broken.clone()) {
            Some(reason) => Err(VaultError::Broken {
                path: path.to_string(),
                reason,
            }),
            None => Ok(()),
        }
    }

    fn touch(&mut self, path: &VaultPath) -> &mut File {
        self.writes += 1;
        let file = self.files.entry(path.clone()).or_default();
        file.modified = self.writes;
        file
    }
}

impl PaperVault {
    fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        self.panic_if_poisoned(entries);
        let mut state = self.state();
        let mut paths: Vec<VaultPath> = Vec::new();
        for entry in entries {
            let path = self.path_of(entry);
            state.check_takes(entry, &path)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let mut written = Vec::new();
        for path in paths {
            let before = state.files.get(&path).map(|file| file.stat(&path));
            let own: Vec<&Entry> = entries
                .iter()
                .filter(|entry| self.path_of(entry) == path)
                .collect();
            let standing: BTreeSet<EntryId> = state
                .files
                .get(&path)
                .into_iter()
                .flat_map(|f| &f.entries)
                .map(|e| e.id.clone())
                .collect();
            let new: Vec<Entry> = own
                .iter()
                .filter(|entry| !standing.contains(&entry.id))
                .map(|e| (*e).clone())
                .collect();
            assert!(
                !fresh || new.len() == own.len(),
                "an append says it is fresh and is not: {path}"
            );
            if !new.is_empty() {
                state.touch(&path).entries.extend(new);
                state.change.paths.insert(path.clone());
                self.changed.notify_one();
            }
            let file = &state.files[&path];
            let ids = own.iter().map(|entry| {
                let there = file
                    .entries
                    .iter()
                    .find(|e| e.id == entry.id)
                    .expect("it was appended");
                (entry.id.clone(), digest(there))
            });
            written.push(Written {
                stat: file.stat(&path),
                before,
                ids: ids.collect(),
            });
        }
        Ok(written)
    }

    fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        let mut state = self.state();
        state.check_no_link(path)?;
        let missing = |id: &EntryId| VaultError::NoEntry {
            path: path.to_string(),
            id: id.as_str().to_owned(),
        };
        for edit in edits {
            let id = match edit {
                Edit::Replace(entry) | Edit::Put(entry) => &entry.id,
                Edit::Remove(id) => id,
            };
            let file = state.files.get(path).ok_or_else(|| missing(id))?;
            if matches!(edit, Edit::Put(_)) {
                continue;
            }
            file.entries
                .iter()
                .find(|entry| entry.id == *id)
                .ok_or_else(|| missing(id))?;
        }
        if let Some(reason) = state.files[path].broken.clone() {
            return Err(VaultError::Broken {
                path: path.to_string(),
                reason,
            });
        }
        let file = state.touch(path);
        for edit in edits {
            match edit {
                Edit::Replace(new) => {
                    let old = file.entries.iter_mut().find(|entry| entry.id == new.id);
                    *old.expect("checked above") = (**new).clone();
                }
                Edit::Put(new) => match file.entries.iter_mut().find(|entry| entry.id == new.id) {
                    Some(old) => *old = (**new).clone(),
                    None => file.entries.push((**new).clone()),
                },
                Edit::Remove(id) => file.entries.retain(|entry| entry.id != *id),
            }
        }
        let stat = (!file.entries.is_empty()).then(|| file.stat(path));
        if stat.is_none() {
            state.files.remove(path);
        }
        state.change.paths.insert(path.clone());
        self.changed.notify_one();
        Ok(stat)
    }
}

/// Writes entries to the paper vault, and pages to another.
#[derive(Debug)]
pub(crate) struct PaperWriter {
    pub(crate) vault: Arc<PaperVault>,
    pub(crate) pages: MemoryVault,
}

#[async_trait]
impl VaultWriter for PaperWriter {
    async fn append(&self, entries: &[Entry], fresh: bool) -> Result<Vec<Written>, VaultError> {
        self.vault.append(entries, fresh)
    }

    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        self.vault.edit(path, edits)
    }

    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        self.pages.replace_page(scope, owner, page, before, text).await
    }
}

#[async_trait]
impl Vault for PaperVault {
    async fn going(&self) -> Result<Vec<String>, VaultError> {
        Ok(self.state().going.clone())
    }

    async fn has_old_history(&self) -> Result<bool, VaultError> {
        Ok(self.state().has_old_history)
    }

    async fn delete_old_history(&self) -> Result<bool, VaultError> {
        Ok(std::mem::take(&mut self.state().has_old_history))
    }

    async fn set_going(&self, deletions: &[String]) -> Result<(), VaultError> {
        self.state().going = deletions.to_vec();
        Ok(())
    }

    fn path_of(&self, entry: &Entry) -> VaultPath {
        let Scope { app, project } = &entry.scope;
        let kind = match entry.owner.kind {
            OwnerKind::User => "users",
            OwnerKind::Agent => "agents",
            OwnerKind::Library => "libraries",
        };
        let date = Zone::utc().date(entry.time);
        format!(
            "{app}/{project}/{kind}/{}/{}s/{date}.md",
            entry.owner.id,
            entry.kind.as_str()
        )
        .into()
    }

    fn folder_of(&self, scope: &Scope) -> String {
        format!("{}/{}", scope.app, scope.project)
    }

    async fn is_present(&self) -> Result<(), VaultError> {
        match self.state().away {
            None => Ok(()),
            Some(_) => Err(VaultError::Io {
                path: String::new(),
                source: std::io::ErrorKind::NotFound.into(),
            }),
        }
    }

    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
        let mut state = self.state();
        state.check_no_link(path)?;
        state.reads += 1;
        let Some(file) = state.files.get(path) else {
            return Ok(None);
        };
        if file.is_unreadable {
            let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
            return Err(VaultError::Io {
                path: path.to_string(),
                source,
            });
        }
        let readable = file.entries.iter().filter(|_| file.broken.is_none());
        let readable = readable.filter(|entry| file.problem.as_deref() != Some(entry.id.as_str()));
        let entries = readable
            .map(|entry| ReadEntry {
                digest: digest(entry),
                entry: entry.clone(),
            })
            .collect();
        let problem = file.problem.iter().map(|id| EntryProblem {
            line: 7,
            reason: format!("`{id}` is not closed"),
        });
        Ok(Some(ParsedFile {
            stat: file.stat(path),
            is_unread: file.broken.is_some(),
            entries,
            broken: file.broken.clone(),
            problems: problem.collect(),
            unreadable: file.problem.as_deref().map(EntryId::new).into_iter().collect(),
        }))
    }

    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError> {
        let state = self.state();
        state.check_no_link(path)?;
        Ok(state.files.get(path).map(|file| file.stat(path)))
    }

    async fn scan(&self) -> Result<Vec<FileStat>, VaultError> {
        Ok(self.stats())
    }

    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError> {
        let mut state = self.state();
        let is_theirs =
            |entry: &Entry| entry.scope == *scope && owner.is_none_or(|owner| entry.owner == *owner);
        let files = state.files.iter();
        let gone: Vec<VaultPath> = files
            .filter(|(_, file)| file.entries.iter().any(is_theirs))
            .map(|(path, _)| path.clone())
            .collect();
        state.files.retain(|path, _| !gone.contains(path));
        Ok(gone)
    }

    fn text_of(&self, entry: &Entry) -> VersionText {
        VersionText::new(digest(entry), format!("{entry:?}"))
    }

    fn entry_of(&self, _: &VaultPath, _: &str) -> Option<Entry> {
        None
    }

    fn file_of(&self, _: &VaultPath, _: &[&str]) -> Option<String> {
        None
    }

    async fn changed(&self) -> VaultChange {
        loop {
            let change = std::mem::take(&mut self.state().change);
            if change.all || !change.paths.is_empty() {
                return change;
            }
            self.changed.notified().await;
        }
    }
}
