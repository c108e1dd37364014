//! Where the server of a root listens, for commands beside it.
//!
//! Owns: the file with the server's address. Never: requests to the server.
//!
//! The file counts only while a process holds the root's lock. A process that takes the lock removes the file first,
//! and only a server writes it again. So the file of a killed server misleads no client.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ledger::SqliteLedger;

/// The ledger, whose lock is the root's.
pub(crate) const LEDGER: &str = "ledger.sqlite";
/// The file, beside the ledger's lock.
const FILE: &str = "serving.addr";

/// Publishes the server's address until it is dropped.
#[derive(Debug)]
pub(crate) struct Notice {
    file: PathBuf,
}

impl Notice {
    /// Writes the file; the caller holds the root's lock.
    pub(crate) fn put(root: &Path, address: SocketAddr) -> io::Result<Self> {
        let file = root.join(FILE);
        // In one step, so that no reader sees half of it.
        let beside = root.join(format!(".{FILE}.tmp"));
        std::fs::write(&beside, format!("{address}\n"))?;
        std::fs::rename(&beside, &file)?;
        Ok(Self { file })
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        // If this fails, the next holder of the lock removes it.
        std::fs::remove_file(&self.file).ok();
    }
}

/// Removes what an earlier server left; the caller holds the root's lock.
pub(crate) fn clear(root: &Path) {
    std::fs::remove_file(root.join(FILE)).ok();
}

/// Where the server of a root listens; none if no process has the root, or one that is no server.
pub(crate) fn running(root: &Path) -> Option<SocketAddr> {
    find(root).filter(|_| SqliteLedger::is_open(&root.join(LEDGER)))
}

/// Where the server of a root that is in use listens, if it is a server.
pub(crate) fn find(root: &Path) -> Option<SocketAddr> {
    let text = std::fs::read_to_string(root.join(FILE)).ok()?;
    text.trim().parse().ok()
}
