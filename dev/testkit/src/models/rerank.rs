//! A reranker that prefers passages with given texts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use ports::{RerankError, Reranker};

/// A deterministic reranker that records its passages.
#[derive(Debug, Default)]
pub struct ScriptedReranker {
    preferred: Vec<String>,
    failing: AtomicBool,
    hanging: AtomicBool,
    read: Mutex<Vec<Vec<String>>>,
}

impl ScriptedReranker {
    /// The earlier a text is in the list, the higher the score of a passage with it; a passage with none
    /// scores 0.
    pub fn preferring(texts: &[&str]) -> Self {
        Self {
            preferred: texts.iter().map(|text| (*text).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Sets whether every later call fails with [`RerankError::Unavailable`].
    pub fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    /// Sets whether later calls hang.
    pub fn set_hanging(&self, hanging: bool) {
        self.hanging.store(hanging, Ordering::SeqCst);
    }

    /// The passages of each call.
    pub fn read(&self) -> Vec<Vec<String>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Reranker for ScriptedReranker {
    async fn rerank(&self, _query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let read = passages.iter().map(|passage| (*passage).to_owned()).collect();
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(read);
        if self.hanging.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.failing.load(Ordering::SeqCst) {
            return Err(RerankError::Unavailable {
                reason: "planted fault".to_owned(),
            });
        }
        let score = |passage: &&str| {
            let place = self.preferred.iter().position(|text| passage.contains(text));
            place.map_or(0, |place| self.preferred.len() - place) as f32
        };
        Ok(passages.iter().map(score).collect())
    }
}
