//! Tasks, locks and waiting.
//!
//! Owns: who runs, who waits, who is woken. Never: a memory, a port other than the clock, another room.

pub(crate) mod due;
pub(crate) mod gate;
pub(crate) mod locks;
pub(crate) mod panics;
pub(crate) mod signal;
pub(crate) mod tasks;
