//! Pure ranking: an owner's rows in, ranked memories and verbatim messages out, each with the
//! reasons for its score.
//!
//! Owns: BM25, vector comparison, evidence fusion, time expressions, supersession, cutting to a
//! budget. Never: I/O, a clock, a model call, storage, or where words begin and end ([`model::text`]).
//!
//! Reading order: [`hit`](Query) (queries and results), [`time`] (time expressions), `corpus` with
//! `row`, `turns`, `lexicon`, `postings` and `vectors` (the stored rows), then one search in its order:
//! `rank` (the steps), `question` with `asking`, `evidence` with `near` and `cosines`, `chosen` (of many
//! rows, those to rank), `lineup` (the ranked rows), `validity`, `fuse` with [`Weights`], `state` with `statement` (questions
//! about a present state), `score`; [`rerank`](Shortlist) (the order that a reranker makes); and
//! [`memory_lines`], the text for a model.

mod asking;
mod chosen;
mod corpus;
mod cosines;
mod evidence;
mod fuse;
mod hit;
mod lexicon;
mod lineup;
mod memory_lines;
mod near;
mod postings;
mod question;
mod rank;
mod rerank;
mod row;
mod score;
mod state;
mod statement;
#[cfg(test)]
mod tests;
pub mod time;
mod turns;
mod validity;
mod vectors;
mod weights;

pub use corpus::Corpus;
pub use cosines::{Cosines, QUESTIONS, STATEMENTS};
pub use hit::{Hit, Method, Query, Ranking, Why, cut_to_tokens};
pub use memory_lines::{MemoryLine, Reader, memory_lines};
pub use rerank::{RERANKED_MAX, Shortlist};
pub use weights::Weights;
