//! The conversations in memory.
//!
//! Owns: the limits of known conversations and of held bytes, the order of dropping. Never: reading the disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prefix::chain::{self, ConversationId};

use super::Shared;
use crate::conversation::party::Party;

/// Maximum number of known chains; a client that returns to an older, unnamed conversation starts a new one.
const KNOWN_MAX: usize = 512;
/// Number dropped at once when there are too many, so that not each request drops one.
const DROPPED: usize = 64;
/// Maximum bytes of all conversations in memory; a single one in use can exceed it.
pub(super) const HELD_BYTES_MAX: usize = 32 << 20;
/// Copies of a message in memory: as sent, and as an item with its JSON and its blocks.
pub(super) const COPIES: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) index: chain::ConversationIndex,
    pub(super) known: BTreeMap<ConversationId, HeldConversation>,
    pub(super) uses: u64,
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) struct HeldConversation {
    /// None while it is only on disk.
    pub(super) conversation: Option<Shared>,
    pub(super) party: Party,
    pub(super) used: u64,
    pub(super) bytes: usize,
    /// Number of records, and number of records on disk.
    pub(super) records: u64,
    pub(super) written: Arc<AtomicU64>,
}

impl Held {
    /// Registers a conversation that is on disk.
    pub(super) fn know(&mut self, id: &ConversationId, party: Party) {
        self.known.entry(id.clone()).or_insert_with(|| HeldConversation {
            conversation: None,
            party,
            used: 0,
            bytes: 0,
            records: 0,
            written: Arc::default(),
        });
    }

    pub(super) fn forget(&mut self, id: &ConversationId) {
        if let Some(known) = self.known.remove(id) {
            self.bytes -= known.bytes;
        }
        self.index.forget(id);
    }

    pub(super) fn by_use(&self) -> Vec<ConversationId> {
        let mut by_use: Vec<_> = self
            .known
            .iter()
            .map(|(id, known)| (known.used, id.clone()))
            .collect();
        by_use.sort_unstable();
        by_use.into_iter().map(|(_, id)| id).collect()
    }

    /// Drops the longest unused when there are too many.
    pub(super) fn forget_oldest(&mut self) {
        if self.known.len() <= KNOWN_MAX {
            return;
        }
        for id in self.by_use().into_iter().take(DROPPED) {
            self.forget(&id);
        }
    }

    /// Drops the messages of unused conversations, longest unused first, until the rest fits.
    pub(super) fn shrink(&mut self) {
        if self.bytes <= HELD_BYTES_MAX {
            return;
        }
        for id in self.by_use() {
            let Some(known) = self.known.get_mut(&id) else {
                continue;
            };
            let is_unused = known
                .conversation
                .as_ref()
                .is_some_and(|shared| Arc::strong_count(shared) == 1);
            if is_unused && known.written.load(Ordering::Acquire) >= known.records {
                known.conversation = None;
                self.bytes -= std::mem::take(&mut known.bytes);
            }
            if self.bytes <= HELD_BYTES_MAX {
                return;
            }
        }
    }
}
