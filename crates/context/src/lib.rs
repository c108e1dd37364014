//! The context engine: a model's view of a conversation, of any length, in any window, without losing an item.
//!
//! Owns: the event log of a conversation and its format; the view that follows from log, policy and budget; the
//! decisions to compact, mask, flush, pin and warn; presets. Never: I/O, a clock, a model; it asks its host for such
//! work and verifies the results.
//!
//! Reading order: [`event`] (the recorded events), [`session`] (their fold), [`view`] (the model's items), [`plan`]
//! (the decision to compact), [`commit`] (verifying and recording it), [`policy`] (every threshold).

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
