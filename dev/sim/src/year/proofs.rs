//! The checks on the last day: a sentence that was said once is found, no memory is there twice, a forgotten name is in
//! no place, and every handwriting stands.
//!
//! Owns: the comparison of the stores with the record of each person. Never: changing a store.

use std::collections::{BTreeMap, BTreeSet};

use background::strategies::Limits;
use memory::{Hit, List, Standing};
use model::{EntryKind, Page, Scope};
use ports::Pages as _;

use super::Year;
use super::person::{Fate, Person};
use super::sizes::files_under;
use crate::hands::{entries_of, is_of_memcell};
use crate::world::Held;

/// A kept sentence is among this many first memories or messages.
const FIRST: usize = 3;
/// Characters of a text in a printed line.
const SHOWN_CHARS: usize = 80;

impl Year<'_> {
    /// Every broken promise; prints the other observations too.
    pub(super) async fn proofs(&mut self) -> Held<Vec<String>> {
        self.settle().await?;
        let mut broken = self.kept_is_found().await?;
        broken.extend(self.facts_twice().await?);
        broken.extend(self.episodes_twice().await?);
        broken.extend(self.forgotten_is_gone().await?);
        broken.extend(self.handwriting_stands()?);
        broken.extend(self.core_memory_fits()?);
        self.observe().await?;
        Ok(broken)
    }

    /// A sentence that was said once is among the first hits.
    async fn kept_is_found(&mut self) -> Held<Vec<String>> {
        let mut broken = Vec::new();
        for person in self.people.iter().filter(|person| person.kept_day <= self.day) {
            let found = self.search(&person.owner, person.kept.question).await?;
            let has_it = |hits: &[Hit]| first(hits).any(|text| text.contains(person.kept.answer));
            if !has_it(&found.memories) && !has_it(&found.messages) {
                let brief = |hits: &[Hit]| first(hits).map(|text| shortened(&text)).collect::<Vec<_>>();
                broken.push(format!(
                    "{}, said once on day {}, is not among the first {FIRST}: memories {:?}, messages {:?}",
                    person.kept.text,
                    person.kept_day,
                    brief(&found.memories),
                    brief(&found.messages)
                ));
            }
        }
        Ok(broken)
    }

    /// No statement of a person is there more than twice: one that is said again on another day is kept once more.
    async fn facts_twice(&mut self) -> Held<Vec<String>> {
        let mut broken = Vec::new();
        for person in &self.people {
            for (text, ids) in self.facts(person).await? {
                if ids.len() > 2 {
                    broken.push(format!(
                        "{:?} has the fact {text:?} {} times: {ids:?}",
                        person.owner,
                        ids.len()
                    ));
                }
            }
        }
        Ok(broken)
    }

    /// The facts of a person that hold: the ids of each text.
    async fn facts(&self, person: &Person) -> Held<BTreeMap<String, Vec<String>>> {
        let mut list = List::all(Scope::default(), person.owner.clone(), EntryKind::Fact);
        list.standing = Some(Standing::Current);
        let engine = self.engine();
        let listed = self.answer(engine.list(list)).await?;
        let mut ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for hit in listed.hits {
            ids.entry(hit.doc.text.clone())
                .or_default()
                .push(hit.doc.key.id.to_string());
        }
        Ok(ids)
    }

    /// No entry is in the vault twice, and no message is in two episodes of a person.
    async fn episodes_twice(&self) -> Held<Vec<String>> {
        let mut broken = Vec::new();
        let mut entries = BTreeSet::new();
        let mut turns = BTreeMap::new();
        for (path, entry) in entries_of(&self.world.vault).await? {
            if !entries.insert((entry.owner.clone(), entry.id.clone())) {
                broken.push(format!("{} is in the vault twice, also in {path}", entry.id));
            }
            if is_of_memcell(&entry) {
                for turn in &entry.turns {
                    let place = turns.insert((entry.owner.clone(), turn.id.clone()), entry.id.clone());
                    if let Some(other) = place {
                        broken.push(format!("{} is in the episodes {other} and {}", turn.id, entry.id));
                    }
                }
            }
        }
        Ok(broken)
    }

    /// A forgotten name is found by no search and is in no file.
    async fn forgotten_is_gone(&mut self) -> Held<Vec<String>> {
        let mut broken = Vec::new();
        let gone = |person: &Person| {
            let gone = person.unusual.iter().filter(|one| one.fate == Fate::Gone);
            gone.map(|one| one.name.clone()).collect::<Vec<_>>()
        };
        for person in &self.people {
            for name in gone(person) {
                for query in [name.clone(), format!("Who is {name}?")] {
                    let found = self.search(&person.owner, &query).await?;
                    if format!("{found:?}").contains(&name) {
                        broken.push(format!(
                            "{name} was forgotten, and the search for {query:?} finds it"
                        ));
                    }
                }
            }
        }
        let vault = &self.world.vault;
        let in_vault = |path: &ports::VaultPath| (path.to_string(), vault.bytes(path).unwrap_or_default());
        let mut files: Vec<(String, Vec<u8>)> = vault.paths().iter().map(in_vault).collect();
        if let Some((_, folder)) = self.world.ledger_place() {
            files.extend(files_under(folder));
        }
        let rows = self.world.index.rows().into_iter();
        let rows = rows.map(|row| {
            (
                format!("the index, {:?}", row.key),
                format!("{row:?}").into_bytes(),
            )
        });
        files.extend(rows);
        let names: Vec<String> = self.people.iter().flat_map(gone).collect();
        for (place, bytes) in files {
            let text = String::from_utf8_lossy(&bytes).to_lowercase();
            for name in names.iter().filter(|name| text.contains(&name.to_lowercase())) {
                broken.push(format!("{name} was forgotten and is in {place}"));
            }
        }
        Ok(broken)
    }

    /// Each text that a person wrote is in its file, byte for byte.
    fn handwriting_stands(&self) -> Held<Vec<String>> {
        let mut broken = Vec::new();
        for person in &self.people {
            for written in &person.written {
                let text = self.text_of(&written.path)?;
                let stands = if written.is_file {
                    text == written.text
                } else {
                    text.contains(&written.text)
                };
                if !stands {
                    broken.push(format!(
                        "{:?} wrote {:?} in {}, which holds {text:?}",
                        person.owner, written.text, written.path
                    ));
                }
            }
        }
        Ok(broken)
    }

    /// Each page, and all pages of a person together, have at most the characters of the settings.
    fn core_memory_fits(&self) -> Held<Vec<String>> {
        let limits = Limits::default();
        let mut broken = Vec::new();
        for person in &self.people {
            let mut all = 0;
            for page in Page::ALL {
                let path = self.world.vault.path_of(&Scope::default(), &person.owner, page);
                let chars = self.text_of(&path)?.chars().count();
                if chars > limits.of(page) {
                    broken.push(format!("{path} has {chars} characters of {}", limits.of(page)));
                }
                all += chars;
            }
            if all > limits.chars_max {
                let owner = &person.owner;
                broken.push(format!(
                    "the pages of {owner:?} have {all} characters of {}",
                    limits.chars_max
                ));
            }
        }
        Ok(broken)
    }

    /// Prints observations that no promise covers: the present city, names that stay, and repeated statements.
    async fn observe(&mut self) -> Held {
        let mut lines = Vec::new();
        for person in &self.people {
            let id = &person.owner.id;
            let found = self.search(&person.owner, "Where do I live?").await?;
            let hits: Vec<String> = first(&found.memories).map(|text| shortened(&text)).collect();
            lines.push(format!(
                "{id} lived in {:?}; the first memories are {hits:?}",
                person.cities
            ));
            let facts = self.facts(person).await?;
            let city = |text: &&String| person.cities.iter().any(|city| text.contains(city));
            let own = |text: &&String| text.contains("I live ") || text.contains("moved");
            let held: Vec<&String> = facts.keys().filter(city).filter(own).collect();
            lines.push(format!("{id}: facts about the home that hold: {held:?}"));
            let stays = person.unusual.iter().filter(|one| one.fate == Fate::Stays);
            let (mut found_again, mut all) = (0, 0);
            for one in stays {
                let found = self
                    .search(&person.owner, &format!("Who is {}?", one.name))
                    .await?;
                let mut hits = first(&found.memories).chain(first(&found.messages));
                found_again += usize::from(hits.any(|text| text.contains(&one.name)));
                all += 1;
            }
            lines.push(format!(
                "{id}: {found_again} of {all} names that stay are among the first {FIRST}"
            ));
            let repeated: BTreeSet<&String> = person.repeated.iter().collect();
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for text in repeated {
                let bare = text.trim_end_matches('.').to_lowercase();
                let same = facts
                    .iter()
                    .filter(|(fact, _)| fact.to_lowercase().contains(&bare));
                *counts.entry(same.map(|(_, ids)| ids.len()).sum()).or_default() += 1;
            }
            lines.push(format!(
                "{id}: statements said again, by the number of their facts that hold: {counts:?}"
            ));
        }
        let engine = self.engine();
        let status = self.answer(engine.status()).await?;
        lines.push(format!(
            "problems: {:?}; panics: {}",
            status.problems(),
            status.loop_panics
        ));
        let runs = self.world.process().offline.stats().await;
        lines.push(format!(
            "background runs: {:?}",
            runs.map_err(|error| error.to_string())?
        ));
        for line in lines {
            (self.tell)(line);
        }
        Ok(())
    }
}

/// The texts of the first hits, each with the facts under it.
fn first(hits: &[Hit]) -> impl Iterator<Item = String> {
    hits.iter().take(FIRST).map(|hit| {
        let facts = hit.facts.iter().map(|fact| fact.doc.text.as_str());
        let own = [&*hit.doc.subject, &*hit.doc.summary, &*hit.doc.text];
        own.into_iter().chain(facts).collect::<Vec<_>>().join(" | ")
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}
