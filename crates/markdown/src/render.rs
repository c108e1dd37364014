//! An entry as text.
//!
//! Owns: the one way in which Quipu writes an entry and begins a file. Never: reading it back (`parse`).

use std::fmt::Write as _;

use model::{Date, Entry, EntryKind, Message, Origin, Timestamp, Zone};

use crate::escape::{push_block, value};
use crate::keys::{self, is_opening};
use crate::lines::END;
use crate::{VERSION, digest::text_of, skill};

/// How a file of that kind begins; nothing rewrites it afterwards. A skill brings its own front matter.
pub fn new_file(kind: EntryKind, date: Date) -> String {
    match kind {
        EntryKind::Skill => String::new(),
        _ => format!("---\nquipu: {VERSION}\ndate: {date}\n---\n"),
    }
}

/// An entry from its heading to its end mark, with a line feed after it.
pub fn render(entry: &Entry, zone: &Zone) -> String {
    render_with(entry, zone, &[])
}

/// As [`render`], keeping lines of keys that a person added.
pub fn render_with(entry: &Entry, zone: &Zone, others: &[String]) -> String {
    if entry.kind == EntryKind::Skill {
        return skill::render(entry, zone, others);
    }
    let mut out = String::with_capacity(512 + entry.body.len());
    push_heading(&mut out, entry);
    for (name, text) in keys_of(entry, zone) {
        push_key(&mut out, name, &text);
    }
    for line in others {
        out.push_str(line);
        out.push('\n');
    }
    if !entry.summary.is_empty() {
        out.push('\n');
        push_summary(&mut out, &entry.summary);
    }
    push_text(&mut out, &entry.body);
    for turn in &entry.turns {
        push_turn(&mut out, turn, entry, zone);
    }
    out.push('\n');
    out.push_str(END);
    out.push('\n');
    out
}

fn push_heading(out: &mut String, entry: &Entry) {
    out.push_str("## ");
    if !entry.subject.is_empty() {
        out.push_str(&value(&entry.subject));
        out.push(' ');
    }
    writeln!(out, "{{#{}}}", keys::id(entry.id.as_str())).expect("a string takes any text");
}

fn keys_of(entry: &Entry, zone: &Zone) -> Vec<(&'static str, String)> {
    let is_by_hand = entry.origin == Origin::Hand;
    let parent = entry.parent.as_ref();
    let list = |ids: Vec<&str>| (!ids.is_empty()).then(|| keys::list(ids.into_iter()));
    let values = [
        Some(time(entry.time, zone)),
        entry.session.as_ref().map(|session| value(session.as_str())),
        entry.valid_from.map(|at| time(at, zone)),
        entry.valid_until.map(|at| time(at, zone)),
        list(entry.supersedes.iter().map(model::EntryId::as_str).collect()),
        (!is_by_hand).then(|| entry.origin.as_str().to_owned()),
        entry.author.as_deref().map(value),
        parent.map(|parent| format!("{} {}", parent.kind.as_str(), value(&parent.id))),
        list(entry.sources.iter().map(model::MessageId::as_str).collect()),
        list(entry.senders.iter().map(model::SenderId::as_str).collect()),
        list(entry.labels.iter().map(String::as_str).collect()),
        entry.confidence_percent.map(|percent| format!("{percent} %")),
    ];
    let named = keys::OF_ENTRY.into_iter().zip(values);
    named.filter_map(|(name, value)| Some((name, value?))).collect()
}

fn push_key(out: &mut String, name: &str, text: &str) {
    writeln!(out, "- {name}: {text}").expect("a string takes any text");
}

/// How far from 1970 times are shown in a zone, about 6,300 years; further out, offsets leave the calendar.
const ZONED_MILLIS_MAX: u64 = 200_000_000_000_000;

/// In the owner's zone; in UTC where the zone's offset of that time has seconds, which the text form rounds away.
pub(crate) fn time(at: Timestamp, zone: &Zone) -> String {
    if at.millis().unsigned_abs() < ZONED_MILLIS_MAX {
        let text = zone.render(at);
        if zone.parse(&text) == Ok(at) {
            return text;
        }
    }
    at.to_string()
}

/// A summary is a quote; every line has its mark, so none of them needs an escape for what it begins with.
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
        push_block(out, text, is_opening);
    }
}

fn push_turn(out: &mut String, turn: &Message, entry: &Entry, zone: &Zone) {
    let role = turn.role.as_str();
    let (speaker, at) = (value(turn.speaker()), time(turn.time, zone));
    writeln!(
        out,
        "\n### {speaker} ({role}, {at}) {{#{}}}",
        keys::id(turn.id.as_str())
    )
    .expect("a string takes any text");
    let scope = &turn.session.scope;
    let session = &turn.session.session;
    let once = [
        turn.sender_name.as_ref().map(|_| turn.sender.to_string()),
        (scope.app != entry.scope.app).then(|| scope.app.to_string()),
        (scope.project != entry.scope.project).then(|| scope.project.to_string()),
        (entry.session.as_ref() != Some(session)).then(|| value(session.as_str())),
    ];
    for (name, text) in keys::OF_TURN.into_iter().zip(once) {
        if let Some(text) = text {
            push_key(out, name, &text);
        }
    }
    for call in &turn.tool_calls {
        push_key(out, keys::REPEATED, &keys::call(call));
    }
    if let Some(id) = &turn.tool_call_id {
        push_key(out, "answers", &value(id));
    }
    push_text(out, &text_of(turn));
}
