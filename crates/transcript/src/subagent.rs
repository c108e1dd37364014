//! The items that a sub-agent starts with, if no engine chooses them.
//!
//! Owns: their number, and keeping each call together with its result. Never: running an agent.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{Item, Role, cut};

/// Number of items besides the system items.
const EXPLORER_ITEMS: usize = 10;
const OTHER_ITEMS: usize = 20;

/// All system items and about this many of the newest others. A call is never separated from its result, so there may
/// be fewer.
pub fn starts_with(items: Vec<Arc<Item>>, role: &str) -> Vec<Arc<Item>> {
    let most = if role == "explorer" {
        EXPLORER_ITEMS
    } else {
        OTHER_ITEMS
    };
    let (mut kept, talk): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.role == Role::System);
    let least = talk.len().saturating_sub(most);
    let mut cuts = [0].into_iter().chain(cut::safe_cuts(&talk, &BTreeSet::new()));
    let from = cuts.find(|cut| *cut >= least).unwrap_or(talk.len());
    kept.extend_from_slice(&talk[from..]);
    kept
}
