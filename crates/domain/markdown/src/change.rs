//! Edits in place.
//!
//! Owns: which bytes an edit takes out and puts in; every other byte stays. Never: writing.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{Entry, EntryId, Zone};

use crate::parse::Parsed;
use crate::render::render_with;

/// A change to one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// Puts this entry in the place of the one with its id.
    Replace(&'a Entry),
    /// Takes the entry out, every copy of it.
    Remove(&'a EntryId),
}

impl<'a> Change<'a> {
    /// Which entry it changes.
    pub fn id(&self) -> &'a EntryId {
        match self {
            Self::Replace(entry) => &entry.id,
            Self::Remove(id) => id,
        }
    }
}

/// A file with these changes; an id that it does not have is the error.
pub fn change(
    bytes: &[u8],
    parsed: &Parsed,
    changes: &[Change<'_>],
    zone: &Zone,
) -> Result<Vec<u8>, EntryId> {
    let mut edits: BTreeMap<usize, (Range<usize>, Vec<u8>)> = BTreeMap::new();
    for change in changes {
        let id = change.id();
        let mut blocks = parsed.blocks.iter().filter(|block| block.id == *id).peekable();
        if blocks.peek().is_none() {
            return Err(id.clone());
        }
        match change {
            Change::Remove(_) => {
                for block in blocks {
                    let span = block.span.start..after_blank(bytes, block.span.end);
                    edits.insert(span.start, (span, Vec::new()));
                }
            }
            Change::Replace(entry) => {
                // The one that is read, else the first of those that are not.
                let first = blocks.peek().copied();
                let Some(block) = blocks.find(|block| block.entry.is_some()).or(first) else {
                    continue;
                };
                if block.entry.as_ref() != Some(*entry) {
                    let text = render_with(entry, zone, &block.others);
                    let text = with_line_ends(text, &bytes[block.span.clone()]);
                    edits.insert(block.span.start, (block.span.clone(), text.into_bytes()));
                }
            }
        }
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (span, text) in edits.into_values() {
        out.extend_from_slice(&bytes[at..span.start]);
        out.extend_from_slice(&text);
        at = span.end;
    }
    out.extend_from_slice(&bytes[at..]);
    Ok(out)
}

/// The blank line that keeps an entry apart goes with it.
fn after_blank(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let blank = [b"\n".as_slice(), b"\r\n"]
        .into_iter()
        .find(|blank| rest.starts_with(blank));
    at + blank.map_or(0, <[u8]>::len)
}

fn with_line_ends(text: String, like: &[u8]) -> String {
    if like.windows(2).any(|pair| pair == b"\r\n") {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}
