//! Trials of context engines: conversations of known content, the compared strategies, and what each keeps
//! and costs.
//!
//! Owns: the generator of conversations, the other systems' strategies next to ours, the simulated prefix
//! cache, the measures. Never: a clock (its caller measures time), or a real model: it compares mechanics,
//! not the quality of summaries.
//!
//! Reading order: [`talk`] (the replayed conversations), [`strategy`] (the competitors), [`replay`] (a
//! conversation, request by request), [`survival`] and [`cost`] (the trade), [`mod@bench`] (all measures and
//! the bars), [`table`].

pub mod bench;
pub mod converge;
pub mod cost;
pub mod dice;
pub mod mend;
pub mod others;
pub mod rank;
pub mod recovery;
pub mod replay;
pub mod rules;
pub mod speed;
pub mod strategy;
pub mod survival;
pub mod table;
pub mod talk;
pub mod tally;
