//! Placeholder.
pub mod index;
pub mod models;
pub mod clock;
pub mod ledger;
pub mod vault;
