//! Placeholder.
pub mod clock;
pub mod index;
pub mod ledger;
pub mod models;
pub mod vault;
