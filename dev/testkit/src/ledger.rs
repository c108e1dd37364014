//! Test support for the ledger's ports: the in-memory ledger, the contract of every ledger, and sample
//! values.
//!
//! Owns: the fake's protocol checks and the meaning of the ports as running code. Never: durability; the
//! adapter tests it.
//!
//! Reading order: [`MemoryLedger`], [`contract`], [`samples`].

pub mod contract;
mod memory;
pub mod samples;
#[cfg(test)]
mod tests;

use ports::runs::RunState;

pub use contract::Ledger;
pub use memory::{Fault, MemoryLedger};

/// Whether a run is over.
pub fn is_over(state: RunState) -> bool {
    matches!(state, RunState::Success | RunState::DeadLetter)
}
