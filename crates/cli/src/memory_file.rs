//! The file of facts that were flushed before a compaction: private, one for each owner.
//!
//! Owns: its mode, that no link is followed, and that a section is written completely or not at all. Never: the text.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use context::flush::{Destination, Unwritable};
use proxy::conversation::Party;

use crate::private::{self, if_there, plain_file};

/// A file of facts.
#[derive(Debug, Clone)]
pub(crate) struct MemoryFile {
    path: PathBuf,
}

impl MemoryFile {
    /// The file of an owner in this folder: `<folder>/<app>/<project>/<owner>.md`.
    pub(crate) fn of(folder: &Path, whose: &Party) -> Self {
        let Party { scope, owner, .. } = whose;
        let project = folder.join(scope.app.as_str()).join(scope.project.as_str());
        Self {
            path: project.join(format!("{}.md", owner.id)),
        }
    }

    fn append_whole(&self, section: &str) -> std::io::Result<()> {
        if let Some(parent) = self.path.parent() {
            private::folder(parent)?;
        }
        let options = &mut OpenOptions::new();
        let mut file = plain_file(options.append(true).create(true).mode(0o600), &self.path)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        let before = file.metadata()?.len();
        let written = file.write_all(section.as_bytes()).and_then(|()| file.sync_data());
        if written.is_err() {
            file.set_len(before)?;
        }
        written
    }
}

impl Destination for MemoryFile {
    fn read(&self) -> Result<String, Unwritable> {
        let file = if_there(plain_file(OpenOptions::new().read(true), &self.path));
        let text = file.and_then(|file| file.map_or(Ok(String::new()), std::io::read_to_string));
        text.map_err(|_| Unwritable)
    }

    fn append(&mut self, section: &str) -> Result<(), Unwritable> {
        self.append_whole(section).map_err(|_| Unwritable)
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn whose(owner: &str) -> Party {
        Party {
            scope: model::Scope::default(),
            owner: model::Owner::user(model::Name::parse(owner).unwrap()),
            conversation: None,
            family: None,
        }
    }

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn facts_are_private_and_appended() {
        let profile = tempfile::tempdir().unwrap();
        let mut file = MemoryFile::of(&profile.path().join("home"), &whose("ann"));
        assert_eq!(file.read(), Ok(String::new()));
        file.append("one\n").unwrap();
        file.append("two\n").unwrap();
        assert_eq!(file.read().as_deref(), Ok("one\ntwo\n"));
        assert_eq!(
            MemoryFile::of(&profile.path().join("home"), &whose("bob")).read(),
            Ok(String::new()),
            "each owner has a file"
        );
        assert_eq!(mode(&file.path), 0o600);
        assert_eq!(mode(file.path.parent().unwrap()), 0o700);
    }

    #[test]
    fn a_link_in_place_of_the_file_is_not_followed() {
        let profile = tempfile::tempdir().unwrap();
        let target = profile.path().join("target");
        std::fs::write(&target, "kept").unwrap();
        let mut file = MemoryFile::of(profile.path(), &whose("ann"));
        std::fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        symlink(&target, &file.path).unwrap();
        assert_eq!(file.read(), Err(Unwritable));
        assert_eq!(file.append("secret"), Err(Unwritable));
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
    }
}
