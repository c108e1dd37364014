//! The rows of owners: those of recently used owners are cached and always up to date.
//!
//! Owns: reading an owner's rows, once for all callers that need them. Never: ranking (`recall`).
//!
//! No change is lost while an owner loads. The owner is registered before its rows are read. From then on it receives
//! every change; changes during the load are kept and applied on top. A change is sent after it is durable, so a load
//! that begins later reads it. A change sent earlier is given to the load. For other events (a deletion, a new index)
//! owners are dropped, together with their unfinished loads.

mod cache;
mod hot;

use std::sync::Arc;

use model::{Doc, DocKey, DocKind, Message, Owner, Scope, Vector, warned};
use ports::{FileChanges, Index, Transcripts};

pub(crate) use cache::{CorpusCache, OnTheirWay, Ticket};
use hot::CachedPart;
pub(crate) use hot::{AcceptedMessages, Hot, corpus_of};

use super::rows::Rows;
use super::serving::Gauge;
use crate::error::EngineError;
use crate::parts::Parts;
use crate::settings::MemorySettings;

/// Maximum number of repeated loads if changes invalidate them; then the rows are used anyway.
const LOADS_MAX: usize = 16;

/// Reads the rows of owners.
#[derive(Debug)]
pub(crate) struct Corpora {
    pub(crate) cache: CorpusCache,
    transcripts: Arc<dyn Transcripts>,
    file_changes: Arc<dyn FileChanges>,
    index: Arc<dyn Index>,
    pub(crate) rows: Arc<Rows>,
    pub(crate) gauge: Arc<Gauge>,
    /// The rows of an owner with more are not cached.
    rows_max: usize,
}

impl Corpora {
    pub(crate) fn new(parts: &Parts, settings: &MemorySettings) -> Self {
        Self {
            cache: CorpusCache::new(settings.hot_bytes_max),
            transcripts: parts.transcripts.clone(),
            file_changes: parts.file_changes.clone(),
            index: parts.index.clone(),
            rows: Arc::new(Rows::new(parts.embedder.clone())),
            gauge: Arc::new(Gauge::new()),
            rows_max: settings.hot_rows_max,
        }
    }

    /// An owner's rows, loaded if they are not cached; none if they are too many for the cache.
    pub(crate) async fn view(&self, scope: &Scope, owner: &Owner) -> Result<Option<Arc<Hot>>, EngineError> {
        self.cached(scope, owner, CachedPart::Rows).await
    }

    /// An owner's facts, as they are compared with a new one. Who writes will soon search, so all rows are loaded; but
    /// where other owners would have to go for them, or the rows are too many, only the facts.
    pub(crate) async fn facts(&self, scope: &Scope, owner: &Owner) -> Result<Arc<Hot>, EngineError> {
        let mut part = if self.cache.has_room() {
            CachedPart::Rows
        } else {
            CachedPart::Facts
        };
        loop {
            if let Some(hot) = self.cached(scope, owner, part).await? {
                return Ok(hot);
            }
            part = CachedPart::Facts;
        }
    }

    /// That part of an owner, loaded if it is not cached; none if its rows are too many.
    async fn cached(
        &self,
        scope: &Scope,
        owner: &Owner,
        part: CachedPart,
    ) -> Result<Option<Arc<Hot>>, EngineError> {
        let mut loads = 0;
        loop {
            let Some(hot) = self.cache.slot(scope, owner, part) else {
                return Ok(None);
            };
            // Boxed: nearly always the rows are cached, so the futures of all use cases stay small.
            let fits = hot.loaded(Box::pin(self.load(scope, &hot))).await?;
            if !fits {
                self.cache.drop_slot(scope, &hot, true);
                return Ok(None);
            }
            loads += 1;
            if self.cache.is_current(scope, &hot) || loads == LOADS_MAX {
                self.cache.shrink(&hot);
                return Ok(Some(hot));
            }
        }
    }

    /// An owner's rows that are entries.
    pub(crate) async fn entries(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Arc<Doc>>, EngineError> {
        if let Some(hot) = self.view(scope, owner).await? {
            return Ok(hot.read(|corpus| corpus.iter_entries().map(Arc::new).collect()));
        }
        let docs = self.index.load(scope, owner).await?.into_iter();
        Ok(docs
            .filter(|doc| doc.kind != DocKind::Turn)
            .map(Arc::new)
            .collect())
    }

    /// All of an owner's rows.
    pub(crate) async fn all(&self, scope: &Scope, owner: &Owner) -> Result<Vec<Arc<Doc>>, EngineError> {
        if let Some(hot) = self.view(scope, owner).await? {
            return Ok(hot.read(|corpus| corpus.iter().map(Arc::new).collect()));
        }
        let docs = self.index.load(scope, owner).await?;
        Ok(docs.into_iter().map(Arc::new).collect())
    }

    /// Reads the buffered messages and the pending rows before the index: rows that leave both are in the index
    /// already. False if the index has more rows than the cache takes.
    async fn load(&self, scope: &Scope, hot: &Hot) -> Result<bool, EngineError> {
        loop {
            let on_their_way = self.cache.on_their_way(scope, hot.owner());
            if !hot.has_rows() {
                let mut facts = self.index.facts(scope, hot.owner()).await?;
                facts.extend(on_their_way.iter().flat_map(|rows| rows.to_vec()));
                if hot.fill(facts, Vec::new()).await? {
                    return Ok(true);
                }
                continue;
            }
            let tail = self.transcripts.tail(scope, hot.owner()).await?;
            let is_everywhere = *scope == Scope::all_projects(&scope.app);
            let mut docs = if is_everywhere {
                let facts = self.file_changes.facts(&scope.app, hot.owner()).await?;
                self.get(facts).await?
            } else {
                let rows = self.index.load_up_to(scope, hot.owner(), self.rows_max);
                let Some(docs) = rows.await? else {
                    return Ok(false);
                };
                docs
            };
            tracing::debug!(rows = docs.len(), "read an owner's rows");
            docs.extend(on_their_way.iter().flat_map(|rows| rows.to_vec()));
            if is_everywhere {
                docs.retain(Doc::holds_everywhere);
            }
            if !self.gauge.takes_vectors() {
                for doc in &mut docs {
                    doc.vector = None;
                }
            }
            let buffered = self.buffered_rows(hot.owner(), &tail).await;
            if hot.fill(docs, buffered).await? {
                return Ok(true);
            }
        }
    }

    /// The rows of these keys, from cached owners and from the index.
    pub(crate) async fn get(&self, keys: Vec<DocKey>) -> Result<Vec<Doc>, EngineError> {
        let mut docs = Vec::new();
        let mut elsewhere = Vec::new();
        for keys in keys.chunk_by(|key, next| (&key.scope, &key.owner) == (&next.scope, &next.owner)) {
            let hot = self.cache.at_hand(&keys[0].scope, &keys[0].owner);
            for key in keys {
                let doc = hot
                    .as_ref()
                    .and_then(|hot| hot.read(|corpus| corpus.get(&key.id)));
                match doc {
                    Some(doc) => docs.push(doc),
                    None => elsewhere.push(key.clone()),
                }
            }
        }
        if !elsewhere.is_empty() {
            docs.extend(self.index.get(&elsewhere).await?);
        }
        Ok(docs)
    }

    /// The rows of messages that are not in an episode yet.
    pub(crate) async fn buffered_rows(&self, owner: &Owner, tail: &[Message]) -> Vec<Doc> {
        let docs = tail.iter().map(|message| Doc::of_message(message, owner));
        let mut docs: Vec<Doc> = docs.collect();
        if self.may_embed_now() {
            let embedded = self.rows.embed_with(&mut docs, tail).await;
            warned!(
                embedded,
                "embedder unavailable; keyword search only for buffered messages"
            );
        }
        docs
    }

    /// The vectors of messages, if a request may wait for them.
    pub(crate) async fn vectors_now(&self, messages: &[Message]) -> Option<Vec<Vector>> {
        if !self.may_embed_now() {
            return None;
        }
        self.rows.of_messages(messages).await.ok()
    }

    /// Whether a request may wait for an embedding, and the index may use it.
    fn may_embed_now(&self) -> bool {
        self.rows.is_instant() && self.gauge.takes_vectors()
    }
}
