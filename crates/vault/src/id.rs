//! The identity of a vault's folder: an id in a file, of which the ledger's side keeps a copy.
//!
//! Owns: the file's form, which carries a version. Never: the choice of an id.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use ports::VaultError;

use crate::tree::{Tree, io_error, is_absent};

/// The file in the vault's folder. It contains no memory.
pub const ID_FILE: &str = ".quipu";
/// The first line; the second one is the id.
const HEAD: &str = "quipu vault 1";

/// Distinguishes a vault from every other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultId(String);

impl VaultId {
    /// An id of 128 bits.
    pub fn new(high: u64, low: u64) -> Self {
        Self(format!("{high:016x}{low:016x}"))
    }

    /// Reads a file with an id; none if there is no file.
    pub fn read(file: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read_to_string(file) {
            Err(error) if is_absent(&error) => return Ok(None),
            text => text?,
        };
        let mut lines = text.lines();
        match (lines.next(), lines.next()) {
            (Some(HEAD), Some(id)) if !id.is_empty() => Ok(Some(Self(id.to_owned()))),
            _ => Err(io::Error::new(
                ErrorKind::InvalidData,
                "the file has no id of a vault that this program knows",
            )),
        }
    }

    /// Writes a file with the id: completely or not at all, and on disk when it returns.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let mut beside = file.as_os_str().to_owned();
        beside.push(".tmp");
        let beside = Path::new(&beside);
        let mut made = File::create(beside)?;
        made.write_all(format!("{HEAD}\n{}\n", self.0).as_bytes())?;
        made.sync_all()?;
        fs::rename(beside, file)?;
        if let (true, Some(folder)) = (cfg!(unix), file.parent()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Fails unless the vault's folder has this id.
    pub(crate) fn check(&self, tree: &Tree) -> Result<(), VaultError> {
        match Self::read(&tree.root().join(ID_FILE)) {
            Ok(Some(there)) if there == *self => Ok(()),
            Err(error) => Err(io_error(ID_FILE)(error)),
            Ok(_) => Err(io_error(ID_FILE)(io::Error::new(
                ErrorKind::NotFound,
                "the memory folder is missing or is not the one this ledger belongs to; mount it or put it back",
            ))),
        }
    }
}
