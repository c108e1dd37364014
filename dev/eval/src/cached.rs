//! Cached vectors of a slow embedding model.
//!
//! Owns: one vector for each text and purpose, in memory. Never: the disk.

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use model::{EmbedderId, Vector};
use ports::{EmbedError, EmbedPurpose, Embedder};

/// An embedder that embeds no text twice: the cases of LongMemEval share sessions.
#[derive(Debug)]
pub(crate) struct Cached<E> {
    embedder: E,
    vectors: Mutex<HashMap<(bool, String), Vector>>,
}

impl<E: Embedder> Cached<E> {
    pub(crate) fn new(embedder: E) -> Self {
        let vectors = Mutex::default();
        Self { embedder, vectors }
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    fn id(&self) -> &EmbedderId {
        self.embedder.id()
    }

    fn is_instant(&self) -> bool {
        self.embedder.is_instant()
    }

    async fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let key = |text: &&str| (matches!(purpose, EmbedPurpose::Query), (*text).to_owned());
        let known = || self.vectors.lock().expect("no thread panics with it");
        let new: Vec<&str> = texts
            .iter()
            .copied()
            .filter(|text| !known().contains_key(&key(text)))
            .collect();
        let made = self.embedder.embed(&new, purpose).await?;
        known().extend(new.iter().map(key).zip(made));
        let vectors = known();
        Ok(texts.iter().map(|text| vectors[&key(text)].clone()).collect())
    }
}
