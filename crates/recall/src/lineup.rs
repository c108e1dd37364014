//! The rows that are ranked for a question; turns in order of time.
//!
//! Owns: visibility ("as of"), and the neighbours of a turn. Never: scores.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::ops::Range;

use model::{Doc, DocId, DocKind, MessageId, SessionId, Timestamp};

use crate::corpus::Corpus;
use crate::postings::{Slot, SlotSet};

/// Marks a slot without a visible turn.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Lineup {
    /// Visible turns, whole sittings of them.
    pub(crate) turns: Vec<Slot>,
    /// The sittings: stretches of `turns`.
    pub(crate) sittings: Vec<Range<usize>>,
    /// By place in `turns`.
    pub(crate) sitting_of: Vec<u32>,
    /// By slot, the place in `turns`.
    pub(crate) places: Vec<u32>,
    /// Visible episodes and facts, in order of id.
    pub(crate) entries: Vec<Slot>,
    pub(crate) withdrawn: Withdrawn,
    /// Ended facts, according to their person, by the messages that they were made from.
    ending: BTreeMap<DocId, Vec<Slot>>,
}

/// Rows to rank, chosen from many.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// Each stands for its whole sitting.
    pub(crate) turns: SlotSet,
    pub(crate) entries: SlotSet,
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
    fn of(facts: impl Iterator<Item = Doc>) -> Self {
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

    /// Whether nobody withdrew anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.scenes.is_empty()
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
    /// The chosen rows with the whole sittings of the turns, or every row.
    pub(crate) fn new(corpus: &Corpus, as_of: Option<Timestamp>, chosen: Option<Chosen>) -> Self {
        let reviewed = corpus.reviewed().iter();
        let is_visible = |slot: &Slot| corpus.is_visible(*slot, as_of);
        let mut lineup = Self {
            turns: Vec::new(),
            sittings: Vec::new(),
            sitting_of: Vec::new(),
            places: vec![NOWHERE; corpus.slots_end()],
            entries: Vec::new(),
            withdrawn: Withdrawn::of(reviewed.map(|slot| corpus.row(*slot).doc())),
            ending: BTreeMap::new(),
        };
        for slot in corpus.ending() {
            let row = corpus.row(*slot);
            let is_shown = row.is_ended() && is_visible(slot);
            for message in row.sources().filter(|_| is_shown) {
                lineup
                    .ending
                    .entry(message.as_str().into())
                    .or_default()
                    .push(*slot);
            }
        }
        if let Some(Chosen { turns, entries }) = chosen {
            for head in heads(corpus, &turns) {
                lineup.add_turns(corpus, successors(Some(head), |slot| corpus.turns.after(*slot)));
            }
            lineup.entries = entries.iter().filter(is_visible).collect();
        } else {
            lineup.add_turns(corpus, corpus.turns.iter().filter(is_visible));
            lineup.entries = corpus.entries().iter().copied().filter(is_visible).collect();
        }
        lineup
    }

    fn add_turns(&mut self, corpus: &Corpus, turns: impl Iterator<Item = Slot>) {
        for slot in turns {
            let place = self.turns.len();
            match self.sittings.last_mut() {
                Some(sitting) if corpus.turns.before(slot).is_some() => sitting.end += 1,
                _ => self.sittings.push(place..place + 1),
            }
            let last = self.sittings.len() - 1;
            self.sitting_of
                .push(u32::try_from(last).expect("fewer than 2^32 rows"));
            self.places[slot as usize] = u32::try_from(place).expect("fewer than 2^32 rows");
            self.turns.push(slot);
        }
    }

    /// The visible ended facts made from a message.
    pub(crate) fn ending(&self, message: &str) -> impl Iterator<Item = Slot> {
        self.ending.get(message).into_iter().flatten().copied()
    }

    /// Place of a visible turn.
    pub(crate) fn place(&self, slot: Slot) -> Option<usize> {
        let place = self.places[slot as usize];
        (place != NOWHERE).then_some(place as usize)
    }
}

/// The first turn of each sitting with one of these turns, in the order of all sittings.
fn heads(corpus: &Corpus, turns: &SlotSet) -> Vec<Slot> {
    let mut seen = SlotSet::new(corpus.slots_end(), []);
    let mut heads = Vec::new();
    for turn in turns.iter() {
        let mut head = turn;
        let mut is_new = seen.insert(turn);
        while is_new && let Some(before) = corpus.turns.before(head) {
            head = before;
            is_new = seen.insert(head);
        }
        if is_new {
            heads.push(head);
        }
    }
    heads.sort_by_key(|head| {
        let row = corpus.row(*head);
        (row.from.session.as_ref(), row.order())
    });
    heads
}
