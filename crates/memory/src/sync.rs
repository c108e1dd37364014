//! Vault to index: brings changes of files by people or other programs into every search.
//!
//! Owns: finding changed files, and the order in which their changes are carried over. Never: reading Markdown.
//!
//! Entries come before entries go: a sync first reads every changed file and indexes its new and changed entries, then
//! it removes entries that are in no file now. So a moved entry is never gone, and its dependents stay. A file's record
//! is written last: after a crash midway, the sync starts again from the old record and reaches the same result.

mod gone;
mod look;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use model::{AppId, EntryId, Owner, Scope};
use ports::{FileRecord, FileStat, VaultChange, VaultError, VaultPath};
use text::chain;

pub(crate) use look::rows_of;

use crate::api::{EngineError, Synced};
use crate::world::World;

/// Number of files to read before writers get a turn.
const FILES_AT_A_TIME: usize = 16;
/// How long to wait before what failed is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// One sync under way.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    world: &'a World,
    synced: Synced,
    /// Entries that are in a file of this sync.
    present: BTreeSet<(Scope, Owner, EntryId)>,
    /// Entries that stood in such a file and do not now.
    gone: BTreeMap<(VaultPath, EntryId), gone::Gone>,
    /// Records that must wait until what is gone is gone from the index.
    held: BTreeMap<VaultPath, FileRecord>,
    vanished: BTreeSet<VaultPath>,
    /// Files to sync again: they could not be read or changed, or their rows have no vectors yet.
    again: BTreeSet<VaultPath>,
    /// The first file that could not be read or changed; the others were synced anyway.
    trouble: Option<VaultError>,
}

/// Brings the index up to date with the whole vault.
pub(crate) async fn everything(world: &World) -> Result<Synced, EngineError> {
    let pass = carry_over(world, whole_vault()).await?;
    pass.end()
}

/// The same for one tenant's files; the caller has the tenant alone.
pub(crate) async fn tenant_alone(world: &World, scope: &Scope) -> Result<Synced, EngineError> {
    let folder = format!("{}/", world.parts.vault.folder_of(scope));
    let mut paths = differing(world, whole_vault()).await?;
    paths.retain(|path| path.starts_with(&folder));
    files(world, paths).await
}

/// Brings the index up to date with some files; the caller has their tenants alone.
pub(crate) async fn files(
    world: &World,
    paths: impl IntoIterator<Item = VaultPath>,
) -> Result<Synced, EngineError> {
    let mut pass = Pass::new(world);
    for path in paths {
        pass.look(&path).await?;
    }
    pass.finish().await?;
    pass.end()
}

/// Updates the index with one file to which a segment was written; the caller holds the gate and the owner's lock.
/// Entries that a person removed from the file meanwhile are left to the next sync.
pub(crate) async fn one_file(world: &World, path: &VaultPath) -> Result<(), EngineError> {
    let mut pass = Pass::new(world);
    pass.look(path).await?;
    if pass.has_more_to_do() {
        world.dirty.add(path.clone());
    }
    pass.end().map(drop)
}

/// Syncs files whenever they may have changed, until the engine stops.
pub(crate) async fn keep(world: Arc<World>) {
    loop {
        let change = tokio::select! {
            biased;
            () = world.work.stopping() => return,
            change = world.dirty.take() => change,
        };
        let carried = carry_over(&world, change.clone());
        let again = match world.panics.caught("sync", &*world.parts.clock, carried).await {
            Ok(pass) => {
                tracing::debug!(synced = ?pass.synced, "synced the index with the vault");
                VaultChange {
                    all: false,
                    paths: pass.again,
                }
            }
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "cannot sync the index with the vault; retrying"
                );
                world.mind(&error);
                change
            }
        };
        if again.all || !again.paths.is_empty() {
            tokio::select! {
                biased;
                () = world.work.stopping() => return,
                () = world.parts.clock.sleep(AGAIN) => world.dirty.add_all(again),
            }
        }
    }
}

/// Listens to the vault until the engine stops.
pub(crate) async fn watch(world: Arc<World>) {
    loop {
        tokio::select! {
            biased;
            () = world.work.stopping() => return,
            change = world.parts.vault.changed() => world.dirty.add_all(change),
        }
    }
}

fn whole_vault() -> VaultChange {
    VaultChange {
        all: true,
        ..VaultChange::default()
    }
}

async fn carry_over(world: &World, change: VaultChange) -> Result<Pass<'_>, EngineError> {
    let paths = differing(world, change).await?;
    if !paths.is_empty() {
        world.chronicle.touch(world.parts.clock.elapsed());
    }
    let mut pass = Pass::new(world);
    for some in paths.chunks(FILES_AT_A_TIME) {
        let _alone = world.gate.alone().await;
        world.accepting()?;
        for path in some {
            pass.look(path).await?;
        }
    }
    if pass.has_more_to_do() {
        let _alone = world.gate.alone().await;
        pass.finish().await?;
    }
    Ok(pass)
}

/// The files whose state on disk differs from the record.
async fn differing(world: &World, change: VaultChange) -> Result<Vec<VaultPath>, EngineError> {
    if !change.all {
        let mut paths = Vec::new();
        for path in change.paths {
            let is_as_recorded = match world.parts.vault.stat(&path).await {
                Ok(stat) => stat == world.records.stat(&path).await?,
                // No file of the vault, unless it was one before a link took its place.
                Err(VaultError::Outside { .. }) => world.records.stat(&path).await?.is_none(),
                // The read of the file shows the problem.
                Err(_) => false,
            };
            if !is_as_recorded && !world.dirty.defers(&path) {
                paths.push(path);
            }
        }
        return Ok(paths);
    }
    let on_disk = world.parts.vault.scan().await?;
    let recorded: BTreeMap<VaultPath, FileStat> = world
        .records
        .stats()
        .await?
        .into_iter()
        .map(|stat| (stat.path.clone(), stat))
        .collect();
    let mut paths: BTreeSet<VaultPath> = recorded.keys().cloned().collect();
    let mut standing = Vec::new();
    for stat in on_disk {
        if recorded.get(&stat.path) == Some(&stat) {
            paths.remove(&stat.path);
            standing.push(stat);
        } else {
            paths.insert(stat.path);
        }
    }
    world.chronicle.found_standing(standing.into_iter());
    Ok(paths.into_iter().collect())
}

impl<'a> Pass<'a> {
    fn new(world: &'a World) -> Self {
        Self {
            world,
            synced: Synced::default(),
            present: BTreeSet::new(),
            gone: BTreeMap::new(),
            held: BTreeMap::new(),
            vanished: BTreeSet::new(),
            again: BTreeSet::new(),
            trouble: None,
        }
    }

    fn has_more_to_do(&self) -> bool {
        !self.held.is_empty() || !self.vanished.is_empty()
    }

    /// The result, or the first file that failed; that file is read again.
    fn end(self) -> Result<Synced, EngineError> {
        if !self.again.is_empty() {
            self.world.dirty.add_all(VaultChange {
                all: false,
                paths: self.again,
            });
        }
        match self.trouble {
            Some(error) => Err(error.into()),
            None => Ok(self.synced),
        }
    }

    /// Removes what is gone, and then records the files that had to wait for it.
    async fn finish(&mut self) -> Result<(), EngineError> {
        self.remove_gone().await?;
        let held: Vec<FileRecord> = std::mem::take(&mut self.held).into_values().collect();
        let apps: BTreeSet<AppId> = held.iter().map(|file| file.scope.app.clone()).collect();
        self.world.records.put_all(held).await?;
        for app in &apps {
            self.world.corpora.let_all_projects_go(app);
        }
        let vanished: Vec<VaultPath> = std::mem::take(&mut self.vanished).into_iter().collect();
        if !vanished.is_empty() {
            self.world.records.drop_paths(&vanished).await?;
        }
        Ok(())
    }
}
