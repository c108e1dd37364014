//! `quipu restore`: a root from a backup.
//!
//! Owns: that nothing is written before the whole backup was read and verified, and that a root appears completely or not at all.
//! Never: the backup's format (`archive`).
//!
//! The root is built in a folder next to it, index included, and gets its name at the end. An interrupt leaves that folder, which
//! no command opens and the next restore removes.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gateway::wire::{HealthData, SyncedData};
use model::text::counted;
use serde_json::json;

use super::{Desk, runtime};
use crate::api::{Api, NOTHING};
use crate::archive::{Archive, absolute, check_empty, sync_folder};
use crate::config::load;
use crate::environment;
use crate::error::{Exit, Failure, Hinted as _};
use crate::output::say;
use crate::private;
use crate::root::unfinished;

/// The remedy if no folder can be created next to the root and renamed.
const ELSEWHERE: &str = "restore into a new folder on the same disk with --root DIR, and move it there";

pub(super) fn restore(desk: &Desk, folder: &Path) -> Result<Exit, Failure> {
    let root = absolute(&desk.root)?;
    check_empty(&root, "the root")
        .hint("restore into a new folder with --root DIR, or move this one away; nothing was changed")?;
    let archive = Archive::read(folder)?;
    archive.verify(folder)?;
    let (synced, health) = made(desk, &archive, folder, &root)?
        .map_err(|failure| failure.context("every file is restored, but the index could not be built"))
        .hint("put right what it says and run `quipu rebuild`")?;
    let (files, bytes) = (archive.files.len(), archive.bytes());
    let told = json!({
        "root": desk.root, "files": files, "bytes": bytes, "taken": archive.taken,
        "memory_files": synced.files, "memories": synced.entries_added, "rows": health.index.rows,
        "open_messages": health.buffered_messages, "secrets_left_out": archive.secrets_left_out,
        "problems": health.problems,
    });
    desk.tell(&told, || {
        let (from, root, taken) = (folder.display(), desk.root.display(), &archive.taken);
        let (files, megabytes) = (counted(files, "file", "files"), bytes as f64 / 1e6);
        say!("restored {from} into {root}: {files}, {megabytes:.1} MB, as of {taken}")?;
        let found = counted(synced.files, "Markdown file", "Markdown files");
        let open = counted(health.buffered_messages, "message", "messages");
        let rows = counted(health.index.rows, "row", "rows");
        say!("found {found} and {open} not yet in an episode; rebuilt the index with {rows}")?;
        if !archive.secrets_left_out.is_empty() {
            let secrets = archive.secrets_left_out.join(", ");
            say!("a backup has no secrets: write {secrets} into quipu.toml again")?;
        }
        health
            .problems
            .iter()
            .try_for_each(|problem| say!("problem: {problem}"))
    })?;
    Ok(Exit::done(health.problems.is_empty()))
}

/// Builds the root; returns the state of its index. An error leaves no root.
fn made(
    desk: &Desk,
    archive: &Archive,
    folder: &Path,
    root: &Path,
) -> Result<Result<(SyncedData, HealthData), Failure>, Failure> {
    let beside = RestoreFolder::new(root)?;
    let made = || -> Result<_, Failure> {
        archive.unpack(folder, &beside.path)?;
        let loaded = load(&beside.path, environment::variables())?;
        let desk = Desk {
            root: beside.path.clone(),
            loaded,
            standing: super::WhatStands::default(),
            ..*desk
        };
        let built = runtime()?.block_on(rebuilt(&desk));
        beside.become_the_root(root)?;
        Ok(built)
    };
    made().inspect_err(|_| {
        // If this fails, the next restore removes the folder.
        fs::remove_dir_all(&beside.path).ok();
    })
}

/// The folder that becomes the root. Its lock excludes other restores.
struct RestoreFolder {
    path: PathBuf,
    _lock: File,
}

impl RestoreFolder {
    fn new(root: &Path) -> Result<Self, Failure> {
        let refused = || format!("cannot make a folder beside `{}`", root.display());
        let (parent, path) = root
            .parent()
            .zip(unfinished(root))
            .ok_or_else(|| Failure::usage(refused()).hint(ELSEWHERE))?;
        private::folder(parent).with_context(refused)?;
        let is_mounted = |there: fs::Metadata| Ok(there.dev() != parent.metadata()?.dev());
        if root.metadata().ok().map_or(Ok::<_, Failure>(false), is_mounted)? {
            let text = "is a mount point, which no folder can replace";
            return Err(Failure::usage(format!("`{}` {text}", root.display())).hint(ELSEWHERE));
        }
        if path.symlink_metadata().is_ok() {
            drop(locked(&path)?);
            let left = || {
                format!(
                    "cannot remove `{}`, which an earlier restore left",
                    path.display()
                )
            };
            fs::remove_dir_all(&path).with_context(left)?;
        }
        private::folder(&path).with_context(refused).hint(ELSEWHERE)?;
        Ok(Self {
            _lock: locked(&path)?,
            path,
        })
    }

    /// Renames the folder to the root in one step, after everything below is on disk.
    fn become_the_root(&self, root: &Path) -> Result<(), Failure> {
        sync_folders(&self.path)?;
        let refused = || format!("cannot rename `{}` to `{}`", self.path.display(), root.display());
        fs::rename(&self.path, root)
            .with_context(refused)
            .hint(ELSEWHERE)?;
        Ok(sync_folder(root.parent().unwrap_or(root))?)
    }
}

/// Locks a folder. Some file systems cannot lock folders: there, two restores are not kept apart.
fn locked(path: &Path) -> Result<File, Failure> {
    let folder = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::in_use(
            "another `quipu restore` into this root is under way",
        )),
        _ => Ok(folder),
    }
}

/// Syncs the names in a folder, and in all folders below, to disk.
fn sync_folders(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            match sync_folders(&entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    sync_folder(folder)
}

/// Builds the index, and returns its result and the health.
async fn rebuilt(desk: &Desk) -> Result<(SyncedData, HealthData), Failure> {
    let api = Api::open(desk).await?;
    let synced = api.post("/index/rebuild", &NOTHING).await;
    let health = api.health().await;
    api.close().await;
    Ok((synced?, health?))
}

#[cfg(test)]
mod tests;
