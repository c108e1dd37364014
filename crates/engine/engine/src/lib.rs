//! The use cases of Quipu and the work behind them: remember, recall, list, edit, forget, synchronise, rebuild.
//!
//! Owns: the order of things, locks, background tasks. Never: a foreign crate, a wire format, a file of its own.
//!
//! Reading order: [`api`] (what the doors may ask), [`settings`], then one module for each use case.

mod api;
mod engine;
mod settings;

pub use api::{
    Add, Added, EditEntry, EngineError, Flush, Forget, Forgot, Found, List, Listed, MemorizeStatus,
    OnProgress, Progress, Search, SortBy, Status, Synced,
};
pub use engine::{Engine, Parts};
pub use recall::{Hit, Method, Why};
pub use settings::Settings;
