//! The record of expected state, kept outside Quipu: who said something and got an acknowledgement, which
//! messages were forgotten, which texts a person wrote.
//!
//! Owns: the fate of every word. Never: calls to Quipu. Each message and each edit holds one word that occurs
//! nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use model::{Entry, EntryId, MessageId, Name, Owner, Scope, SessionId, SessionKey, SkillStatus, Timestamp};
use ports::{Accepted, VaultPath};

/// Number of a word, see [`word`].
pub(crate) type Word = usize;

/// Both ends of a word. No id has the letter `l`, so an id never completes a word with the characters next to
/// it in a file.
const WORD_END: &str = "zl";

/// Spells the word of a number. It occurs in no natural language.
pub(crate) fn word(number: Word) -> String {
    format!("{WORD_END}{number}{WORD_END}")
}

/// The words in some bytes.
pub(crate) fn words_in(bytes: &[u8]) -> BTreeSet<Word> {
    let text = String::from_utf8_lossy(bytes);
    let mut words = BTreeSet::new();
    let mut rest = &*text;
    while let Some(at) = rest.find(WORD_END) {
        rest = &rest[at + WORD_END.len()..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if rest[digits..].starts_with(WORD_END) {
            words.extend(rest[..digits].parse::<Word>());
        }
    }
    words
}

/// The fate of a message or an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate<T = ()> {
    /// Acknowledged, and nobody asked to forget it.
    Kept(T),
    /// No answer came: it may be stored or not.
    Unsure,
    /// Forgotten on request, or never sent again.
    Gone,
}

/// Subject of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    Small,
    Fact,
    /// An upcoming event, which makes a foresight.
    Plan,
}

/// A message that a client sent.
#[derive(Debug, Clone)]
pub(crate) struct ClientMessage {
    pub(crate) session: SessionKey,
    pub(crate) word: Word,
    pub(crate) talk: Talk,
    /// None for messages of an assistant.
    pub(crate) user: Option<Owner>,
    pub(crate) time: Timestamp,
    /// The client gave it an id.
    pub(crate) has_id: bool,
    pub(crate) fate: Fate<MessageId>,
    /// A person deleted its episode from the vault, so no entry has to contain it.
    pub(crate) untold: bool,
}

/// A conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    pub(crate) users: BTreeSet<Owner>,
    /// Agents that worked in it with tools.
    agents: BTreeSet<Owner>,
    /// One of several users had a part forgotten. Whether the rest stays with the others is not checked.
    pub(crate) parted: bool,
}

/// Where a person wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A whole file of their own.
    File,
    /// The heading of an entry.
    Heading(EntryId, SessionId),
    /// A line of a page.
    Page,
    /// A line of a skill, which goes with cases of the skill.
    Skill,
}

/// A text that a person wrote into a file.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) owner: (Scope, Owner),
    pub(crate) path: VaultPath,
    pub(crate) place: Place,
    pub(crate) text: String,
    pub(crate) word: Word,
    pub(crate) fate: Fate,
    /// Number of the process that ran at that time.
    pub(crate) process: usize,
}

/// Scope, owner and id of an entry.
pub(crate) type Key = (Scope, Owner, EntryId);

/// A skill that a person approved or rejected, as it read at that time.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) status: SkillStatus,
    pub(crate) skill: Entry,
}

/// A request to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Forgetting {
    Session(SessionKey),
    Owner(Scope, Owner),
    Part(SessionKey, Owner),
    /// An episode, with its messages.
    Entry(SessionKey, Owner, EntryId, BTreeSet<MessageId>),
}

/// The expected state of all stores.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) said: Vec<ClientMessage>,
    pub(crate) sessions: BTreeMap<SessionKey, Session>,
    pub(crate) written: Vec<Written>,
    /// Entries that must never return.
    pub(crate) gone: BTreeSet<Key>,
    pub(crate) judged: BTreeMap<Key, Judged>,
    /// Words of skills that a person judged or edited. The skill is that person's text now, so deleting its
    /// sources does not remove them.
    adopted: BTreeSet<(Scope, Owner, Word)>,
    /// Entries that a person deleted from their files, or may have deleted by undoing a run.
    pub(crate) taken: BTreeSet<EntryId>,
    /// Words of deleted entries that nobody had forgotten. Only the history may hold them.
    pub(crate) past: BTreeSet<Word>,
    /// Owners who must not find the earlier messages of a session.
    revoked: BTreeSet<(Owner, SessionKey)>,
    words: Word,
}

impl Book {
    pub(crate) fn new_word(&mut self) -> Word {
        self.words += 1;
        self.words
    }

    /// Records that a message is being sent.
    pub(crate) fn sends(&mut self, said: ClientMessage) -> usize {
        let session = self.sessions.entry(said.session.clone()).or_default();
        if let Some(user) = &said.user {
            session.users.insert(user.clone());
            self.revoked.remove(&(user.clone(), said.session.clone()));
        }
        self.said.push(said);
        self.said.len() - 1
    }

    /// Records that an agent works in a session.
    pub(crate) fn works(&mut self, session: &SessionKey, agent: Owner) {
        let session = self.sessions.entry(session.clone()).or_default();
        session.agents.insert(agent);
    }

    /// Records that a person took over a skill.
    pub(crate) fn adopts(&mut self, skill: &Entry) {
        for word in words_in(format!("{} {} {}", skill.subject, skill.summary, skill.body).as_bytes()) {
            self.adopted
                .insert((skill.scope.clone(), skill.owner.clone(), word));
        }
    }

    /// Records that a message is sent once more. If nothing had stored it before its session was forgotten,
    /// it is new to Quipu: until an answer comes its fate is unknown.
    pub(crate) fn is_sent_again(&mut self, said: usize) {
        let said = &mut self.said[said];
        if said.fate == Fate::Gone {
            said.fate = Fate::Unsure;
        }
        if let Some(user) = &said.user {
            self.revoked.remove(&(user.clone(), said.session.clone()));
        }
    }

    /// Records an acknowledgement. A retry leaves out a message that was forgotten before its client got the
    /// answer.
    ///
    /// Two messages with the same words and the same time are one, unless both have client ids.
    pub(crate) fn is_acknowledged(&mut self, number: usize, accepted: Accepted) {
        let is_one = |(other, earlier): (usize, &ClientMessage)| {
            let said = &self.said[number];
            other != number
                && earlier.fate == Fate::Kept(accepted.id.clone())
                && (earlier.word, earlier.time) == (said.word, said.time)
                && !(earlier.has_id && said.has_id)
        };
        let is_repeated = accepted.duplicate && self.said.iter().enumerate().any(is_one);
        let said = &mut self.said[number];
        if accepted.forgotten || is_repeated {
            said.fate = Fate::Gone;
            return;
        }
        said.fate = Fate::Kept(accepted.id);
        if let Some(user) = &said.user {
            self.revoked.remove(&(user.clone(), said.session.clone()));
        }
    }

    /// Records a request to forget. Until it is answered its progress is unknown.
    pub(crate) fn is_forgetting(&mut self, what: &Forgetting) {
        self.forget(what, &Fate::Unsure);
        for written in &mut self.written {
            let may_go = written.place == Place::Skill || is_taken(written, what);
            if may_go && written.fate != Fate::Gone {
                written.fate = Fate::Unsure;
            }
        }
    }

    /// Records that the request to forget succeeded.
    pub(crate) fn is_forgotten(&mut self, what: &Forgetting) {
        self.forget(what, &Fate::Gone);
        for written in &mut self.written {
            if is_taken(written, what) {
                written.fate = Fate::Gone;
            }
        }
        if let Forgetting::Entry(session, owner, id, _) = what {
            self.gone
                .insert((session.scope.clone(), owner.clone(), id.clone()));
        }
    }

    fn forget(&mut self, what: &Forgetting, fate: &Fate<MessageId>) {
        let mut concerned = Vec::new();
        for (key, session) in &mut self.sessions {
            let by = match what {
                Forgetting::Session(of) if of == key => None,
                Forgetting::Part(of, owner) | Forgetting::Entry(of, owner, ..) if of == key => Some(owner),
                Forgetting::Owner(scope, owner) if key.scope == *scope && session.users.contains(owner) => {
                    Some(owner)
                }
                _ => continue,
            };
            session.parted |= by.is_some() && session.users.len() > 1;
            if let Some(owner) = by
                && !matches!(what, Forgetting::Entry(..))
            {
                self.revoked.insert((owner.clone(), key.clone()));
            }
            concerned.push((key.clone(), session.parted));
        }
        for (key, parted) in concerned {
            for said in self.said.iter_mut().filter(|said| said.session == key) {
                let is_named = match (what, &said.fate) {
                    (Forgetting::Entry(.., messages), Fate::Kept(id)) => messages.contains(id),
                    (Forgetting::Entry(..), _) => false,
                    _ => true,
                };
                let whole = matches!(what, Forgetting::Session(_));
                if is_named && said.fate != Fate::Gone {
                    said.fate = if parted && !whole {
                        Fate::Unsure
                    } else {
                        fate.clone()
                    };
                }
            }
        }
    }

    /// Records that a person deleted an entry from its file.
    pub(crate) fn is_taken_out(&mut self, id: &EntryId, messages: &BTreeSet<MessageId>) {
        for said in &mut self.said {
            said.untold |= matches!(&said.fate, Fate::Kept(id) if messages.contains(id));
        }
        self.taken.insert(id.clone());
        for written in &mut self.written {
            if matches!(&written.place, Place::Heading(of, _) if of == id) && written.fate != Fate::Gone {
                written.fate = Fate::Gone;
                self.past.insert(written.word);
            }
        }
    }

    /// Records that a person undid the run that wrote an entry. The entry may now exist or not.
    pub(crate) fn is_doubtful(&mut self, entry: &Entry) {
        let turns = entry.turns.iter().map(|turn| &turn.id);
        let messages: BTreeSet<MessageId> = turns.chain(&entry.sources).cloned().collect();
        for said in &mut self.said {
            said.untold |= matches!(&said.fate, Fate::Kept(id) if messages.contains(id));
        }
        self.taken.insert(entry.id.clone());
    }

    /// How often each word must be in the ledger, and how often it may be there.
    pub(crate) fn counts(&self) -> BTreeMap<Word, (usize, usize)> {
        let mut counts: BTreeMap<Word, (usize, usize)> = BTreeMap::new();
        for said in &self.said {
            let (least, most) = counts.entry(said.word).or_default();
            match said.fate {
                Fate::Kept(_) => (*least, *most) = (*least + 1, *most + 1),
                Fate::Unsure => *most += 1,
                Fate::Gone => {}
            }
        }
        counts
    }

    /// Words that any store may hold.
    pub(crate) fn alive(&self) -> BTreeSet<Word> {
        let counts = self.counts().into_iter();
        let said = counts.filter(|(_, (_, most))| *most > 0).map(|(word, _)| word);
        let written = self.written.iter().filter(|one| one.fate != Fate::Gone);
        let adopted = self.adopted.iter().map(|(_, _, word)| *word);
        said.chain(written.map(|one| one.word)).chain(adopted).collect()
    }

    /// The words that an owner may find.
    pub(crate) fn open_to(&self, scope: &Scope, owner: &Owner) -> BTreeSet<Word> {
        let is_theirs = |key: &SessionKey| {
            key.scope == *scope
                && (self.sessions[key].users.contains(owner) || self.sessions[key].agents.contains(owner))
                && !self.revoked.contains(&(owner.clone(), key.clone()))
        };
        let said = self.said.iter().filter(|said| said.fate != Fate::Gone);
        let said = said.filter(|said| is_theirs(&said.session)).map(|said| said.word);
        let written = self.written.iter().filter(|one| one.fate != Fate::Gone);
        let written = written.filter(|one| one.owner == (scope.clone(), owner.clone()));
        let adopted = self.adopted.iter();
        let adopted = adopted.filter(|(of, by, _)| (of, by) == (scope, owner));
        let adopted = adopted.map(|(_, _, word)| *word);
        said.chain(written.map(|one| one.word)).chain(adopted).collect()
    }

    /// Everyone who spoke, with the scope.
    pub(crate) fn owners(&self) -> BTreeSet<(Scope, Owner)> {
        let sessions = self.sessions.iter();
        sessions
            .flat_map(|(key, session)| session.users.iter().map(|user| (key.scope.clone(), user.clone())))
            .collect()
    }

    /// Every agent that worked, with the scope.
    pub(crate) fn agents(&self) -> BTreeSet<(Scope, Owner)> {
        let sessions = self.sessions.iter();
        sessions
            .flat_map(|(key, session)| {
                session
                    .agents
                    .iter()
                    .map(|agent| (key.scope.clone(), agent.clone()))
            })
            .collect()
    }
}

/// Whether a request to forget also deletes a text that a person wrote.
fn is_taken(written: &Written, what: &Forgetting) -> bool {
    match (what, &written.place) {
        (Forgetting::Owner(scope, owner), _) => written.owner == (scope.clone(), owner.clone()),
        (Forgetting::Session(key), Place::Heading(_, session)) => {
            written.owner.0 == key.scope && *session == key.session
        }
        (Forgetting::Part(key, owner), Place::Heading(_, session)) => {
            written.owner == (key.scope.clone(), owner.clone()) && *session == key.session
        }
        (Forgetting::Entry(key, owner, id, _), Place::Heading(of, _)) => {
            written.owner == (key.scope.clone(), owner.clone()) && of == id
        }
        _ => false,
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("a proper name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_an_id_beside_other_text_is_none() {
        let text = format!("about {}and {}{}", word(7), word(12), word(12));
        assert_eq!(words_in(text.as_bytes()), BTreeSet::from([7, 12]));
        // A job's subject next to its state, as in a row of the ledger's file.
        assert_eq!(
            words_in(b"write_cellmc_20260302_8gksmvzzq787zqueued"),
            BTreeSet::new()
        );
        let letters = "0123456789abcdefghjkmnpqrstvwxyz";
        assert!(!WORD_END.chars().all(|letter| letters.contains(letter)));
    }
}
