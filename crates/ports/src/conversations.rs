//! Durable logs of conversations, for the engine that chooses the model's view.
//!
//! Owns: the guarantees of a log. Never: the meaning of a record; a body is text that comes back byte for
//! byte.

use std::ops::Range;

use async_trait::async_trait;
use model::{Owner, Scope, SessionId, SessionKey};

use crate::ledger::LedgerError;

/// A record to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    /// The number of the item that this record holds, unique in its conversation and below 2^62; none for
    /// other records.
    pub item: Option<u64>,
    /// The words that find the item; empty for an item that no search may find, and ignored without an item.
    pub text: String,
    /// Any text, up to some MB.
    pub body: String,
}

/// A stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the log, from 0, without gaps.
    pub position: u64,
    pub item: Option<u64>,
    pub body: String,
}

/// Maximum number of a model server's objects that are recorded for one owner.
pub const OBJECTS_MAX: usize = 16_384;

/// Logs of records, one for each conversation. Invariants: a log only grows at its end, and only
/// [`Conversations::replace`] changes its records; a failed call changes nothing; `Ok` means on disk. A
/// missing conversation reads as an empty one. A call never reaches another scope: it starts from a session's
/// key. The sweeps of [`crate::Transcripts`] delete conversations too: by session, by owner, by scope.
#[async_trait]
pub trait Conversations: Send + Sync + std::fmt::Debug {
    /// Adds records to a log that has exactly `at` of them, in one commit, and returns the new number of records. The
    /// first append creates the conversation and its owner. With a `key`, unique in its conversation, a retry is
    /// harmless: a known key changes nothing and returns the first result, whatever else the call contains.
    ///
    /// Errors: [`LedgerError::Conflict`] when the log has more or fewer records, or has one of the items already;
    /// [`LedgerError::OtherOwner`].
    async fn append(
        &self,
        conversation: &SessionKey,
        owner: &Owner,
        at: u64,
        key: Option<&str>,
        records: Vec<NewRecord>,
    ) -> Result<u64, LedgerError>;
    /// Up to `limit` records from a position on, in order. Fewer than `limit` means the end of the log.
    async fn read(
        &self,
        conversation: &SessionKey,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Record>, LedgerError>;
    /// The record with this item.
    async fn item(&self, conversation: &SessionKey, item: u64) -> Result<Option<Record>, LedgerError>;
    /// The records with these items, in the order of the items' numbers.
    async fn items(&self, conversation: &SessionKey, items: Range<u64>) -> Result<Vec<Record>, LedgerError>;
    /// The items whose text contains all of the words, which blanks separate: the highest numbers first, up
    /// to `limit`. A word is found inside others, in any script; upper and lower case are the same, accents
    /// and widths are not. Without a word the result is empty.
    async fn find(
        &self,
        conversation: &SessionKey,
        words: &str,
        limit: usize,
    ) -> Result<Vec<u64>, LedgerError>;
    /// Replaces some records and adds `appended`, in one commit, to a log that has exactly `at` records; returns the
    /// new number of records. `Ok` means that no file contains the old records any more.
    ///
    /// Errors: [`LedgerError::Conflict`] as for an append, or when a position is not in the log or named twice.
    async fn replace(
        &self,
        conversation: &SessionKey,
        at: u64,
        replaced: Vec<(u64, NewRecord)>,
        appended: Vec<NewRecord>,
    ) -> Result<u64, LedgerError>;
    /// The conversations of a scope whose names begin with a prefix, each with its owner: the last by name
    /// first, up to `limit`.
    async fn by_prefix(
        &self,
        scope: &Scope,
        beginning: &str,
        limit: usize,
    ) -> Result<Vec<(SessionId, Owner)>, LedgerError>;
    /// The conversations of every scope with the latest appends, newest first, up to `limit`. For work of the
    /// process itself: no answer to a client may use it.
    async fn newest(&self, limit: usize) -> Result<Vec<(SessionKey, Owner)>, LedgerError>;
    /// Creates a conversation of the same scope and owner with a copy of the first `records`. The two are
    /// independent afterwards: a replacement in one does not change the other.
    ///
    /// Errors: [`LedgerError::Conflict`] when `from` has fewer records or is missing, or `to` exists.
    async fn fork(&self, from: &SessionKey, records: u64, to: &SessionId) -> Result<(), LedgerError>;
    /// Deletes a conversation for good, as a sweep does; returns whether it existed.
    async fn delete(&self, conversation: &SessionKey) -> Result<bool, LedgerError>;
    /// Records that a model server stores objects with these ids for an owner: responses and their items. A
    /// known id keeps its place. Beyond [`OBJECTS_MAX`] the owner's oldest are dropped. A sweep of the owner
    /// or of the scope deletes them.
    async fn record_objects(&self, scope: &Scope, owner: &Owner, ids: Vec<String>)
    -> Result<(), LedgerError>;
    /// The ids among these that were recorded for the owner, in the given order.
    async fn owned_objects(
        &self,
        scope: &Scope,
        owner: &Owner,
        ids: Vec<String>,
    ) -> Result<Vec<String>, LedgerError>;
}
