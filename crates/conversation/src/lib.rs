//! Conversations: what was said and sent of each, what of it a model sees, and how it is found again.
//!
//! Owns: the log of a conversation and its fold, the conversations in memory, the hooks of a context engine, verification and isolation of
//! a plug-in, summaries by a model, the service that every door calls. Never: choosing what leaves a view (`context`), what a prefix is
//! (`prefix`), HTTP, searching memory.
//!
//! Reading order: [`Conversation`] (the state), [`log`] (its records), [`decide`] (a request), `shape` and `edits` (its view), [`hooks`] and
//! [`verify`] (a plug-in), [`store`] with [`keeper`] and [`whose`] (finding and keeping), [`Contexts`] (the service), [`report`].

pub mod contexts;
pub mod conversation;
pub mod decide;
mod edits;
mod endings;
pub mod flush;
pub mod hooks;
mod keeper;
pub mod log;
pub mod report;
mod responses;
mod shape;
pub mod store;
pub mod subagent;
mod summarise;
pub mod verify;
pub mod whose;

pub use contexts::{ContextError, Contexts};
pub use conversation::{Conversation, Open};
pub use decide::{Additions, Asked, Decided, Overflow};
pub use endings::Endings;
pub use hooks::Chosen;
pub use keeper::Keeper;
pub use log::Logged;
pub use store::{Found, Shared, Store};
pub use whose::{Whose, name_of};
