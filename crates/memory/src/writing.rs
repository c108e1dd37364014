//! Segments on their way into memory files: durable jobs, extraction, the write.
//!
//! Owns: when a segment is written, the content of its entries, and the order vault, index, record. Never: where a
//! buffer is cut.

mod cell;
mod extraction;
pub(crate) mod jobs;
mod state;

pub(crate) use state::{Unrecorded, Writing};
