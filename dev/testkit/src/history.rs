//! Everything a test needs of the history port: the in-memory history, and the contract that every history keeps.
//!
//! Owns: the port's meaning as running code, and faults on demand. Never: files or git.
//!
//! Reading order: [`MemoryHistory`], [`contract`].

pub mod contract;
mod memory;
#[cfg(test)]
mod tests;

pub use memory::MemoryHistory;
