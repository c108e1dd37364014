//! The agent's track: cases and skills.

mod faults;
mod learning;
pub(crate) mod stage;
