//! A local transformer: any embedding model of the BERT, `RoBERTa` or `XLM-RoBERTa` family whose files are in a folder.
//!
//! Owns: batching, and keeping the forward pass off the runtime's threads and out of a query's way. Never: reading the
//! folder ([`folder`]) or the arithmetic ([`network`]).

mod folder;
mod network;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use model::{EmbedderId, Vector};
use ports::{EmbedError, EmbedPurpose, Embedder};
use tokenizers::Tokenizer;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use folder::ModelFolder;
use network::Network;

/// How many tokens one forward pass may hold, padding included: about 100 MB of activations in a base model.
const BATCH_TOKENS_MAX: usize = 4096;
/// A batch ends here too, so that an aborted call stops soon.
const BATCH_TEXTS_MAX: usize = 32;

/// Settings that the folder does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BertSettings {
    /// Prefix of a query, as `query: ` for e5 models; by default, the folder's prompt for queries.
    pub query_prefix: Option<String>,
    /// Put before a passage.
    pub passage_prefix: Option<String>,
}

/// Why a folder is no model that can be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file is missing or cannot be read.
    #[error("cannot read `{}`: the folder must hold `config.json`, `tokenizer.json` and `model.safetensors`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The content of a file is invalid.
    #[error("`{}` is not valid: download it again", path.display())]
    Malformed {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The model is of a kind that cannot be run here.
    #[error("{what} is not supported: use a BERT, RoBERTa or XLM-RoBERTa sentence embedding model")]
    Unsupported { what: String },
}

/// Embeds with a local transformer.
#[derive(Debug)]
pub struct BertEmbedder {
    id: EmbedderId,
    model: Arc<Model>,
    /// One batch of passages at a time: a forward pass uses every core already. Queries do not queue behind it.
    passages: Semaphore,
    queries: Semaphore,
}

#[derive(Debug)]
struct Model {
    tokenizer: Tokenizer,
    network: Network,
    query_prefix: String,
    passage_prefix: String,
}

/// Tokenized texts with their places in the request.
type Batch = Vec<(usize, Vec<u32>)>;

impl BertEmbedder {
    /// Opens the model in a folder; reads all its weights, so call it where blocking is allowed.
    pub fn open(dir: &Path, settings: BertSettings) -> Result<Self, OpenError> {
        let folder = ModelFolder::read(dir, settings)?;
        let network = Network::load(&folder)?;
        let id = EmbedderId {
            model: folder.model_name(),
            dims: network.dims(),
        };
        let model = Model {
            tokenizer: folder.tokenizer,
            network,
            query_prefix: folder.query_prefix,
            passage_prefix: folder.passage_prefix,
        };
        Ok(Self {
            id,
            model: Arc::new(model),
            passages: Semaphore::new(1),
            queries: Semaphore::new(1),
        })
    }
}

impl Model {
    /// The tokens of the texts that have any, in batches of similar length.
    fn batches(&self, texts: &[String], purpose: EmbedPurpose) -> Result<Vec<Batch>, EmbedError> {
        let prefix = match purpose {
            EmbedPurpose::Query => &self.query_prefix,
            EmbedPurpose::Passage => &self.passage_prefix,
        };
        let mut tokenized = Batch::new();
        for (place, text) in texts
            .iter()
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty())
        {
            let encoding = self
                .tokenizer
                .encode_fast(format!("{prefix}{text}"), true)
                .map_err(|error| EmbedError::Refused {
                    reason: error.to_string(),
                })?;
            tokenized.push((place, encoding.get_ids().to_vec()));
        }
        tokenized.sort_by_key(|(_, ids)| ids.len());
        let mut batches: Vec<Batch> = Vec::new();
        for text in tokenized {
            match batches.last_mut() {
                // The newest text is the longest, so its length decides the padding of the others.
                Some(batch)
                    if batch.len() < BATCH_TEXTS_MAX
                        && (batch.len() + 1) * text.1.len() <= BATCH_TOKENS_MAX =>
                {
                    batch.push(text);
                }
                _ => batches.push(vec![text]),
            }
        }
        Ok(batches)
    }

    fn run(&self, batch: Batch) -> Result<Vec<(usize, Vector)>, EmbedError> {
        let (places, ids): (Vec<usize>, Vec<Vec<u32>>) = batch.into_iter().unzip();
        let vectors = self.network.embed(&ids).map_err(|error| EmbedError::Refused {
            reason: format!("the forward pass failed: {error}"),
        })?;
        Ok(places
            .into_iter()
            .zip(vectors.into_iter().map(Into::into))
            .collect())
    }
}

/// Runs work on a blocking thread; a panic becomes an error.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbedError> + Send + 'static,
) -> Result<T, EmbedError> {
    let failed = |error: tokio::task::JoinError| EmbedError::Refused {
        reason: error.to_string(),
    };
    spawn_blocking(work).await.map_err(failed)?
}

#[async_trait]
impl Embedder for BertEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn is_instant(&self) -> bool {
        false
    }

    async fn embed(&self, texts: &[&str], purpose: EmbedPurpose) -> Result<Vec<Vector>, EmbedError> {
        let zero: Vector = vec![0.0; self.id.dims].into();
        let mut vectors = vec![zero; texts.len()];
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let model = self.model.clone();
        let batches = blocking(move || model.batches(&owned, purpose)).await?;
        let lane = match purpose {
            EmbedPurpose::Query => &self.queries,
            EmbedPurpose::Passage => &self.passages,
        };
        for batch in batches {
            let _turn = lane.acquire().await.expect("the semaphore is never closed");
            let model = self.model.clone();
            for (place, vector) in blocking(move || model.run(batch)).await? {
                vectors[place] = vector;
            }
        }
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests;
