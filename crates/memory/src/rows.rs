//! From text to rows with vectors.
//!
//! Owns: which text of a row is embedded, batching, a small store of message vectors, and how the model's cosines lie.
//! Never: ranking or storage.
//!
//! A message is embedded up to three times on its way: to see a topic shift, to be found while it is buffered, and as
//! a turn of its episode, once for each owner. The store makes it once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use model::{Doc, DocKind, Message, MessageId, Vector};
use ports::{EmbedError, EmbedPurpose, Embedder, kept_number};
use recall::{Cosines, QUESTIONS, STATEMENTS};
use text::chain;
use tokio::sync::OnceCell;

/// Texts that one call to the embedder takes.
const BATCH: usize = 128;

/// Vectors kept; about a kilobyte each with the default model.
const KEPT_MAX: usize = 4_096;

/// Embeds rows and messages.
#[derive(Debug)]
pub(crate) struct Rows {
    embedder: Arc<dyn Embedder>,
    kept: Mutex<Kept>,
    cosines: OnceCell<Cosines>,
}

#[derive(Debug, Default)]
struct Kept {
    vectors: BTreeMap<MessageId, Vector>,
    /// The order in which they came: the oldest goes first.
    order: VecDeque<MessageId>,
}

impl Rows {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            embedder,
            kept: Mutex::default(),
            cosines: OnceCell::new(),
        }
    }

    /// How the model's cosines lie: measured once, by the first who asks. The instant model is the built-in table, whose
    /// cosines are the usual ones.
    pub(crate) async fn cosines(&self) -> Cosines {
        if self.embedder.is_instant() {
            return Cosines::default();
        }
        let measured = self.cosines.get_or_try_init(|| async {
            let questions = self.embedder.embed(&QUESTIONS, EmbedPurpose::Query).await?;
            let statements = self.embedder.embed(&STATEMENTS, EmbedPurpose::Passage).await?;
            Ok(Cosines::of(&questions, &statements).unwrap_or_default())
        });
        let measured: Result<&Cosines, EmbedError> = measured.await;
        measured.copied().unwrap_or_else(|error| {
            tracing::warn!(
                error = chain(&error),
                "cannot measure how the embedding model's cosines lie"
            );
            Cosines::default()
        })
    }

    /// One vector for each message.
    pub(crate) async fn of_messages(&self, messages: &[Message]) -> Result<Vec<Vector>, EmbedError> {
        let mut vectors: Vec<Option<Vector>> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            messages
                .iter()
                .map(|message| kept.vectors.get(&message.id).cloned())
                .collect()
        };
        let unknown: Vec<usize> = (0..messages.len()).filter(|n| vectors[*n].is_none()).collect();
        for some in unknown.chunks(BATCH) {
            let texts: Vec<String> = some.iter().map(|n| messages[*n].text()).collect();
            for (n, vector) in some.iter().zip(self.embed(&texts).await?) {
                self.keep(&messages[*n].id, &vector);
                vectors[*n] = Some(vector);
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Gives vectors to rows that have none. Rows of these messages take the message's own vector.
    pub(crate) async fn embed_with(&self, docs: &mut [Doc], messages: &[Message]) -> Result<(), EmbedError> {
        let vectors = self.of_messages(messages).await?;
        let known: BTreeMap<&str, Vector> = messages
            .iter()
            .map(|message| message.id.as_str())
            .zip(vectors)
            .collect();
        for doc in docs.iter_mut().filter(|doc| doc.kind == DocKind::Turn) {
            doc.vector = known.get(&*doc.key.id).cloned();
        }
        self.embed_docs(docs).await
    }

    /// Gives vectors to rows that have none.
    pub(crate) async fn embed_docs(&self, docs: &mut [Doc]) -> Result<(), EmbedError> {
        let mut bare: Vec<&mut Doc> = docs.iter_mut().filter(|doc| doc.vector.is_none()).collect();
        for some in bare.chunks_mut(BATCH) {
            let texts: Vec<String> = some.iter().map(|doc| passage(doc)).collect();
            let vectors = self.embed(&texts).await?;
            for (doc, vector) in some.iter_mut().zip(vectors) {
                doc.vector = Some(vector);
            }
        }
        Ok(())
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = self.embedder.embed(&texts, EmbedPurpose::Passage).await?;
        let as_kept = |vector: Vector| vector.iter().copied().map(kept_number).collect();
        Ok(vectors.into_iter().map(as_kept).collect())
    }

    fn keep(&self, id: &MessageId, vector: &Vector) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.vectors.insert(id.clone(), vector.clone()).is_none() {
            kept.order.push_back(id.clone());
        }
        while kept.order.len() > KEPT_MAX {
            if let Some(oldest) = kept.order.pop_front() {
                kept.vectors.remove(&oldest);
            }
        }
    }
}

/// The text of a row that is embedded.
fn passage(doc: &Doc) -> String {
    let parts = [doc.subject.as_str(), doc.summary.as_str(), doc.text.as_str()];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}
