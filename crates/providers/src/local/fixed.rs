//! The default embedder, without files, network or warm-up.
//!
//! Owns: the port's promises over the table. Never: the table's layout.

use async_trait::async_trait;
use model::{EmbedderId, Vector};
use ports::{EmbedError, EmbedPurpose, Embedder};

use super::table::{DIMS, Table};

/// Embeds with the static table distilled from two models; the table is parsed at the first text.
#[derive(Debug)]
pub struct StaticEmbedder {
    id: EmbedderId,
}

impl StaticEmbedder {
    /// The embedder of this binary's table.
    pub fn new() -> Self {
        let model = "static/minilm-wordllama/3".to_owned();
        Self {
            id: EmbedderId { model, dims: DIMS },
        }
    }
}

impl Default for StaticEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn is_instant(&self) -> bool {
        true
    }

    async fn embed(&self, texts: &[&str], _purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let table = Table::get();
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(table.embed(text).into());
            // A long batch must not block a runtime thread.
            tokio::task::consume_budget().await;
        }
        Ok(vectors)
    }
}
