//! The items that a sub-agent starts with, where no plug-in says otherwise.
//!
//! Owns: how many there are, and that a call is never parted from its result. Never: running an agent.

use std::collections::BTreeSet;
use std::sync::Arc;

use transcript::{Item, Role, cut};

/// Items besides the system's.
const EXPLORER_ITEMS: usize = 10;
const SUBAGENT_ITEMS: usize = 20;

/// All system items and about the newest others: a call is never parted from its result, so there may be fewer.
pub fn for_subagent(items: Vec<Arc<Item>>, role: &str) -> Vec<Arc<Item>> {
    let count = if role == "explorer" {
        EXPLORER_ITEMS
    } else {
        SUBAGENT_ITEMS
    };
    let (mut kept, talk): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.role == Role::System);
    let least = talk.len().saturating_sub(count);
    let cuts = cut::safe_cuts(&talk, &BTreeSet::new());
    let from = if least == 0 {
        0
    } else {
        cuts.into_iter().find(|cut| *cut >= least).unwrap_or(talk.len())
    };
    kept.extend_from_slice(&talk[from..]);
    kept
}
