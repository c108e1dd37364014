//! The actions of the year: chats, edits by hand, forgetting and searches.
//!
//! Owns: the requests, and their entry in the record of each person. Never: the days of the actions, or a check at the
//! end.

use std::collections::BTreeSet;
use std::time::Duration;

use memory::{Add, Forget, Found, Method, Search, WordsTarget};
use model::{Entry, Owner, Page, Role, Scope, SessionId, SessionKey};
use ports::{Accepted, Clock as _, NewMessage, Pages as _, VaultPath};

use super::person::{Fate, Handwriting, Unusual};
use super::{Year, sentences};
use crate::book::name;
use crate::hands::{entries_of, heading_of, is_of_memcell, mark_of};
use crate::says::spoken;
use crate::world::Held;

/// Of a hundred statements, this many were said before.
const AGAIN_PERCENT: u64 = 3;
/// A statement is said again after this many days at the earliest.
const AGAIN_DAYS: u32 = 60;
/// Of a hundred chats, this many continue the newest session of the person, or have an unusual name.
const CONTINUES_PERCENT: u64 = 15;
const UNUSUAL_PERCENT: u64 = 10;
/// On this many of a hundred days a person writes in a file.
const WRITES_PERCENT: u64 = 10;
/// Maximum number of hits of each kind in an answer.
const HITS_MAX: usize = 20;

impl Year<'_> {
    /// A person chats: the news of the day, statements and questions, each with an answer.
    pub(super) async fn chat(&mut self, number: usize) -> Held {
        let (dice, day) = (self.dice.clone(), self.day);
        let person = &mut self.people[number];
        let mut lines = person.news(&dice, day);
        let mut is_plain = lines.is_empty();
        if day == person.kept_day {
            lines.push(person.kept.text.to_owned());
            is_plain = false;
        }
        let continued = person
            .session
            .take()
            .filter(|_| is_plain && dice.percent(CONTINUES_PERCENT));
        let is_new = continued.is_none();
        let session = continued.unwrap_or_else(|| SessionKey {
            scope: Scope::default(),
            session: SessionId::new(format!("{}-{day}", person.owner.id)),
        });
        if is_new && is_plain && dice.percent(UNUSUAL_PERCENT) {
            lines.extend(self.unusual(number, &session));
        } else if is_plain {
            self.people[number].session = Some(session.clone());
        }
        for _ in 0..2 + dice.below(3) {
            lines.push(self.statement(number));
        }
        for _ in 0..dice.below(3) {
            lines.push(sentences::question(&dice));
        }
        for line in lines {
            let reply = sentences::reply(&dice);
            self.say(number, &session, &[(line, reply)]).await?;
            self.world
                .clock
                .advance(Duration::from_secs(30 + dice.below(120) as u64));
            self.calm().await?;
        }
        Ok(())
    }

    /// A statement, sometimes one that the person made months ago.
    fn statement(&mut self, number: usize) -> String {
        let day = self.day;
        let person = &mut self.people[number];
        let old = person.said.iter().filter(|(said, _)| said + AGAIN_DAYS <= day);
        let old: Vec<String> = old.map(|(_, text)| text.clone()).collect();
        if let Some(text) = self.dice.pick(&old).filter(|_| self.dice.percent(AGAIN_PERCENT)) {
            person.repeated.push(text.clone());
            return text;
        }
        let text = sentences::statement(&self.dice);
        person.said.push((day, text.clone()));
        sentences::opened(&self.dice, &text)
    }

    /// Sentences with an unusual name that no other session has.
    fn unusual(&mut self, number: usize, session: &SessionKey) -> Vec<String> {
        let name = sentences::unusual_name(self.names);
        self.names += 1;
        let due = self.day + 2 + u32::try_from(self.dice.below(40)).expect("it is small");
        let fate = self
            .dice
            .weighed(&[(2, Fate::Stays), (2, Fate::Words(due)), (1, Fate::Session(due))]);
        let lines = sentences::about(&self.dice, &name);
        self.people[number].unusual.push(Unusual {
            name,
            session: session.clone(),
            fate,
        });
        lines
    }

    /// Adds sentences of a person with their answers, in one request.
    pub(super) async fn say(
        &mut self,
        number: usize,
        session: &SessionKey,
        lines: &[(String, String)],
    ) -> Held {
        let owner = self.people[number].owner.clone();
        let mut messages = Vec::new();
        for (line, reply) in lines {
            let by = [
                (owner.id.clone(), Role::User, line),
                (name("bot"), Role::Assistant, reply),
            ];
            for (sender, role, text) in by {
                let time = self.world.clock.now();
                messages.push(NewMessage {
                    accept_forgotten: false,
                    log_of: None,
                    repeat_key: None,
                    message: spoken(session, sender, role, time, text.clone()),
                    client_id: Some(format!("c{}", self.said + messages.len())),
                });
            }
        }
        let count = messages.len();
        let add = Add {
            title: None,
            session: session.clone(),
            messages,
            defer_extraction: false,
            task: None,
        };
        let engine = self.engine();
        let added = self.answer(engine.add(add)).await?;
        let left_out = added.accepted.iter().filter(|one| one.forgotten).count();
        let is_known = |one: &Accepted| one.duplicate && !one.forgotten;
        if added.accepted.len() != count || added.accepted.iter().any(is_known) {
            return Err(format!(
                "{count} new messages were sent, and the answer is {added:?}"
            ));
        }
        self.left_out += left_out;
        for (line, _) in lines.iter().filter(|_| left_out > 0) {
            (self.tell)(format!(
                "day {}: taken for a forgotten message that is sent again: {line:?}",
                self.day
            ));
        }
        self.said += count;
        Ok(())
    }

    /// Forgets each unusual name that is due today. No search finds the name afterwards.
    pub(super) async fn forget_due(&mut self) -> Held {
        for number in 0..self.people.len() {
            for at in 0..self.people[number].unusual.len() {
                let owner = self.people[number].owner.clone();
                let unusual = self.people[number].unusual[at].clone();
                let what = match unusual.fate {
                    Fate::Words(due) if due <= self.day => Forget::Words(WordsTarget {
                        scope: Scope::default(),
                        owner: owner.clone(),
                        words: unusual.name.clone(),
                        keep: BTreeSet::new(),
                        also: BTreeSet::new(),
                    }),
                    Fate::Session(due) if due <= self.day => Forget::Session(unusual.session),
                    _ => continue,
                };
                let engine = self.engine();
                let forgot = self.answer(engine.forget(what)).await?;
                if forgot.messages == 0 {
                    return Err(format!("{owner:?} forgets {}: {forgot:?}", unusual.name));
                }
                self.forgotten += forgot.messages;
                self.people[number].unusual[at].fate = Fate::Gone;
                let found = self.search(&owner, &unusual.name).await?;
                if format!("{found:?}").contains(&unusual.name) {
                    let name = unusual.name;
                    self.broken
                        .push(format!("day {}: {name} was forgotten and is found", self.day));
                }
            }
        }
        Ok(())
    }

    /// On some days a person writes a file, a line of a page, or a heading.
    pub(super) async fn write_by_hand(&mut self) -> Held {
        if !self.dice.percent(WRITES_PERCENT) {
            return Ok(());
        }
        let number = self.dice.below(self.people.len());
        let owner = self.people[number].owner.clone();
        let text = sentences::line(&self.dice, self.day as usize);
        let vault = self.world.vault.clone();
        let written = match self.dice.below(3) {
            0 => {
                let page = vault.path_of(&Scope::default(), &owner, Page::Memory);
                let folder = page.trim_end_matches(Page::Memory.as_str());
                let path: VaultPath = format!("{folder}facts/own-{}.md", self.day).into();
                let text = format!("## Note of day {}\n\n{text}\n", self.day);
                vault.write(&path, text.clone());
                Some(Handwriting {
                    path,
                    text,
                    is_file: true,
                })
            }
            1 => {
                let page = self.dice.pick(&Page::ALL).expect("there are some");
                let path = vault.path_of(&Scope::default(), &owner, page);
                let mut before = self.text_of(&path)?;
                if !before.is_empty() && !before.ends_with('\n') {
                    before.push('\n');
                }
                vault.write(&path, format!("{before}{text}\n"));
                Some(Handwriting {
                    path,
                    text: text + "\n",
                    is_file: false,
                })
            }
            _ => self.write_heading(number).await?,
        };
        self.people[number].written.extend(written);
        self.calm().await
    }

    /// A person adds to the heading of an episode without an unusual name.
    async fn write_heading(&self, number: usize) -> Held<Option<Handwriting>> {
        let person = &self.people[number];
        let mut all: Vec<(VaultPath, Entry)> = entries_of(&self.world.vault).await?;
        let has_unusual = |entry: &Entry| entry.turns.iter().any(|turn| person.is_unusual(&turn.text()));
        all.retain(|(_, entry)| {
            is_of_memcell(entry)
                && entry.owner == person.owner
                && !has_unusual(entry)
                && !person
                    .unusual
                    .iter()
                    .any(|one| entry.session.as_ref() == Some(&one.session.session))
        });
        let Some((path, entry)) = self.dice.pick(&all) else {
            return Ok(None);
        };
        let text = self.text_of(&path)?;
        let (begin, at) = heading_of(&text, &path, &entry)?;
        if text[begin..at].contains("(mine: ") {
            return Ok(None);
        }
        let mark = mark_of(&entry);
        let heading = format!("{} (mine: day {}){mark}", &text[begin..at], self.day);
        let after = format!("{}{heading}{}", &text[..begin], &text[at + mark.len()..]);
        self.world.vault.write(&path, after);
        Ok(Some(Handwriting {
            path,
            text: heading,
            is_file: false,
        }))
    }

    /// The text of a file; empty without a file.
    pub(super) fn text_of(&self, path: &VaultPath) -> Held<String> {
        let bytes = self.world.vault.bytes(path).unwrap_or_default();
        String::from_utf8(bytes).map_err(|error| format!("{path} is no text: {error}"))
    }

    /// Searches as a person.
    pub(super) async fn search(&self, owner: &Owner, query: &str) -> Held<Found> {
        let search = Search {
            scope: Scope::default(),
            owner: owner.clone(),
            query: query.to_owned(),
            method: Method::Hybrid,
            memories_max: HITS_MAX,
            messages_max: HITS_MAX,
            filter: None,
            as_of: None,
            asked_at: None,
            score_min: 0.0,
            tokens_max: None,
            with_person: false,
            rerank: None,
        };
        let engine = self.engine();
        self.answer(engine.search(search)).await
    }
}
