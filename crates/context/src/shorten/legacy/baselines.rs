//! What other systems do when a conversation is too long, one idea to a file.
//!
//! Owns: the ideas, with their constants, scaled down where a limit is smaller than the window they were made for. Never: a
//! faithful copy of a product. What an idea alone does not bring within the limit loses its oldest items, so that all
//! answer the same question.

mod clear;
mod codex;
mod halving;
mod importance;
mod masking;
mod opencode;
mod window;

pub use clear::clear_tool_uses;
pub use codex::codex;
pub use halving::halving;
pub use importance::importance;
pub use masking::mask_observations;
pub use opencode::opencode_prune;
pub use window::{window_by_messages, window_by_tokens};

use crate::tokens::Meter;

use super::{Entry, Rules, compact, drop_oldest};

/// code-buddy's legacy compaction.
pub fn codebuddy<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    compact(items, limit, meter, &Rules::codebuddy())
}

/// The oldest go until the rest fits.
fn within<I: Entry>(items: &[I], limit: usize, meter: &Meter) -> Vec<I> {
    drop_oldest(items, limit, meter, 1)
}
