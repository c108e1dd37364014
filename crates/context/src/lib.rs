//! The context engine: a model's view of a conversation, of any length, in any window, with nothing lost.
//!
//! Owns: the event log of a conversation and its format; the view that follows from log, policy and budget; when and what to
//! compact, mask, flush, pin, warn of; presets. Never: I/O, a clock, a model; it asks its host for such work and verifies
//! what comes back.
//!
//! Reading order: [`event`] (what is recorded), [`session`] (the fold of the events), [`view`] (what a model sees),
//! [`plan`] (when and what to compact), [`commit`] (verifying and recording it), [`policy`] (every threshold).

pub mod bootstrap;
pub mod budget;
mod commit;
pub mod digest;
pub mod event;
pub mod flush;
pub mod guard;
pub mod ladder;
pub mod plan;
pub mod policy;
pub mod prompt;
pub mod ranges;
pub mod record;
pub mod session;
pub mod shorten;
pub mod text;
pub mod tokens;
pub mod view;
pub mod warn;
