//! The rows that are visible to a question; turns in order of time.
//!
//! Owns: visibility ("as of"), and the neighbours of a turn. Never: scores.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::{Doc, DocId, DocKind, MessageId, SessionId, Timestamp};

use crate::corpus::Corpus;
use crate::postings::Slot;

/// Two turns with a longer pause between them belong to different sittings, even in one session.
const PAUSE_MAX_MS: i64 = 6 * 60 * 60 * 1000;

/// Marks a slot without a visible turn.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Lineup {
    /// Visible turns, grouped by sitting.
    pub(crate) turns: Vec<Slot>,
    /// The sittings: stretches of `turns`.
    pub(crate) sittings: Vec<Range<usize>>,
    /// By place in `turns`.
    pub(crate) sitting_of: Vec<u32>,
    /// By slot, the place in `turns`.
    pub(crate) places: Vec<u32>,
    /// Visible episodes and facts, in order of id.
    pub(crate) entries: Vec<Slot>,
    /// By slot.
    visible: Vec<bool>,
    pub(crate) withdrawn: Withdrawn,
    /// Ended facts, according to their person, by the messages that they were made from.
    ending: BTreeMap<DocId, Vec<Slot>>,
}

/// Statements and sessions that people withdrew in a review.
#[derive(Debug, Default)]
pub(crate) struct Withdrawn {
    /// The marks of withdrawn statements, by message.
    messages: BTreeMap<MessageId, BTreeSet<String>>,
    scenes: BTreeSet<SessionId>,
    /// Messages with a statement that a person confirmed.
    confirmed: BTreeSet<MessageId>,
}

impl Withdrawn {
    fn of<'a>(facts: impl Iterator<Item = &'a Doc>) -> Self {
        let mut withdrawn = Self::default();
        for fact in facts {
            if fact.is_withdrawn() {
                for message in &fact.sources {
                    let marks = withdrawn.messages.entry(message.clone()).or_default();
                    marks.extend(fact.mark().map(str::to_owned));
                }
                withdrawn
                    .scenes
                    .extend(fact.session.clone().filter(|_| fact.is_scene()));
            } else if fact.is_confirmed() {
                withdrawn.confirmed.extend(fact.sources.iter().cloned());
            }
        }
        withdrawn
    }

    /// Whether a message contains a withdrawn statement, or a row comes from a scene.
    pub(crate) fn has(&self, doc: &Doc) -> bool {
        self.is_played(doc)
            || doc.kind == DocKind::Turn && doc.sources.iter().any(|id| self.messages.contains_key(id))
    }

    fn is_played(&self, doc: &Doc) -> bool {
        let is_of_scene = doc.session.as_ref().is_some_and(|id| self.scenes.contains(id));
        is_of_scene && !doc.sources.iter().any(|id| self.confirmed.contains(id))
    }

    /// The marks of a message's withdrawn statements; none if the message belongs to a scene.
    pub(crate) fn marks(&self, doc: &Doc) -> BTreeSet<String> {
        let is_read = doc.kind == DocKind::Turn && !self.is_played(doc);
        let sources = doc.sources.iter().filter(|_| is_read);
        sources
            .filter_map(|id| self.messages.get(id))
            .flatten()
            .cloned()
            .collect()
    }
}

impl Lineup {
    pub(crate) fn new(corpus: &Corpus, as_of: Option<Timestamp>) -> Self {
        let latest = as_of.map_or(i64::MAX, Timestamp::millis);
        let mut lineup = Self {
            turns: Vec::with_capacity(corpus.len()),
            sittings: Vec::new(),
            sitting_of: Vec::with_capacity(corpus.len()),
            places: vec![NOWHERE; corpus.slots_end()],
            entries: Vec::new(),
            visible: vec![false; corpus.slots_end()],
            withdrawn: Withdrawn::of(corpus.entries().iter().map(|slot| &*corpus.row(*slot).doc)),
            ending: BTreeMap::new(),
        };
        for slot in corpus.ending() {
            let row = corpus.row(*slot);
            for message in row.doc.sources.iter().filter(|_| row.doc.is_ended()) {
                lineup
                    .ending
                    .entry(message.as_str().into())
                    .or_default()
                    .push(*slot);
            }
        }
        for (session, turns) in corpus.sessions() {
            let mut start = lineup.turns.len();
            let mut last: Option<i64> = None;
            for slot in turns {
                let time = corpus.row(*slot).time.millis();
                if time > latest {
                    break;
                }
                let apart = last.is_some_and(|last| time - last > PAUSE_MAX_MS);
                if apart || session.is_none() {
                    lineup.close(start);
                    start = lineup.turns.len();
                }
                last = Some(time);
                lineup.turns.push(*slot);
            }
            lineup.close(start);
        }
        let visible = |slot: &&Slot| {
            let row = corpus.row(**slot);
            row.time.millis() <= latest && row.doc.is_findable()
        };
        lineup.entries = corpus.entries().iter().filter(visible).copied().collect();
        for (place, slot) in (0..).zip(&lineup.turns) {
            lineup.places[*slot as usize] = place;
        }
        for slot in lineup.turns.iter().chain(&lineup.entries) {
            lineup.visible[*slot as usize] = true;
        }
        lineup
    }

    fn close(&mut self, start: usize) {
        let end = self.turns.len();
        if start < end {
            let sitting = u32::try_from(self.sittings.len()).expect("fewer than 2^32 rows");
            self.sitting_of.resize(end, sitting);
            self.sittings.push(start..end);
        }
    }

    pub(crate) fn is_visible(&self, slot: Slot) -> bool {
        self.visible[slot as usize]
    }

    /// The visible ended facts made from a message.
    pub(crate) fn ending(&self, message: &str) -> impl Iterator<Item = Slot> {
        let ending = self.ending.get(message).into_iter().flatten();
        ending.copied().filter(|slot| self.is_visible(*slot))
    }

    /// Place of a visible turn.
    pub(crate) fn place(&self, slot: Slot) -> Option<usize> {
        let place = self.places[slot as usize];
        (place != NOWHERE).then_some(place as usize)
    }

    /// The sitting of a turn.
    pub(crate) fn sitting(&self, place: usize) -> Range<usize> {
        self.sittings[self.sitting_of[place] as usize].clone()
    }
}
