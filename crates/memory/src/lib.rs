//! The use cases of Quipu and the work behind them: remember, recall, list, edit, forget, synchronise, rebuild.
//!
//! Owns: the order of things, locks, background tasks. Never: a foreign crate, a wire format, a file of its own.
//!
//! Reading order: [`api`] (the requests), [`error`], [`parts`] (the ports), [`engine`] (the doors' handle, start and
//! end) with [`queue`] (adds before their answer). Then the rooms, each of which uses only the later ones: [`upkeep`],
//! [`forgetting`] and [`writing`], [`intake`], [`files`] and [`searching`], [`base`] (ports, caches and locks that all
//! rooms share), [`runtime`] (tasks and waiting). Modules without a port: [`derived`], [`facts`], [`words`], [`ids`],
//! [`findings`]. [`library`] is a use case of its own on top of the engine.
//!
//! The way of a message: [`intake`] stores it, shows it and cuts its segment, [`writing`] makes entries of the segment,
//! [`files`] keeps the index up to date, [`searching`] finds them.

mod api;
mod base;
mod derived;
mod engine;
mod error;
mod facts;
mod files;
pub mod findings;
mod forgetting;
mod ids;
mod intake;
pub mod library;
mod parts;
mod queue;
mod runtime;
mod searching;
mod settings;
mod upkeep;
mod words;
mod writing;

pub use crate::findings::{Fault, Finding};
pub use api::{
    Add, Added, Audited, Curate, DeletionPreview, EditEntry, Flush, Forget, Forgot, Found, Holding,
    ImportCounts, Leftover, List, Listed, MemorizeStatus, ModelAnswers, OwnedMemory, RecordedChange,
    ReplacePage, Search, SortBy, Standing, Status, Staying, Synced, WordsTarget,
};

pub use base::disk::DiskState;
pub use base::{ModelTrial, try_model};
pub use engine::Engine;
pub use error::{EngineError, HistoryError, Trouble};
pub use files::history::{Moment, PastFile};
pub use files::review::{Belief, Believed, Reviewed, Verdict};
pub use parts::Parts;
pub use recall::{Hit, Method, Why};
pub use runtime::{Due, WorkTime, backoff, panic_text};
pub use settings::MemorySettings;
