//! A conversation as a model sees it: items of blocks, and the dialects in which clients write them.
//!
//! Owns: the nouns [`Item`] and [`Block`]; reading and writing OpenAI, Anthropic, Claude Code and Codex transcripts; which
//! calls and results belong together, where a transcript may be cut, how a broken one is mended. Never: counting tokens,
//! deciding what to drop.
//!
//! Reading order: [`item`] (the nouns), [`cut`] (what belongs together), [`order`] (what the providers accept), [`repair`]
//! (mending), [`dialect`] (JSON in and out), [`spoken`] (what a person said themselves).

pub mod cut;
pub mod dialect;
mod item;
pub mod order;
pub mod repair;
pub mod spoken;

pub use item::{Block, Call, Image, Item, ItemId, Outcome, Role, Thinking};
