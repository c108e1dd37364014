//! The ledger against its contract, against a model, under planted failures, killed, and read as raw bytes.

mod concurrency;
mod contract;
mod conversations;
mod copies;
mod erase;
mod faults;
mod files;
mod forgotten_words;
mod kill;
mod property;
#[cfg(unix)]
mod room;
