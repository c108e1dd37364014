//! The nouns of Quipu and their invariants: ids, scopes, messages, memories, documents, filters, time.
//!
//! Owns: what a value may be. Never: I/O, a clock, serialization; doors and adapters have their own wire types.
//!
//! Reading order: [`id`] (who and where), [`time`], [`message`] (what was said), [`cell`] (what belongs
//! together), [`entry`] and [`page`] (what is remembered), [`doc`] (what is searched), [`filter`] (what is asked for).

mod cell;
mod doc;
mod entry;
pub mod filter;
pub mod id;
mod message;
mod page;
pub mod redact;
mod time;

pub use cell::{Cell, CutReason};
pub use doc::{Doc, DocId, DocKey, DocKind, EmbedderId, Vector};
pub use entry::{Entry, EntryKind, Origin, Parent, ParentKind, SkillStatus};
pub use filter::{Comparison, Field, Filter, Value};
pub use id::{
    AppId, CellId, EntryId, ID_CHARS_MAX, InvalidId, MessageId, Name, Owner, OwnerKind, ProjectId, Scope,
    SenderId, SessionId, SessionKey,
};
pub use message::{Content, Message, Part, PartKind, Role, ToolCall};
pub use page::Page;
pub use time::{Date, InvalidTime, Timestamp, Weekday, Zone};
