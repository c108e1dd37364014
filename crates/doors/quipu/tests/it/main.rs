//! The built binary with real SQLite, LanceDB and files, as a user runs it.

mod beside;
mod commands;
mod crash;
mod harness;
