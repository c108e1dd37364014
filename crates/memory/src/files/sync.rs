//! Vault to index: brings changes of files by people or other programs into every search.
//!
//! Owns: finding changed files, and the order in which their changes are carried over. Never: reading Markdown.
//!
//! A deleted file takes its rows from searches, and nothing else: no sync edits a file. Where several files contain an
//! id, one of them holds its row (`holders`); when it loses the id, the next one takes over in the same write of the
//! index. Files are read before anybody is stopped, and read again under the gate only if they changed meanwhile. A
//! file's record is written last: after a crash midway, the sync starts again from the old record and reaches the same
//! result.

mod holders;
mod look;
mod pass;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use model::Scope;
use model::text::chain;
use ports::{FileStat, VaultChange, VaultError, VaultPath};

pub(crate) use look::rows_of;
use pass::Pass;

use crate::api::Synced;
use crate::base::Base;
use crate::error::EngineError;

/// Files, and their bytes, that are carried over together.
const FILES_AT_A_TIME: usize = 128;
const BYTES_AT_A_TIME: u64 = 4 << 20;
/// How long to wait before a failed file is synced again.
const AGAIN: Duration = Duration::from_secs(5);

/// Brings the index up to date with the whole vault.
pub(crate) async fn everything(base: &Base) -> Result<Synced, EngineError> {
    let pass = carry_over(base, whole_vault()).await?;
    pass.end()
}

/// As [`everything`], for one tenant's files; the caller holds the tenant exclusively.
pub(crate) async fn tenant_alone(base: &Base, scope: &Scope) -> Result<Synced, EngineError> {
    let folder = format!("{}/", base.parts.vault.folder_of(scope));
    let mut paths = differing(base, whole_vault()).await?;
    paths.retain(|path| path.starts_with(&folder));
    files(base, paths).await
}

/// Brings the index up to date with some files; the caller holds their tenants exclusively.
pub(crate) async fn files(
    base: &Base,
    paths: impl IntoIterator<Item = VaultPath>,
) -> Result<Synced, EngineError> {
    let mut pass = Pass::new(base);
    let paths: Vec<VaultPath> = paths.into_iter().collect();
    for some in paths.chunks(FILES_AT_A_TIME) {
        let looks = pass.read(some).await?;
        pass.carry(looks).await?;
    }
    pass.end()
}

/// Syncs those files that changed since they were recorded; the caller holds no tenant.
pub(crate) async fn changed(base: &Base, paths: BTreeSet<VaultPath>) -> Result<(), EngineError> {
    carry_over(base, of_paths(paths)).await?.end().map(drop)
}

/// Syncs files whenever they may have changed, until the engine stops.
pub(crate) async fn keep(base: Arc<Base>) {
    while let Some(change) = base.work.unless_stopping(base.dirty.take()).await {
        let carried = carry_over(&base, change.clone());
        let again = match base.panics.caught("sync", &*base.parts.clock, carried).await {
            Ok(pass) => {
                tracing::debug!(synced = ?pass.synced, "synced the index with the vault");
                of_paths(pass.again)
            }
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "cannot sync the index with the vault; retrying"
                );
                base.note_error(&error);
                change
            }
        };
        if again != VaultChange::default() {
            if !base.pause(AGAIN).await {
                return;
            }
            base.dirty.add_all(again);
        }
    }
}

/// Listens to the vault until the engine stops.
pub(crate) async fn watch(base: Arc<Base>) {
    while let Some(change) = base.work.unless_stopping(base.parts.vault.changed()).await {
        base.dirty.add_all(change);
    }
}

fn of_paths(paths: BTreeSet<VaultPath>) -> VaultChange {
    VaultChange {
        paths,
        ..VaultChange::default()
    }
}

fn whole_vault() -> VaultChange {
    VaultChange {
        all: true,
        ..VaultChange::default()
    }
}

async fn carry_over(base: &Base, change: VaultChange) -> Result<Pass<'_>, EngineError> {
    // "All" means that nothing watched: other files may have changed too. A process that only asks leaves them to the
    // next.
    if (change.all || change.beside) && !base.settings.asks_only {
        base.chronicle.touch(base.parts.clock.elapsed());
    }
    let is_whole = change.all;
    let paths = differing(base, change).await?;
    let mut pass = Pass::new(base);
    base.gauge.add_unread(&paths);
    for some in portions(base, paths).await {
        base.accepting()?;
        let mut looks = pass.read(&some).await?;
        let _alone = base.gate.alone().await;
        base.accepting()?;
        pass.read_again(&mut looks).await?;
        pass.carry(looks).await?;
        base.gauge.remove_unread(&some);
    }
    if is_whole {
        base.chronicle.has_looked();
    }
    Ok(pass)
}

/// Files in portions that are read at a time. Deleted files come last, so that an entry that moved is found in its new
/// place before it leaves its old one.
async fn portions(base: &Base, paths: Vec<VaultPath>) -> Vec<Vec<VaultPath>> {
    let (mut portions, mut gone) = (vec![Vec::new()], Vec::new());
    let mut bytes = 0;
    for path in paths {
        let Ok(Some(stat)) = base.parts.vault.stat(&path).await else {
            gone.push(path);
            continue;
        };
        let last = portions.last_mut().expect("there is one");
        if !last.is_empty() && (last.len() >= FILES_AT_A_TIME || bytes + stat.bytes > BYTES_AT_A_TIME) {
            portions.push(vec![path]);
            bytes = stat.bytes;
        } else {
            last.push(path);
            bytes += stat.bytes;
        }
    }
    portions.extend(gone.chunks(FILES_AT_A_TIME).map(<[VaultPath]>::to_vec));
    portions.retain(|portion| !portion.is_empty());
    portions
}

/// The files whose state on disk differs from the record.
async fn differing(base: &Base, change: VaultChange) -> Result<Vec<VaultPath>, EngineError> {
    if !change.all {
        let mut paths = Vec::new();
        for path in change.paths {
            let is_as_recorded = match base.parts.vault.stat(&path).await {
                Ok(stat) => stat == base.records.stat(&path).await?,
                // A path outside of the vault counts only if it was a file before a link replaced it.
                Err(VaultError::Outside { .. }) => base.records.stat(&path).await?.is_none(),
                // The read of the file shows the problem.
                Err(_) => false,
            };
            if !is_as_recorded && !base.dirty.defers(&path) {
                paths.push(path);
            }
        }
        return Ok(paths);
    }
    let on_disk = base.parts.vault.scan().await?;
    // After the scan: files of an unmounted vault are missing, not deleted.
    base.parts.vault.is_present().await?;
    let recorded = base.parts.file_changes.stats().await?.into_iter();
    let recorded = recorded.map(|stat| (stat.path.clone(), stat));
    let recorded: BTreeMap<VaultPath, FileStat> = recorded.collect();
    let mut paths: BTreeSet<VaultPath> = recorded.keys().cloned().collect();
    for stat in on_disk {
        if recorded.get(&stat.path) == Some(&stat) {
            paths.remove(&stat.path);
        } else {
            paths.insert(stat.path);
        }
    }
    Ok(paths.into_iter().collect())
}
