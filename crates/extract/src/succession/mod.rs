//! What a new fact does to older ones: it repeats them, it takes their place, or nothing.
//!
//! Owns: when two facts are equal, and when it is proved that the later one took the place of the earlier one. Never: storing any of
//! it; everything is read from the facts' texts, so an edited or imported fact is treated like one of our own.
//!
//! Two things are proof, whatever the words mean. Both give one thing of one person a value of the same form, and the later one says
//! that it is new: "my boss is Anna", "my new boss is Bram"; of a favourite there is one without that. Or one denies what the other
//! says, in the same words: "I eat meat", "I don't eat meat anymore". All else may be true beside the older fact; the dates of both
//! tell which is newer.
//!
//! Reading order: `wording` (a fact's words), `owned` (a thing of somebody's and its value), `known` (all facts of an owner),
//! `doubt` (what a later statement puts in doubt, without proof).

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

/// Whether two facts are the same in nearly the same words; every number and every negation must agree.
pub fn is_duplicate(a: &str, b: &str) -> bool {
    wording::says_same(a, b)
}
