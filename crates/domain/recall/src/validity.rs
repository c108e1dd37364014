//! What still holds: entries that newer ones took the place of, and entries that have ended.
//!
//! Owns: who supersedes whom at a time. Never: removing anything: what no longer holds is ranked lower and says so.

use std::collections::BTreeMap;

use model::{DocId, EntryId, Timestamp};

use crate::corpus::Corpus;
use crate::lineup::Lineup;
use crate::postings::Slot;
use crate::row::Row;
use crate::time::Span;

#[derive(Debug)]
pub(crate) struct Validity<'a> {
    /// Older to newer. Of several newer ones, the newest.
    newer: BTreeMap<Slot, Slot>,
    now: Timestamp,
    /// The times that the question is about; what held then is not over for it.
    spans: &'a [Span],
}

impl<'a> Validity<'a> {
    /// What holds at `now`, as far as visible rows tell. A newer entry counts from when it holds, or was said.
    pub(crate) fn new(corpus: &Corpus, lineup: &Lineup, now: Timestamp, spans: &'a [Span]) -> Self {
        let mut newer: BTreeMap<Slot, Slot> = BTreeMap::new();
        for slot in &lineup.entries {
            let row = corpus.row(*slot);
            if row.doc.supersedes.is_empty() || begin(row) > now {
                continue;
            }
            for id in &row.doc.supersedes {
                let Some((old, _)) = corpus.find(id.as_str()).filter(|(_, old)| age(old) < age(row)) else {
                    continue;
                };
                let known = newer.entry(old).or_insert(*slot);
                if age(corpus.row(*known)) < age(row) {
                    *known = *slot;
                }
            }
        }
        Self { newer, now, spans }
    }

    /// Older entries with what took their place, oldest first.
    pub(crate) fn in_order(&self, corpus: &Corpus) -> Vec<(Slot, Slot)> {
        let mut pairs: Vec<(Slot, Slot)> = self.newer.iter().map(|(old, new)| (*old, *new)).collect();
        pairs.retain(|(old, _)| self.is_over(corpus, *old));
        pairs.sort_by_key(|(old, _)| age(corpus.row(*old)));
        pairs
    }

    /// What took an entry's place in the end.
    pub(crate) fn superseded_by(&self, corpus: &Corpus, slot: Slot) -> Option<EntryId> {
        let mut newest = *self.newer.get(&slot)?;
        // Each step is to a newer entry, so this ends.
        while let Some(next) = self.newer.get(&newest) {
            newest = *next;
        }
        Some(EntryId::new(&*corpus.row(newest).doc.key.id))
    }

    /// Whether an entry no longer holds, at the time that the question is about if it names one.
    pub(crate) fn is_over(&self, corpus: &Corpus, slot: Slot) -> bool {
        let row = corpus.row(slot);
        let ends = [
            row.doc.valid_until,
            self.newer.get(&slot).map(|newer| begin(corpus.row(*newer))),
        ];
        let Some(end) = ends.into_iter().flatten().min().filter(|end| *end <= self.now) else {
            return false;
        };
        !self
            .spans
            .iter()
            .any(|span| begin(row) < span.to && span.from < end)
    }
}

/// Since when an entry holds.
fn begin(row: &Row) -> Timestamp {
    row.doc.valid_from.unwrap_or(row.time)
}

/// What is older comes first; no two rows are equal.
fn age(row: &Row) -> (Timestamp, Timestamp, &DocId) {
    (begin(row), row.time, &row.doc.key.id)
}
