//! Test support for the vault port: the in-memory vault, the contract of every vault, and sample entries.
//!
//! Owns: the port's meaning as running code, and faults on demand. Never: files or folders.
//!
//! Reading order: [`MemoryVault`], [`contract`], [`samples`].

pub mod contract;
mod library_files;
mod memory;
pub mod samples;
#[cfg(test)]
mod tests;

pub use memory::MemoryVault;
