//! The small traits between the engine and its adapters.
//!
//! Owns: the guarantees of each port, its limits and its errors. Never: an implementation. Every port has an
//! in-memory fake and a contract suite in `testkit`; adapters run the same suite.

mod clock;
pub mod context_engine;
mod conversations;
mod history;
mod index;
mod ledger;
mod library_files;
mod models;
mod pages;
mod reading;
mod room;
pub mod runs;
mod upstream;
mod vault;

pub use clock::{Clock, Ids};
pub use conversations::{Conversations, NewRecord, OBJECTS_MAX, Record};
pub use history::{
    Announced, By, ChangeId, ChangeQuery, ChangeTarget, History, HistoryChange, NewVersion, Run, RunId,
    Touching, Version, VersionId, VersionKey, VersionQuery, VersionText,
};
pub use index::{
    CandidateQuery, Index, IndexError, IndexHealth, IndexStage, IndexStats, kept_vector, vector_bytes,
    vector_of,
};
pub use ledger::{
    Accepted, AppendOutcome, BrokenFile, Buffered, COPIES_MAX, Carried, Cut, CutWithAppend, FileAppend,
    FileChanges, FileMark, FileRecord, Forgotten, Job, JobFailure, JobId, JobKind, JobState, JobStats, Jobs,
    LedgerError, NewJob, NewMessage, Retention, Sweep, TaskPage, TaskQuery, Transcripts, WrittenCell,
};
pub use library_files::{LibraryFiles, ORIGINALS, TAXONOMY};
pub use models::{
    Chat, ChatError, ChatMessage, ChatReply, ChatRequest, ChatRole, EmbedError, EmbedPurpose, Embedder,
    RerankError, Reranker,
};
pub use pages::Pages;
pub use reading::{BEGINNING_MAX_BYTES, DocumentReader, FileBytes, ReadDocument, ReadError};
pub use room::{NoRoom, Room};
pub use upstream::{Probed, Upstream, UpstreamAnswer, UpstreamError, UpstreamRequest};
pub use vault::{
    Edit, EntryProblem, FileStat, ForeignFile, HasText, OtherFile, ParsedFile, ReadEntry, Vault, VaultChange,
    VaultError, VaultPath, VaultWriter, Written,
};
