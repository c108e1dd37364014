//! An owner's known facts, ready for comparison with the next one.
//!
//! Owns: finding what a new fact repeats, replaces or is replaced by without reading every known fact again. Never:
//! deciding what a repetition, a slot or an ending is.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{EntryId, Timestamp};

use super::ending::{self, EndedFact};
use super::rules::{self, Reading};
use super::wording::{WordStem, Wording, term};
use super::{Slot, is_stale, replaces};
use crate::facts::of_somebody;

/// A fact's text, read once: its content, its slots, the facts that it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    text: Box<str>,
    said_at: Timestamp,
    since: Timestamp,
    wording: Wording,
    readings: Vec<Reading>,
    is_news: bool,
    gone: Option<EndedFact>,
}

impl Statement {
    /// Reads a fact: the time of its message, and the begin of its validity if it has one.
    pub fn new(text: &str, said_at: Timestamp, valid_from: Option<Timestamp>) -> Self {
        let text = &*of_somebody(text);
        Self {
            text: text.into(),
            said_at,
            since: valid_from.unwrap_or(said_at),
            wording: Wording::of(text),
            readings: rules::read(text),
            is_news: rules::is_news(text),
            gone: ending::gone(text),
        }
    }

    /// Whether it supersedes an earlier statement.
    fn takes_over(&self, older: &Self) -> bool {
        let stale = |is_event: bool| is_stale(is_event, self.since, older.said_at);
        let same_slot = |new: &Reading| older.readings.iter().any(|old| replaces(new, old, self.is_news));
        let changes = || {
            self.readings
                .iter()
                .any(|new| !stale(new.event) && same_slot(new))
        };
        let is_event = self.readings.first().is_none_or(|reading| reading.event);
        let ends = || self.gone.as_ref().is_some_and(|gone| gone.ends(&older.text));
        older.said_at < self.said_at && (changes() || !stale(is_event) && ends())
    }

    fn attributes(&self) -> impl Iterator<Item = Attribute> {
        self.readings.iter().map(|reading| Attribute::of(&reading.slot))
    }
}

/// An attribute with one current value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Attribute {
    subject: String,
    name: String,
}

impl Attribute {
    fn of(slot: &Slot) -> Self {
        Self {
            subject: slot.subject.clone(),
            name: slot.attribute.clone(),
        }
    }
}

/// Relations between a new fact and the known ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Supersession {
    /// The known facts that it takes the place of, in order of id.
    pub supersedes: Vec<EntryId>,
    /// Its end, if a known later fact already supersedes it: an imported fact can be older than known ones.
    pub valid_until: Option<Timestamp>,
}

impl Supersession {
    /// The relations to two sets of known facts.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.supersedes.extend(other.supersedes);
        self.supersedes.sort();
        let ends = [self.valid_until, other.valid_until];
        self.valid_until = ends.into_iter().flatten().min();
        self
    }
}

/// Relation of a known fact to a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// It holds, unless another known one took its place.
    Yes,
    /// A fact that is not known yet took its place.
    Replaced,
    /// The new one does not know it.
    No,
}

/// A number for a known fact.
type Number = u32;

#[derive(Debug)]
struct KnownStatement {
    id: EntryId,
    statement: Statement,
    supersedes: Vec<EntryId>,
}

/// Somebody's facts. One whose place another of them has taken is kept, but neither repeated nor replaced any more.
#[derive(Debug, Default)]
pub struct KnownFacts {
    facts: BTreeMap<Number, KnownStatement>,
    next: Number,
    numbers: HashMap<EntryId, Number>,
    by_term: HashMap<WordStem, BTreeSet<Number>>,
    by_attribute: HashMap<Attribute, BTreeSet<Number>>,
    /// Facts that end another one.
    endings: BTreeSet<Number>,
    /// Facts that name an id as superseded.
    superseded: HashMap<EntryId, BTreeSet<Number>>,
}

impl KnownFacts {
    /// Puts a fact in, in the place of one with the same id.
    pub fn insert(&mut self, id: EntryId, statement: Statement, supersedes: Vec<EntryId>) {
        self.remove(&id);
        let number = self.next;
        self.next += 1;
        for term in statement.wording.terms() {
            self.by_term.entry(*term).or_default().insert(number);
        }
        for attribute in statement.attributes() {
            self.by_attribute.entry(attribute).or_default().insert(number);
        }
        if statement.gone.is_some() {
            self.endings.insert(number);
        }
        for old in &supersedes {
            self.superseded.entry(old.clone()).or_default().insert(number);
        }
        self.numbers.insert(id.clone(), number);
        let known = KnownStatement {
            id,
            statement,
            supersedes,
        };
        self.facts.insert(number, known);
    }

    /// Removes a fact; the facts that it superseded are valid again.
    pub fn remove(&mut self, id: &EntryId) {
        let Some(known) = self.numbers.remove(id).and_then(|number| {
            self.endings.remove(&number);
            Some((number, self.facts.remove(&number)?))
        }) else {
            return;
        };
        let (number, known) = known;
        for term in known.statement.wording.terms() {
            withdraw(&mut self.by_term, term, number);
        }
        for attribute in known.statement.attributes() {
            withdraw(&mut self.by_attribute, &attribute, number);
        }
        for old in &known.supersedes {
            withdraw(&mut self.superseded, old, number);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Whether a fact that counts says the same already.
    pub fn repeats(&self, new: &Statement, counts: impl Fn(&EntryId) -> Counts) -> bool {
        let mut terms: Vec<&WordStem> = new.wording.terms().iter().collect();
        terms.sort_by_key(|term| self.by_term.get(term).map_or(0, BTreeSet::len));
        terms.truncate(new.wording.telling_terms());
        let near = terms
            .into_iter()
            .filter_map(|term| self.by_term.get(term))
            .flatten();
        near.filter_map(|number| self.holding(*number, &counts))
            .any(|known| known.statement.wording.says(&new.wording))
    }

    /// Relations between a fact and the counted ones.
    pub fn standing(&self, new: &Statement, counts: impl Fn(&EntryId) -> Counts) -> Supersession {
        let of_slots = new
            .attributes()
            .filter_map(|attribute| self.by_attribute.get(&attribute))
            .flatten();
        let of_slots: BTreeSet<Number> = of_slots.copied().collect();
        let over = new.gone.as_ref().and_then(|gone| self.rarest(gone));
        let maybe_older: BTreeSet<Number> = of_slots
            .iter()
            .chain(over.into_iter().flatten())
            .copied()
            .collect();
        let older = maybe_older
            .iter()
            .filter_map(|number| self.holding(*number, &counts));
        let mut supersedes: Vec<EntryId> = older
            .filter(|known| new.takes_over(&known.statement))
            .map(|known| known.id.clone())
            .collect();
        supersedes.sort();
        let maybe_later = of_slots.iter().chain(&self.endings);
        let valid_until = maybe_later
            .filter_map(|number| self.holding(*number, &counts))
            .filter(|known| known.statement.takes_over(new))
            .map(|known| known.statement.since)
            .min();
        Supersession {
            supersedes,
            valid_until,
        }
    }

    fn holding(&self, number: Number, counts: &impl Fn(&EntryId) -> Counts) -> Option<&KnownStatement> {
        let known = self.facts.get(&number)?;
        let by = self.superseded.get(&known.id).into_iter().flatten();
        let is_replaced = by
            .filter_map(|number| self.facts.get(number))
            .any(|by| counts(&by.id) != Counts::No);
        (counts(&known.id) == Counts::Yes && !is_replaced).then_some(known)
    }

    /// The facts with the rarest word of the ended fact; a matching fact contains all of its words.
    fn rarest(&self, gone: &EndedFact) -> Option<&BTreeSet<Number>> {
        let of_words = gone.what().filter_map(|word| self.by_term.get(&term(word)));
        of_words.min_by_key(|facts| facts.len())
    }
}

fn withdraw<K: std::hash::Hash + Eq>(of: &mut HashMap<K, BTreeSet<Number>>, key: &K, number: Number) {
    if let Some(numbers) = of.get_mut(key) {
        numbers.remove(&number);
        if numbers.is_empty() {
            of.remove(key);
        }
    }
}
