//! The git repository that earlier versions kept in the memory folder: moved out of it as a whole.
//!
//! Owns: recognising Quipu's own repository. Never: reading its content.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use vault::OLD_HISTORY;

use crate::root::MEMORY;

/// The section of the repository's configuration that only Quipu writes.
const SECTION: &str = "[quipu]";
/// Folders that have files while the repository still has deleted text.
const OWED: [&str; 2] = ["quipu.owed", "quipu.purge"];

/// Moves the repository out of the memory folder, if there is one; deletes it if it still has deleted text.
pub(crate) fn set_aside(root: &Path) {
    let made = root.join(MEMORY).join(".git");
    if !is_own(&made) {
        return;
    }
    let done = if OWED.iter().any(|owed| has_any(&made.join(owed))) {
        fs::remove_dir_all(&made).map(|()| None)
    } else {
        let to = free(root);
        fs::rename(&made, &to).map(|()| Some(to))
    };
    match done {
        Ok(Some(to)) => tracing::info!(to = %to.display(), "moved the history of earlier versions"),
        Ok(None) => tracing::info!("deleted the history of earlier versions, which had forgotten text"),
        Err(error) => tracing::warn!(%error, "cannot move the history of earlier versions"),
    }
}

fn is_own(made: &Path) -> bool {
    let config = fs::read_to_string(made.join("config"));
    config.is_ok_and(|config| config.lines().any(|line| line.trim() == SECTION))
}

fn has_any(owed: &Path) -> bool {
    match fs::read_dir(owed) {
        Ok(mut files) => files.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Target of the move: next to the memory folder, or inside the repository that was moved there before.
fn free(root: &Path) -> PathBuf {
    let first = root.join(OLD_HISTORY);
    if first.exists() {
        first.join("later.git")
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, config: &str) -> PathBuf {
        let made = root.join(MEMORY).join(".git");
        fs::create_dir_all(&made).expect("makes");
        fs::write(made.join("config"), config).expect("writes");
        made
    }

    #[test]
    fn only_quipus_own_repository_is_moved() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let made = make(root, "[core]\n\tbare = false\n");
        set_aside(root);
        assert!(made.exists(), "a person's stays");
        for place in [OLD_HISTORY, "history.before.git/later.git"] {
            let made = make(root, "[core]\n\tbare = false\n[quipu]\n\thistory = 1\n");
            set_aside(root);
            assert!(
                !made.exists() && root.join(place).join("config").exists(),
                "{place}"
            );
        }
    }

    #[test]
    fn a_repository_with_deleted_text_is_deleted() {
        for owed in ["quipu.owed/1", "quipu.purge"] {
            let folder = tempfile::tempdir().expect("a folder");
            let made = make(folder.path(), "[quipu]\n\thistory = 1\n");
            fs::create_dir_all(made.join(owed).parent().expect("a folder")).expect("makes");
            fs::write(made.join(owed), "default/default").expect("writes");
            set_aside(folder.path());
            assert!(!made.exists() && !folder.path().join(OLD_HISTORY).exists());
        }
    }
}
