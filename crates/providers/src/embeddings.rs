//! An OpenAI-compatible `/embeddings` endpoint as an embedder.
//!
//! Owns: batches, the lanes that separate queries from passages, checks of every
//! vector. Never: the exchange itself (`http`).

mod wire;

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use model::{EmbedderId, Vector};
use ports::{Clock, EmbedError, EmbedPurpose, Embedder};
use tokio::sync::Semaphore;

use crate::http::{CallError, Endpoint, EndpointSettings};

/// Someone waits for a query, and a search without it still answers by keyword.
const QUERY_ATTEMPTS: u32 = 2;
const PASSAGE_ATTEMPTS: u32 = 4;
/// Maximum number of queries in flight; passages cannot take these places.
const QUERIES_IN_FLIGHT: usize = 4;

/// Maximum number of requests for passages in flight.
const PASSAGES_IN_FLIGHT: usize = 2;
const BATCH_TEXTS_MAX: usize = 64;
const BATCH_BYTES_MAX: usize = 128 * 1024;
/// Longer texts are cut here, because endpoints refuse texts beyond their context.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Embeds through an OpenAI-compatible endpoint.
pub struct HttpEmbedder {
    id: EmbedderId,
    model: String,
    endpoint: Endpoint,
    queries: Semaphore,
    passages: Semaphore,
}

// Without the settings: some people put a key into the query of the base URL.
model::shown!(HttpEmbedder { id, endpoint });

fn refused(reason: String) -> EmbedError {
    EmbedError::Refused { reason }
}

impl HttpEmbedder {
    /// The embedder of these settings; sends no request yet. The model's vectors have `dims` numbers;
    /// [`HttpEmbedder::probe_dims`] asks the endpoint.
    pub fn new(settings: EndpointSettings, dims: usize, clock: Arc<dyn Clock>) -> Result<Self, EmbedError> {
        if dims == 0 {
            return Err(refused(
                "`dims` is not set: write how many numbers the model's vectors have".to_owned(),
            ));
        }
        let model = format!("openai/{}", settings.model);
        Ok(Self {
            id: EmbedderId { model, dims },
            endpoint: Endpoint::new(&settings, clock).map_err(refused)?,
            model: settings.model,
            queries: Semaphore::new(QUERIES_IN_FLIGHT),
            passages: Semaphore::new(PASSAGES_IN_FLIGHT),
        })
    }

    /// The number of dimensions of the model's vectors, found by embedding one word.
    pub async fn probe_dims(settings: &EndpointSettings, clock: Arc<dyn Clock>) -> Result<usize, EmbedError> {
        let endpoint = Endpoint::new(settings, clock).map_err(refused)?;
        let body = wire::request(&settings.model, &["hello"]);
        let answer = endpoint.post(&["embeddings"], &body, QUERY_ATTEMPTS).await;
        let vectors = wire::vectors(answer.map_err(error)?, 1);
        let vectors = vectors.map_err(|fault| answered_wrongly(&endpoint, &fault))?;
        Ok(vectors[0].len())
    }

    async fn request(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let (lane, attempts) = match purpose {
            EmbedPurpose::Query => (&self.queries, QUERY_ATTEMPTS),
            EmbedPurpose::Passage => (&self.passages, PASSAGE_ATTEMPTS),
        };
        let _place = lane.acquire().await.expect("the semaphore is never closed");
        let body = wire::request(&self.model, texts);
        let answer = self.endpoint.post(&["embeddings"], &body, attempts).await;
        let vectors = wire::vectors(answer.map_err(error)?, texts.len());
        let vectors = vectors.map_err(|fault| answered_wrongly(&self.endpoint, &fault))?;
        vectors.into_iter().map(|vector| self.checked(vector)).collect()
    }

    fn checked(&self, mut vector: Vec<f32>) -> Result<Vector, EmbedError> {
        if vector.len() != self.id.dims {
            return Err(EmbedError::Dimensions {
                expected: self.id.dims,
                found: vector.len(),
            });
        }
        let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        if !length.is_finite() {
            return Err(refused(format!(
                "{} returned a vector with a value that is not a number",
                self.endpoint.safe_url()
            )));
        }
        if length > 0.0 {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a share of the length is between -1 and 1"
            )]
            for x in &mut vector {
                *x = (f64::from(*x) / length) as f32;
            }
        }
        Ok(vector.into())
    }
}

/// Ranges of texts that fit into one request each.
fn batches(texts: &[&str]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (place, text) in texts.iter().enumerate() {
        bytes += text.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_TEXTS_MAX && bytes <= BATCH_BYTES_MAX => batch.end += 1,
            _ => {
                batches.push(place..place + 1);
                bytes = text.len();
            }
        }
    }
    batches
}

fn error(error: CallError) -> EmbedError {
    match error {
        CallError::Unavailable(reason) => EmbedError::Unavailable { reason },
        CallError::Refused { reason, .. } => EmbedError::Refused { reason },
    }
}

fn answered_wrongly(endpoint: &Endpoint, fault: &str) -> EmbedError {
    refused(format!(
        "{} answered {fault}: is it an embeddings endpoint?",
        endpoint.safe_url()
    ))
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn is_instant(&self) -> bool {
        false
    }

    async fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let zero: Vector = vec![0.0; self.id.dims].into();
        let mut vectors = vec![zero; texts.len()];
        let all = texts.iter().copied().enumerate();
        let said = all.filter(|(_, text)| !text.trim().is_empty());
        let cut = said.map(|(place, text)| (place, &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]));
        let (places, wanted): (Vec<usize>, Vec<&str>) = cut.unzip();
        let batches = batches(&wanted);
        let requests = batches
            .into_iter()
            .map(|batch| self.request(&wanted[batch], purpose));
        let found = try_join_all(requests).await?;
        for (place, vector) in places.into_iter().zip(found.into_iter().flatten()) {
            vectors[place] = vector;
        }
        Ok(vectors)
    }
}
