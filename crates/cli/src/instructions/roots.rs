//! Instruction files on disk.
//!
//! Owns: that no file outside the roots is read, and that no read blocks. Never: judging a text.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use context::bootstrap::{FileHead, Files, Missing};

use crate::private::plain_file;

/// Reads files below some directories, given by their real paths.
#[derive(Debug)]
pub(super) struct InstructionRoots(pub(super) Vec<PathBuf>);

impl InstructionRoots {
    /// Reads below these directories; a missing one has no files.
    pub(super) fn below(roots: &[PathBuf]) -> Self {
        Self(roots.iter().flat_map(|root| root.canonicalize()).collect())
    }
}

impl Files for InstructionRoots {
    fn read(&self, path: &Path, bytes_max: usize) -> Result<FileHead, Missing> {
        let real_path = path.canonicalize().map_err(|error| missing(&error))?;
        if !self.0.iter().any(|root| real_path.starts_with(root)) {
            return Err(Missing::Outside);
        }
        let file = plain_file(OpenOptions::new().read(true), &real_path);
        let file = file.map_err(|error| missing(&error))?;
        let meta = file.metadata().map_err(|error| missing(&error))?;
        let mut bytes = Vec::new();
        file.take(bytes_max as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| missing(&error))?;
        Ok(FileHead {
            bytes,
            bytes_total: meta.len(),
            real_path,
        })
    }
}

fn missing(error: &std::io::Error) -> Missing {
    match error.kind() {
        ErrorKind::NotFound => Missing::Absent,
        ErrorKind::PermissionDenied => Missing::Denied,
        _ => Missing::Unfit,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use context::bootstrap::{Policy, Remark, load};

    use super::*;

    #[test]
    fn only_regular_files_below_the_roots_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (project, home) = (dir.path().join("project"), dir.path().join("home"));
        std::fs::create_dir_all(project.join("USER.md")).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(dir.path().join("secret"), "the key").unwrap();
        symlink(dir.path().join("secret"), project.join("SOUL.md")).unwrap();
        symlink("/dev/zero", project.join("TOOLS.md")).unwrap();
        std::fs::write(project.join("AGENTS.md"), "Use tabs.").unwrap();
        File::create(project.join("IDENTITY.md"))
            .unwrap()
            .set_len(1 << 33)
            .unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(project.join("BOOTSTRAP.md"))
            .status()
            .unwrap();
        assert!(made.success());
        let files = InstructionRoots::below(&[project, home]);
        let policy = Policy::new(files.0.clone());
        let loaded = load(&policy, &files);
        assert_eq!(loaded.content, "## AGENTS.md\n\nUse tabs.");
        let refused = |missing| {
            loaded
                .notes
                .iter()
                .filter(|note| note.what == Remark::Refused(missing))
                .count()
        };
        assert_eq!(
            (refused(Missing::Outside), refused(Missing::Unfit)),
            (2, 3),
            "{:?}",
            loaded.notes
        );
    }
}
