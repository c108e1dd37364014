//! Memory as Markdown: text to entries and back, without loss, for any content of a file.
//!
//! Owns: format version 2, and reading version 1, as defined in `docs/format.md`: places, front
//! matter, entries, escapes, torn tails. Never: I/O, a clock, or rewriting a person's text.
//!
//! Reading order: [`place`] (the file of each entry), [`escape`] (any text as lines of a text
//! file), `marks` (the comment of an entry), `talk` (messages), [`keys`] (the inline keys),
//! [`mod@render`] and `entry` (an entry as text), [`lines`] and [`front`] (the kinds of lines, the
//! beginning of a file), `page` (the visible lines of a rendered page), [`parse()`] (a file as
//! blocks), `facts` (statements without a heading) and [`block`] (a block as an entry),
//! [`digest()`], [`mod@change`] (edits in place), `skill` (files of skills), [`append`] (the bytes
//! of an append, and the removal of a crashed one).

mod append;
pub mod block;
pub mod change;
mod digest;
mod entry;
pub mod escape;
mod facts;
pub mod front;
pub mod keys;
pub mod lines;
mod marks;
mod page;
pub mod parse;
pub mod place;
pub mod render;
mod skill;
mod talk;
#[cfg(test)]
mod tests;

pub use append::{Plan, TailCut, ends_cleanly, file_of, plan};
pub use block::EntryBlock;
pub use change::{Change, change, extended, is_bare, upgraded};
pub use digest::digest;
pub use entry::render;
pub use front::Broken;
pub use parse::{Parsed, Problem, parse, parse_entry};
pub use place::{NoPlace, Place, path_of};
pub use render::new_file;

/// The version of the format that Quipu writes, as `quipu: 2` in the front matter.
pub const VERSION: u64 = 2;

/// The oldest version that Quipu reads.
pub const VERSION_OLDEST: u64 = 1;
