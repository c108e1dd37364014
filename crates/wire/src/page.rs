//! Default page and page size of lists.
//!
//! Owns: those two numbers. Never: their bounds.

/// The number of the first page.
pub(crate) fn first() -> i64 {
    1
}

/// Items of a page.
pub(crate) fn size() -> i64 {
    20
}
