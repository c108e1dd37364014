//! Makes a stretch of conversation smaller with as little loss as possible, without a model.
//!
//! Owns: scoring items, chunking, the worth of sentences, the fallback ladder. Never: the facts that survive (`digest`
//! reads them), state between calls, the time of a compaction.
//!
//! Reading order: [`score`] (importance), [`chunk`], [`summary`], [`shrink`] (down to a target), [`truncate`] (cutting
//! text safely).

pub mod chunk;
pub mod first_lines;
pub mod score;
pub mod shrink;
pub mod summary;
pub mod truncate;
