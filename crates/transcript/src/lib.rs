//! A conversation as a model sees it: items of blocks, and the dialects in which clients write them.
//!
//! Owns: the nouns [`Item`] and [`Block`]; reading and writing OpenAI, Anthropic, Claude Code and Codex transcripts; which
//! calls and results belong together, where a transcript may be cut, how a broken one is repaired. Never: counting tokens,
//! deciding what to drop.
//!
//! Reading order: [`item`] (the nouns), [`cut`] (where a conversation can be cut), [`order`] (the rules of providers),
//! [`repair`], [`mended`] (half a surrogate pair), [`encoded`] (files), [`json`] (texts by places), [`dialect`] (JSON in and out), [`spoken`] (a person's own text, by the [`lists`] of clients' additions), [`subagent`] (the start of one).

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
