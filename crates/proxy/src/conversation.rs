//! Conversations: their messages, the view that a model sees, and search and recovery of originals.
//!
//! Owns: the log of a conversation and its fold, the conversations in memory, the hooks of a context engine,
//! verification and isolation of a plug-in, summaries by a model, the service that every door calls. Never: choosing
//! the items that leave a view (`context`), the definition of a prefix (`prefix`), HTTP, searching memory.
//!
//! Reading order: [`Conversation`] (the state), [`log`] (its records), [`decide`] (a request), `shape`, `pairs` and `edits` (its view), [`hooks`] and
//! [`verify`] (a plug-in), [`store`] with [`keeper`] and [`party`] (finding and keeping), [`Contexts`] (the service), [`report`].

pub mod contexts;
pub mod decide;
mod edits;
mod endings;
pub mod flush;
pub mod hooks;
mod keeper;
pub mod log;
mod pairs;
pub mod party;
pub mod report;
mod responses;
pub mod room;
mod shape;
#[cfg(test)]
mod stage;
pub mod state;
pub mod store;
mod summarise;
mod variator;
pub mod verify;

pub use contexts::{ContextError, Contexts};
pub use decide::{Additions, Asked, Decided, Overflow};
pub use endings::Endings;
pub use hooks::Chosen;
pub use keeper::Keeper;
pub use log::Logged;
pub use party::{Party, name_of};
pub use state::{Conversation, Open};
pub use store::{Continuation, Shared, Store};
