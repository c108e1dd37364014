//! The forward pass: token ids in, unit vectors out.
//!
//! Owns: the attention mask, pooling and normalisation. Never: text, files or threads.

use std::fmt;

use candle_core::{D, DType, Device, Result, Tensor, safetensors};
use candle_nn::VarBuilder;
use candle_transformers::models::{bert::BertModel, xlm_roberta::XLMRobertaModel};

use super::OpenError;
use super::folder::{ModelFolder, Pooling, Shape};

/// A loaded network.
pub(super) struct Network {
    encoder: Encoder,
    pooling: Pooling,
    pad: u32,
    dims: usize,
}

enum Encoder {
    Bert(BertModel),
    Roberta(XLMRobertaModel),
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("dims", &self.dims)
            .finish_non_exhaustive()
    }
}

impl Network {
    /// Builds the network from a folder's weights.
    pub(super) fn load(folder: &ModelFolder) -> std::result::Result<Self, OpenError> {
        let malformed = |source: candle_core::Error| OpenError::Malformed {
            path: folder.weights_path.clone(),
            source: Box::new(source),
        };
        let tensors = safetensors::load_buffer(&folder.weights, &Device::Cpu).map_err(malformed)?;
        // A checkpoint with a task head keeps the encoder one level down.
        let prefix = ["bert", "roberta"]
            .into_iter()
            .find(|prefix| tensors.keys().any(|name| name.starts_with(&format!("{prefix}."))));
        let mut weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        if let Some(prefix) = prefix {
            weights = weights.pp(prefix);
        }
        let (encoder, pad, dims) = match &folder.shape {
            Shape::Bert(config) => {
                let pad = u32::try_from(config.pad_token_id).unwrap_or_default();
                let encoder = BertModel::load(weights, config).map(Encoder::Bert);
                (encoder, pad, config.hidden_size)
            }
            Shape::Roberta(config) => {
                let encoder = XLMRobertaModel::new(config, weights).map(Encoder::Roberta);
                (encoder, config.pad_token_id, config.hidden_size)
            }
        };
        Ok(Self {
            encoder: encoder.map_err(malformed)?,
            pooling: folder.pooling,
            pad,
            dims,
        })
    }

    /// How many numbers a vector has.
    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// One unit vector for each text; texts of different lengths are padded and the padding is not seen.
    pub(super) fn embed(&self, texts: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
        let shape = (texts.len(), longest);
        let mut ids = vec![self.pad; texts.len() * longest];
        let mut mask = vec![0_u32; ids.len()];
        for (row, text) in texts.iter().enumerate() {
            let start = row * longest;
            ids[start..start + text.len()].copy_from_slice(text);
            mask[start..start + text.len()].fill(1);
        }
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let kinds = ids.zeros_like()?;
        let tokens = match &self.encoder {
            Encoder::Bert(model) => model.forward(&ids, &kinds, Some(&mask))?,
            Encoder::Roberta(model) => model.forward(&ids, &mask, &kinds, None, None, None)?,
        };
        let pooled = match self.pooling {
            Pooling::First => tokens.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let mask = mask.to_dtype(DType::F32)?.unsqueeze(D::Minus1)?;
                tokens
                    .broadcast_mul(&mask)?
                    .sum(1)?
                    .broadcast_div(&mask.sum(1)?)?
            }
        };
        let length = pooled
            .sqr()?
            .sum_keepdim(D::Minus1)?
            .sqrt()?
            .clamp(1e-12, f64::INFINITY)?;
        pooled.broadcast_div(&length)?.to_vec2()
    }
}
