//! Pure ranking: an owner's rows in, ranked memories and verbatim messages out, each with the reasons why.
//!
//! Owns: text analysis, BM25, vector comparison, evidence fusion, time expressions, supersession, cutting to a
//! budget. Never: I/O, a clock, a model call, or storage.

mod corpus;
mod hit;
pub mod text;
pub mod time;

pub use corpus::Corpus;
pub use hit::{Hit, Method, Query, Ranking, Why, cut_to_tokens};
