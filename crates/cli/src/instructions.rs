//! Instruction files that every conversation through the proxy begins with.
//!
//! Owns: the two folders. Never: which files count, or how much of them (`context::bootstrap` says so).

use std::path::{Path, PathBuf};

use crate::places::Instructions;
use context::bootstrap::{self, Policy};

/// The folder that the configuration names, and that of the root.
#[derive(Debug)]
pub(crate) struct InstructionFiles {
    folders: Vec<PathBuf>,
}

impl InstructionFiles {
    /// An empty `configured` names none.
    pub(crate) fn new(configured: &str, root: &Path) -> Self {
        let configured = (!configured.is_empty()).then(|| PathBuf::from(configured));
        let folders = configured.into_iter().chain([root.join("instructions")]);
        Self {
            folders: folders.collect(),
        }
    }
}

impl proxy::Instructions for InstructionFiles {
    fn read(&self, chars_max: usize) -> String {
        let files = Instructions::below(self.folders.iter().cloned());
        let (Some(first), Some(last)) = (files.roots().first(), files.roots().last()) else {
            return String::new();
        };
        let policy = Policy {
            chars_max,
            ..Policy::new(first.clone(), last.clone())
        };
        let loaded = bootstrap::load(&policy, &files);
        for note in &loaded.notes {
            tracing::debug!(path = %note.path.display(), what = ?note.what, "a file of instructions is left out");
        }
        loaded.content
    }
}

#[cfg(test)]
mod tests {
    use proxy::Instructions as _;

    use super::*;

    #[test]
    fn the_configured_folder_comes_before_that_of_the_root() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, project) = (dir.path().join("root"), dir.path().join("project"));
        std::fs::create_dir_all(root.join("instructions")).expect("a folder");
        std::fs::create_dir_all(&project).expect("a folder");
        std::fs::write(root.join("instructions/SOUL.md"), "Be kind.").expect("a file");
        std::fs::write(root.join("instructions/AGENTS.md"), "Use spaces.").expect("a file");
        std::fs::write(project.join("AGENTS.md"), "Use tabs.").expect("a file");
        let named = project.to_str().expect("a path");
        let both = InstructionFiles::new(named, &root).read(1_000);
        assert_eq!(both, "## AGENTS.md\n\nUse tabs.\n\n---\n\n## SOUL.md\n\nBe kind.");
        let own = InstructionFiles::new("", &root).read(1_000);
        assert_eq!(
            own,
            "## AGENTS.md\n\nUse spaces.\n\n---\n\n## SOUL.md\n\nBe kind."
        );
        assert_eq!(InstructionFiles::new("", dir.path()).read(1_000), "");
    }
}
