//! The built binary with real SQLite, LanceDB and files, as a user runs it.

mod beside;
mod commands;
mod context;
mod crash;
mod engines;
mod harness;
mod knowledge;
mod mcp;
mod proxy;
mod readme;
