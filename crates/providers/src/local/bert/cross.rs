//! A cross-encoder as a reranker.
//!
//! Owns: pairs of a query and a passage, in batches. Never: cutting a long passage, except at the model's own
//! limit.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use ports::{RerankError, Reranker};
use tokenizers::Tokenizer;
use tokio::sync::Semaphore;

use super::folder::Checkpoint;
use super::network::{PairNetwork, Tokens};
use super::{Batch, OpenError, RERANK_LIMITS, blocking, in_batches, run, tokens};

/// Scores with a local cross-encoder.
#[derive(Debug)]
pub struct CrossEncoder {
    model: Arc<PairModel>,
    /// One batch at a time, since a forward pass uses every core.
    turn: Semaphore,
}

#[derive(Debug)]
struct PairModel {
    tokenizer: Tokenizer,
    network: PairNetwork,
}

impl CrossEncoder {
    /// Opens the model in a folder. It reads all weights, so call it on a thread that may block.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        let checkpoint = Checkpoint::read(dir)?;
        let network = PairNetwork::load(&checkpoint)?;
        let tokenizer = checkpoint.tokenizer;
        Ok(Self {
            model: Arc::new(PairModel { tokenizer, network }),
            turn: Semaphore::new(1),
        })
    }
}

impl PairModel {
    fn batches(&self, query: &str, passages: &[String]) -> Result<Vec<Batch>, String> {
        let pairs = passages.iter().enumerate().map(|(place, passage)| {
            let encoding = self.tokenizer.encode_fast((query, passage.as_str()), true);
            Ok((place, tokens(encoding)?))
        });
        Ok(in_batches(pairs.collect::<Result<_, String>>()?, RERANK_LIMITS))
    }
}

#[async_trait]
impl Reranker for CrossEncoder {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let scores = vec![0.0; passages.len()];
        let owned: Vec<String> = passages.iter().map(|text| (*text).to_owned()).collect();
        let (model, query) = (self.model.clone(), query.to_owned());
        let refused = |reason| RerankError::Refused { reason };
        let batches = blocking(move || model.batches(&query, &owned))
            .await
            .map_err(refused)?;
        let model = self.model.clone();
        let pass = move |pairs: &[Tokens]| model.network.score(pairs);
        run(batches, &self.turn, scores, pass).await.map_err(refused)
    }
}

#[cfg(test)]
mod tests;
