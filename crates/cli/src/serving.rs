//! Address and key of a root's server, for commands on the same machine.
//!
//! Owns: the two files with the server's address and key. Never: requests to the server.
//!
//! The files count only while a process holds the root's lock. A process that takes the lock removes them first, and only a
//! server writes them again. So the files of a killed server mislead no client. Each run of a server has a new key: another
//! program that later listens at the same address learns no valid key.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use gateway::Secret;
use ledger::SqliteLedger;

use crate::archive::copy;

/// The ledger; its lock is the root's lock.
pub(crate) const LEDGER: &str = "ledger.sqlite";
/// Names of the files, next to the ledger's lock.
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
        // Written in one step and last: no reader sees a part of it, and a reader that finds the address finds the key too.
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

/// Removes the files of an earlier server; the caller holds the root's lock.
pub(crate) fn clear(root: &Path) {
    for file in [FILE, KEY] {
        std::fs::remove_file(root.join(file)).ok();
    }
}

/// The key of the root's server; `None` if this person may not read it.
pub(crate) fn key(root: &Path) -> Option<Secret> {
    std::fs::read_to_string(root.join(KEY)).ok().map(Secret::new)
}

/// The address of the root's server; `None` if no process holds the root, or if its holder is not a server.
pub(crate) fn running(root: &Path) -> Option<SocketAddr> {
    find(root).filter(|_| SqliteLedger::is_open(&root.join(LEDGER)))
}

/// The address of the server of a root in use, if its holder is a server.
pub(crate) fn find(root: &Path) -> Option<SocketAddr> {
    let text = std::fs::read_to_string(root.join(FILE)).ok()?;
    text.trim().parse().ok()
}
