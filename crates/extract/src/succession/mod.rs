//! The effect of a new fact on older ones: it repeats them, it supersedes them, or none.
//!
//! Owns: when two facts are equal, and when it is proved that the later one supersedes the earlier
//! one. Never: storing the relation; it is always computed from the facts' texts, so an edited or
//! imported fact is treated like one of our own.
//!
//! There are two proofs, independent of the meaning of the words. First, both facts give one thing
//! of one person a value of the same form, and the later one says that it is new: "my boss is
//! Anna", "my new boss is Bram"; a favourite needs no such word. Second, one fact negates the other
//! in the same words: "I eat meat", "I don't eat meat anymore". Otherwise both may be true; their
//! dates tell which is newer.
//!
//! Reading order: `wording` (a fact's words), `owned` (a possession and its value), `known` (all
//! facts of an owner), `doubt` (doubt without proof).

mod doubt;
mod known;
mod owned;
#[cfg(test)]
mod tests;
mod wording;

pub use doubt::Remark;
pub use known::is_another_day;
pub use known::{Answered, Counts, KnownFacts, Statement, Supersession};
pub use wording::mark;
pub(crate) use wording::said_words;

/// Whether two facts are the same in nearly the same words; every number and every negation must
/// agree.
pub fn is_duplicate(a: &str, b: &str) -> bool {
    wording::says_same(a, b)
}
