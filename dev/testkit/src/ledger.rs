//! Everything a test needs of the ledger's ports: the in-memory ledger, the contract that every ledger keeps,
//! and sample values.
//!
//! Owns: the fake's protocol checks and the meaning of the ports as running code. Never: durability; that is tested
//! where the files are.
//!
//! Reading order: [`MemoryLedger`], [`contract`], [`samples`].

pub mod contract;
mod memory;
pub mod samples;
#[cfg(test)]
mod tests;

pub use contract::Ledger;
pub use memory::{Fault, MemoryLedger};
