//! Making a stretch of conversation smaller with as little loss as can be, without a model.
//!
//! Owns: scoring items, chunking, extractive summaries, the fallback ladder, and the algorithms of older systems that presets
//! and comparisons need. Never: the facts that survive (`facts` reads them), state
//! between calls, deciding when.
//!
//! Reading order: [`score`] (what matters), [`chunk`], [`summary`], [`shrink`] (down to a target), [`truncate`] (cutting text
//! safely).

pub mod chunk;
pub mod legacy;
pub mod score;
pub mod shrink;
pub mod summary;
pub mod truncate;
