//! A `/rerank` endpoint as a reranker.
//!
//! Owns: its two dialects: that of Cohere and Jina, which most servers use, and that of
//! text-embeddings-inference. Never: the exchange itself (`http`).

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use ports::{Clock, RerankError, Reranker};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::http::{CallError, Endpoint, EndpointSettings};

/// Somebody waits for the answer, and without it a search still has an order.
const ATTEMPTS: u32 = 2;
const REQUESTS_IN_FLIGHT: usize = 4;
/// A server of text-embeddings-inference refuses more passages in its default configuration.
const TEI_PASSAGES_MAX: usize = 32;
/// Maximum length of the query and of each passage.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Reranks through an endpoint.
#[derive(Debug)]
pub struct HttpReranker {
    endpoint: Endpoint,
    model: String,
    requests: Semaphore,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RerankAnswer {
    Results { results: Vec<Scored> },
    Scores(Vec<Scored>),
}

#[derive(Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f32,
}

impl HttpReranker {
    /// The reranker of these settings; sends no request yet.
    pub fn new(settings: EndpointSettings, clock: Arc<dyn Clock>) -> Result<Self, RerankError> {
        let endpoint = Endpoint::new(&settings, clock);
        Ok(Self {
            endpoint: endpoint.map_err(|reason| RerankError::Refused { reason })?,
            model: settings.model,
            requests: Semaphore::new(REQUESTS_IN_FLIGHT),
        })
    }

    async fn request(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let _place = self
            .requests
            .acquire()
            .await
            .expect("the semaphore is never closed");
        let texts: Vec<&str> = passages.iter().map(|passage| cut(passage)).collect();
        let query = cut(query);
        let body = if self.model.is_empty() {
            json!({ "query": query, "texts": texts, "truncate": true })
        } else {
            json!({ "model": self.model, "query": query, "documents": texts, "top_n": texts.len() })
        };
        let answer = self.endpoint.post(&["rerank"], &body, ATTEMPTS).await;
        let answer = answer.map_err(|error| self.failed(error))?;
        scores(answer, texts.len()).map_err(|fault| RerankError::Refused {
            reason: format!(
                "{} answered {fault}: is it a rerank endpoint?",
                self.endpoint.safe_url()
            ),
        })
    }

    fn failed(&self, error: CallError) -> RerankError {
        match error {
            CallError::Unavailable(reason) => RerankError::Unavailable { reason },
            // Both dialects answer this to a body of the other.
            CallError::Refused {
                status: 400 | 422,
                reason,
            } => RerankError::Refused {
                reason: if self.model.is_empty() {
                    format!("{reason}; a server that needs a model needs `model`")
                } else {
                    format!("{reason}; text-embeddings-inference needs an empty `model`")
                },
            },
            CallError::Refused { reason, .. } => RerankError::Refused { reason },
        }
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

/// The scores of an answer in the order of the passages, or why the answer is unusable.
fn scores(answer: Value, count: usize) -> Result<Vec<f32>, String> {
    let list = match serde_json::from_value(answer) {
        Ok(RerankAnswer::Results { results }) => results,
        Ok(RerankAnswer::Scores(scores)) => scores,
        Err(_) => return Err("JSON without `results[].relevance_score`".to_owned()),
    };
    let mut scores: Vec<Option<f32>> = vec![None; count];
    for Scored { index, score } in list {
        match scores.get_mut(index) {
            Some(slot @ None) if score.is_finite() => *slot = Some(score),
            Some(None) => return Err("a score that is not a number".to_owned()),
            _ => return Err(format!("index {index} twice or out of range")),
        }
    }
    let scores: Vec<f32> = scores.into_iter().flatten().collect();
    if scores.len() < count {
        return Err(format!("{} scores for {count} passages", scores.len()));
    }
    Ok(scores)
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let most = if self.model.is_empty() {
            TEI_PASSAGES_MAX
        } else {
            passages.len().max(1)
        };
        let requests = passages
            .chunks(most)
            .map(|passages| self.request(query, passages));
        Ok(try_join_all(requests).await?.concat())
    }
}
