//! Facts of a person: the known ones, and the effect of the person's answer on one.
//!
//! Owns: how an answer is stored in a fact. Never: a file, or the choice of an answer.

use extract::{Answered, KnownFacts, Statement, mark};
use model::{Doc, ENDED, Entry, EntryId, Timestamp, WRONG};

/// Adds a row to the known facts, if it is one.
pub(crate) fn learn(known: &mut KnownFacts, doc: &Doc) {
    if !doc.is_fact() {
        return;
    }
    let id = EntryId::new(doc.key.id.clone());
    if let Some(mark) = doc.mark() {
        known.answer(id, mark.to_owned(), answered_at(doc), Answered::Withdrawn);
        return;
    }
    let statement = Statement::new(&doc.text, doc.time);
    known.insert(
        id.clone(),
        statement,
        doc.supersedes.clone(),
        doc.superseded_by.clone(),
    );
    if doc.is_ended() {
        known.answer(id, mark(&doc.text), answered_at(doc), Answered::Ended);
    }
}

/// Label and text of a fact that its person withdrew.
pub(crate) const IS_WRONG: (&str, &str) = (WRONG, "You said that this is wrong.");

/// Withdraws a statement: replaces its text by a mark and a short text. It was valid until the answer.
pub(crate) fn withdraw(entry: &mut Entry, (label, left): (&str, &str), answered_at: Timestamp) {
    entry.labels = vec![label.to_owned(), mark(&entry.body)];
    left.clone_into(&mut entry.body);
    // The fact that it superseded is valid again.
    (entry.supersedes, entry.superseded_by) = (Vec::new(), None);
    (entry.valid_from, entry.valid_until) = (None, Some(answered_at));
}

/// Ends a fact, because its person said that it ended.
pub(crate) fn end(entry: &mut Entry, answered_at: Timestamp) {
    entry.labels.push(ENDED.to_owned());
    entry.valid_until = Some(answered_at);
}

/// When the person answered about a withdrawn or ended statement.
pub(crate) fn answered_at(fact: &Doc) -> Timestamp {
    fact.valid_until.unwrap_or(fact.time)
}
