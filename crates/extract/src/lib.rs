//! Turns messages into boundaries, episodes and facts: by rules without a model, and by prompts for
//! a model.
//!
//! Owns: the cuts of a conversation, the facts worth remembering, when a newer fact supersedes an
//! older one, and the prompt and answer of a chat model. Never: I/O, a clock, a model call, or
//! storage.
//!
//! When in doubt nothing is remembered: the messages themselves are kept verbatim elsewhere, so a
//! missed fact costs little, and a wrong one is repeated for ever. Text that was recalled,
//! injected, marked private, or printed by a tool is never a source.
//!
//! Reading order: [`boundary`] (where to cut), `visible`, `sentence` and `words` (the readable text
//! of a message, in pieces), [`mod@episode`] (accounts), [`mod@facts`] (statements of people about
//! themselves), [`mod@succession`] (supersession), [`prompt`], `answer` and `claim` (the same by a
//! chat model, and the check of its answer), [`follow_up`] (further queries of a search), `sample`
//! (a talk for trials of a model).

mod answer;
pub mod boundary;
mod claim;
pub mod consolidate;
pub mod episode;
pub mod facts;
pub mod follow_up;
mod interview;
pub mod prompt;
pub mod repair;
mod sample;
pub mod sentence;
pub mod skills;
pub mod succession;
#[cfg(test)]
mod tests;
pub mod visible;
pub mod words;

pub use answer::{Answer, AnswerPart, AnswerProblem, Dropped};
pub use boundary::{Boundary, Limits, boundaries, boundary_possible, owners};
pub use claim::{Doubt, is_covered};
pub use episode::{Episode, digested, episode};
pub use facts::{Fact, Messages, facts, statements};
pub use interview::{Interview, Reaction};
pub use prompt::{Prompt, Tail, parts_request, signed};
pub use repair::find as find_json;
pub use sample::sample_talk;
pub use sentence::sentences;
pub use succession::{
    Answered, Counts, KnownFacts, Remark, Statement, Supersession, is_another_day, is_duplicate, mark,
};
pub use visible::own_words;

/// Author of memories made by rules.
pub const RULES_VERSION: &str = "rules/1";

/// Estimated number of tokens of a text: four ASCII characters make one, any other character is
/// one.
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let all = text.chars().count();
    ascii.div_ceil(4) + (all - ascii)
}
