//! Consolidation of memories in the background: a profile, upcoming events, and core memory.
//!
//! Owns: the rules of each, their limits, and the prompt and answer of a chat model for the same.
//! Never: I/O, a clock, calling a model, or changing a person's text.
//!
//! Everything here is a function of its input, so that work repeated after a crash gives the same
//! result. The parts of an entry's id, and the citations of a page's line, distinguish our text
//! from a person's changes.
//!
//! Reading order: [`known`] (the facts to learn from), [`text`] (harmless lines), [`foresight`],
//! [`profile`], [`page`] (lines by a person and by us) and [`dream`], `answer` (common parts of the models' answers).

mod answer;
pub mod dream;
pub mod foresight;
pub mod known;
pub mod page;
pub mod profile;
#[cfg(test)]
mod tests;
pub mod text;
