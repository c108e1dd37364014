//! Answers of model servers as they arrive: pieces of text become events, events a whole reply.
//!
//! Owns: server-sent events, what the chunks of each dialect add up to, what an answer says of its cost. Never: changing a byte
//! that goes to the client; I/O.
//!
//! Reading order: [`sse`] (bytes become events), [`reply`] (events, or a whole body, become what the model said), its one
//! file per dialect, [`usage`] (what it cost).
//!
//! Whoever forwards an answer makes one [`Reply`], gives it every piece of bytes that it forwards, cut anywhere, and asks
//! at the end for the [`Outcome`]. No bytes make it panic, and what it holds is bounded.

mod json;
pub mod reply;
pub mod sse;
pub mod usage;

pub use reply::{Dialect, Outcome, Reply};
pub use usage::Usage;
