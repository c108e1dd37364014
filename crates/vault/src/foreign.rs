//! Files in the vault that are not the vault's own.
//!
//! Owns: finding those that may contain a text. Never: changing or deleting them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use markdown::Place;
use model::Zone;
use ports::{ForeignFile, VaultError};

use crate::pages::MADE;
use crate::tree::{Tree, io_error};
use crate::write::TORN;

/// A larger file is not read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The files below a folder, and the torn parts of its files, that contain a text or may contain it. Links
/// are not followed.
pub(crate) fn foreign(
    tree: &Tree,
    zone: &Zone,
    folder: &str,
    has: &dyn Fn(&str) -> bool,
) -> Result<Vec<ForeignFile>, VaultError> {
    let mut found = Vec::new();
    for folder in [folder.to_owned(), format!("{TORN}/{folder}")] {
        let spot = tree.spot(&folder)?;
        if spot.metadata.is_some_and(|metadata| metadata.is_dir()) {
            walk(tree, zone, &spot.path, has, &mut found).map_err(io_error(&folder))?;
        }
    }
    if tree.root().join(".git").symlink_metadata().is_ok() {
        let (path, is_read) = (".git".to_owned(), false);
        found.push(ForeignFile { path, is_read });
    }
    found.sort();
    Ok(found)
}

fn walk(
    tree: &Tree,
    zone: &Zone,
    folder: &Path,
    has: &dyn Fn(&str) -> bool,
    found: &mut Vec<ForeignFile>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_read = if kind.is_dir() {
            walk(tree, zone, &path, has, found).map(|()| None)
        } else if kind.is_file() {
            let may_have =
                read(&path).map(|text| text.map_or(Some(false), |text| has(&text).then_some(true)));
            // Quipu's own files are many, so those without the text are not parsed.
            may_have.map(|is_read| is_read.filter(|_| !is_own(tree, zone, &path)))
        } else {
            Ok(None)
        };
        // An unreadable file is reported; the walk continues.
        if let Some(is_read) = is_read.unwrap_or(Some(false)) {
            let path = path.strip_prefix(tree.root()).unwrap_or(&path);
            let path = path.to_string_lossy().into_owned();
            found.push(ForeignFile { path, is_read });
        }
    }
    Ok(())
}

/// Whether a file is Quipu's and readable as such.
fn is_own(tree: &Tree, zone: &Zone, path: &Path) -> bool {
    if path.file_name().is_some_and(|name| name == MADE) {
        return true;
    }
    let within = path.strip_prefix(tree.root()).ok().and_then(Path::to_str);
    let place = within.and_then(|path| Place::of(path).ok());
    place.is_some_and(|place| {
        fs::read(path).is_ok_and(|bytes| {
            let parsed = markdown::parse(&bytes, &place, zone);
            parsed.broken.is_none() && parsed.problems.is_empty()
        })
    })
}

/// A file's text as far as it is text; none if it is too large.
fn read(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= FILE_BYTES_MAX;
    Ok(fits.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}
