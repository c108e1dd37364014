//! The cached rows of one owner, or its facts alone: loaded once, changed in place.
//!
//! Owns: the meaning of each change for an owner's rows. Never: which owners are cached.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use extract::KnownFacts;
use model::{
    Doc, DocId, EntryId, Message, Owner, OwnerKind, Role, SessionId, SessionKey, TURN_BYTES_MAX, Vector,
};
use parking_lot::RwLock;
use recall::Corpus;
use tokio::sync::OnceCell;

use crate::error::EngineError;
use crate::facts;
use crate::runtime::{QUICK_BYTES_MAX, off_thread, on_text};

/// From this number of rows on, a corpus is built on another thread than the one that serves requests.
const ROWS_INLINE_MAX: usize = 200;

/// What is cached of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachedPart {
    /// All its rows, for a search.
    Rows,
    /// Its facts as they are compared with a new one, for a write.
    Facts,
}

/// One owner's rows. The lock is held for one ranking or one change, never across an await.
#[derive(Debug)]
pub(crate) struct Hot {
    owner: Owner,
    part: CachedPart,
    state: RwLock<HotState>,
    /// Whether the rows fit into the cache.
    load: OnceCell<bool>,
    /// The sessions in which the owner spoke, as loaded.
    sessions: OnceLock<BTreeSet<SessionId>>,
    bytes: AtomicUsize,
    /// Size of the rows of all owners; this owner's are part of it until they are dropped.
    all_bytes: Arc<AtomicUsize>,
    /// Estimated size from which the rows are measured again, in bytes.
    bytes_count_at: AtomicUsize,
}

#[derive(Debug)]
enum HotState {
    /// Loading; changes in the meantime wait here.
    Loading(Vec<RowsChange>),
    Ready(Box<Rows>),
}

#[derive(Debug)]
struct Rows {
    part: CachedPart,
    /// Empty where only the facts are cached.
    corpus: Corpus,
    /// Sessions in which the owner speaks; the messages buffered there belong to the owner too.
    sessions: BTreeSet<SessionId>,
    /// The facts among the rows, prepared for comparison with a new fact; made when the first new fact is written.
    facts: OnceLock<KnownFacts>,
}

/// Estimated size of a prepared fact, in bytes.
const FACT_BYTES: usize = 360;

/// Messages that were accepted.
#[derive(Debug)]
pub(crate) struct AcceptedMessages {
    pub(crate) session: SessionKey,
    /// The users among their senders.
    pub(crate) speakers: BTreeSet<Owner>,
    /// Whether the session's buffer holds earlier messages too.
    pub(crate) has_backlog: bool,
    pub(crate) messages: Vec<Message>,
    /// One vector for each message, if the embedder answered at once.
    pub(crate) vectors: Option<Vec<Vector>>,
}

/// Changes of an owner's rows.
#[derive(Debug, Clone)]
pub(crate) enum RowsChange {
    Buffered(Arc<AcceptedMessages>),
    /// Messages are no longer buffered.
    Unbuffered(Arc<[DocId]>),
    /// The index changed.
    Rows {
        add: Vec<Doc>,
        remove: Vec<DocId>,
    },
}

impl Hot {
    pub(super) fn new(owner: Owner, part: CachedPart, all_bytes: Arc<AtomicUsize>) -> Self {
        Self {
            owner,
            part,
            state: RwLock::new(HotState::Loading(Vec::new())),
            load: OnceCell::new(),
            sessions: OnceLock::new(),
            bytes: AtomicUsize::new(0),
            all_bytes,
            bytes_count_at: AtomicUsize::new(0),
        }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Whether all rows are cached, or will be.
    pub(super) fn has_rows(&self) -> bool {
        self.part == CachedPart::Rows
    }

    /// Estimated size of the rows, in bytes; 0 while they load.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(super) fn set_bytes(&self, bytes: usize) {
        self.resize(bytes);
    }

    /// Reads the rows; an empty corpus while they load.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Corpus) -> T) -> T {
        match &*self.state.read() {
            HotState::Ready(rows) => look(&rows.corpus),
            HotState::Loading(_) => look(&Corpus::default()),
        }
    }

    /// The facts among the rows, prepared for comparison with a new fact; none while the rows load.
    pub(crate) async fn with_facts<T>(
        self: Arc<Self>,
        look: impl FnOnce(&KnownFacts) -> T,
    ) -> Result<T, EngineError> {
        let takes_long = match &*self.state.read() {
            HotState::Ready(rows) => rows.facts.get().is_none() && rows.corpus.len() > ROWS_INLINE_MAX,
            HotState::Loading(_) => false,
        };
        if takes_long {
            let own = self.clone();
            off_thread(move || own.prepare(|_| ())).await?;
        }
        Ok(self.prepare(look))
    }

    fn prepare<T>(&self, look: impl FnOnce(&KnownFacts) -> T) -> T {
        match &*self.state.read() {
            HotState::Ready(rows) => {
                let facts = || {
                    let mut known = KnownFacts::default();
                    let entries = rows.corpus.iter_entries();
                    entries.for_each(|doc| facts::learn(&mut known, &doc));
                    known
                };
                look(rows.facts.get_or_init(facts))
            }
            HotState::Loading(_) => look(&KnownFacts::default()),
        }
    }

    /// The sessions in which the owner spoke when the rows were loaded; none while they load.
    pub(super) fn sessions(&self) -> Option<&BTreeSet<SessionId>> {
        self.sessions.get()
    }

    /// Applies a change; false if the rows cannot follow it and must be loaded again.
    pub(super) fn change(&self, change: RowsChange) -> bool {
        on_text(change.bytes(), || self.apply(change))
    }

    fn apply(&self, change: RowsChange) -> bool {
        match &mut *self.state.write() {
            HotState::Loading(waiting) => {
                waiting.push(change);
                true
            }
            HotState::Ready(rows) => {
                let bytes = self.bytes.load(Ordering::Relaxed);
                self.resize(bytes + change.bytes());
                let follows = rows.follow(&self.owner, change);
                if bytes > self.bytes_count_at.load(Ordering::Relaxed) {
                    self.count_bytes(rows);
                }
                follows
            }
        }
    }

    /// Waits until the rows are loaded; `load` fills them in if no other caller does. False if they are too many.
    pub(super) async fn loaded(
        &self,
        load: impl Future<Output = Result<bool, EngineError>>,
    ) -> Result<bool, EngineError> {
        self.load.get_or_try_init(|| load).await.copied()
    }

    /// Fills in the rows of the index and the buffered messages, then the changes that came meanwhile; false if the
    /// rows cannot follow these changes and must be read again.
    pub(super) async fn fill(&self, docs: Vec<Doc>, buffered: Vec<Doc>) -> Result<bool, EngineError> {
        let (owner, part) = (self.owner.clone(), self.part);
        let bytes: usize = docs.iter().chain(&buffered).map(|doc| doc.text.len()).sum();
        let is_quick = docs.len() + buffered.len() <= ROWS_INLINE_MAX && bytes <= QUICK_BYTES_MAX;
        let mut rows = if is_quick {
            Rows::of(&owner, part, docs, buffered)
        } else {
            off_thread(move || Rows::of(&owner, part, docs, buffered)).await?
        };
        let mut state = self.state.write();
        let HotState::Loading(waiting) = &mut *state else {
            return Ok(true);
        };
        let mut follows = true;
        for change in waiting.drain(..) {
            follows &= rows.follow(&self.owner, change);
        }
        if follows {
            self.count_bytes(&rows);
            // Before the rows are ready: who is no longer among the loading owners is among the speakers.
            self.sessions.get_or_init(|| rows.sessions.clone());
            *state = HotState::Ready(Box::new(rows));
        }
        Ok(follows)
    }

    /// Only with the lock of the state, or before others have it.
    fn resize(&self, bytes: usize) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        // Wraps around where the size falls, as the sum does.
        self.all_bytes
            .fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
    }

    fn count_bytes(&self, rows: &Rows) {
        let bytes = rows.bytes().max(1);
        self.resize(bytes);
        self.bytes_count_at.store(bytes + bytes / 8, Ordering::Relaxed);
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        self.resize(0);
    }
}

/// A corpus of these rows; the row of the index wins over the buffered one.
pub(crate) fn corpus_of(owner: &Owner, docs: Vec<Doc>, buffered: Vec<Doc>) -> Corpus {
    Rows::of(owner, CachedPart::Rows, docs, buffered).corpus
}

impl Rows {
    fn of(owner: &Owner, part: CachedPart, docs: Vec<Doc>, buffered: Vec<Doc>) -> Self {
        let mut rows = Self {
            part,
            corpus: Corpus::default(),
            sessions: BTreeSet::new(),
            facts: OnceLock::new(),
        };
        if part == CachedPart::Facts {
            rows.facts.get_or_init(KnownFacts::default);
        }
        for doc in docs {
            rows.put(owner, doc);
        }
        for doc in buffered {
            rows.put_buffered(owner, doc);
        }
        rows
    }

    fn bytes(&self) -> usize {
        self.corpus.bytes() + self.facts.get().map_or(0, |facts| facts.len() * FACT_BYTES)
    }

    fn put(&mut self, owner: &Owner, doc: Doc) {
        if let Some(facts) = self.facts.get_mut() {
            facts::learn(facts, &doc);
        }
        if self.part == CachedPart::Rows {
            self.sessions.extend(speaks_in(owner, &doc));
            self.corpus.upsert(doc);
        }
    }

    /// A message in an episode is not buffered, even if a later change contains it as buffered.
    fn put_buffered(&mut self, owner: &Owner, doc: Doc) {
        if self.corpus.is_buffered(&doc.key.id).unwrap_or(true) {
            self.put(owner, doc);
        }
    }

    fn follow(&mut self, owner: &Owner, change: RowsChange) -> bool {
        match change {
            RowsChange::Buffered(added) => self.buffer(owner, &added),
            RowsChange::Unbuffered(ids) => {
                for id in &*ids {
                    if self.corpus.is_buffered(id).unwrap_or(false) {
                        self.corpus.remove(id);
                    }
                }
                true
            }
            RowsChange::Rows { add, remove } => {
                for id in &remove {
                    self.corpus.remove(id);
                    if let Some(facts) = self.facts.get_mut() {
                        facts.remove(&EntryId::new(id.clone()));
                    }
                }
                for doc in add {
                    self.put(owner, doc);
                }
                true
            }
        }
    }

    fn buffer(&mut self, owner: &Owner, added: &AcceptedMessages) -> bool {
        let speaks = added.speakers.contains(owner);
        let knows = self.sessions.contains(&added.session.session);
        if speaks && !knows && added.has_backlog {
            // Earlier messages of others in the session now belong to the owner too.
            return false;
        }
        if speaks || knows {
            let vectors = added.vectors.as_deref().unwrap_or_default();
            for (n, message) in added.messages.iter().enumerate() {
                let vector = vectors.get(n).cloned();
                self.put_buffered(
                    owner,
                    Doc {
                        vector,
                        ..Doc::of_message(message, owner)
                    },
                );
            }
        }
        true
    }
}

impl RowsChange {
    /// Estimated size of the change, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let per_row = 1_024;
        match self {
            Self::Buffered(added) => {
                let text = |message: &Message| message.bytes().min(TURN_BYTES_MAX);
                let messages = added.messages.iter();
                messages.map(|message| per_row + 2 * text(message)).sum()
            }
            Self::Unbuffered(_) => 0,
            Self::Rows { add, .. } => add.iter().map(|doc| per_row + 2 * doc.text.len()).sum(),
        }
    }
}

/// The session in which an owner speaks, if a row shows it.
pub(super) fn speaks_in(owner: &Owner, doc: &Doc) -> Option<SessionId> {
    let is_own =
        owner.kind == OwnerKind::User && doc.role == Some(Role::User) && doc.senders.contains(&owner.id);
    doc.session.clone().filter(|_| is_own)
}
