//! An entry as text.
//!
//! Owns: the choice between a skill's complete file and a part of a day's file. Never: the form of
//! either.

use model::{Entry, EntryKind, Zone};

use crate::{render::in_day, skill};

/// An entry with a line feed after it: one line, or a block from its heading to its end mark.
pub fn render(entry: &Entry, zone: &Zone) -> String {
    render_with(entry, zone, &[])
}

/// As [`render`], keeping lines of keys that a person added.
pub(crate) fn render_with(entry: &Entry, zone: &Zone, others: &[String]) -> String {
    match entry.kind {
        EntryKind::Skill => skill::render(entry, zone, others),
        _ => in_day(entry, zone, others),
    }
}
