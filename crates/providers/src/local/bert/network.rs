//! The forward pass: token ids in; unit vectors, or the scores of pairs, out.
//!
//! Owns: the attention mask, pooling, normalisation, the head of a cross-encoder. Never: text, files or threads.

use std::fmt;

use candle_core::{D, DType, Device, Result, Tensor, safetensors};
use candle_nn::{Linear, Module, VarBuilder, linear, ops::sigmoid};
use candle_transformers::models::{bert::BertModel, xlm_roberta::XLMRobertaModel};

use super::OpenError;
use super::folder::{Checkpoint, ModelFolder, Pooling, Shape};
use super::late_interaction::ENDS;

/// The tokens of a text, or of a query and a passage.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) ids: Vec<u32>,
    /// For each token 0, or 1 if it belongs to the passage of a pair.
    pub(super) kinds: Vec<u32>,
}

/// A loaded encoder.
struct Encoder {
    family: EncoderFamily,
    pad: u32,
    dims: usize,
}

enum EncoderFamily {
    Bert(BertModel),
    Roberta(XLMRobertaModel),
}

/// A network that turns a text into a vector.
#[derive(Debug)]
pub(super) struct Network {
    encoder: Encoder,
    pooling: Pooling,
}

/// A network that scores a query with a passage.
#[derive(Debug)]
pub(super) struct PairNetwork {
    encoder: Encoder,
    dense: Linear,
    out: Linear,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("dims", &self.dims)
            .finish_non_exhaustive()
    }
}

impl Encoder {
    /// The encoder of a checkpoint, and all its weights, which may include a head.
    fn load(checkpoint: &Checkpoint) -> Result<(Self, VarBuilder<'static>)> {
        let tensors = safetensors::load_buffer(&checkpoint.weights, &Device::Cpu)?;
        // A checkpoint with a task head keeps the encoder one level down.
        let prefix = ["bert", "roberta"]
            .into_iter()
            .find(|prefix| tensors.keys().any(|name| name.starts_with(&format!("{prefix}."))));
        let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let own = prefix.map_or_else(|| weights.clone(), |prefix| weights.pp(prefix));
        let encoder = match &checkpoint.shape {
            Shape::Bert(config) => Self {
                family: EncoderFamily::Bert(BertModel::load(own, config)?),
                pad: u32::try_from(config.pad_token_id).unwrap_or_default(),
                dims: config.hidden_size,
            },
            Shape::Roberta(config) => Self {
                family: EncoderFamily::Roberta(XLMRobertaModel::new(config, own)?),
                pad: config.pad_token_id,
                dims: config.hidden_size,
            },
        };
        Ok((encoder, weights))
    }

    /// A vector for each token, and the mask of the padding that makes texts of different lengths one batch.
    fn forward(&self, texts: &[Tokens]) -> Result<(Tensor, Tensor)> {
        let longest = texts.iter().map(|text| text.ids.len()).max().unwrap_or_default();
        let shape = (texts.len(), longest);
        let mut ids = vec![self.pad; texts.len() * longest];
        let (mut kinds, mut mask) = (vec![0_u32; ids.len()], vec![0_u32; ids.len()]);
        for (row, text) in texts.iter().enumerate() {
            let place = row * longest..row * longest + text.ids.len();
            ids[place.clone()].copy_from_slice(&text.ids);
            kinds[place.clone()].copy_from_slice(&text.kinds);
            mask[place].fill(1);
        }
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let vectors = match &self.family {
            EncoderFamily::Bert(model) => {
                let kinds = Tensor::from_vec(kinds, shape, &Device::Cpu)?;
                model.forward(&ids, &kinds, Some(&mask))?
            }
            // The `RoBERTa` family has one kind only.
            EncoderFamily::Roberta(model) => {
                model.forward(&ids, &mask, &ids.zeros_like()?, None, None, None)?
            }
        };
        Ok((vectors, mask))
    }
}

/// Vectors of length 1, each along the last axis.
fn unit(vectors: &Tensor) -> Result<Tensor> {
    let length = vectors
        .sqr()?
        .sum_keepdim(D::Minus1)?
        .sqrt()?
        .clamp(1e-12, f64::INFINITY)?;
    vectors.broadcast_div(&length)
}

/// The vector of the first token of each text.
fn first(vectors: &Tensor) -> Result<Tensor> {
    vectors.narrow(1, 0, 1)?.squeeze(1)
}

impl Network {
    /// Builds the network from a folder's weights.
    pub(super) fn load(folder: &ModelFolder) -> std::result::Result<Self, OpenError> {
        let loaded = Encoder::load(&folder.checkpoint);
        let (encoder, _) = loaded.map_err(|error| folder.checkpoint.malformed(error))?;
        Ok(Self {
            encoder,
            pooling: folder.pooling,
        })
    }

    /// Dimensions of a vector.
    pub(super) fn dims(&self) -> usize {
        self.encoder.dims
    }

    /// One unit vector for each text.
    pub(super) fn embed(&self, texts: &[Tokens]) -> Result<Vec<Vec<f32>>> {
        let (tokens, mask) = self.encoder.forward(texts)?;
        let pooled = match self.pooling {
            Pooling::First => first(&tokens)?,
            Pooling::Mean => {
                let mask = mask.to_dtype(DType::F32)?.unsqueeze(D::Minus1)?;
                tokens
                    .broadcast_mul(&mask)?
                    .sum(1)?
                    .broadcast_div(&mask.sum(1)?)?
            }
        };
        unit(&pooled)?.to_vec2()
    }

    /// One unit vector for each token of a text, without the special tokens.
    pub(super) fn token_vectors(&self, text: &Tokens) -> Result<Tensor> {
        let (tokens, _) = self.encoder.forward(std::slice::from_ref(text))?;
        unit(&tokens.squeeze(0)?.narrow(0, 1, text.ids.len() - ENDS)?)
    }

    /// For each text, the mean over the words of the similarity to the text's most similar token.
    pub(super) fn likeness(&self, words: &Tensor, texts: &[Tokens]) -> Result<Vec<f32>> {
        let (tokens, mask) = self.encoder.forward(texts)?;
        let alike = unit(&tokens)?.broadcast_matmul(&words.t()?)?;
        // Padding must not be the most similar token.
        let padding = mask
            .to_dtype(DType::F32)?
            .affine(10.0, -10.0)?
            .unsqueeze(D::Minus1)?;
        alike.broadcast_add(&padding)?.max(1)?.mean(1)?.to_vec1()
    }
}

impl PairNetwork {
    /// Builds the network from a checkpoint with a head of one score.
    pub(super) fn load(checkpoint: &Checkpoint) -> std::result::Result<Self, OpenError> {
        let malformed = |error| checkpoint.malformed(error);
        let (encoder, weights) = Encoder::load(checkpoint).map_err(malformed)?;
        let (dense, out) = match encoder.family {
            EncoderFamily::Bert(_) => ("bert.pooler.dense", "classifier"),
            EncoderFamily::Roberta(_) => ("classifier.dense", "classifier.out_proj"),
        };
        let bias = weights.get_unchecked(&format!("{out}.bias"));
        let outputs = bias.map_or(0, |bias| bias.elem_count());
        if outputs == 0 {
            return Err(OpenError::Scoreless);
        }
        if outputs != 1 {
            return Err(OpenError::Unsupported {
                what: format!("a reranker with {outputs} scores for a pair"),
            });
        }
        let dims = encoder.dims;
        Ok(Self {
            dense: linear(dims, dims, weights.pp(dense)).map_err(malformed)?,
            out: linear(dims, 1, weights.pp(out)).map_err(malformed)?,
            encoder,
        })
    }

    /// One score for each pair, 0 to 1.
    pub(super) fn score(&self, pairs: &[Tokens]) -> Result<Vec<f32>> {
        let (tokens, _) = self.encoder.forward(pairs)?;
        let read = self.dense.forward(&first(&tokens)?)?.tanh()?;
        sigmoid(&self.out.forward(&read)?)?.squeeze(1)?.to_vec1()
    }
}
