//! Where the server of a root listens, for commands beside it.
//!
//! Owns: the file that says it. Never: asking the server.
//!
//! The file is believed only while somebody holds the root's lock: whoever takes the lock removes it first, and only a
//! server writes it again. So a file that a killed server left behind misleads nobody.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The file, beside the ledger's lock.
const FILE: &str = "serving.addr";

/// Says where the server listens until it is dropped.
#[derive(Debug)]
pub(crate) struct Notice {
    file: PathBuf,
}

impl Notice {
    /// Says it; the caller holds the root's lock.
    pub(crate) fn put(root: &Path, address: SocketAddr) -> io::Result<Self> {
        let file = root.join(FILE);
        // In one step, so that nobody reads half of it.
        let beside = root.join(format!(".{FILE}.tmp"));
        std::fs::write(&beside, format!("{address}\n"))?;
        std::fs::rename(&beside, &file)?;
        Ok(Self { file })
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        // Whoever takes the lock next removes it if this did not.
        std::fs::remove_file(&self.file).ok();
    }
}

/// Removes what an earlier server left; the caller holds the root's lock.
pub(crate) fn clear(root: &Path) {
    std::fs::remove_file(root.join(FILE)).ok();
}

/// Where the server of a root that is in use listens, if it is a server.
pub(crate) fn find(root: &Path) -> Option<SocketAddr> {
    let text = std::fs::read_to_string(root.join(FILE)).ok()?;
    text.trim().parse().ok()
}
