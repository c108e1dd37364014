//! Events of a conversation: an append-only log, from which everything else is computed.
//!
//! Owns: the events and what each must hold. Never: how they are written; `record` does.

use std::fmt;
use std::sync::Arc;

use crate::digest::Digest;
use transcript::{Item, ItemId};

/// One event of a conversation's log.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewEvent {
    /// An item arrived. Its id is the number of items that arrived before.
    Item {
        id: ItemId,
        item: Arc<Item>,
    },
    /// A stretch was replaced in the view.
    Node(Node),
    /// Results of tools were replaced by stubs in the view: one batch.
    Masks(Vec<Mask>),
    /// A context engine shows an item otherwise; one without blocks is not shown.
    Rewrite {
        id: ItemId,
        item: Arc<Item>,
    },
    /// An item stays verbatim whatever is compacted.
    Pin(ItemId),
    Unpin(ItemId),
    /// Memories were taken from a stretch that was about to leave.
    Flush {
        key: String,
        facts: usize,
    },
    /// The conversation goes on from just before this item; the later ones stay in the log.
    Rewind(ItemId),
    /// An item is deleted: nothing of it is left, here or in a node.
    Forget(ItemId),
}

/// The number of a node in its conversation. It reads `n3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl NodeId {
    /// The id that reads so.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('n')?;
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok().map(Self))?
    }
}

/// Replacement in the view for the items it covers.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub id: NodeId,
    /// The covered items, as ascending, disjoint ranges, both ends included, without items between them that stayed
    /// verbatim.
    pub covers: Vec<(ItemId, ItemId)>,
    /// The nodes that it replaced; it covers their items too.
    pub children: Vec<NodeId>,
    /// Digest of the items.
    pub digest: Digest,
    /// Summary of the items by the host's model.
    pub summary: Option<String>,
    /// Text in the view: frozen when the node was recorded.
    pub text: String,
    /// The tokens of what it replaced, and its own, when it was recorded.
    pub tokens_before: usize,
    pub tokens_after: usize,
    pub reason: CompactionReason,
}

model::worded! {
    /// Why a compaction was recorded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CompactionReason {
        /// The view reached the policy's share.
        Threshold = "threshold",
        /// It would have reached it soon, and no request was waiting.
        Idle = "idle",
        /// Somebody asked for it.
        Manual = "manual",
        /// The view did not fit, or the backend reported so.
        Overflow = "overflow",
    }
}

/// One result of a tool, replaced in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    pub id: ItemId,
    /// Which block of the item.
    pub block: usize,
    /// Its replacement in the view, frozen.
    pub stub: String,
}
