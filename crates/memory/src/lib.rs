//! The use cases of Quipu and the work behind them: remember, recall, list, edit, forget, synchronise, rebuild.
//!
//! Owns: the order of things, locks, background tasks. Never: a foreign crate, a wire format, a file of its own.
//!
//! Reading order: [`api`] (the requests), [`error`], [`engine`] (the parts, start and end), [`world`] (shared by all use cases,
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
mod by_words;
mod copies;
mod corpora;
mod curate;
mod derived;
mod dirty;
mod edit;
mod engine;
mod erase;
mod error;
mod facts;
pub mod findings;
mod forget;
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
mod memorize;
mod model_pass;
mod owned;
mod pages;
mod parts;
mod portable;
mod preview;
mod rebuild;
mod records;
mod rerank;
mod review;
mod room;
mod rounds;
mod rows;
mod runtime;
mod search;
mod secrets;
mod serving;
mod settings;
mod settle;
mod status;
mod sync;
mod telling;
mod words;
mod workers;
mod world;
mod write_cell;
mod writer;

pub use crate::findings::{Fault, Finding};
pub use api::{
    Add, Added, Audited, Curate, Doomed, EditEntry, Flush, Forget, Forgot, Found, Holding, Leftover, List,
    Listed, MemorizeStatus, ModelAnswers, OnProgress, OwnedMemory, Progress, RecordedChange, ReplacePage,
    Search, SortBy, Standing, Status, Staying, Synced, TakenIn, WordsTarget,
};

pub use engine::Engine;
pub use error::{EngineError, HistoryError, Trouble};
pub use history::{Moment, PastFile};
pub use interview::{ModelTrial, try_model};
pub use parts::Parts;
pub use recall::{Hit, Method, Why};
pub use review::{Belief, Believed, Reviewed, Verdict};
pub use room::DiskState;
pub use runtime::due::Due;
pub use settings::MemorySettings;
