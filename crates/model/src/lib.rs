//! The nouns of Quipu and their invariants: ids, scopes, messages, memories, documents, filters, time, terms of a text.
//!
//! Owns: the valid values. Never: I/O, a clock, serialization, save that of a row, which is one text on disk and in memory; doors
//! and adapters have their own wire types.
//!
//! Reading order: [`id`] (names and scopes), [`time`], [`message`] with `attachment`, [`cell`] (segments), [`entry`] and [`page`]
//! (memories), [`doc`] (rows of the index) with [`record`] (a row as one text), [`filter`], [`text`] (search terms, a hash, declarations).

mod attachment;
mod cell;
mod doc;
mod entry;
pub mod filter;
pub mod id;
mod line;
pub mod marks;
mod message;
mod page;
pub mod record;
pub mod redact;
pub mod text;
mod time;

pub use attachment::{STORED_BY_A_MODEL, attachment, names_attachment, without_attachments};
pub use cell::{Cell, CutReason};
pub use doc::{
    CONFIRMED, CONFLICT, Doc, DocId, DocKey, DocKind, ENDED, EmbedderId, PROJECT_ONLY, SCENE, TURN_BYTES_MAX,
    Vector, WRONG, dot,
};
pub use entry::{Entry, EntryKind, Origin, Parent, ParentKind, SkillStatus};
pub use filter::{Comparison, Field, Filter, Value};
pub use id::{
    AppId, CellId, EntryId, ID_CHARS_MAX, InvalidId, MessageId, Name, Owner, OwnerKind, ProjectId, Scope,
    SenderId, SessionId, SessionKey,
};
pub use line::{beginning, excerpt, head, hex, one_line, percent_encoded, unhex};
pub use message::{Content, Message, Part, PartKind, Role, ToolCall};
pub use page::Page;
pub use time::{
    Date, InvalidTime, MONTHS, Timestamp, Weekday, Zone, date_in_words, date_of, moment_of,
    read_date_in_words,
};
