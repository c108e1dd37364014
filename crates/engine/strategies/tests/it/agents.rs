//! The agent's track: cases and skills.

mod faults;
mod learning;
mod stage;
