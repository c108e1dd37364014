//! Edits in place.
//!
//! Owns: the bytes that an edit removes and inserts; every other byte stays. Never: writing.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{Entry, EntryId, EntryKind, Zone, read_date_in_words};

use crate::VERSION;
use crate::entry::render_with;
use crate::front::{Broken, Front};
use crate::lines::{Line, heading, lines};
use crate::page;
use crate::parse::{Parsed, parse};
use crate::place::Place;
use crate::plan;

/// A change to one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// Replaces the entry with the same id.
    Replace(&'a Entry),
    /// As `Replace`, but skips an entry that the file lacks; [`extended`] writes those.
    Put(&'a Entry),
    /// Removes the entry, every copy of it.
    Remove(&'a EntryId),
}

impl<'a> Change<'a> {
    /// The id of the changed entry.
    pub fn id(&self) -> &'a EntryId {
        match self {
            Self::Replace(entry) | Self::Put(entry) => &entry.id,
            Self::Remove(id) => id,
        }
    }
}

/// A file with these changes; fails with the id that the file lacks.
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
            if matches!(change, Change::Put(_)) {
                continue;
            }
            return Err(id.clone());
        }
        match change {
            Change::Remove(_) => {
                for block in blocks {
                    let is_block = bytes[block.span.start] == b'#';
                    let end = if is_block {
                        after_blank(bytes, block.span.end)
                    } else {
                        block.span.end
                    };
                    let span = block.span.start..end;
                    edits.insert(span.start, (span, Vec::new()));
                }
            }
            Change::Replace(entry) | Change::Put(entry) => {
                // The readable block, else the first unreadable one.
                let first = blocks.peek().copied();
                let Some(block) = blocks.find(|block| block.entry.is_some()).or(first) else {
                    continue;
                };
                if block.entry.as_ref() != Some(*entry) {
                    let mut text = render_with(entry, zone, &block.others);
                    if entry.kind != EntryKind::Skill {
                        let own = std::str::from_utf8(&bytes[block.span.clone()]).unwrap_or_default();
                        for hidden in page::look(&lines(own)).hidden {
                            text.push_str(&own[hidden].replace("\r\n", "\n"));
                            text.push('\n');
                        }
                    }
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

/// A file with the missing ones of these entries at its end; and the remains of a crash that were
/// there, if they are worth keeping.
pub fn extended(
    mut bytes: Vec<u8>,
    place: &Place,
    entries: &[Entry],
    zone: &Zone,
) -> Result<(Vec<u8>, Option<Vec<u8>>), Broken> {
    let parsed = parse(&bytes, place, zone);
    let plan = plan(&bytes, &parsed, entries, zone)?;
    let tail = plan.cut.map(|cut| (bytes.split_off(cut.at), cut.is_rewritten));
    bytes.extend_from_slice(plan.text.as_bytes());
    let torn = tail.and_then(|(tail, is_rewritten)| (!is_rewritten).then_some(tail));
    Ok((bytes, torn))
}

/// A file of version 1 in the current version, with its entries by Quipu written anew. None for
/// other files.
pub fn upgraded(bytes: &[u8], place: &Place, zone: &Zone) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let front = Front::of(text);
    if front.version != Some(1) || front.broken.is_some() || place.kind == EntryKind::Skill {
        return None;
    }
    let says_version = |line: &&Line<'_>| line.text.trim_start().starts_with("quipu:");
    let lines = lines(text);
    let version = lines[..front.lines].iter().find(says_version)?;
    let start = version.start + version.text.find('1')?;
    let mut out = [&bytes[..start], VERSION.to_string().as_bytes()].concat();
    let mut at = start + 1;
    for block in parse(bytes, place, zone).blocks {
        let own = block.entry.as_ref().filter(|_| {
            let head = text[block.span.clone()].lines().next().and_then(heading);
            head.is_some_and(|head| head.id.is_some() && head.marks.is_none())
        });
        let Some(entry) = own else { continue };
        out.extend_from_slice(&bytes[at..block.span.start]);
        let rendered = render_with(entry, zone, &block.others);
        out.extend_from_slice(with_line_ends(rendered, &bytes[block.span.clone()]).as_bytes());
        at = block.span.end;
    }
    out.extend_from_slice(&bytes[at..]);
    Some(out)
}

/// Whether a file contains only the lines that Quipu begins it with.
pub fn is_bare(bytes: &[u8]) -> bool {
    let ours = |line: &[u8]| {
        let is_title = || {
            let words = line
                .strip_prefix(b"# ")
                .and_then(|title| std::str::from_utf8(title).ok());
            words.and_then(read_date_in_words).is_some()
        };
        line.is_empty()
            || line == b"---"
            || line.starts_with(b"quipu:")
            || line.starts_with(b"date:")
            || is_title()
    };
    bytes
        .split(|byte| *byte == b'\n')
        .all(|line| ours(line.trim_ascii()))
}

/// The place after an entry and the blank line that separates it.
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
