//! Imports from the page: reads a file that a browser sent, as `quipu import` does.
//!
//! Owns: the folder of such files, and their progress. Never: a format.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Name, Scope, Zone};
use page::{ImportJob, ImportProgress, Importer, Importing};
use ports::{Clock, NoRoom};

use super::{Imported, stream};
use crate::api::Api;
use crate::error::Failure;
use crate::import::{Defaults, ImportFile, sources};
use crate::private;

/// Name of the folder in the root.
const FOLDER: &str = "uploads";

/// Imports the files that the page received.
#[derive(Debug)]
pub(in crate::commands) struct Uploads {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    zone: Zone,
}

impl Uploads {
    /// The uploads of one root in this process. Uploads of an earlier process are removed, because their import ended with it,
    /// unless the disk is read-only.
    pub(in crate::commands) fn of(root: &Path, clock: Arc<dyn Clock>, zone: Zone) -> io::Result<Self> {
        let folder = root.join(FOLDER);
        if folder.exists() {
            let removed = std::fs::remove_dir_all(&folder);
            removed.or_else(|error| NoRoom::of_io(&error).map(drop).ok_or(error))?;
        }
        Ok(Self { folder, clock, zone })
    }
}

impl Importer for Uploads {
    fn folder(&self, number: u64) -> io::Result<PathBuf> {
        private::own_folder(&self.folder)?;
        let folder = self.folder.join(number.to_string());
        private::folder(&folder)?;
        Ok(folder)
    }

    fn import(&self, job: ImportJob) -> Importing {
        let api = Api::of(job.client.clone(), self.clock.clone(), self.zone.clone());
        Box::pin(async move {
            let imported = import(&api, &job).await;
            imported.map_err(|failure| named(&job, &failure.words(": ")))
        })
    }
}

/// A text with the browser's name of the file in place of its path.
fn named(job: &ImportJob, text: &str) -> String {
    let folder = job.file.parent().map(|folder| format!("{}/", folder.display()));
    folder.map_or_else(|| text.to_owned(), |folder| text.replace(&folder, ""))
}

async fn import(api: &Api, job: &ImportJob) -> Result<(), Failure> {
    let name = |text: &str| Name::parse(text).map_err(Failure::usage);
    let scope = Scope::new(name(&job.app)?, name(&job.project)?);
    let defaults = Defaults::new(api, scope, name(&job.user)?);
    let sources = sources(std::slice::from_ref(&job.file))?.into_iter();
    let sources: Vec<ImportFile> = sources.map(ImportFile::alone).collect();
    let bytes = sources.iter().map(|source| source.bytes).sum();
    job.progress.lock().bytes = bytes;
    let mut imported = Imported {
        user: job.user.clone(),
        accept_forgotten: job.accept_forgotten,
        ..Imported::default()
    };
    let mut watch = |read_bytes, imported: &Imported| show(job, read_bytes, imported);
    let outcome = stream(api, sources, defaults, &mut watch, &mut imported).await;
    show(job, bytes, &imported);
    {
        let mut progress = job.progress.lock();
        progress.is_read = true;
        progress.sessions = imported.sessions.len();
    }
    imported.write(api, || job.progress.lock().written += 1).await?;
    outcome
}

fn show(job: &ImportJob, read_bytes: u64, imported: &Imported) {
    let mut progress = job.progress.lock();
    let skipped = imported.skipped.iter();
    let skipped = skipped.map(|skipped| named(job, &format!("{}: {}", skipped.what, skipped.why)));
    *progress = ImportProgress {
        bytes: progress.bytes,
        read_bytes,
        skipped: imported.rest().chain(skipped).collect(),
        ..imported.counts.clone()
    };
}
