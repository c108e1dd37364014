//! Hosts the context of conversations: opens them from the ledger, runs a context engine's hooks, verifies what it returns.
//!
//! Owns: the seven hooks, the registry of engines, isolation of their errors, panics and time-outs, the order of one turn
//! of the context, summaries by a model. Never: choosing what leaves a view (`context` does), HTTP.
//!
//! Reading order: [`hooks`] (what an engine may do), [`conversation`] (one conversation), [`verify`] (what is demanded of
//! an engine's view).

mod archive;
pub mod conversation;
pub mod flush;
pub mod hooks;
mod isolate;
pub mod manager;
pub mod standard;
mod summarise;
pub mod verify;

pub use conversation::{Conversation, Opening, TurnError};
pub use hooks::{Assembled, ContextEngine, EngineFault, EngineInfo, Engines, TurnMeta};
pub use standard::Standard;
