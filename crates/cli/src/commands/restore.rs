//! `quipu restore`: a root from a backup.
//!
//! Owns: that nothing is written before the whole backup was read and found to be as it was written. Never: the backup's
//! form (`archive`).

use std::path::Path;

use anyhow::Context;
use serde_json::json;
use text::counted;
use wire::{HealthData, SyncedData};

use super::{Desk, runtime};
use crate::api::{Api, NOTHING};
use crate::archive::{Archive, check_empty};
use crate::args::RestoreArgs;
use crate::config::load;
use crate::environment;
use crate::error::{Exit, Failure};
use crate::output;
use crate::private;

pub(super) fn restore(desk: Desk, args: &RestoreArgs) -> Result<Exit, Failure> {
    let (root, folder) = (desk.root.clone(), args.folder.as_path());
    check_empty(&root, "the root").map_err(|failure| {
        failure.hint("restore into a new folder with --root DIR, or move this one away; nothing was changed")
    })?;
    let archive = Archive::read(folder)?;
    archive.verify(folder)?;
    private::folder(&root).with_context(|| format!("cannot create `{}`", root.display()))?;
    archive.unpack(folder, &root).inspect_err(|_| {
        // Half a root would be refused the next time, and is no memory.
        clear(&root);
    })?;
    let loaded = load(&root, environment::variables());
    let loaded = loaded.map_err(|error| Failure::usage(format!("{:#}", anyhow::Error::from(error))))?;
    let desk = Desk { loaded, ..desk };
    let (synced, health) = runtime()?.block_on(rebuilt(&desk)).map_err(|failure| Failure {
        error: failure
            .error
            .context("every file is restored, but the index could not be built"),
        hint: Some("put right what it says and run `quipu rebuild`".to_owned()),
        ..failure
    })?;
    told(&desk, folder, &archive, &synced, &health)
}

/// Builds the index, and looks what is there.
async fn rebuilt(desk: &Desk) -> Result<(SyncedData, HealthData), Failure> {
    let api = Api::open(desk).await?;
    let result = async {
        let synced = api.post("/index/rebuild", &NOTHING).await?;
        Ok((synced, api.health().await?))
    };
    let result = result.await;
    api.close().await;
    result
}

/// Removes what was written into a root that was empty.
fn clear(root: &Path) {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        // What cannot be removed shows itself when the root is not empty.
        if path.is_dir() {
            std::fs::remove_dir_all(path).ok();
        } else {
            std::fs::remove_file(path).ok();
        }
    }
}

fn told(
    desk: &Desk,
    folder: &Path,
    archive: &Archive,
    synced: &SyncedData,
    health: &HealthData,
) -> Result<Exit, Failure> {
    let (files, bytes) = (archive.files.len(), archive.bytes());
    if desk.json {
        output::json(&json!({
            "root": desk.root, "files": files, "bytes": bytes, "taken": archive.taken,
            "memory_files": synced.files, "memories": synced.entries_added, "rows": health.index.rows,
            "open_messages": health.buffered_messages, "secrets_left_out": archive.secrets_left_out,
            "problems": health.problems,
        }))?;
    } else {
        output::line(format_args!(
            "restored {} into {}: {}, {:.1} MB, as of {}",
            folder.display(),
            desk.root.display(),
            counted(files, "file", "files"),
            bytes as f64 / 1e6,
            archive.taken
        ))?;
        output::line(format_args!(
            "found {} and {} not yet in an episode; rebuilt the index with {}",
            counted(synced.files, "Markdown file", "Markdown files"),
            counted(health.buffered_messages, "message", "messages"),
            counted(health.index.rows, "row", "rows")
        ))?;
        if !archive.secrets_left_out.is_empty() {
            output::line(format_args!(
                "a backup has no secrets: write {} into quipu.toml again",
                archive.secrets_left_out.join(", ")
            ))?;
        }
        for problem in &health.problems {
            output::line(format_args!("problem: {problem}"))?;
        }
    }
    Ok(if health.problems.is_empty() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}
