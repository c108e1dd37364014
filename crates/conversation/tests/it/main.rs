//! Conversations over the ledger's fake.
#![expect(clippy::unwrap_used, reason = "a test's helper may panic as a test does")]

mod common;
mod hooks;
mod log;
mod manager;
mod models;
