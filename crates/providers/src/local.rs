//! Embedding and scoring on this machine: the table inside the binary, and BERT-family models from a folder,
//! which embed texts and score passages (also as cross-encoders).
//!
//! Owns: the static table's file, word pieces, pooling. Never: the network; [`hub`](crate::hub) fetches a
//! model's files.
//!
//! Reading order: [`StaticEmbedder`] with its table (the default, which needs no files), then
//! [`BertEmbedder`] with its folder and its network, then [`open_reranker`].

mod bert;
mod fixed;
mod table;

pub use bert::{BertEmbedder, BertSettings, CrossEncoder, OpenError, open_reranker};
pub use fixed::StaticEmbedder;
