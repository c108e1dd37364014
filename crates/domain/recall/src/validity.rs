//! What still holds: entries that newer ones took the place of, and entries that have ended.
//!
//! Owns: who supersedes whom at a time. Never: removing anything: what no longer holds is ranked lower and says so.

use std::collections::BTreeMap;

use model::{EntryId, Timestamp};

use crate::corpus::Corpus;
use crate::lineup::Lineup;
use crate::postings::Slot;
use crate::row::Row;

#[derive(Debug, Default)]
pub(crate) struct Validity {
    /// Older to newer. Of several newer ones, the newest.
    newer: BTreeMap<Slot, Slot>,
    now: Timestamp,
}

impl Validity {
    /// What holds at `now`, as far as visible rows tell. A newer entry counts from when it holds, or was said.
    pub(crate) fn new(corpus: &Corpus, lineup: &Lineup, now: Timestamp) -> Self {
        let mut newer: BTreeMap<Slot, Slot> = BTreeMap::new();
        let age = |slot: Slot| {
            let row = corpus.row(slot);
            (begin(row), row.time, &row.doc.key.id)
        };
        for slot in &lineup.entries {
            let row = corpus.row(*slot);
            if row.doc.supersedes.is_empty() || begin(row) > now {
                continue;
            }
            for id in &row.doc.supersedes {
                let Some((old, _)) = corpus.find(id.as_str()).filter(|(old, _)| age(*old) < age(*slot)) else {
                    continue;
                };
                let known = newer.entry(old).or_insert(*slot);
                if age(*known) < age(*slot) {
                    *known = *slot;
                }
            }
        }
        Self { newer, now }
    }

    /// Older entries with what took their place, oldest first.
    pub(crate) fn in_order(&self, corpus: &Corpus) -> Vec<(Slot, Slot)> {
        let mut pairs: Vec<(Slot, Slot)> = self.newer.iter().map(|(old, new)| (*old, *new)).collect();
        pairs.sort_by_key(|(old, _)| {
            let row = corpus.row(*old);
            (begin(row), row.time, &row.doc.key.id)
        });
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

    /// Whether an entry no longer holds.
    pub(crate) fn is_over(&self, slot: Slot, row: &Row) -> bool {
        self.newer.contains_key(&slot) || row.doc.valid_until.is_some_and(|until| until <= self.now)
    }
}

/// Since when an entry holds.
fn begin(row: &Row) -> Timestamp {
    row.doc.valid_from.unwrap_or(row.time)
}
