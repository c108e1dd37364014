//! Validity: superseded entries, and entries that have ended.
//!
//! Owns: which entry supersedes another at a time. Never: removing anything: an ended entry is
//! ranked lower and marked.

use std::ops::Range;

use model::{DocId, EntryId, Timestamp};

use crate::corpus::Corpus;
use crate::postings::Slot;
use crate::row::{Row, RowKind};
use crate::time::Span;

/// The supersessions between a corpus's entries, for every question: computed once and kept until a
/// row changes.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// By age of the older, then of the newer entry.
    links: Vec<ValidityLink>,
    /// The source turns of the entries, one entry's after the other's.
    turns: Vec<Slot>,
}

/// An entry that supersedes another.
#[derive(Debug)]
pub(crate) struct ValidityLink {
    pub(crate) old: Slot,
    pub(crate) new: Slot,
    /// The kind of both, if it is the same.
    pub(crate) kind: Option<RowKind>,
    old_turns: Range<usize>,
    new_turns: Range<usize>,
    /// Begin and own end of the older one's validity.
    held: (Timestamp, Option<Timestamp>),
    /// Begin of the newer one's validity.
    begin: Timestamp,
}

impl Links {
    pub(crate) fn of(corpus: &Corpus) -> Self {
        let mut pairs: Vec<(Slot, Slot)> = Vec::new();
        for slot in corpus.linked() {
            let row = corpus.row(*slot);
            let find = |id: &EntryId| Some(corpus.find(id.as_str())?.0);
            let olds = row.supersedes().iter().filter_map(find);
            pairs.extend(olds.map(|old| (old, *slot)));
            pairs.extend(row.superseded_by().and_then(find).map(|new| (*slot, new)));
        }
        pairs.retain(|(old, new)| age(corpus.row(*old)) < age(corpus.row(*new)));
        pairs.sort_unstable_by_key(|(old, new)| (age(corpus.row(*old)), age(corpus.row(*new))));
        pairs.dedup();
        let mut turns = Vec::new();
        let mut told = |row: &Row| {
            let start = turns.len();
            let sources = row.sources();
            turns.extend(
                sources
                    .filter_map(|id| corpus.find(id.as_str()))
                    .map(|(turn, _)| turn),
            );
            start..turns.len()
        };
        let link = |(old, new): (Slot, Slot)| {
            let (older, newer) = (corpus.row(old), corpus.row(new));
            ValidityLink {
                old,
                new,
                kind: Some(older.kind).filter(|kind| *kind == newer.kind),
                old_turns: told(older),
                new_turns: told(newer),
                held: (begin(older), older.valid_until()),
                begin: begin(newer),
            }
        };
        let links = pairs.into_iter().map(link).collect();
        Self { links, turns }
    }

    /// Every supersession, by age of the older entry.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ValidityLink> {
        self.links.iter()
    }

    /// The source turns of a link's entries: the older one's, the newer one's.
    pub(crate) fn turns(&self, link: &ValidityLink) -> (&[Slot], &[Slot]) {
        (
            &self.turns[link.old_turns.clone()],
            &self.turns[link.new_turns.clone()],
        )
    }

    pub(crate) fn bytes(&self) -> usize {
        self.links.capacity() * size_of::<ValidityLink>() + self.turns.capacity() * size_of::<Slot>()
    }
}

#[derive(Debug)]
pub(crate) struct Validity<'a> {
    pub(crate) links: &'a Links,
    /// For each superseded entry its first successor; by age of the older entry.
    first: Vec<&'a ValidityLink>,
    /// By slot, the place in `first`, and whether the entry no longer holds.
    state: Vec<(u32, bool)>,
}

const NEVER: u32 = u32::MAX;

impl<'a> Validity<'a> {
    /// The valid entries at `now`, by the visible rows. A newer entry counts from its own begin, or from its message.
    /// The question is about the times in `spans`: an entry valid then has not ended for it.
    pub(crate) fn new(corpus: &'a Corpus, now: Timestamp, as_of: Option<Timestamp>, spans: &[Span]) -> Self {
        let links = corpus.links();
        let is_over = |since: Timestamp, end: Timestamp| {
            end <= now && !spans.iter().any(|span| since < span.to && span.from < end)
        };
        let mut state = vec![(NEVER, false); corpus.slots_end()];
        for slot in corpus.ending() {
            let row = corpus.row(*slot);
            state[*slot as usize].1 = row.valid_until().is_some_and(|end| is_over(begin(row), end));
        }
        let counts = |link: &&ValidityLink| corpus.is_visible(link.new, as_of) && link.begin <= now;
        let of_one = links.links.chunk_by(|one, next| one.old == next.old);
        let first: Vec<&ValidityLink> = of_one.filter_map(|of_one| of_one.iter().find(counts)).collect();
        for (at, link) in (0..).zip(&first) {
            let (since, until) = link.held;
            let end = until.map_or(link.begin, |until| until.min(link.begin));
            state[link.old as usize] = (at, is_over(since, end));
        }
        Self { links, first, state }
    }

    /// Superseded entries that no longer hold, with their successors, oldest first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &ValidityLink> {
        let first = self.first.iter().copied();
        first.filter(|link| self.is_over(link.old))
    }

    /// The last successor of an entry.
    pub(crate) fn superseded_by(&self, corpus: &Corpus, slot: Slot) -> Option<EntryId> {
        let newer = |slot: Slot| {
            self.first
                .get(self.state[slot as usize].0 as usize)
                .map(|link| link.new)
        };
        // Each step is to a newer entry, so this ends.
        let newest = std::iter::successors(newer(slot), |slot| newer(*slot)).last()?;
        Some(EntryId::new(&*corpus.row(newest).id))
    }

    /// Whether an entry no longer holds, now or at the time that the question names.
    pub(crate) fn is_over(&self, slot: Slot) -> bool {
        self.state[slot as usize].1
    }
}

/// Begin of an entry's validity.
fn begin(row: &Row) -> Timestamp {
    row.valid_from().unwrap_or(row.time)
}

/// Order by age; no two rows are equal.
fn age(row: &Row) -> (Timestamp, Timestamp, &DocId) {
    (begin(row), row.time, &row.id)
}
