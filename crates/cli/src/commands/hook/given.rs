//! The memories that each session received, so that a session receives none twice while the model sees it.
//!
//! Owns: a file of ids for each session, in the root. Never: when a model no longer sees them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use model::Timestamp;
use prefix::Digest;

use crate::private;

const FOLDER: &str = "hooks";
/// A session without an event for this long receives its memories again.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// The memories that one session received.
#[derive(Debug)]
pub(super) struct Given(PathBuf);

impl Given {
    pub(super) fn to(root: &Path, session: &str) -> Self {
        let name = Digest::of(session.as_bytes()).to_string();
        Self(root.join(FOLDER).join(name))
    }

    /// The newest ids, at most `max`.
    pub(super) fn ids(&self, max: usize) -> Vec<String> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().rev().take(max).map(str::to_owned).collect()
    }

    pub(super) fn add(&self, ids: &[String]) -> io::Result<()> {
        private::folder(self.0.parent().unwrap_or(&self.0))?;
        let mut file = File::options().create(true).append(true).open(&self.0)?;
        let lines: String = ids.iter().flat_map(|id| [id, "\n"]).collect();
        file.write_all(lines.as_bytes())
    }

    /// Deletes the session's ids, and the ids of sessions without an event for [`KEPT`].
    pub(super) fn forget(&self, now: Timestamp) {
        fs::remove_file(&self.0).ok();
        let now = Duration::from_millis(now.millis().unsigned_abs());
        let entries = self.0.parent().and_then(|folder| fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|about| about.modified()).ok();
            let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            if changed.is_some_and(|changed| changed + KEPT < now) {
                fs::remove_file(entry.path()).ok();
            }
        }
    }
}
