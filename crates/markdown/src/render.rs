//! An entry as text.
//!
//! Owns: the one form in which Quipu writes an entry and begins a file. Never: reading it back
//! (`parse`).

use std::fmt::Write as _;

use model::{Date, Entry, EntryKind, Message, Timestamp, Zone, date_in_words};

use crate::escape::{push_block, push_rest, value, value_without};
use crate::keys;
use crate::lines::END;
use crate::talk::{first_line, push_line, push_who};
use crate::{VERSION, digest::text_of, marks};

/// The beginning of a file of that kind; Quipu never rewrites it. A skill brings its own front
/// matter.
pub fn new_file(kind: EntryKind, date: Date) -> String {
    let title = match kind {
        EntryKind::Skill => return String::new(),
        EntryKind::Profile | EntryKind::Topic => String::new(),
        _ => format!("\n# {}\n", date_in_words(date)),
    };
    format!("---\nquipu: {VERSION}\ndate: {date}\n---\n{title}")
}

/// An entry that is no skill, with the lines of keys that a person added.
pub(crate) fn in_day(entry: &Entry, zone: &Zone, others: &[String]) -> String {
    let comment = marks::comment(entry, zone);
    if is_item(entry) && others.is_empty() {
        return format!("- {} <!--{comment}-->\n", item_text(entry));
    }
    let mut out = String::with_capacity(512 + entry.body.len());
    out.push_str("## ");
    if !entry.subject.is_empty() {
        out.push_str(&value(&entry.subject));
        out.push(' ');
    }
    writeln!(out, "<!--{comment}-->").expect("a string takes any text");
    if !others.is_empty() {
        // A list counts as one of keys only if its first key is known.
        push_key(&mut out, keys::OF_ENTRY[0], &time(entry.time, zone));
    }
    for line in others {
        out.push_str(line);
        out.push('\n');
    }
    if !entry.turns.is_empty() {
        out.push('\n');
        push_who(&mut out, &entry.turns, zone);
    }
    if !entry.summary.is_empty() {
        out.push('\n');
        push_summary(&mut out, &entry.summary);
    }
    push_text(&mut out, &entry.body);
    let at = time(entry.time, zone);
    for turn in &entry.turns {
        push_turn(&mut out, turn, entry, &at, zone);
    }
    out.push('\n');
    out.push_str(END);
    out.push('\n');
    out
}

/// A statement in one line, without a title and messages, is an item of a list.
fn is_item(entry: &Entry) -> bool {
    let is_statement = matches!(entry.kind, EntryKind::Fact | EntryKind::Foresight);
    let is_line = |text: &str| !text.contains('\n');
    is_statement
        && entry.subject.is_empty()
        && entry.turns.is_empty()
        && !entry.body.is_empty()
        && is_line(&entry.body)
        && is_line(&entry.summary)
}

/// The statement, and in brackets its evidence. A statement with such brackets is escaped.
fn item_text(entry: &Entry) -> String {
    let is_bracketed = entry.body.contains(" *(");
    let body = value_without(&entry.body, |c| is_bracketed && c == '*');
    if entry.summary.is_empty() {
        return body;
    }
    format!("{body} *({})*", value(&entry.summary))
}

fn push_key(out: &mut String, name: &str, text: &str) {
    writeln!(out, "- {name}: {text}").expect("a string takes any text");
}

/// Maximum distance from 1970 of times that are shown in a zone, about 6,300 years; further out,
/// offsets leave the calendar.
const ZONED_MILLIS_MAX: u64 = 200_000_000_000_000;

/// A time in the owner's zone; in UTC if the zone's offset at that time has seconds, which the text
/// form rounds away.
pub(crate) fn time(at: Timestamp, zone: &Zone) -> String {
    if at.millis().unsigned_abs() < ZONED_MILLIS_MAX {
        let text = zone.render(at);
        if zone.parse(&text) == Ok(at) {
            return text;
        }
    }
    at.to_string()
}

/// A summary is a quotation; every line has a mark, so no line's beginning needs an escape.
fn push_summary(out: &mut String, summary: &str) {
    for line in summary.split('\n') {
        out.push('>');
        if !line.is_empty() {
            out.push(' ');
            out.push_str(&value(line));
        }
        out.push('\n');
    }
}

fn push_text(out: &mut String, text: &str) {
    if !text.is_empty() {
        out.push('\n');
        push_block(out, text);
    }
}

fn push_turn(out: &mut String, turn: &Message, entry: &Entry, entry_time: &str, zone: &Zone) {
    let scope = &turn.session.scope;
    let session = &turn.session.session;
    let once = [
        None,
        (scope.app != entry.scope.app).then(|| scope.app.to_string()),
        (scope.project != entry.scope.project).then(|| scope.project.to_string()),
        (entry.session.as_ref() != Some(session)).then(|| value(session.as_str())),
        None,
        turn.tool_call_id.as_deref().map(value),
    ];
    let once = keys::OF_TURN.into_iter().zip(once);
    let mut keys: Vec<(&str, String)> = once.filter_map(|(name, text)| Some((name, text?))).collect();
    keys.extend(
        turn.tool_calls
            .iter()
            .map(|call| (keys::REPEATED, keys::call(call))),
    );
    let text = text_of(turn);
    let (first, rest) = match first_line(&text) {
        Some(lines) if keys.is_empty() => lines,
        _ => ("", Some(&*text)),
    };
    out.push('\n');
    push_line(out, turn, first, entry_time, zone);
    for (name, text) in keys {
        push_key(out, name, &text);
    }
    match rest {
        Some(rest) if !first.is_empty() => push_rest(out, rest),
        Some(rest) => push_text(out, rest),
        None => {}
    }
}
