//! Folders that only their owner can enter, and files that only their owner can read.
//!
//! Owns: with which rights the root and what is in it are created, and that what is not there is no error. Never: the
//! rights of a root that is there: a person may share it on purpose.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// From here on, only their owner can read the files that this process creates: Quipu's, and those of the libraries that it uses.
pub(crate) fn files() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// What was read of a file or a folder; none if it is not there.
pub(crate) fn if_there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Opens a file: through no link that was put there, and nothing that can keep one waiting, as a FIFO or a device.
pub(crate) fn plain_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(ErrorKind::InvalidInput.into())
    }
}

/// Creates a folder that only its owner may enter; one that is there stays as it is.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path)
}

/// The same for a folder of ours alone: one that is there is closed to others, as an earlier version left it open.
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
    fn what_is_created_is_private_and_what_is_ours_becomes_so() {
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
