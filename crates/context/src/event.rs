//! Events of a conversation: an append-only log, from which everything else is computed.
//!
//! Owns: the events, and the required content of each. Never: their written form; `record` has it.

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
    /// A node replaced items in the view.
    Node(Node),
    /// One batch of tool results was replaced by stubs in the view.
    Masks(Vec<Mask>),
    /// A context engine changed an item in the view; without blocks, the item is hidden.
    Rewrite {
        id: ItemId,
        item: Arc<Item>,
    },
    /// An item stays verbatim through every compaction.
    Pin(ItemId),
    Unpin(ItemId),
    /// Memories were extracted from items that were about to leave.
    Flush {
        key: String,
        facts: usize,
    },
    /// The conversation continues from just before this item; later items stay in the log.
    Rewind(ItemId),
    /// An item is deleted: none of it remains, here or in a node.
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
    /// Parses an id such as `n3`.
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
    /// The covered items, as ascending, disjoint ranges, both ends included; items between them that stayed verbatim
    /// are not covered.
    pub covers: Vec<(ItemId, ItemId)>,
    /// The nodes that it replaced; it also covers their items.
    pub children: Vec<NodeId>,
    /// Digest of the items.
    pub digest: Digest,
    /// Summary of the items by the host's model.
    pub summary: Option<String>,
    /// Text in the view: frozen when the node was recorded.
    pub text: String,
    /// Tokens of the replaced items, and of the node, when it was recorded.
    pub tokens_before: usize,
    pub tokens_after: usize,
    pub reason: CompactionReason,
}

model::worded! {
    /// Reason of a recorded compaction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CompactionReason {
        /// The view reached the policy's share.
        Threshold = "threshold",
        /// The view would soon have reached it, and no request was waiting.
        Idle = "idle",
        /// A person or a client asked for it.
        Manual = "manual",
        /// The view did not fit, or the backend reported so.
        Overflow = "overflow",
    }
}

/// One result of a tool, replaced in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    pub id: ItemId,
    /// Index of the block in the item.
    pub block: usize,
    /// Its replacement in the view, frozen.
    pub stub: String,
}
