//! Where the server of a root listens, and the key to it, for commands beside it.
//!
//! Owns: the two files with the server's address and key. Never: requests to the server.
//!
//! The files count only while a process holds the root's lock. A process that takes the lock removes them first, and only
//! a server writes them again. So the files of a killed server mislead no client. The key is another one in each run of a
//! server: who listens at the address of a server that is gone learns nothing that opens anything.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use gateway::Secret;
use ledger::SqliteLedger;

use crate::archive::copy;

/// The ledger, whose lock is the root's.
pub(crate) const LEDGER: &str = "ledger.sqlite";
/// The files, beside the ledger's lock.
const FILE: &str = "serving.addr";
const KEY: &str = "serving.key";

/// Publishes the server's address and key until it is dropped.
#[derive(Debug)]
pub(crate) struct Notice {
    root: PathBuf,
}

impl Notice {
    /// Writes the files; the caller holds the root's lock.
    pub(crate) fn put(root: &Path, address: SocketAddr, key: &str) -> io::Result<Self> {
        let notice = Self {
            root: root.to_owned(),
        };
        copy(&mut key.as_bytes(), &root.join(KEY))?;
        // In one step, so that no reader sees half of it, and last: who finds the address finds the key.
        let beside = root.join(format!(".{FILE}.tmp"));
        std::fs::write(&beside, format!("{address}\n"))?;
        std::fs::rename(&beside, root.join(FILE))?;
        Ok(notice)
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        // If this fails, the next holder of the lock removes them.
        clear(&self.root);
    }
}

/// Removes what an earlier server left; the caller holds the root's lock.
pub(crate) fn clear(root: &Path) {
    for file in [FILE, KEY] {
        std::fs::remove_file(root.join(file)).ok();
    }
}

/// The key to the server of a root; none if this person may not read it.
pub(crate) fn key(root: &Path) -> Option<Secret> {
    std::fs::read_to_string(root.join(KEY)).ok().map(Secret::new)
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
