//! Pure ranking: an owner's rows in, ranked memories and verbatim messages out, each with the reasons why.
//!
//! Owns: text analysis, BM25, vector comparison, evidence fusion, time expressions, supersession, cutting to a
//! budget. Never: I/O, a clock, a model call, or storage.
//!
//! Reading order: [`hit`](Query) (what is asked and answered), [`text`] and [`time`] (what words mean), `corpus` with
//! `row`, `lexicon`, `postings` and `vectors` (what is kept of the rows), then one search in its order: `rank` (the
//! steps), `lineup` (what may be seen), `question` with `asking`, `evidence` with `near`,
//! `validity`, `fuse` with [`Weights`], `state` with `statement` and `kinds` (how something is now), `score`; and [`told`], what a
//! model hears of it.

mod asking;
mod corpus;
mod evidence;
mod fuse;
mod hit;
mod kinds;
mod lexicon;
mod lineup;
mod near;
mod postings;
mod question;
mod rank;
mod row;
mod score;
mod state;
mod statement;
#[cfg(test)]
mod tests;
pub mod text;
pub mod time;
mod told;
mod validity;
mod vectors;
mod weights;

pub use corpus::Corpus;
pub use hit::{Hit, Method, Query, Ranking, Why, cut_to_tokens};
pub use told::{Told, told};
pub use weights::Weights;
