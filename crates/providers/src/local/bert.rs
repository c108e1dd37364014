//! Local transformers of the BERT, `RoBERTa` or `XLM-RoBERTa` family from a folder: embedding models, also as
//! rerankers, and cross-encoders, which score a query with a passage.
//!
//! Owns: batching, and running forward passes outside the runtime's threads, so that passages delay no query.
//! Never: reading the folder ([`folder`]) or the arithmetic ([`network`]).

mod cross;
mod folder;
mod late_interaction;
mod network;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use model::{EmbedderId, Vector};
use ports::{EmbedError, EmbedPurpose, Embedder, Reranker};
use tokenizers::{Encoding, Tokenizer};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

pub use cross::CrossEncoder;
use late_interaction::LateInteraction;

use folder::ModelFolder;
use network::{Network, Tokens};

/// The limits of one forward pass.
#[derive(Debug, Clone, Copy)]
struct BatchLimits {
    /// Includes padding.
    tokens_max: usize,
    texts_max: usize,
}

/// About 100 MB of activations in a base model; few texts, so that an aborted call stops soon.
const LIMITS: BatchLimits = BatchLimits {
    tokens_max: 4096,
    texts_max: 32,
};

/// Limits of a reranker. Small: a search that timed out does not wait for its batch, but the next search
/// does.
const RERANK_LIMITS: BatchLimits = BatchLimits {
    tokens_max: 1024,
    texts_max: 16,
};

/// Settings that the folder does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BertSettings {
    /// Prefix of a query, such as `query: ` for e5 models, if the folder names none.
    pub query_prefix: Option<String>,
    /// The same for a passage.
    pub passage_prefix: Option<String>,
}

impl BertSettings {
    /// The settings of a model by its hub id. Models of the e5 family were trained with prefixes that their files do not
    /// contain.
    pub fn of_hub_id(id: &str) -> Self {
        let name = id.rsplit('/').next().unwrap_or_default().to_lowercase();
        let has = |part: &str| name.split(['-', '_']).any(|found| found == part);
        // E5 models that follow instructions use other query prefixes and none for passages.
        let is_e5 = has("e5") && !has("instruct");
        let prefix = |prefix: &str| is_e5.then(|| prefix.to_owned());
        Self {
            query_prefix: prefix("query: "),
            passage_prefix: prefix("passage: "),
        }
    }
}

/// Why the model in a folder is unusable.
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
    #[error("`{}` is not valid: delete it and download it again", path.display())]
    Malformed {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The model gives no score: it is an embedding model.
    #[error("the model has no score for a pair: use a cross-encoder")]
    Scoreless,
    /// The model's kind is not supported.
    #[error(
        "{what} is not supported: use a BERT, RoBERTa or XLM-RoBERTa model; for embeddings a sentence embedding model, for \
         reranking a cross-encoder with one score"
    )]
    Unsupported { what: String },
}

/// Embeds with a local transformer.
#[derive(Debug)]
pub struct BertEmbedder {
    id: EmbedderId,
    model: Arc<Model>,
    /// One batch of passages at a time, since a forward pass uses every core. Queries do not queue behind it.
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

/// Tokenized texts with their positions in the request.
type Batch = Vec<(usize, Tokens)>;

impl BertEmbedder {
    /// Opens the model in a folder. It reads all weights, so call it on a thread that may block.
    pub fn open(dir: &Path, settings: BertSettings) -> Result<Self, OpenError> {
        let (model, name) = Model::open(dir, settings)?;
        let id = EmbedderId {
            model: name,
            dims: model.network.dims(),
        };
        Ok(Self {
            id,
            model: Arc::new(model),
            passages: Semaphore::new(1),
            queries: Semaphore::new(1),
        })
    }
}

/// Opens the reranker in a folder: a cross-encoder, or an embedding model, for which it compares tokens. It
/// reads all weights, so call it on a thread that may block.
pub fn open_reranker(dir: &Path, settings: BertSettings) -> Result<Arc<dyn Reranker>, OpenError> {
    match CrossEncoder::open(dir) {
        Err(OpenError::Scoreless) => Ok(Arc::new(LateInteraction::open(dir, settings)?)),
        opened => Ok(Arc::new(opened?)),
    }
}

impl Model {
    /// The model in a folder, and its name.
    fn open(dir: &Path, settings: BertSettings) -> Result<(Self, String), OpenError> {
        let folder = ModelFolder::read(dir, settings)?;
        let (network, name) = (Network::load(&folder)?, folder.model_name());
        let model = Self {
            tokenizer: folder.checkpoint.tokenizer,
            network,
            query_prefix: folder.query_prefix,
            passage_prefix: folder.passage_prefix,
        };
        Ok((model, name))
    }

    /// The tokens of the non-empty texts, in batches.
    fn batches(
        &self,
        texts: &[String],
        purpose: EmbedPurpose,
        limits: BatchLimits,
    ) -> Result<Vec<Batch>, String> {
        let prefix = match purpose {
            EmbedPurpose::Query => &self.query_prefix,
            EmbedPurpose::Passage => &self.passage_prefix,
        };
        let filled = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty());
        let tokenized = filled.map(|(place, text)| {
            let encoding = self.tokenizer.encode_fast(format!("{prefix}{text}"), true);
            Ok((place, tokens(encoding)?))
        });
        Ok(in_batches(tokenized.collect::<Result<_, String>>()?, limits))
    }
}

fn tokens(encoding: tokenizers::Result<Encoding>) -> Result<Tokens, String> {
    let encoding = encoding.map_err(|error| error.to_string())?;
    Ok(Tokens {
        ids: encoding.get_ids().to_vec(),
        kinds: encoding.get_type_ids().to_vec(),
    })
}

/// Batches of texts of similar length.
fn in_batches(mut tokenized: Batch, limits: BatchLimits) -> Vec<Batch> {
    tokenized.sort_by_key(|(_, tokens)| tokens.ids.len());
    let mut batches: Vec<Batch> = Vec::new();
    for text in tokenized {
        match batches.last_mut() {
            // The newest text is the longest, so its length sets the padding of the others.
            Some(batch)
                if batch.len() < limits.texts_max
                    && (batch.len() + 1) * text.1.ids.len() <= limits.tokens_max =>
            {
                batch.push(text);
            }
            _ => batches.push(vec![text]),
        }
    }
    batches
}

/// Runs a forward pass for each batch, one at a time in its lane, and stores the outputs in `results`.
async fn run<T: Send + 'static>(
    batches: Vec<Batch>,
    lane: &Semaphore,
    mut results: Vec<T>,
    pass: impl Fn(&[Tokens]) -> candle_core::Result<Vec<T>> + Clone + Send + 'static,
) -> Result<Vec<T>, String> {
    for batch in batches {
        let _turn = lane.acquire().await.expect("the semaphore is never closed");
        let (places, tokens): (Vec<usize>, Vec<Tokens>) = batch.into_iter().unzip();
        let pass = pass.clone();
        let done =
            blocking(move || pass(&tokens).map_err(|error| format!("the forward pass failed: {error}")));
        for (place, result) in places.into_iter().zip(done.await?) {
            results[place] = result;
        }
    }
    Ok(results)
}

/// Runs work on a blocking thread; a panic becomes an error.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    spawn_blocking(work).await.map_err(|error| error.to_string())?
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
        let vectors = vec![zero; texts.len()];
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let model = self.model.clone();
        let refused = |reason| EmbedError::Refused { reason };
        let batches = blocking(move || model.batches(&owned, purpose, LIMITS))
            .await
            .map_err(refused)?;
        let lane = match purpose {
            EmbedPurpose::Query => &self.queries,
            EmbedPurpose::Passage => &self.passages,
        };
        let model = self.model.clone();
        let pass = move |texts: &[Tokens]| -> candle_core::Result<Vec<Vector>> {
            let embedded = model.network.embed(texts)?.into_iter();
            Ok(embedded.map(Vector::from).collect())
        };
        run(batches, lane, vectors, pass).await.map_err(refused)
    }
}

#[cfg(test)]
mod tests;
