//! From text to rows with vectors.
//!
//! Owns: the part of a row's text that is embedded, batching, a small store of message vectors, and the distribution of
//! the model's cosines. Never: ranking or storage.
//!
//! A message is embedded up to three times on its way: to see a topic shift, to be found while it is buffered, and as a
//! turn of its episode, once for each owner. The store makes it once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use model::{Doc, DocKind, Message, MessageId, Vector, dot, warned};
use parking_lot::Mutex;
use ports::{EmbedError, EmbedPurpose, Embedder, kept_vector};
use recall::{Cosines, QUESTIONS, STATEMENTS};
use tokio::sync::OnceCell;

/// Texts that one call to the embedder takes, and their bytes.
const BATCH: usize = 128;
const BATCH_BYTES: usize = 256 << 10;

/// Embedding models read at most this much of a text.
const TEXT_BYTES_MAX: usize = 64 << 10;

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
    /// In the order of their arrival: the oldest goes first.
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

    /// Whether the model answers at once.
    pub(crate) fn is_instant(&self) -> bool {
        self.embedder.is_instant()
    }

    /// The distribution of the model's cosines, measured once, at the first call. The instant model is the built-in
    /// table, which has the usual one.
    pub(crate) async fn cosines(&self) -> Cosines {
        if self.is_instant() {
            return Cosines::default();
        }
        let measured = self.cosines.get_or_try_init(|| async {
            let questions = self.embedder.embed(&QUESTIONS, EmbedPurpose::Query).await?;
            let statements = self.embedder.embed(&STATEMENTS, EmbedPurpose::Passage).await?;
            Ok(Cosines::of(&questions, &statements).unwrap_or_default())
        });
        let measured: Result<&Cosines, EmbedError> = measured.await;
        let measured = warned!(measured, "cannot measure how the embedding model's cosines lie");
        measured.copied().unwrap_or_default()
    }

    /// For each of these texts, the index of the nearest text in `to`; empty without texts.
    pub(crate) async fn nearest(&self, texts: &[&str], to: &[&str]) -> Result<Vec<usize>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let places = self.embedder.embed(to, EmbedPurpose::Passage).await?;
        let vectors = self.embedder.embed(texts, EmbedPurpose::Passage).await?;
        let nearest = |vector: &Vector| {
            let near = |at: &usize| dot(vector, &places[*at]);
            (0..places.len()).max_by(|a, b| near(a).total_cmp(&near(b)))
        };
        Ok(vectors.iter().filter_map(nearest).collect())
    }

    /// One vector for each message.
    pub(crate) async fn of_messages(&self, messages: &[Message]) -> Result<Vec<Vector>, EmbedError> {
        let mut vectors: Vec<Option<Vector>> = {
            let kept = self.kept.lock();
            messages
                .iter()
                .map(|message| kept.vectors.get(&message.id).cloned())
                .collect()
        };
        let unknown: Vec<usize> = (0..messages.len()).filter(|n| vectors[*n].is_none()).collect();
        for some in unknown.chunks(BATCH) {
            let texts = some.iter().map(|n| messages[*n].beginning(TEXT_BYTES_MAX));
            let texts: Vec<String> = texts.collect();
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
        let known = messages.iter().map(|message| message.id.as_str()).zip(vectors);
        let known: BTreeMap<&str, Vector> = known.collect();
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
        let (mut vectors, mut rest) = (Vec::with_capacity(texts.len()), texts.as_slice());
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |text: &&&str| {
                bytes += text.len();
                bytes <= BATCH_BYTES
            };
            let (some, others) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            let made = self.embedder.embed(some, EmbedPurpose::Passage).await?;
            vectors.extend(made.iter().map(|vector| kept_vector(vector)));
            rest = others;
            if !rest.is_empty() {
                // Long texts must not keep a runtime thread from other tasks.
                tokio::task::yield_now().await;
            }
        }
        Ok(vectors)
    }

    fn keep(&self, id: &MessageId, vector: &Vector) {
        let mut kept = self.kept.lock();
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
    let text = parts.into_iter().filter(|part| !part.is_empty());
    let mut text = text.collect::<Vec<_>>().join("\n");
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use model::{Content, EmbedderId, Name, Role, Scope, SessionId, SessionKey, Timestamp};

    use super::*;

    /// An embedder that keeps the lengths of the texts of each call.
    #[derive(Debug)]
    struct Lengths(EmbedderId, Mutex<Vec<Vec<usize>>>);

    #[async_trait]
    impl Embedder for Lengths {
        fn id(&self) -> &EmbedderId {
            &self.0
        }

        fn is_instant(&self) -> bool {
            true
        }

        async fn embed(&self, texts: &[&str], _: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
            let lengths = texts.iter().map(|text| text.len()).collect();
            self.1.lock().push(lengths);
            Ok(texts.iter().map(|_| Vector::from([1.0])).collect())
        }
    }

    #[tokio::test]
    async fn only_the_beginning_of_a_long_text_is_embedded_and_few_at_a_time() {
        let model = "lengths".to_owned();
        let embedder = Arc::new(Lengths(EmbedderId { model, dims: 1 }, Mutex::default()));
        let rows = Rows::new(embedder.clone());
        let message = |n: usize| Message {
            id: MessageId::new(format!("m{n}")),
            session: SessionKey::new(Scope::default(), SessionId::new("s")),
            sender: Name::parse("ann").expect("a name"),
            sender_name: None,
            role: Role::User,
            time: Timestamp::default(),
            content: Content::Text("x".repeat(n * 50_000)).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        let messages: Vec<Message> = (0..7).map(message).collect();
        let mut docs: Vec<Doc> = messages
            .iter()
            .map(|message| Doc {
                kind: DocKind::Entry(model::EntryKind::Topic),
                ..Doc::of_message(message, &model::Owner::user(message.sender.clone()))
            })
            .collect();
        let vectors = rows.of_messages(&messages).await.expect("it embeds");
        rows.embed_docs(&mut docs).await.expect("it embeds");
        assert_eq!(vectors.len(), 7);
        assert!(docs.iter().all(|doc| doc.vector.is_some()));
        let max = TEXT_BYTES_MAX;
        let calls = [vec![0, 50_000, max, max, max], vec![max, max]];
        assert_eq!(*embedder.1.lock(), [calls.clone(), calls].concat());
    }
}
