//! The in-memory vault: real Markdown in a map of paths.
//!
//! Owns: the port's behaviour without a disk, edits by hand, and planned faults. Never: waiting.

mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use markdown::{Change, NoPlace, Parsed, Place};
use model::{Entry, EntryId, EntryKind, Owner, Page, Scope, Zone};
use ports::{
    Edit, EntryProblem, FileStat, OtherFile, Pages, ParsedFile, ReadEntry, Room, Vault, VaultChange,
    VaultError, VaultPath, VaultWriter, VersionText, Written,
};
use tokio::sync::Notify;

/// A vault in memory. Clones share their files, so a test keeps a handle on a vault that it passed on.
#[derive(Debug, Clone)]
pub struct MemoryVault {
    zone: Zone,
    shared: Arc<Mutex<Shared>>,
    news: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) files: BTreeMap<VaultPath, File>,
    /// Counts writes; used as a file's modification time.
    writes: u32,
    change: VaultChange,
    going: Vec<String>,
    calls: u64,
    fail_call: Option<u64>,
    room: Option<Room>,
}

#[derive(Debug, Clone)]
pub(super) struct File {
    bytes: Vec<u8>,
    modified: u32,
}

impl MemoryVault {
    /// An empty vault that files entries by their date in that zone.
    pub fn new(zone: Zone) -> Self {
        let mut shared = Shared::default();
        shared.change.all = true;
        Self {
            zone,
            shared: Arc::new(Mutex::new(shared)),
            news: Arc::new(Notify::new()),
        }
    }

    /// Makes the n-th call from now fail, counted from 1 over every call that can fail.
    ///
    /// A failing `append` tears: it writes half of the text for its first file, unless that is a skill, which
    /// is written completely or not at all. Other calls have no effect.
    pub fn fail_call(&self, n: u64) {
        let mut shared = self.lock();
        shared.fail_call = Some(shared.calls + n);
    }

    /// Sets the reported room of the disk; calls go on as before.
    pub fn set_room(&self, room: Option<Room>) {
        self.lock().room = room;
    }

    /// Number of calls that can fail, failed ones included.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Writes a file, as an editor does.
    pub fn write(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.lock().put(&path.into(), bytes.into());
        self.news.notify_one();
    }

    /// Deletes a file, as a person does.
    pub fn delete(&self, path: &str) {
        let mut shared = self.lock();
        shared.files.remove(path);
        shared.tell(&path.into());
        self.news.notify_one();
    }

    /// A file's bytes.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.lock().files.get(path).map(|file| file.bytes.clone())
    }

    /// Every file's path, in order.
    pub fn paths(&self) -> Vec<VaultPath> {
        self.lock().files.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared
            .lock()
            .expect("no call panics while it holds the lock")
    }

    pub(super) fn serving(&self) -> Result<MutexGuard<'_, Shared>, VaultError> {
        let mut shared = self.lock();
        if shared.fails_now() {
            return Err(planned_fault(""));
        }
        Ok(shared)
    }

    fn append_file(
        &self,
        shared: &mut Shared,
        path: &VaultPath,
        entries: &[Entry],
        is_torn: bool,
    ) -> Result<Written, VaultError> {
        let place = place_of(path)?;
        let before = shared.stat(path);
        let first = &entries[0];
        let mut bytes = match shared.files.get(path) {
            Some(file) => {
                markdown::upgraded(&file.bytes, &place, &self.zone).unwrap_or_else(|| file.bytes.clone())
            }
            None => markdown::new_file(first.kind, self.zone.date(first.time)).into_bytes(),
        };
        let parsed = markdown::parse(&bytes, &place, &self.zone);
        if let Some(broken) = parsed.unwritable() {
            return Err(VaultError::Broken {
                path: path.to_string(),
                reason: broken.to_string(),
            });
        }
        let plan =
            markdown::plan(&bytes, &parsed, entries, &self.zone).map_err(|broken| VaultError::Broken {
                path: path.to_string(),
                reason: broken.to_string(),
            })?;
        if is_torn && first.kind == EntryKind::Skill {
            return Err(planned_fault(path));
        }
        bytes.truncate(plan.cut.map_or(bytes.len(), |cut| cut.at));
        let len = if is_torn {
            plan.text.len() / 2
        } else {
            plan.text.len()
        };
        bytes.extend_from_slice(&plan.text.as_bytes()[..len]);
        let stat = shared.put(path, bytes);
        let ids = entries.iter().filter_map(|entry| {
            let there = parsed
                .blocks
                .iter()
                .filter(|block| block.id == entry.id && !block.is_damaged);
            let mut there = there.peekable();
            let digest = match there.peek() {
                Some(_) => there.find_map(|block| block.entry.as_ref()).map(markdown::digest),
                None => Some(markdown::digest(entry)),
            };
            Some((entry.id.clone(), digest?))
        });
        Ok(Written {
            stat,
            before,
            ids: ids.collect(),
        })
    }
}

impl Shared {
    fn fails_now(&mut self) -> bool {
        self.calls += 1;
        self.fail_call == Some(self.calls)
    }

    pub(super) fn put(&mut self, path: &VaultPath, bytes: Vec<u8>) -> FileStat {
        if self.files.get(path).is_none_or(|file| file.bytes != bytes) {
            self.writes += 1;
            let modified = self.writes;
            self.files.insert(path.clone(), File { bytes, modified });
            self.tell(path);
        }
        self.stat(path).expect("it was put there")
    }

    /// Reports a changed file.
    pub(super) fn tell(&mut self, path: &VaultPath) {
        if Place::of(path) == Err(NoPlace::Foreign) {
            self.change.beside = true;
        } else {
            self.change.paths.insert(path.clone());
        }
    }

    fn stat(&self, path: &VaultPath) -> Option<FileStat> {
        let file = self.files.get(path)?;
        Some(FileStat {
            path: path.clone(),
            bytes: file.bytes.len() as u64,
            modified_ns: file.modified.into(),
        })
    }
}

fn planned_fault(path: &str) -> VaultError {
    VaultError::Io {
        path: path.to_owned(),
        source: std::io::Error::other("a planned fault"),
    }
}

fn outside(path: &str) -> VaultError {
    let path = path.to_owned();
    VaultError::Outside { path }
}

fn place_of(path: &str) -> Result<Place, VaultError> {
    Place::of(path).map_err(|_| outside(path))
}

fn as_read(parsed: Parsed, stat: FileStat) -> ParsedFile {
    let unreadable = parsed.unreadable();
    let entries = parsed.blocks.into_iter().filter_map(|block| block.entry);
    ParsedFile {
        stat,
        unreadable,
        is_unread: parsed.is_unread,
        entries: entries
            .map(|entry| ReadEntry {
                digest: markdown::digest(&entry),
                entry,
            })
            .collect(),
        broken: parsed.broken.map(|broken| broken.to_string()),
        problems: parsed
            .problems
            .into_iter()
            .map(|markdown::Problem { line, reason }| EntryProblem { line, reason })
            .collect(),
    }
}

#[async_trait]
impl VaultWriter for MemoryVault {
    /// Ignores `fresh`, which only saves a check.
    async fn append(&self, entries: &[Entry], _fresh: bool) -> Result<Vec<Written>, VaultError> {
        let mut shared = self.lock();
        let fails = shared.fails_now();
        let mut files: Vec<(VaultPath, Vec<Entry>)> = Vec::new();
        for entry in entries {
            let path = Vault::path_of(self, entry);
            match files.iter_mut().find(|(there, _)| *there == path) {
                Some((_, entries)) => entries.push(entry.clone()),
                None => files.push((path, vec![entry.clone()])),
            }
        }
        let mut written = Vec::new();
        for (path, entries) in files {
            written.push(self.append_file(&mut shared, &path, &entries, fails)?);
            if fails {
                return Err(planned_fault(&path));
            }
        }
        drop(shared);
        self.news.notify_one();
        Ok(written)
    }

    async fn edit(&self, path: &VaultPath, edits: &[Edit]) -> Result<Option<FileStat>, VaultError> {
        let mut shared = self.serving()?;
        let place = place_of(path)?;
        let no_entry = |id: &EntryId| VaultError::NoEntry {
            path: path.to_string(),
            id: id.to_string(),
        };
        let changes: Vec<Change<'_>> = edits.iter().map(as_change).collect();
        let Some(file) = shared.files.get(path) else {
            return Err(changes
                .first()
                .map_or_else(|| outside(path), |change| no_entry(change.id())));
        };
        let upgraded = markdown::upgraded(&file.bytes, &place, &self.zone);
        let bytes = upgraded.as_ref().unwrap_or(&file.bytes);
        let parsed = markdown::parse(bytes, &place, &self.zone);
        if let Some(broken) = parsed.unwritable() {
            return Err(VaultError::Broken {
                path: path.to_string(),
                reason: broken.to_string(),
            });
        }
        let bytes = markdown::change(bytes, &parsed, &changes, &self.zone).map_err(|id| no_entry(&id))?;
        let put: Vec<Entry> = edits
            .iter()
            .filter_map(|edit| match edit {
                Edit::Put(entry) => Some((**entry).clone()),
                Edit::Replace(_) | Edit::Remove(_) => None,
            })
            .collect();
        let (bytes, _) =
            markdown::extended(bytes, &place, &put, &self.zone).map_err(|broken| VaultError::Broken {
                path: path.to_string(),
                reason: broken.to_string(),
            })?;
        let stat = if markdown::is_bare(&bytes) {
            shared.files.remove(path);
            shared.tell(path);
            None
        } else {
            Some(shared.put(path, bytes))
        };
        drop(shared);
        self.news.notify_one();
        Ok(stat)
    }

    async fn replace_page(
        &self,
        scope: &Scope,
        owner: &Owner,
        page: Page,
        before: Option<&str>,
        text: &str,
    ) -> Result<bool, VaultError> {
        let path = Pages::path_of(self, scope, owner, page);
        let mut shared = self.serving()?;
        let standing = shared.files.get(&path).map(|file| file.bytes.clone());
        if standing.as_deref() != before.map(str::as_bytes) {
            return Ok(false);
        }
        if let Some(standing) = standing {
            shared.put(&pages::previous_of(scope, owner, page), standing);
        }
        if text.is_empty() {
            shared.files.remove(&path);
            shared.tell(&path);
        } else {
            shared.put(&path, text.as_bytes().to_vec());
        }
        Ok(true)
    }
}

#[async_trait]
impl Vault for MemoryVault {
    fn path_of(&self, entry: &Entry) -> VaultPath {
        markdown::path_of(entry, &self.zone).into()
    }

    fn folder_of(&self, scope: &Scope) -> String {
        markdown::place::folder_of(scope, None)
    }

    fn room(&self) -> Option<Room> {
        self.lock().room.clone()
    }

    async fn read(&self, path: &VaultPath) -> Result<Option<ParsedFile>, VaultError> {
        let shared = self.serving()?;
        let place = match Place::of(path) {
            Ok(place) => place,
            Err(NoPlace::Foreign) => return Err(outside(path)),
            Err(misnamed) => {
                let broken = Some(misnamed.to_string());
                return Ok(shared.stat(path).map(|stat| ParsedFile {
                    stat,
                    entries: Vec::new(),
                    broken,
                    problems: Vec::new(),
                    unreadable: BTreeSet::new(),
                    is_unread: true,
                }));
            }
        };
        let (Some(file), Some(stat)) = (shared.files.get(path), shared.stat(path)) else {
            return Ok(None);
        };
        Ok(Some(as_read(
            markdown::parse(&file.bytes, &place.saved_at(stat.modified_ns), &self.zone),
            stat,
        )))
    }

    async fn stat(&self, path: &VaultPath) -> Result<Option<FileStat>, VaultError> {
        let shared = self.serving()?;
        if Place::of(path) == Err(NoPlace::Foreign) {
            return Err(outside(path));
        }
        Ok(shared.stat(path))
    }

    async fn scan(&self) -> Result<Vec<FileStat>, VaultError> {
        let shared = self.serving()?;
        let paths = shared
            .files
            .keys()
            .filter(|path| Place::of(path) != Err(NoPlace::Foreign));
        Ok(paths.filter_map(|path| shared.stat(path)).collect())
    }

    async fn remove(&self, scope: &Scope, owner: Option<&Owner>) -> Result<Vec<VaultPath>, VaultError> {
        let mut shared = self.serving()?;
        let is_theirs = |path: &VaultPath| {
            Place::of(path)
                .is_ok_and(|place| place.scope == *scope && owner.is_none_or(|owner| place.owner == *owner))
        };
        let paths: Vec<VaultPath> = shared
            .files
            .keys()
            .filter(|path| is_theirs(path))
            .cloned()
            .collect();
        let folder = format!("{}/", markdown::place::folder_of(scope, owner));
        let is_beside = |path: &VaultPath| path.starts_with(&folder) && path.contains("/libraries/");
        shared.files.retain(|path, _| !is_beside(path) || is_theirs(path));
        for path in &paths {
            shared.files.remove(path);
            shared.tell(path);
        }
        drop(shared);
        self.news.notify_one();
        Ok(paths)
    }

    fn text_of(&self, entry: &Entry) -> VersionText {
        VersionText::new(markdown::digest(entry), markdown::render(entry, &self.zone))
    }

    fn entry_of(&self, path: &VaultPath, text: &str) -> Option<Entry> {
        markdown::parse_entry(text, &Place::of(path).ok()?, &self.zone)
    }

    fn file_of(&self, path: &VaultPath, texts: &[&str]) -> Option<String> {
        let place = Place::of(path).ok()?;
        Some(markdown::file_of(texts.iter().copied(), &place, &self.zone))
    }

    async fn going(&self) -> Result<Vec<String>, VaultError> {
        Ok(self.serving()?.going.clone())
    }

    async fn set_going(&self, deletions: &[String]) -> Result<(), VaultError> {
        self.serving()?.going = deletions.to_vec();
        Ok(())
    }

    async fn others(&self) -> Result<Vec<OtherFile>, VaultError> {
        let shared = self.serving()?;
        let is_kept = |path: &str| !path.split('/').any(|name| name.starts_with(['.', '#', '~']));
        let others = shared
            .files
            .keys()
            .filter(|path| Place::of(path) == Err(NoPlace::Foreign) && is_kept(path));
        let owner = |path: &VaultPath| {
            let (at, _) = path.match_indices('/').nth(3)?;
            let place = Place::of(&format!("{}/facts/any.md", &path[..at])).ok()?;
            Some((place.scope, place.owner))
        };
        let others = others.filter_map(|path| {
            Some(OtherFile {
                stat: shared.stat(path)?,
                owner: owner(path),
            })
        });
        Ok(others.collect())
    }

    async fn bytes(&self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        Ok(self.serving()?.files.get(path).map(|file| file.bytes.clone()))
    }

    async fn changed(&self) -> VaultChange {
        loop {
            let change = std::mem::take(&mut self.lock().change);
            if change != VaultChange::default() {
                return change;
            }
            self.news.notified().await;
        }
    }
}

fn as_change(edit: &Edit) -> Change<'_> {
    match edit {
        Edit::Replace(entry) => Change::Replace(entry),
        Edit::Put(entry) => Change::Put(entry),
        Edit::Remove(id) => Change::Remove(id),
    }
}
