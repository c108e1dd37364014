//! Facts of a stretch of conversation that survive every compaction, found by deterministic rules.
//!
//! Owns: the lines of a digest, their sources, and merging two digests. Never: a model, an order that depends on
//! anything but the input.
//!
//! Reading order: [`read`] goes through the items with `reader` and `talk`, which use `voice` (own or pasted text),
//! `cues` (kind of a sentence), `names` (identifiers), `files`, `patch` and `shell` (effects of a call), `outcome` (its
//! result); `settle` merges repeated and outdated lines; `fit` chooses the lines for a small room; `line` makes text
//! safe to show.

pub(crate) mod cues;
pub mod excerpt;
mod files;
mod fit;
mod line;
pub(crate) mod names;
mod outcome;
mod patch;
mod reader;
mod settle;
mod shell;
mod talk;
#[cfg(test)]
mod tests;
mod voice;

use crate::tokens::Meter;
use transcript::{Item, ItemId};

model::worded! {
    /// Kind of a line, with its heading. Declared in the order of a digest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum LineKind {
        /// The user's objective: the first real request, later changes of it, and the last request.
        Objective = "## Objective\n",
        /// A rule the user or the system gave, verbatim.
        Constraint = "## Constraints\n",
        Decision = "## Decisions\n",
        /// An open task.
        Todo = "## Open\n",
        /// A finished task; it removes a [`LineKind::Todo`] with the same words, also one of an earlier digest.
        Done = "## Done\n",
        /// A file and its change: `created PATH`, `modified PATH`, `deleted PATH`, `renamed PATH (was PATH)`,
        /// `read PATH`.
        File = "## Files\n",
        /// A command and its result: `ok: COMMAND`, `exit N: COMMAND`, `failed: COMMAND`, `no result: COMMAND`.
        Command = "## Commands\n",
        Error = "## Errors\n",
        /// A path, address, hash, number with unit or signature that later work may need, with a few words around it.
        Identifier = "## Details\n",
        /// A sentence of the conversation worth keeping.
        Excerpt = "## Excerpts\n",
    }
}

/// One line of a digest.
#[derive(Debug, Clone, PartialEq)]
pub struct DigestLine {
    pub kind: LineKind,
    /// One line of text, without a bullet and not escaped. A constraint is its sentence byte for byte, except for line
    /// feeds and control characters. At most 620 bytes, for a constraint 400.
    pub text: String,
    /// The items that each contain the whole line, ascending; at most eight, the first and the latest. A line without
    /// remaining items is dropped.
    pub sources: Vec<ItemId>,
    /// Worth of the line, 0 to 1: if room is short, the lowest is dropped first.
    pub worth: f32,
}

/// The lines of a stretch, by kind, then in the order of the conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Digest {
    pub lines: Vec<DigestLine>,
}

/// Reads a stretch, in the order of the conversation. Linear in its size; of large results only the ends and the lines
/// with a signal are read.
pub fn read(items: &[(ItemId, &Item)]) -> Digest {
    Digest {
        lines: settle::settled(reader::found(items)),
    }
}

impl Digest {
    /// This digest with the lines of a later one: repeated lines are merged; an outdated line (a finished todo, a file
    /// changed again) gets its later state. Call [`Digest::within`] after this, not before: a state that was left out
    /// cannot replace an earlier one.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        if self.lines.is_empty() {
            return later;
        }
        let mut lines = self.lines;
        lines.extend(later.lines);
        Self {
            lines: settle::settled(lines),
        }
    }

    /// The digest within `tokens_max`, as [`Digest::to_text`] writes it: lines with the least worth for their size are
    /// dropped first, and every kind gets a chance. Constraints come first; if they need more than three fifths of the
    /// room, the longest are dropped.
    #[must_use]
    pub fn within(self, tokens_max: usize, meter: &Meter) -> Self {
        Self {
            lines: fit::fitting(self.lines, tokens_max, meter),
        }
    }

    /// The digest without lines that only `id` supports.
    #[must_use]
    pub fn without(mut self, id: ItemId) -> Self {
        for line in &mut self.lines {
            line.sources.retain(|source| *source != id);
        }
        self.lines.retain(|line| !line.sources.is_empty());
        self
    }

    /// The digest as Markdown: a heading for each kind that has lines, a bullet for each line. No line can close an
    /// element around the digest, open one that names a role, or start a heading: a backslash goes after such a `<`
    /// (`<\/name>`) and before such a `#`; all other text stays byte for byte.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.lines.iter().map(|line| line.text.len() + 4).sum());
        let mut kind = None;
        for line in &self.lines {
            if kind.replace(line.kind) != Some(line.kind) {
                text.push_str(line.kind.as_str());
            }
            text.push_str(&bullet(line));
        }
        text
    }
}

fn bullet(line: &DigestLine) -> String {
    format!("- {}\n", line::escaped(&line.text))
}
