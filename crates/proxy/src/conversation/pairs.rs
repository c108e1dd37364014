//! Calls and results of a conversation's list, in pairs.
//!
//! Owns: which lists a repair may change. Never: the repair itself (`transcript::repair`).

use std::collections::BTreeSet;
use std::sync::Arc;

use transcript::{Block, Item, order, repair};

/// The items as a request needs them: repaired, and running calls closed. None if nothing has to change.
pub(crate) fn for_request(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Option<Vec<Arc<Item>>> {
    can_pair(items).then(|| repair::for_view(items, pending))?
}

/// The items between two requests: repaired. Running calls stay open, because their results are still to come. None if
/// nothing has to change.
pub(crate) fn at_rest(items: &[Arc<Item>], pending: &BTreeSet<String>) -> Option<Vec<Arc<Item>>> {
    let must_repair = !order::openai(items) && can_pair(items);
    must_repair.then(|| repair::repair(items, pending))
}

/// Whether the list itself shows the call of each result. A server that accepts calls without ids pairs them by
/// position. A reference can be to a call that only the server has.
fn can_pair(items: &[Arc<Item>]) -> bool {
    let hides_a_call = |block: &Block| match block {
        Block::Call(call) => call.id.is_empty(),
        Block::Other(raw) => raw.contains("\"item_reference\""),
        _ => false,
    };
    !items.iter().flat_map(|item| &item.blocks).any(hides_a_call)
}
