//! Plans an append to an existing file, and the removal of a crashed one before it.
//!
//! Owns: the place of an append, and the choice of our last bytes to remove. Never: writing.

use std::collections::BTreeSet;

use model::{Entry, EntryId, EntryKind, Zone};

use crate::entry::render;
use crate::front::Broken;
use crate::lines::{END, item};
use crate::parse::{Parsed, parse_entry};
use crate::place::Place;
use crate::render::new_file;

/// The end of a file to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailCut {
    /// The length that stays, in bytes.
    pub at: usize,
    /// Whether the append writes everything after it again; if not, the caller should keep the
    /// removed bytes elsewhere.
    pub is_rewritten: bool,
}

/// Plan of an append.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub cut: Option<TailCut>,
    /// The bytes to append after the cut; empty when the file holds every entry.
    pub text: String,
}

/// Plans an append to a parsed file. A file of another skill takes no entry.
pub fn plan(bytes: &[u8], parsed: &Parsed, entries: &[Entry], zone: &Zone) -> Result<Plan, Broken> {
    if let Some(skill) = entries.iter().find(|entry| entry.kind == EntryKind::Skill) {
        return plan_skill(bytes, parsed, skill, entries, zone);
    }
    let mut taken: BTreeSet<&EntryId> = parsed.ids();
    let missing = entries.iter().filter(|entry| taken.insert(&entry.id));
    // An entry may be long, so it is rendered once and copied at most once.
    let (mut text, mut places) = (String::new(), Vec::new());
    for entry in missing.map(|entry| render(entry, zone)) {
        if text.is_empty() {
            text = entry;
            places.push(0..text.len());
            continue;
        }
        text.push_str(separator(text.as_bytes(), &entry));
        places.push(text.len()..text.len() + entry.len());
        text.push_str(&entry);
    }
    let cut = cut(bytes, parsed, || places.iter().map(|place| &text[place.clone()]));
    let stays = &bytes[..cut.map_or(bytes.len(), |cut| cut.at)];
    if !text.is_empty() {
        text.insert_str(0, separator(stays, &text));
    }
    Ok(Plan { cut, text })
}

/// A new file with entries of these texts, as repeated appends would write it.
pub fn file_of<'a>(texts: impl IntoIterator<Item = &'a str>, place: &Place, zone: &Zone) -> String {
    let mut file = String::new();
    for text in texts {
        if file.is_empty()
            && let Some(first) = parse_entry(text, place, zone)
        {
            file = new_file(first.kind, zone.date(first.time));
        }
        file.push_str(separator(file.as_bytes(), text));
        file.push_str(text);
    }
    file
}

/// A skill has a file of its own, which is written completely or not at all.
fn plan_skill(
    bytes: &[u8],
    parsed: &Parsed,
    skill: &Entry,
    entries: &[Entry],
    zone: &Zone,
) -> Result<Plan, Broken> {
    match () {
        () if entries.iter().any(|entry| entry.id != skill.id) => Err(Broken::Taken),
        () if bytes.is_empty() => Ok(Plan {
            cut: None,
            text: render(skill, zone),
        }),
        () if parsed.ids().contains(&skill.id) => Ok(Plan::default()),
        () => Err(parsed.broken.clone().unwrap_or(Broken::Taken)),
    }
}

fn cut<'a, I: Iterator<Item = &'a str>>(
    bytes: &[u8],
    parsed: &Parsed,
    rendered: impl Fn() -> I,
) -> Option<TailCut> {
    let last_line = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |n| n + 1);
    for at in [parsed.tail, last_line] {
        let tail = &bytes[at..];
        let is_within = parsed.torn.is_some_and(|torn| torn < at);
        if !is_within && !tail.is_empty() && rendered().any(|text| text.as_bytes().starts_with(tail)) {
            let is_rewritten = true;
            return Some(TailCut { at, is_rewritten });
        }
    }
    parsed.torn.map(|at| TailCut {
        at,
        is_rewritten: false,
    })
}

/// Text between the end of a file and an appended entry: enough for one blank line, except within a list.
fn separator(end: &[u8], entry: &str) -> &'static str {
    let has_blank = end.ends_with(b"\n\n") || end.ends_with(b"\n\r\n");
    let is_list = entry.starts_with("- ") && last_line(end).starts_with(b"- ");
    match (end.ends_with(b"\n"), is_list) {
        _ if end.is_empty() || has_blank => "",
        (true, true) => "",
        (true, false) | (false, true) => "\n",
        (false, false) => "\n\n",
    }
}

fn last_line(end: &[u8]) -> &[u8] {
    let end = end.trim_ascii_end();
    &end[end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)..]
}

/// Whether a file with these last bytes ends with a complete entry.
pub fn ends_cleanly(end: &[u8]) -> bool {
    let last = last_line(end);
    let is_whole = last.len() < end.trim_ascii_end().len();
    let is_item = || std::str::from_utf8(last).is_ok_and(|line| item(line).is_some());
    is_whole && (last == END.as_bytes() || is_item())
}
