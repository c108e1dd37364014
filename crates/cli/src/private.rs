//! Folders that only their owner can enter, and files that only their owner can read.
//!
//! Owns: the rights of a new root and its content, and that a missing file is not an error. Never: the rights of an existing
//! root: a person may share it on purpose.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// From this call on, only their owner can read the files that this process creates, including files of its libraries.
pub(crate) fn files() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// The result of reading a file or a folder; `None` if it does not exist.
pub(crate) fn if_there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Opens a plain file: follows no link, and refuses a FIFO or a device, which could block.
pub(crate) fn plain_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(ErrorKind::InvalidInput.into())
    }
}

/// Creates a folder that only its owner may enter; an existing folder stays unchanged.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path)
}

/// Creates a folder of Quipu's own; an existing one is closed to others, because an earlier version left it open.
pub(crate) fn own_folder(path: &Path) -> io::Result<()> {
    folder(path)?;
    if path.metadata()?.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn new_folders_are_private_and_quipus_own_become_private() {
        let root = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
        let (new, shared) = (root.path().join("a/b"), root.path().join("shared"));
        folder(&new).expect("creates");
        assert_eq!([mode(&new), mode(&root.path().join("a"))], [0o700, 0o700]);
        fs::create_dir(&shared).expect("creates");
        fs::set_permissions(&shared, Permissions::from_mode(0o755)).expect("sets");
        folder(&shared).expect("is there");
        assert_eq!(mode(&shared), 0o755);
        own_folder(&shared).expect("closes");
        assert_eq!(mode(&shared), 0o700);
    }
}
