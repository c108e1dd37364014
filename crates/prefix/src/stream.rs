//! Answers of model servers as they arrive: pieces of text become events, events a whole reply.
//!
//! Owns: server-sent events, assembling the chunks of each dialect, the usage in an answer. Never: changing a byte that
//! goes to the client; I/O.
//!
//! Reading order: [`sse`] (bytes to events), [`reply`] (events, or a whole body, to the model's reply), its one file
//! per dialect, [`usage`] (the cost).
//!
//! To observe an answer, create one [`Reply`], give it every piece of bytes, cut anywhere, and ask at the end for the
//! [`ReplyOutcome`]. No bytes make it panic, and its memory is bounded.

mod reply;
pub mod sse;
pub mod usage;

pub use reply::{Reply, ReplyOutcome};
pub use usage::Usage;
