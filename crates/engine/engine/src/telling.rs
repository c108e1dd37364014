//! From a memcell to entries: an episode and facts for each owner.
//!
//! Owns: the shape, ids and provenance of derived entries, and what a new fact does to the known ones. Never:
//! writing them.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use extract::{AnswerPart, Fact, Tail};
use model::{
    Cell, Doc, DocKind, Entry, EntryId, EntryKind, Origin, Owner, Parent, ParentKind, Role, SenderId,
    Timestamp, Zone,
};

use crate::ids;
use crate::interview::{self, Trouble};
use crate::world::World;

/// Attempts of a job that wait for a model that does not answer; after that the rules tell it.
const MODEL_ATTEMPTS_MAX: u32 = 3;

/// What a memcell tells, before it is anybody's memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Telling {
    subject: String,
    summary: String,
    body: String,
    facts: Vec<Fact>,
    author: String,
}

/// A fact that an owner has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownFact {
    id: EntryId,
    fact: Fact,
    words: BTreeSet<u64>,
}

impl KnownFact {
    fn new(id: EntryId, fact: Fact) -> Self {
        let words = words(&fact.text);
        Self { id, fact, words }
    }

    /// Whether it says what a new fact says. Most facts share so few words with it that no closer look is needed.
    fn says(&self, fact: &Fact, words: &BTreeSet<u64>) -> bool {
        let shared = self.words.intersection(words).count();
        2 * shared >= self.words.len().min(words.len()) && extract::is_duplicate(&self.fact.text, &fact.text)
    }
}

/// A text's words, or its characters where words are not parted by spaces, as numbers.
fn words(text: &str) -> BTreeSet<u64> {
    let number = |word: &str| {
        let mut hasher = DefaultHasher::new();
        word.to_lowercase().hash(&mut hasher);
        hasher.finish()
    };
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut numbers = BTreeSet::new();
    for word in words {
        if word.is_ascii() {
            numbers.insert(number(word));
        } else {
            numbers.extend(word.chars().map(|c| number(c.encode_utf8(&mut [0; 4]))));
        }
    }
    numbers
}

/// Tells a memcell, by the model if there is one; fails only when the model may answer a later attempt.
pub(crate) async fn tell(world: &World, cell: &Cell, attempt: u32) -> Result<Telling, Trouble> {
    let zone = &world.settings.zone;
    let Some(chat) = &world.parts.chat else {
        return Ok(by_rules(cell, zone));
    };
    let parts = match world.passes.answer(&cell.id) {
        Some(part) => vec![part],
        None => match interview::ask(world, &cell.messages, Tail::Closed).await {
            Ok(parts) => parts,
            Err(trouble @ Trouble::Unavailable(_)) if attempt < MODEL_ATTEMPTS_MAX => return Err(trouble),
            Err(trouble) => {
                tracing::warn!(%trouble, cell = %cell.id, "the rules tell a memcell instead of the model");
                return Ok(by_rules(cell, zone));
            }
        },
    };
    Ok(by_model(cell, zone, parts, chat.model()))
}

fn by_rules(cell: &Cell, zone: &Zone) -> Telling {
    let episode = extract::episode(cell, zone);
    Telling {
        subject: episode.subject,
        summary: episode.summary,
        body: episode.body,
        facts: extract::facts(cell, zone),
        author: extract::RULES_VERSION.to_owned(),
    }
}

/// The model names and sums up; who said what stays as the rules give it, in the speakers' own words.
fn by_model(cell: &Cell, zone: &Zone, parts: Vec<AnswerPart>, model: &str) -> Telling {
    let whole = AnswerPart {
        end: cell.messages.len(),
        title: joined(parts.iter().map(|part| part.title.as_str()), "; "),
        summary: joined(parts.iter().map(|part| part.summary.as_str()), " "),
        facts: Vec::new(),
    };
    let episode = whole.episode(cell, zone);
    Telling {
        subject: episode.subject,
        summary: episode.summary,
        body: episode.body,
        facts: parts.into_iter().flat_map(|part| part.facts).collect(),
        author: model.to_owned(),
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, by: &str) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(by)
}

/// The facts among an owner's rows that hold: nothing took their place, and they did not come from this memcell.
pub(crate) fn known_facts<'a>(docs: impl Iterator<Item = &'a Doc>, cell: &Cell) -> Vec<KnownFact> {
    let own = ids::fact_prefix(&cell.id);
    let facts: Vec<&Doc> = docs
        .filter(|doc| doc.kind == DocKind::Entry(EntryKind::Fact))
        .collect();
    let superseded: BTreeSet<&str> = facts
        .iter()
        .flat_map(|doc| &doc.supersedes)
        .map(EntryId::as_str)
        .collect();
    let holds = |doc: &&&Doc| !superseded.contains(&*doc.key.id) && !doc.key.id.starts_with(&own);
    let known = facts.iter().filter(holds).filter_map(|doc| {
        let fact = Fact {
            text: doc.text.clone(),
            sources: doc.sources.clone(),
            sender: doc.senders.first()?.clone(),
            said_at: doc.time,
            valid_from: doc.valid_from,
            slot: None,
        };
        Some(KnownFact::new(EntryId::new(doc.key.id.clone()), fact))
    });
    known.collect()
}

impl Telling {
    /// The texts of its facts.
    pub(crate) fn fact_texts(&self) -> impl Iterator<Item = &str> {
        self.facts.iter().map(|fact| fact.text.as_str())
    }

    /// The owner's entries: the facts that are new to it, then the episode.
    pub(crate) fn entries(
        &self,
        cell: &Cell,
        owner: &Owner,
        mut known: Vec<KnownFact>,
    ) -> (Vec<Entry>, Entry) {
        let mut facts = Vec::new();
        for (n, fact) in self.facts.iter().enumerate() {
            let words = words(&fact.text);
            if known.iter().any(|have| have.says(fact, &words)) {
                continue;
            }
            let entry = self.fact_entry(cell, owner, n, fact, &known);
            known.retain(|have| !entry.supersedes.contains(&have.id));
            if entry.valid_until.is_none() {
                known.push(KnownFact::new(entry.id.clone(), fact.clone()));
            }
            facts.push(entry);
        }
        (facts, self.episode_entry(cell, owner))
    }

    /// The owner's episode.
    pub(crate) fn episode_entry(&self, cell: &Cell, owner: &Owner) -> Entry {
        let senders: BTreeSet<SenderId> = cell.messages.iter().map(|m| m.sender.clone()).collect();
        Entry {
            id: ids::episode_id(&cell.id),
            kind: EntryKind::Episode,
            scope: cell.session.scope.clone(),
            owner: owner.clone(),
            session: Some(cell.session.session.clone()),
            time: cell.ended(),
            valid_from: None,
            valid_until: None,
            supersedes: Vec::new(),
            origin: Origin::User,
            author: Some(self.author.clone()),
            parent: Some(Parent {
                kind: ParentKind::Memcell,
                id: cell.id.as_str().to_owned(),
            }),
            sources: cell.messages.iter().map(|m| m.id.clone()).collect(),
            senders: senders.into_iter().collect(),
            subject: self.subject.clone(),
            summary: self.summary.clone(),
            body: self.body.clone(),
            turns: cell.messages.clone(),
        }
    }

    fn fact_entry(&self, cell: &Cell, owner: &Owner, n: usize, fact: &Fact, known: &[KnownFact]) -> Entry {
        let id = ids::fact_id(&cell.id, n);
        let (supersedes, valid_until) = place(&id, fact, known);
        let said_by = cell
            .messages
            .iter()
            .find(|message| fact.sources.contains(&message.id));
        Entry {
            id,
            kind: EntryKind::Fact,
            scope: cell.session.scope.clone(),
            owner: owner.clone(),
            session: Some(cell.session.session.clone()),
            time: fact.said_at,
            valid_from: fact.valid_from,
            valid_until,
            supersedes,
            origin: match said_by.map(|message| message.role) {
                Some(Role::Assistant) => Origin::Assistant,
                Some(Role::Tool) => Origin::Tool,
                Some(Role::User) | None => Origin::User,
            },
            author: Some(self.author.clone()),
            parent: Some(Parent {
                kind: ParentKind::Episode,
                id: ids::episode_id(&cell.id).as_str().to_owned(),
            }),
            sources: fact.sources.clone(),
            senders: vec![fact.sender.clone()],
            subject: String::new(),
            summary: String::new(),
            body: fact.text.clone(),
            turns: Vec::new(),
        }
    }
}

/// Which known facts a new one takes the place of, and when it ended itself, if a later one is known already: what is
/// imported late may have been said early.
fn place(id: &EntryId, fact: &Fact, known: &[KnownFact]) -> (Vec<EntryId>, Option<Timestamp>) {
    let older: Vec<_> = known
        .iter()
        .map(|have| (&have.id, have.fact.text.as_str(), have.fact.said_at))
        .collect();
    let supersedes = extract::supersedes(fact, &older);
    let own = [(id, fact.text.as_str(), fact.said_at)];
    let later = known
        .iter()
        .map(|have| &have.fact)
        .filter(|have| have.said_at > fact.said_at);
    let takes_over = later.filter(|have| !extract::supersedes(have, &own).is_empty());
    let ended = takes_over
        .map(|have| have.valid_from.unwrap_or(have.said_at))
        .min();
    (supersedes, ended)
}
