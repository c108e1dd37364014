//! A person's profile: statements under headings; and traits, which only a person writes.
//!
//! Owns: the content of a profile, and the changes of a run. Never: a statement without a message
//! that supports it, one that a person changed, or one that a person removed.
//!
//! A statement's id ends with a hash of its heading and its text. If the text does not give the id,
//! a person changed the entry.

mod ask;
mod category;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use model::{MessageId, Timestamp, Zone};

pub use ask::{ProfileAnswer, parse_answer, request};
pub use category::ProfileCategory;

use crate::consolidate::known::KnownFact;
use crate::consolidate::text::{hash, plain};
use crate::succession::said_words;

/// A profile with more statements is compacted.
pub const ITEMS_MAX: usize = 45;
/// Number of statements that a compaction leaves.
pub const ITEMS_LEFT: usize = 30;
/// The label of a trait.
pub const TRAIT: &str = "trait";

const BODY_CHARS_MAX: usize = 300;
const SUBJECT_CHARS_MAX: usize = 60;
const EVIDENCE_CHARS_MAX: usize = 600;
const SOURCES_MAX: usize = 40;

/// One statement of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileStatement {
    /// The heading, or a trait's name.
    pub subject: String,
    /// One plain sentence in the third person.
    pub body: String,
    /// Its evidence.
    pub evidence: String,
    pub sources: Vec<MessageId>,
    /// Time of its newest evidence.
    pub time: Timestamp,
}

/// An entry of the existing profile.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileEntry<'a> {
    pub id: &'a str,
    pub subject: &'a str,
    pub body: &'a str,
    pub is_trait: bool,
    pub sources: &'a [MessageId],
    pub time: Timestamp,
}

/// Changes of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    pub put: Vec<ProfileStatement>,
    /// Ids of our statements.
    pub remove: Vec<String>,
    /// Ids for the next run: those ever written that the facts can still give. If one of them is
    /// not in the profile, a person removed it.
    pub made: BTreeSet<String>,
}

impl ProfileStatement {
    /// A statement with harmless texts; none if it is empty or has no evidence.
    pub fn new(subject: &str, body: &str, evidence: &str, known: &[&KnownFact<'_>]) -> Option<Self> {
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
        worth(&self.subject, false, self.time)
    }
}

fn id(subject: &str, body: &str) -> String {
    format!("pf_{}", hash(&[subject, body], 16))
}

/// Worth of a trait relative to statements.
const TRAIT_WORTH: u32 = 55;

fn worth(subject: &str, is_trait: bool, time: Timestamp) -> (u32, Timestamp) {
    let other = if is_trait {
        TRAIT_WORTH
    } else {
        ProfileCategory::Life.worth()
    };
    (
        ProfileCategory::of_title(subject).map_or(other, ProfileCategory::worth),
        time,
    )
}

impl ProfileEntry<'_> {
    /// Whether it is unchanged since it was written.
    pub fn is_ours(&self) -> bool {
        self.id == id(self.subject, self.body)
    }
}

/// An owner's statements, made from lasting facts by rules: other text of an episode can be
/// somebody else's.
pub fn items(facts: &[KnownFact<'_>], zone: &Zone) -> Vec<ProfileStatement> {
    let mut current: Vec<&KnownFact<'_>> = facts.iter().filter(|fact| fact.is_current).collect();
    current.sort_by_key(|fact| (fact.time, fact.id));
    // Two facts with the same words give one statement.
    let mut told = BTreeSet::new();
    current.retain(|fact| told.insert(said_words(fact.text)));
    let said = |fact: &KnownFact<'_>| format!("Said on {}.", model::date_in_words(zone.date(fact.time)));
    let mut items: BTreeMap<String, ProfileStatement> = BTreeMap::new();
    for fact in &current {
        let category = category::category(fact.text);
        let item = category
            .and_then(|category| ProfileStatement::new(category.as_str(), fact.text, &said(fact), &[fact]));
        items.extend(item.map(|item| (item.id(), item)));
    }
    items.into_values().collect()
}

/// The update of a profile. New statements are written, and ours are removed once no fact supports
/// them. Statements that a person changed or removed stay untouched. More than [`ITEMS_MAX`] are
/// reduced to the [`ITEMS_LEFT`] with the most worth.
pub fn update(
    wanted: Vec<ProfileStatement>,
    facts: &[KnownFact<'_>],
    standing: &[ProfileEntry<'_>],
    made: &BTreeSet<String>,
) -> Update {
    let wanted: BTreeMap<String, ProfileStatement> =
        wanted.into_iter().map(|item| (item.id(), item)).collect();
    let is_there = |id: &str| standing.iter().any(|entry| entry.id == id);
    let (ours, theirs): (Vec<&ProfileEntry<'_>>, Vec<&ProfileEntry<'_>>) =
        standing.iter().partition(|entry| entry.is_ours());
    let knows = |item: &ProfileStatement| {
        theirs
            .iter()
            .any(|entry| crate::is_duplicate(entry.body, &item.body))
    };
    let support = Support::of(facts);
    let (stale, kept): (Vec<&ProfileEntry<'_>>, Vec<&ProfileEntry<'_>>) = ours
        .into_iter()
        .partition(|entry| !wanted.contains_key(entry.id) && support.lacks(entry));
    let mut put: BTreeMap<String, ProfileStatement> = wanted
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

/// The ids of the least valuable statements beyond the limit; a person's statements count and stay.
fn surplus(
    put: &BTreeMap<String, ProfileStatement>,
    kept: &[&ProfileEntry<'_>],
    theirs: usize,
) -> Vec<String> {
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

/// Statements that facts support.
struct Support<'a> {
    sources: BTreeSet<&'a MessageId>,
    over: Vec<&'a str>,
    current: Vec<&'a str>,
}

impl<'a> Support<'a> {
    fn of(facts: &'a [KnownFact<'a>]) -> Self {
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

    /// Whether a statement has ended, or no current fact supports it. No fact supports the subject
    /// of an episode.
    fn lacks(&self, entry: &ProfileEntry<'_>) -> bool {
        if entry.subject == ProfileCategory::Talk.as_str() {
            return true;
        }
        let says = |texts: &[&str]| texts.iter().any(|text| crate::is_duplicate(text, entry.body));
        let is_over = says(&self.over) && !says(&self.current);
        is_over || !entry.sources.iter().any(|source| self.sources.contains(source))
    }
}
