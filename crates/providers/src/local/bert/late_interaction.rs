//! An embedding model as a reranker: each token of the query is compared with the most similar token of a
//! passage.
//!
//! Owns: the weight of that similarity against the order in which the passages come. Never: a stored vector.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use ports::{EmbedPurpose, RerankError, Reranker};
use tokio::sync::Semaphore;

use super::network::Tokens;
use super::{BertSettings, Model, OpenError, RERANK_LIMITS, blocking, run};

/// Weight of similarity; the order of the passages has weight 1. A greater weight finds more in the talks of
/// strangers, and less in LoCoMo and LongMemEval.
const LIKENESS: f32 = 0.5;

/// Number of special tokens of a text, one at each end.
pub(super) const ENDS: usize = 2;

/// Scores with the tokens of a local embedding model.
#[derive(Debug)]
pub(super) struct LateInteraction {
    model: Arc<Model>,
    /// One batch at a time, since a forward pass uses every core.
    turn: Semaphore,
}

impl LateInteraction {
    /// Opens the model in a folder. It reads all weights, so call it on a thread that may block.
    pub(super) fn open(dir: &Path, settings: BertSettings) -> Result<Self, OpenError> {
        Ok(Self {
            model: Arc::new(Model::open(dir, settings)?.0),
            turn: Semaphore::new(1),
        })
    }

    /// The similarity of each passage to the query; 0 for an empty passage.
    async fn likeness(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, String> {
        let likeness = vec![0.0; passages.len()];
        let owned: Vec<String> = passages.iter().map(|text| (*text).to_owned()).collect();
        let (model, query) = (self.model.clone(), query.to_owned());
        let prepared = blocking(move || {
            let asked = model.batches(&[query], EmbedPurpose::Query, RERANK_LIMITS)?;
            let passages = model.batches(&owned, EmbedPurpose::Passage, RERANK_LIMITS)?;
            let Some((_, asked)) = asked
                .into_iter()
                .flatten()
                .find(|(_, text)| text.ids.len() > ENDS)
            else {
                return Ok((None, passages));
            };
            let words = model.network.token_vectors(&asked);
            let words = words.map_err(|error| format!("the forward pass failed: {error}"))?;
            Ok((Some(words), passages))
        });
        let (Some(asked), batches) = prepared.await? else {
            return Ok(likeness);
        };
        let model = self.model.clone();
        let pass = move |texts: &[Tokens]| model.network.likeness(&asked, texts);
        run(batches, &self.turn, likeness, pass).await
    }
}

#[async_trait]
impl Reranker for LateInteraction {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let likeness = self.likeness(query, passages).await;
        let likeness = standard_scores(&likeness.map_err(|reason| RerankError::Refused { reason })?);
        let places = (1..=passages.len()).map(|place| -(place as f32).ln());
        let order = standard_scores(&places.collect::<Vec<_>>());
        let both = order.iter().zip(&likeness);
        Ok(both.map(|(order, alike)| order + LIKENESS * alike).collect())
    }
}

/// The standard score of each value: its distance above the mean in standard deviations; 0 if all are equal.
fn standard_scores(values: &[f32]) -> Vec<f32> {
    let count = values.len() as f32;
    let mean = values.iter().sum::<f32>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    let deviation = variance.sqrt().max(1e-6);
    values.iter().map(|value| (value - mean) / deviation).collect()
}

#[cfg(test)]
mod tests;
