//! The messages of people: sender, session and text.
//!
//! Owns: people's texts. Never: sending them, or the work of agents with tools (`agents`).

use memory::Add;
use model::{Content, Message, MessageId, Name, Owner, Role, Scope, SessionId, SessionKey, Timestamp};
use ports::{Clock as _, Ids as _, JobId, NewMessage};

use crate::book::{ClientMessage, Fate, Talk, name, word};
use crate::steps::{Promise, Run};

/// Number of sessions that people may continue.
const RECENT: usize = 8;
/// After this many sessions other people come, so no owner's memory grows without end.
const GENERATION: usize = 24;
const USERS: usize = 4;
pub(crate) const MINUTE_MILLIS: i64 = 60_000;

impl Run {
    pub(crate) fn session(&mut self) -> SessionKey {
        let known = self.book.sessions.len();
        if known == 0 || self.dice.percent(70) {
            let scope = if self.dice.percent(30) {
                Scope::new(name("acme"), name("one"))
            } else {
                Scope::default()
            };
            let session = SessionId::new(format!("s{known}"));
            return SessionKey { scope, session };
        }
        let number = known - 1 - self.dice.below(RECENT.min(known));
        let is_it = |key: &&SessionKey| key.session.as_str() == format!("s{number}");
        let found = self.book.sessions.keys().find(is_it).cloned();
        found.expect("they are numbered")
    }

    /// The users who spoke in a session.
    pub(crate) fn users(&self, key: &SessionKey) -> Vec<Owner> {
        let standing = self.book.sessions.get(key);
        standing.map_or_else(Vec::new, |session| session.users.iter().cloned().collect())
    }

    pub(crate) fn somebody(&self) -> Owner {
        let number = self.book.sessions.len() / GENERATION * USERS + self.dice.below(USERS);
        Owner::user(name(&format!("u{number}")))
    }

    /// A few messages of one user, perhaps with an answer, in a session of one or two users.
    pub(crate) fn saying(&mut self) -> Promise {
        let key = self.session();
        let mut users = self.users(&key);
        if users.is_empty() || users.len() == 1 && self.dice.percent(5) {
            users.push(self.somebody());
        }
        let has_ids = self.dice.percent(70);
        let mut time = self.world.clock.now();
        let mut messages = Vec::new();
        let mut said = Vec::new();
        for _ in 0..=self.dice.below(5) {
            let user = if said.is_empty() || self.dice.percent(60) {
                self.dice.pick(&users)
            } else {
                None
            };
            let step = self
                .dice
                .weighed(&[(3, 0), (6, MINUTE_MILLIS / 3), (1, 120 * MINUTE_MILLIS)]);
            time = time.plus_millis(step);
            let (one, text) = self.one_message(&key, user.clone(), time, has_ids);
            let number = self.book.sends(one);
            said.push(number);
            let (sender, role) = match &user {
                Some(user) => (user.id.clone(), Role::User),
                None => (name("bot"), Role::Assistant),
            };
            let message = spoken(&key, sender, role, time, text);
            messages.push(NewMessage {
                accept_forgotten: false,
                log_of: None,
                repeat_key: None,
                message,
                client_id: has_ids.then(|| format!("c{number}")),
            });
        }
        let add = Add {
            title: None,
            session: key,
            messages,
            defer_extraction: self.dice.percent(15),
            task: self.task(),
        };
        Promise::Add(add, said, self.dice.percent(8))
    }

    pub(crate) fn task(&self) -> Option<JobId> {
        let is_task = self.dice.percent(15);
        is_task.then(|| JobId(format!("{:016x}{:016x}", self.dice.next(), self.dice.next())))
    }

    /// A message; sometimes it repeats the last one.
    fn one_message(
        &mut self,
        key: &SessionKey,
        user: Option<Owner>,
        time: Timestamp,
        has_id: bool,
    ) -> (ClientMessage, String) {
        let last = self.book.said.last();
        let again = last
            .filter(|last| last.session == *key && last.user == user)
            .cloned();
        let (word_of, talk) = if let Some(last) = again.filter(|_| self.dice.percent(10)) {
            (last.word, last.talk)
        } else {
            let talk = self
                .dice
                .weighed(&[(5, Talk::Small), (3, Talk::Fact), (2, Talk::Plan)]);
            (self.book.new_word(), talk)
        };
        let it = word(word_of);
        let text = match (talk, word_of % 3) {
            (Talk::Small, _) => format!("The {it} leaks at the third plank"),
            (Talk::Fact, 0) => format!("I live in {it}."),
            (Talk::Fact, 1) => format!("I work at {it}."),
            (Talk::Fact, _) => format!("I am allergic to {it}."),
            (Talk::Plan, _) => format!("I'm flying to {it} on Friday."),
        };
        let said = ClientMessage {
            session: key.clone(),
            word: word_of,
            talk,
            user,
            time,
            has_id,
            fate: Fate::Unsure,
            untold: false,
        };
        (said, text)
    }
}

/// A message without tools, as a client sends it.
pub(crate) fn spoken(key: &SessionKey, sender: Name, role: Role, time: Timestamp, text: String) -> Message {
    Message {
        id: MessageId::new(""),
        session: key.clone(),
        sender,
        sender_name: None,
        role,
        time,
        content: Content::Text(text).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}
