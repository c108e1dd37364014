//! An owner's known facts, indexed for comparison with the next one.
//!
//! Owns: finding the facts that a new fact repeats, replaces or is replaced by, without comparing
//! all known facts. Never: the definition of a repetition or a proof.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use model::{EntryId, Timestamp};

use super::owned::{Owned, Thing};
use super::wording::{WordStem, Wording, mark};

/// A fact's text, parsed once.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    said_at: Timestamp,
    wording: Wording,
    /// Boxed, since few facts have one.
    owned: Option<Box<Owned>>,
}

impl Statement {
    /// Parses a fact that was said at this time.
    pub fn new(text: &str, said_at: Timestamp) -> Self {
        Self {
            said_at,
            wording: Wording::of(text),
            owned: Owned::read(text).map(Box::new),
        }
    }

    /// Whether there is proof that it supersedes an older statement.
    fn takes_over(&self, older: &Self) -> bool {
        let replaces = || {
            let both = self.owned.as_ref().zip(older.owned.as_ref());
            both.is_some_and(|(new, old)| new.replaces(old))
        };
        older.said_at < self.said_at && (replaces() || self.wording.contradicts(&older.wording))
    }
}

/// Relations between a new fact and the known ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Supersession {
    /// The known facts that it supersedes, in order of id.
    pub supersedes: Vec<EntryId>,
    /// The first known later fact that supersedes it, and when that was said: an imported fact can be older than known ones.
    pub superseded_by: Option<(Timestamp, EntryId)>,
}

impl Supersession {
    /// The union of both relations: for facts in two sets.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.supersedes.extend(other.supersedes);
        self.supersedes.sort();
        let later = [self.superseded_by, other.superseded_by];
        self.superseded_by = later.into_iter().flatten().min();
        self
    }
}

/// How a known fact counts for a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// It holds, unless another known fact superseded it.
    Yes,
    /// A fact outside these known ones superseded it.
    Replaced,
    /// The new fact must ignore it.
    No,
}

/// A person's answer about a statement in a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answered {
    /// It has ended.
    Ended,
    /// The person withdrew it.
    Withdrawn,
}

/// A number for a known fact.
type Number = u32;

#[derive(Debug)]
struct KnownStatement {
    id: EntryId,
    statement: Statement,
    supersedes: Box<[EntryId]>,
    superseded_by: Option<EntryId>,
}

/// An owner's facts. A superseded fact is kept, but no longer repeated or replaced.
#[derive(Debug, Default)]
pub struct KnownFacts {
    /// By number; none where a fact was removed.
    facts: Vec<Option<KnownStatement>>,
    /// Numbers of removed facts.
    free: Vec<Number>,
    numbers: HashMap<EntryId, Number>,
    by_term: HashMap<WordStem, Vec<Number>>,
    by_thing: HashMap<Thing, Vec<Number>>,
    /// For each superseded id, the facts that name it.
    superseded: HashMap<EntryId, Vec<Number>>,
    /// The person's answers about statements in a review: mark, time and answer.
    answered: BTreeMap<EntryId, (String, Timestamp, Answered)>,
}

impl KnownFacts {
    /// Inserts a fact, and replaces one with the same id.
    pub fn insert(
        &mut self,
        id: EntryId,
        statement: Statement,
        supersedes: Vec<EntryId>,
        superseded_by: Option<EntryId>,
    ) {
        self.remove(&id);
        let number = self.free.pop().unwrap_or_else(|| {
            self.facts.push(None);
            Number::try_from(self.facts.len() - 1).expect("fewer than 2^32 facts")
        });
        for term in statement.wording.terms() {
            self.by_term.entry(*term).or_default().push(number);
        }
        if let Some(owned) = &statement.owned {
            let thing = owned.thing.clone();
            self.by_thing.entry(thing).or_default().push(number);
        }
        for old in &supersedes {
            self.superseded.entry(old.clone()).or_default().push(number);
        }
        self.numbers.insert(id.clone(), number);
        self.facts[number as usize] = Some(KnownStatement {
            id,
            statement,
            supersedes: supersedes.into(),
            superseded_by,
        });
    }

    /// Stores a person's answer about the statement with that id and mark. A withdrawn statement is
    /// no longer a fact; an ended one is neither repeated nor replaced.
    pub fn answer(&mut self, id: EntryId, mark: String, at: Timestamp, answered: Answered) {
        if answered == Answered::Withdrawn {
            self.remove(&id);
        }
        self.answered.insert(id, (mark, at, answered));
    }

    /// Time and kind of the person's last answer about a statement with these words.
    pub fn answered(&self, text: &str) -> Option<(Timestamp, Answered)> {
        if self.answered.is_empty() {
            return None;
        }
        let mark = mark(text);
        let same = self.answered.values().filter(|(other, ..)| *other == mark);
        same.map(|(_, at, answered)| (*at, *answered)).max()
    }

    /// Whether the person answered about any statement.
    pub fn has_answers(&self) -> bool {
        !self.answered.is_empty()
    }

    /// Removes a fact, or an answer; the facts that it superseded are valid again.
    pub fn remove(&mut self, id: &EntryId) {
        self.answered.remove(id);
        let Some(number) = self.numbers.remove(id) else {
            return;
        };
        let known = self.facts[number as usize].take();
        let known = known.expect("numbers name facts");
        for term in known.statement.wording.terms() {
            take_out(&mut self.by_term, term, number);
        }
        if let Some(owned) = &known.statement.owned {
            take_out(&mut self.by_thing, &owned.thing, number);
        }
        for old in &*known.supersedes {
            take_out(&mut self.superseded, old, number);
        }
        self.free.push(number);
    }

    /// Number of facts.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no facts.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether counted facts already contain this statement: one of the same day, or two of any
    /// days. A statement said again on another day is kept once more, as proof that it lasts.
    pub fn repeats(&self, new: &Statement, counts: impl Fn(&EntryId) -> Counts) -> bool {
        let mut terms: Vec<&WordStem> = new.wording.terms().iter().collect();
        terms.sort_by_key(|term| self.by_term.get(term).map_or(0, Vec::len));
        terms.truncate(new.wording.telling_terms());
        let near = terms
            .into_iter()
            .filter_map(|term| self.by_term.get(term))
            .flatten();
        let known = near.filter_map(|number| self.counted(*number, &counts));
        let known = known.filter(|known| self.is_holding(known, &counts, new.said_at));
        let same: BTreeSet<Timestamp> = known
            .filter(|known| known.statement.wording.says(&new.wording))
            .map(|known| known.statement.said_at)
            .collect();
        same.len() > 1 || same.iter().any(|at| !is_another_day(*at, new.said_at))
    }

    /// Relations between a fact and the counted ones.
    pub fn supersession(&self, new: &Statement, counts: impl Fn(&EntryId) -> Counts) -> Supersession {
        let things = new
            .owned
            .iter()
            .filter_map(|owned| self.by_thing.get(&owned.thing));
        // A negation has all the words of the statement that it negates.
        let words = new
            .wording
            .terms()
            .iter()
            .filter_map(|term| self.by_term.get(term));
        let near: BTreeSet<Number> = things
            .chain(words.min_by_key(|facts| facts.len()))
            .flatten()
            .copied()
            .collect();
        let near = || near.iter().filter_map(|number| self.counted(*number, &counts));
        let mut supersedes: Vec<EntryId> = near()
            .filter(|known| self.is_holding(known, &counts, new.said_at) && new.takes_over(&known.statement))
            .map(|known| known.id.clone())
            .collect();
        supersedes.sort();
        let later = near().filter(|known| known.statement.takes_over(new));
        let superseded_by = later
            .map(|known| (known.statement.said_at, known.id.clone()))
            .min();
        Supersession {
            supersedes,
            superseded_by,
        }
    }

    fn counted(&self, number: Number, counts: &impl Fn(&EntryId) -> Counts) -> Option<&KnownStatement> {
        let known = self.facts[number as usize].as_ref()?;
        (counts(&known.id) != Counts::No).then_some(known)
    }

    /// Whether it had not ended then: neither by its person's answer nor by a fact that was said until then.
    fn is_holding(
        &self,
        known: &KnownStatement,
        counts: &impl Fn(&EntryId) -> Counts,
        until: Timestamp,
    ) -> bool {
        let named = known.superseded_by.as_ref().and_then(|id| self.numbers.get(id));
        let by = self.superseded.get(&known.id).into_iter().flatten().chain(named);
        let mut by = by.filter_map(|number| self.facts[*number as usize].as_ref());
        counts(&known.id) == Counts::Yes
            && !self.answered.contains_key(&known.id)
            && !by.any(|by| counts(&by.id) != Counts::No && by.statement.said_at <= until)
    }
}

fn take_out<K: std::hash::Hash + Eq>(of: &mut HashMap<K, Vec<Number>>, key: &K, number: Number) {
    if let Some(numbers) = of.get_mut(key) {
        numbers.retain(|other| *other != number);
        if numbers.is_empty() {
            of.remove(key);
        }
    }
}

/// Whether two times are on different days in any time zone: at least 24 hours apart.
pub fn is_another_day(one: Timestamp, other: Timestamp) -> bool {
    const APART_MILLIS: u64 = 24 * 3_600_000;
    one.millis().abs_diff(other.millis()) >= APART_MILLIS
}
