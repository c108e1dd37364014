//! Test support for the index port: the in-memory index, the contract of every index, and sample rows.
//!
//! Owns: the fake's protocol checks and the meaning of the port as running code. Never: ranking worth
//! measuring.
//!
//! Reading order: [`MemoryIndex`], [`contract`], [`samples`], [`cities`].

pub mod cities;
pub mod contract;
mod memory;
pub mod samples;
#[cfg(test)]
mod tests;

pub use memory::MemoryIndex;
