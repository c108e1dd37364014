//! Which page of a list is meant where a request does not say.
//!
//! Owns: those numbers. Never: their bounds.

/// The number of the first page.
pub(crate) fn first() -> i64 {
    1
}

/// Items of a page.
pub(crate) fn size() -> i64 {
    20
}
