//! The offline engine: background runs of strategies, durable, bounded and visible.
//!
//! Owns: which event calls for which run, when a run starts, how long it may take, how often it is tried, what it may spend.
//! Never: what a strategy does, or how a run is kept (`ports::runs`).
//!
//! Reading order: [`strategy`] (what is run), [`settings`], [`engine`] (the handle), [`call`] (events become runs), [`dispatch`]
//! (runs start), [`attempt`] (one try), [`meter`] (what a model costs), [`time`] (the dispatcher's clock), [`cron`].

mod attempt;
mod call;
mod cron;
mod dispatch;
mod engine;
mod meter;
mod settings;
pub mod strategies;
mod strategy;
mod time;

pub use cron::{Cron, InvalidCron};
pub use engine::{Offline, Parts, Quiesced, Triggered};
pub use settings::{InvalidSettings, Quiet, Settings, StrategySettings};
pub use strategy::{About, Failure, Outcome, RunContext, Strategy, Triggers};
