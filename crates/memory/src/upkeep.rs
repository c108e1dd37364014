//! Background work, and work on all of memory.
//!
//! Owns: the state of the index, retention, daily copies, the audit, the status, export and import. Never: the steps of
//! a use case.

pub(crate) mod audit;
pub(crate) mod copies;
pub(crate) mod janitor;
pub(crate) mod keeper;
pub(crate) mod portable;
pub(crate) mod status;
