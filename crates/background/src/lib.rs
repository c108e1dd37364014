//! The offline engine: background runs of strategies, durable, bounded and visible.
//!
//! Owns: which event causes which run, when a run starts, its time limit, its attempts, its budget. Never: the work of
//! a strategy, or the storage of a run (`ports::runs`).
//!
//! Reading order: [`strategy`] (what is run), [`settings`], [`engine`] (the handle), [`call`] (events become runs), [`dispatch`]
//! (runs start), [`attempt`] (one try), [`meter`] (what a model costs), [`cron`].

mod attempt;
mod call;
mod cron;
mod dispatch;
mod engine;
mod meter;
mod settings;
pub mod strategies;
mod strategy;

pub use cron::{Cron, InvalidCron};
pub use engine::{BackgroundParts, Offline, Quiesced, Triggered};
pub use settings::{BackgroundSettings, InvalidSettings, StrategySettings};
pub use strategy::{About, Failure, RunContext, RunOutcome, Strategy, Triggers};
