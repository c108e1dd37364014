//! What a person is like: statements under headings, and traits that were shown again and again.
//!
//! Owns: what stands in a profile, and what a run may change of it. Never: a statement that no message supports, one
//! that a person changed, or one that a person took out.
//!
//! A statement's id ends with a hash of its heading and its text: an entry whose text does not give its id was changed
//! by a person.

mod ask;
mod category;
mod traits;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use model::{MessageId, Timestamp, Zone};

pub use ask::{Said, parse_answer, request};
pub use category::Category;

use crate::consolidate::known::Known;
use crate::consolidate::text::{hash, plain};

/// More statements than this are compacted.
pub const ITEMS_MAX: usize = 45;
/// To so many they are compacted.
pub const ITEMS_LEFT: usize = 30;
/// The label of a trait.
pub const TRAIT: &str = "trait";

const BODY_CHARS_MAX: usize = 300;
const SUBJECT_CHARS_MAX: usize = 60;
const EVIDENCE_CHARS_MAX: usize = 600;
const SOURCES_MAX: usize = 40;
/// Statements in which a talk stands for a profile that knows nothing else.
const TALKS_MAX: usize = 3;

/// One statement of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The heading, or a trait's name.
    pub subject: String,
    /// One plain sentence in the third person.
    pub body: String,
    /// What it rests on.
    pub evidence: String,
    pub is_trait: bool,
    pub sources: Vec<MessageId>,
    /// When it was last said.
    pub time: Timestamp,
}

/// An entry of a profile as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing<'a> {
    pub id: &'a str,
    pub subject: &'a str,
    pub body: &'a str,
    pub is_trait: bool,
    pub sources: &'a [MessageId],
    pub time: Timestamp,
}

/// What an episode was about, for a person of whom nothing else is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Talk<'a> {
    pub subject: &'a str,
    pub time: Timestamp,
    pub sources: &'a [MessageId],
}

/// What a run changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    pub put: Vec<Item>,
    /// Ids of statements of ours.
    pub remove: Vec<String>,
    /// The ids that were ever put and may still be asked for, for the next run: what is among them and stands no more
    /// was taken out by a person.
    pub made: BTreeSet<String>,
}

impl Item {
    /// A statement with harmless texts; none where nothing is said or nothing supports it.
    pub fn new(subject: &str, body: &str, evidence: &str, known: &[&Known<'_>]) -> Option<Self> {
        let mut sources: Vec<MessageId> = Vec::new();
        for source in known.iter().flat_map(|known| known.sources) {
            if sources.len() < SOURCES_MAX && !sources.contains(source) {
                sources.push(source.clone());
            }
        }
        let item = Self {
            subject: plain(subject, SUBJECT_CHARS_MAX),
            body: plain(body, BODY_CHARS_MAX),
            evidence: plain(evidence, EVIDENCE_CHARS_MAX),
            is_trait: false,
            sources,
            time: known.iter().map(|known| known.time).max()?,
        };
        let says = !item.subject.is_empty() && !item.body.is_empty() && !item.sources.is_empty();
        says.then_some(item)
    }

    /// Its id: `pf_` and 16 hexadecimal digits.
    pub fn id(&self) -> String {
        id(&self.subject, &self.body)
    }

    fn worth(&self) -> (u32, Timestamp) {
        worth(&self.subject, self.is_trait, self.time)
    }
}

fn id(subject: &str, body: &str) -> String {
    format!("pf_{}", hash(&[subject, body], 16))
}

/// What a trait is worth beside a statement.
const TRAIT_WORTH: u32 = 55;

fn worth(subject: &str, is_trait: bool, time: Timestamp) -> (u32, Timestamp) {
    let other = if is_trait {
        TRAIT_WORTH
    } else {
        Category::Life.worth()
    };
    (Category::of_title(subject).map_or(other, Category::worth), time)
}

impl Standing<'_> {
    /// Whether it stands as it was written.
    pub fn is_ours(&self) -> bool {
        self.id == id(self.subject, self.body)
    }
}

/// What an owner's facts say of the owner, by rules. Where no fact says anything lasting, the newest one stands for a
/// profile, and where there is none at all, what was talked about does.
pub fn items(name: &str, facts: &[Known<'_>], talks: &[Talk<'_>], zone: &Zone) -> Vec<Item> {
    let mut current: Vec<&Known<'_>> = facts.iter().filter(|fact| fact.is_current).collect();
    current.sort_by_key(|fact| (fact.time, fact.id));
    let said = |fact: &Known<'_>| format!("Said on {}.", crate::day(zone.date(fact.time)));
    let mut items: BTreeMap<String, Item> = BTreeMap::new();
    for fact in &current {
        let category = category::category(fact.text);
        let item = category.and_then(|category| Item::new(category.title(), fact.text, &said(fact), &[fact]));
        items.extend(item.map(|item| (item.id(), item)));
    }
    if items.is_empty() {
        let newest = current.last().copied();
        let item = newest.and_then(|fact| Item::new(Category::Life.title(), fact.text, &said(fact), &[fact]));
        items.extend(item.map(|item| (item.id(), item)));
    }
    if items.is_empty() {
        let mut talks: Vec<&Talk<'_>> = talks.iter().collect();
        talks.sort_by_key(|talk| (Reverse(talk.time), talk.subject));
        let talked = talks
            .into_iter()
            .filter_map(|talk| of_talk(name, talk, zone))
            .take(TALKS_MAX);
        items.extend(talked.map(|item| (item.id(), item)));
    }
    items.extend(
        traits::traits(name, &current)
            .into_iter()
            .map(|item| (item.id(), item)),
    );
    items.into_values().collect()
}

fn of_talk(name: &str, talk: &Talk<'_>, zone: &Zone) -> Option<Item> {
    let subject = plain(talk.subject, BODY_CHARS_MAX / 2);
    let known = Known {
        id: "",
        text: &subject,
        time: talk.time,
        sources: talk.sources,
        is_current: true,
    };
    let day = crate::day(zone.date(talk.time));
    let body = format!("{name} talked about this: {}", subject.trim_end_matches('.'));
    let evidence = format!("Talked about on {day}.");
    (!subject.is_empty())
        .then(|| Item::new(Category::Talk.title(), &format!("{body}."), &evidence, &[&known]))
        .flatten()
}

/// What becomes of a profile: statements that are wanted and new are put; those of ours that facts no longer support
/// leave; what a person changed or took out is left alone; more than [`ITEMS_MAX`] are compacted to the
/// [`ITEMS_LEFT`] that are worth the most.
pub fn update(
    wanted: Vec<Item>,
    facts: &[Known<'_>],
    standing: &[Standing<'_>],
    made: &BTreeSet<String>,
) -> Update {
    let wanted: BTreeMap<String, Item> = wanted.into_iter().map(|item| (item.id(), item)).collect();
    let is_there = |id: &str| standing.iter().any(|entry| entry.id == id);
    let (ours, theirs): (Vec<&Standing<'_>>, Vec<&Standing<'_>>) =
        standing.iter().partition(|entry| entry.is_ours());
    let knows = |item: &Item| {
        theirs
            .iter()
            .any(|entry| crate::is_duplicate(entry.body, &item.body))
    };
    let support = Support::of(facts);
    let (stale, kept): (Vec<&Standing<'_>>, Vec<&Standing<'_>>) = ours
        .into_iter()
        .partition(|entry| !wanted.contains_key(entry.id) && support.lacks(entry, wanted.is_empty()));
    let mut put: BTreeMap<String, Item> = wanted
        .iter()
        .filter(|(id, item)| !is_there(id) && !made.contains(*id) && !knows(item))
        .map(|(id, item)| (id.clone(), item.clone()))
        .collect();
    let mut remove: BTreeSet<String> = stale.iter().map(|entry| entry.id.to_owned()).collect();
    for id in surplus(&put, &kept, theirs.len()) {
        if put.remove(&id).is_none() {
            remove.insert(id);
        }
    }
    let mut made: BTreeSet<String> = made
        .iter()
        .filter(|id| wanted.contains_key(*id) || is_there(id))
        .cloned()
        .collect();
    made.extend(kept.iter().map(|entry| entry.id.to_owned()));
    made.extend(put.keys().cloned());
    for entry in stale {
        made.remove(entry.id);
    }
    Update {
        put: put.into_values().collect(),
        remove: remove.into_iter().collect(),
        made,
    }
}

/// The ids that are worth the least where there are too many; a person's statements count and stay.
fn surplus(put: &BTreeMap<String, Item>, kept: &[&Standing<'_>], theirs: usize) -> Vec<String> {
    if put.len() + kept.len() + theirs <= ITEMS_MAX {
        return Vec::new();
    }
    let mut ranked: Vec<((u32, Timestamp), &str)> = put
        .iter()
        .map(|(id, item)| (item.worth(), id.as_str()))
        .chain(
            kept.iter()
                .map(|entry| (worth(entry.subject, entry.is_trait, entry.time), entry.id)),
        )
        .collect();
    ranked.sort_by_key(|(worth, id)| (Reverse(*worth), *id));
    let room = ITEMS_LEFT.saturating_sub(theirs);
    ranked
        .into_iter()
        .skip(room)
        .map(|(_, id)| id.to_owned())
        .collect()
}

/// What facts support.
struct Support<'a> {
    sources: BTreeSet<&'a MessageId>,
    over: Vec<&'a str>,
    current: Vec<&'a str>,
}

impl<'a> Support<'a> {
    fn of(facts: &'a [Known<'a>]) -> Self {
        let current = || facts.iter().filter(|fact| fact.is_current);
        Self {
            sources: current().flat_map(|fact| fact.sources).collect(),
            over: facts
                .iter()
                .filter(|fact| !fact.is_current)
                .map(|fact| fact.text)
                .collect(),
            current: current().map(|fact| fact.text).collect(),
        }
    }

    /// Whether a statement says what is over, or what no current fact supports. What was only talked about leaves as
    /// soon as something is known.
    fn lacks(&self, entry: &Standing<'_>, nothing_is_wanted: bool) -> bool {
        if entry.subject == Category::Talk.title() {
            return !nothing_is_wanted;
        }
        let says = |texts: &[&str]| texts.iter().any(|text| crate::is_duplicate(text, entry.body));
        let is_over = says(&self.over) && !says(&self.current);
        is_over || !entry.sources.iter().any(|source| self.sources.contains(source))
    }
}
