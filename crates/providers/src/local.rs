//! Text to vectors on this machine: the table inside the binary, and BERT-family models from a folder; and passages to
//! scores, by embedding models and cross-encoders of that family.
//!
//! Owns: the static table's file, word pieces, pooling. Never: the network; [`hub`](crate::hub) fetches a model's files.
//!
//! Reading order: [`StaticEmbedder`] with its table (the default that needs nothing), then [`BertEmbedder`] with the
//! folder it opens and the model it runs, then [`open_reranker`].

mod bert;
mod fixed;
mod table;

pub use bert::{BertEmbedder, BertSettings, CrossEncoder, OpenError, open_reranker};
pub use fixed::StaticEmbedder;
