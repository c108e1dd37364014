//! Messages on their way in: stored, made searchable, cut into segments.
//!
//! Owns: the buffers of sessions, and the passes of a chat model over them. Never: a memory file.

mod attachments;
pub(crate) mod boundaries;
mod buffers;
pub(crate) mod idle;
pub(crate) mod memorize;
pub(crate) mod model_pass;
mod passes;
mod secrets;
pub(crate) mod settle;
mod state;

pub(crate) use state::Intake;
