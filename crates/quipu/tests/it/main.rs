//! The built binary with real SQLite, LanceDB and files, as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]

mod commands;
mod context;
mod crash;
#[cfg(target_os = "linux")]
mod disk;
mod engines;
mod exits;
mod harness;
mod keep;
mod knowledge;
mod mcp;
mod poison;
mod projects;
mod proxy;
mod readme;
mod runbook;
mod with_server;
