//! What memories become when nobody waits: clusters, a profile, foresights, merged episodes, and the pages at hand.
//!
//! Owns: the rules of each, their limits, and the prompt and answer of a chat model for the same. Never: I/O, a clock,
//! calling a model, or touching what a person wrote.
//!
//! Everything here is a function of its input, so that work that is done again after a crash gives the same. What an
//! entry's id is made of, and what a page's line cites, tells what we wrote from what a person changed.
//!
//! Reading order: [`known`] (what may be learnt from), [`text`] (harmless lines), [`foresight`], [`profile`],
//! [`cluster`] and [`reflect`], [`page`] (lines of two hands) and [`dream`], `answer` (what the models' answers share).

mod answer;
pub mod cluster;
pub mod dream;
pub mod foresight;
pub mod known;
pub mod page;
pub mod profile;
pub mod reflect;
#[cfg(test)]
mod tests;
pub mod text;
