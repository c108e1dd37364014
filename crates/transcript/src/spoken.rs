//! Text of a person in a message, without their client's additions.
//!
//! Owns: the tables of clients' additions (`spoken.txt`). Never: changing a request, judging the text. Text that no
//! table names stays.

mod element;

use std::borrow::Cow;
use std::sync::LazyLock;

use element::ElementPlace;

use crate::lists::Lists;
use crate::{Block, Item, Role};

static TABLES: LazyLock<Lists> = LazyLock::new(|| Lists::read(include_str!("spoken.txt")));

/// Only messages of clients like Cline contain this mark.
const BESIDE: &str = "<environment_details>";

const NAMED: &[&str] = &[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february",
    "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
];
const MOMENT_BYTES_MAX: usize = 80;

/// Whether a text begins with an entry of a list.
fn begins(list: &str, text: &str) -> bool {
    TABLES.list(list).iter().any(|start| text.starts_with(start))
}

/// The person's text; empty if the message has none. Borrowed if nothing was removed.
pub fn own_text(text: &str) -> Cow<'_, str> {
    let is_beside = text.contains(BESIDE);
    let is_carrier =
        |name: &str| TABLES.has("carriers", name) || is_beside && TABLES.has("carriers-beside", name);
    let is_added = |name: &str| TABLES.has("quipus", name) || TABLES.has("added", name);
    let own = element::without(Cow::Borrowed(text), is_added, ElementPlace::Anywhere);
    let own = framed(own);
    let carriers = element::find(&own, is_carrier, ElementPlace::LineStart);
    if !carriers.is_empty() {
        let carried: Vec<&str> = carriers
            .into_iter()
            .map(|found| own[found.inner].trim())
            .collect();
        return Cow::Owned(carried.join("\n").trim().to_owned());
    }
    let own = element::without(own, |name| TABLES.has("attached", name), ElementPlace::LineStart);
    let whole = own.trim();
    let is_clients = begins("whole", whole) || TABLES.has("exact", whole);
    if is_clients || is_beside && is_result(whole) {
        return Cow::Borrowed("");
    }
    without_lines(own)
}

/// The item without Quipu's additions; borrowed if there are none.
pub fn without_additions(item: &Item) -> Cow<'_, Item> {
    let is_quipus = |name: &str| TABLES.has("quipus", name);
    let said = |block: &Block| match block {
        Block::Text(text) => match element::without(Cow::Borrowed(text), is_quipus, ElementPlace::Anywhere) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        },
        _ => None,
    };
    if item.role != Role::User || item.blocks.iter().all(|block| said(block).is_none()) {
        return Cow::Borrowed(item);
    }
    let mut item = item.clone();
    for block in &mut item.blocks {
        if let Some(text) = said(block) {
            *block = Block::Text(text);
        }
    }
    item.edited = item.raw.is_some();
    Cow::Owned(item)
}

/// The content of a frame; a text without a frame stays unchanged.
fn framed(text: Cow<'_, str>) -> Cow<'_, str> {
    let begins = text.trim_start();
    let held = TABLES.list("frames").iter().find_map(|frame| {
        let mut parts = frame.split(" | ");
        let rest = begins.strip_prefix(parts.next()?)?;
        let (before, after) = (parts.next()?, parts.next().unwrap_or_default());
        // Clients differ in its capital letters.
        let at = rest.to_ascii_lowercase().rfind(&before.to_ascii_lowercase())?;
        let held = &rest[at + before.len()..];
        let end = held.find(after).filter(|_| !after.is_empty());
        Some(held[..end.unwrap_or(held.len())].trim().to_owned())
    });
    held.map_or(text, Cow::Owned)
}

/// Whether a text is a tool's result in the form of a person's message: `[read_file for 'a.rs'] Result:`.
fn is_result(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with('[') && line.contains("] Result:")
}

/// Removes tails, lines of clients, and the time.
fn without_lines(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_changed = false;
    for line in text.lines() {
        let bare = line.trim();
        if begins("tails", bare) {
            is_changed = true;
            break;
        }
        if begins("lines", bare) || is_clock(bare) {
            is_changed = true;
            continue;
        }
        let is_first = kept.iter().all(|kept| kept.trim().is_empty());
        let unstamped = if is_first { without_stamp(line) } else { line };
        is_changed |= unstamped.len() < line.len();
        kept.push(unstamped);
    }
    if is_changed {
        return Cow::Owned(kept.join("\n").trim().to_owned());
    }
    text
}

/// Whether a line contains only the time.
fn is_clock(line: &str) -> bool {
    let line = line.trim_matches(|c| matches!(c, '(' | ')' | '[' | ']' | '*'));
    TABLES.list("clocks").iter().any(|start| {
        line.get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start) && is_moment(&line[start.len()..]))
    })
}

/// The line without a bracketed time at its start: `[2026-11-22 09:30] `.
fn without_stamp(line: &str) -> &str {
    let inner = line.trim_start().strip_prefix('[');
    match inner.and_then(|inner| inner.split_once(']')) {
        Some((stamp, rest)) if is_moment(stamp) => rest.trim_start(),
        _ => line,
    }
}

/// Whether a text consists only of a date, a time and a zone.
fn is_moment(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MOMENT_BYTES_MAX {
        return false;
    }
    let is_part = |word: &str| {
        let letters: String = word.chars().filter(|c| c.is_alphabetic()).collect();
        let lower = letters.to_lowercase();
        let is_named = NAMED
            .iter()
            .any(|name| lower.len() >= 3 && name.starts_with(&lower));
        let is_zone = word.contains('/') || letters.len() <= 4 && letters == letters.to_uppercase();
        // `1st`, `pm`, the `T` and `Z` of a timestamp.
        letters.len() <= 2 || is_named || is_zone
    };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 3 && text.contains([':', '-', '/', ',', '.']) && text.split_whitespace().all(is_part)
}
