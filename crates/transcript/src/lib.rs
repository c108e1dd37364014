//! A conversation as a model sees it: items of blocks, and the dialects in which clients write them.
//!
//! Owns: the nouns [`Item`] and [`Block`]; reading and writing OpenAI, Anthropic, Claude Code and Codex transcripts;
//! pairing calls with results, the places for a cut, the repair of a broken transcript. Never: counting tokens,
//! choosing the items to drop.
//!
//! Reading order: [`item`] (the nouns), [`cut`] (safe places for a cut), [`order`] (OpenAI's ordering rules),
//! [`repair`], [`mended`] (half a surrogate pair), [`encoded`] (files), [`json`] (texts by ranges), [`dialect`] (JSON
//! in and out), [`spoken`] (a person's own text, by the [`lists`] of clients' additions), [`subagent`] (the start of a
//! sub-agent).

pub mod cut;
pub mod dialect;
pub mod encoded;
mod item;
pub mod json;
pub mod lists;
pub mod mended;
pub mod order;
pub mod repair;
pub mod spoken;
pub mod subagent;

pub use item::{Block, Call, Image, Item, ItemId, Outcome, Role, Thinking};
