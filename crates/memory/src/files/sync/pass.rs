//! One sync in progress.
//!
//! Owns: its result, and the files to sync again. Never: a file.

use std::collections::BTreeSet;

use ports::{VaultError, VaultPath};

use crate::api::Synced;
use crate::base::Base;
use crate::error::EngineError;

/// One sync in progress.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub(super) base: &'a Base,
    pub(super) synced: Synced,
    /// Files to sync again: they could not be read or changed, or their rows have no vectors yet.
    pub(super) again: BTreeSet<VaultPath>,
    /// The first file that could not be read or changed; the others were synced anyway.
    pub(super) trouble: Option<VaultError>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(base: &'a Base) -> Self {
        Self {
            base,
            synced: Synced::default(),
            again: BTreeSet::new(),
            trouble: None,
        }
    }

    /// The result, or the first file that failed; that file is read again.
    pub(super) fn end(self) -> Result<Synced, EngineError> {
        if !self.again.is_empty() {
            self.base.dirty.add(self.again);
        }
        match self.trouble {
            Some(error) => Err(error.into()),
            None => Ok(self.synced),
        }
    }
}
