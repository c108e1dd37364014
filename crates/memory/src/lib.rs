//! The use cases of Quipu and the work behind them: remember, recall, list, edit, forget, synchronise, rebuild.
//!
//! Owns: the order of things, locks, background tasks. Never: a foreign crate, a wire format, a file of its own.
//!
//! Reading order: [`api`] (the requests), [`engine`] (the parts, start and end), [`world`] (shared by all use cases,
//! the locks and their order). Then the way of a message: [`behind`], [`memorize`] with [`attachments`], [`boundaries`] with [`model_pass`]
//! and [`interview`], [`workers`], [`write_cell`] with [`telling`]. Its way back: [`search`] with [`rerank`] and [`rounds`],
//! [`list`], over [`corpora`]. Work without a request: [`idle`], [`history`]. Changes from outside: [`sync`], [`edit`], [`curate`],
//! [`pages`], [`forget`] with [`derived`]. Problems: [`audit`]. The index: [`keeper`], [`rebuild`], [`writer`],
//! [`serving`]. The small ones: [`secrets`], [`tasks`], [`locks`], [`bell`], [`dirty`], [`ids`], [`records`], [`rows`],
//! [`room`], [`settle`], [`signal`], [`status`].

mod api;
mod attachments;
mod audit;
mod behind;
mod bell;
mod boundaries;
mod buffers;
mod copies;
mod corpora;
mod curate;
mod derived;
mod dirty;
mod due;
mod edit;
mod engine;
mod erase;
pub mod findings;
mod forget;
mod gate;
mod going;
mod history;
mod idle;
mod ids;
mod interview;
mod janitor;
mod keeper;
mod left;
pub mod library;
mod list;
mod locks;
mod memorize;
mod model_pass;
mod pages;
mod panics;
mod portable;
mod preview;
mod rebuild;
mod records;
mod rerank;
mod review;
mod room;
mod rounds;
mod rows;
mod search;
mod secrets;
mod serving;
mod settings;
mod settle;
mod signal;
mod status;
mod sync;
mod tasks;
mod telling;
mod words;
mod workers;
mod world;
mod write_cell;
mod writer;

pub use crate::findings::{Fault, Finding};
pub use api::{
    Add, Added, Audited, Curate, Doomed, EditEntry, EngineError, Flush, Forget, Forgot, Found, Holding, List,
    Listed, MemorizeStatus, ModelAnswers, OnProgress, OwnedMemory, Progress, RecordedChange, ReplacePage,
    Search, SortBy, Standing, Status, Staying, Synced, TakenIn, WordsTarget,
};
pub use due::Due;
pub use engine::{Engine, Parts};
pub use history::{HistoryError, Moment, PastFile};
pub use interview::{ModelTrial, Trouble, try_model};
pub use left::Leftover;
pub use recall::{Hit, Method, Why};
pub use review::{Belief, Believed, Reviewed, Verdict};
pub use room::DiskState;
pub use settings::MemorySettings;
