//! Data of a model's folder: kind, sizes, tokenizer, weights; of an embedding model also pooling and prompts.
//!
//! Owns: the names and meaning of the files in the layout that model hubs use. Never: guessing at an unknown kind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candle_transformers::models::{bert, xlm_roberta};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokenizers::{Tokenizer, TruncationParams};

use super::{BertSettings, OpenError};

/// Reduction of token vectors to one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    /// The vector of the first token.
    First,
}

/// The sizes of the network, by family.
#[derive(Debug)]
pub(super) enum Shape {
    Bert(bert::Config),
    Roberta(xlm_roberta::Config),
}

/// The files of every model.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) shape: Shape,
    pub(super) tokenizer: Tokenizer,
    pub(super) weights: Vec<u8>,
    weights_path: PathBuf,
    config: Vec<u8>,
}

/// The folder of an embedding model.
#[derive(Debug)]
pub(super) struct ModelFolder {
    pub(super) checkpoint: Checkpoint,
    pub(super) pooling: Pooling,
    pub(super) query_prefix: String,
    pub(super) passage_prefix: String,
    name: String,
}

#[derive(Deserialize)]
struct ModelType {
    model_type: String,
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct ModuleEntry {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct SentenceFile {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize, Default)]
struct PromptFile {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
}

impl Checkpoint {
    /// Reads the files that every model needs.
    pub(super) fn read(dir: &Path) -> Result<Self, OpenError> {
        let config = read(&dir.join("config.json"))?;
        let shape = shape(dir, &config)?;
        let tokenizer = tokenizer(dir, tokens_max(dir, &shape)?)?;
        let weights_path = dir.join("model.safetensors");
        Ok(Self {
            weights: read(&weights_path)?,
            weights_path,
            shape,
            tokenizer,
            config,
        })
    }

    /// The error for weights that contradict the rest of the folder.
    pub(super) fn malformed(&self, source: candle_core::Error) -> OpenError {
        malformed(&self.weights_path, source)
    }
}

impl ModelFolder {
    /// Reads all files of an embedding model.
    pub(super) fn read(dir: &Path, settings: BertSettings) -> Result<Self, OpenError> {
        refuse_unknown_modules(dir)?;
        let pooling = pooling(dir)?;
        let prompts = optional::<PromptFile>(&dir.join("config_sentence_transformers.json"))?;
        let prompts = prompts.unwrap_or_default().prompts;
        // Some tools write empty prompts into each folder.
        let prompt = |names: [&str; 2]| {
            let mut known = names.iter().filter_map(|name| prompts.get(*name));
            known.find(|prompt| !prompt.is_empty()).cloned()
        };
        let query_prefix = prompt(["query", "search_query"]).or(settings.query_prefix);
        let passage_prefix = prompt(["passage", "document"]).or(settings.passage_prefix);
        let mut folder = Self {
            checkpoint: Checkpoint::read(dir)?,
            pooling,
            query_prefix: query_prefix.unwrap_or_default(),
            passage_prefix: passage_prefix.unwrap_or_default(),
            name: String::new(),
        };
        folder.name = folder.fingerprint(&read(&dir.join("tokenizer.json"))?);
        Ok(folder)
    }

    /// Does not depend on the folder's place, and changes with anything that changes a stored vector.
    pub(super) fn model_name(&self) -> String {
        format!("local/{}", self.name)
    }

    fn fingerprint(&self, tokenizer: &[u8]) -> String {
        let pooling = format!("{:?}", self.pooling);
        let parts = [
            &self.checkpoint.config,
            tokenizer,
            pooling.as_bytes(),
            self.passage_prefix.as_bytes(),
            &self.checkpoint.weights,
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        model::hex(&hash.finalize()[..8])
    }
}

fn read(path: &Path) -> Result<Vec<u8>, OpenError> {
    std::fs::read(path).map_err(|source| OpenError::Read {
        path: path.to_owned(),
        source,
    })
}

fn malformed(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> OpenError {
    OpenError::Malformed {
        path: path.to_owned(),
        source: source.into(),
    }
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, OpenError> {
    serde_json::from_slice(bytes).map_err(|source| malformed(path, source))
}

/// A file that a folder may omit.
fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, OpenError> {
    if !path.exists() {
        return Ok(None);
    }
    parse(path, &read(path)?).map(Some)
}

fn shape(dir: &Path, config: &[u8]) -> Result<Shape, OpenError> {
    let path = dir.join("config.json");
    let kind = parse::<ModelType>(&path, config)?.model_type;
    match kind.as_str() {
        "bert" => parse(&path, config).map(Shape::Bert),
        "roberta" | "xlm-roberta" | "camembert" => parse(&path, config).map(Shape::Roberta),
        _ => Err(OpenError::Unsupported {
            what: format!("a model of type `{kind}`"),
        }),
    }
}

/// Refuses modules after pooling, such as a dense layer: ignoring one would give wrong vectors silently.
fn refuse_unknown_modules(dir: &Path) -> Result<(), OpenError> {
    let modules = optional::<Vec<ModuleEntry>>(&dir.join("modules.json"))?.unwrap_or_default();
    let known = ["Transformer", "Pooling", "Normalize"];
    let foreign = modules
        .iter()
        .find(|m| !known.iter().any(|known| m.kind.ends_with(known)));
    match foreign {
        Some(module) => Err(OpenError::Unsupported {
            what: format!("the module `{}`", module.kind),
        }),
        None => Ok(()),
    }
}

fn pooling(dir: &Path) -> Result<Pooling, OpenError> {
    let file = optional::<PoolingFile>(&dir.join("1_Pooling").join("config.json"))?;
    match file.map(|file| (file.pooling_mode_mean_tokens, file.pooling_mode_cls_token)) {
        None | Some((true, false)) => Ok(Pooling::Mean),
        Some((false, true)) => Ok(Pooling::First),
        Some(_) => Err(OpenError::Unsupported {
            what: "pooling by other than mean or first token".to_owned(),
        }),
    }
}

/// Maximum number of tokens of a text, including the special ones.
fn tokens_max(dir: &Path, shape: &Shape) -> Result<usize, OpenError> {
    let positions = match shape {
        Shape::Bert(config) => config.max_position_embeddings,
        // Positions are counted from the one after the padding's.
        Shape::Roberta(config) => {
            let first = usize::try_from(config.pad_token_id)
                .unwrap_or(usize::MAX)
                .saturating_add(1);
            config.max_position_embeddings.saturating_sub(first)
        }
    };
    let wanted = optional::<SentenceFile>(&dir.join("sentence_bert_config.json"))?;
    Ok(wanted
        .and_then(|file| file.max_seq_length)
        .map_or(positions, |wanted| wanted.min(positions)))
}

fn tokenizer(dir: &Path, tokens_max: usize) -> Result<Tokenizer, OpenError> {
    let path = dir.join("tokenizer.json");
    let mut tokenizer = Tokenizer::from_bytes(read(&path)?).map_err(|source| malformed(&path, source))?;
    tokenizer.with_padding(None);
    let truncation = TruncationParams {
        max_length: tokens_max,
        ..Default::default()
    };
    tokenizer
        .with_truncation(Some(truncation))
        .map_err(|source| malformed(&path, source))?;
    Ok(tokenizer)
}
