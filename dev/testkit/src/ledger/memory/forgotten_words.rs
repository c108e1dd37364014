//! Deleted words in memory, and messages that are recognised by their content.
//!
//! Owns: which messages an append leaves out. Never: hiding the text behind the marks.

use std::collections::BTreeSet;

use model::marks::{SaidMessage, SentMessage, sent_again};
use model::{Message, MessageId, Role, Scope, SessionKey};
use ports::NewMessage;

use super::{State, Stored};

fn digests_of(message: &Message) -> SaidMessage {
    SaidMessage::of(message, <[u8]>::to_vec)
}

fn sent<'a>(message: &'a Message, client_id: Option<&'a str>) -> SentMessage<'a> {
    SentMessage {
        said: digests_of(message),
        client_id,
        session: message.session.session.as_str(),
        time: message.time,
    }
}

impl State {
    /// Records the words of messages that are about to be deleted together.
    pub(super) fn note_forgotten(&mut self, gone: impl Fn(&Message) -> bool) {
        for session in self.sessions_with_messages() {
            let all: Vec<_> = self
                .messages
                .iter()
                .filter(|m| m.message.session == session)
                .collect();
            let mut marks = Vec::new();
            for (at, one) in all.iter().enumerate().filter(|(_, m)| gone(&m.message)) {
                marks.extend(sent(&one.message, one.client_id.as_deref()).marks());
                if let Some(previous) = at.checked_sub(1) {
                    marks.push(digests_of(&one.message).mark_after(&digests_of(&all[previous].message)));
                }
                if let Some(next) = all.get(at + 1) {
                    marks.push(digests_of(&one.message).mark_before(&digests_of(&next.message)));
                }
            }
            let marks = marks.into_iter().map(|mark| (session.scope.clone(), mark));
            self.words.extend(marks);
        }
    }

    fn sessions_with_messages(&self) -> Vec<SessionKey> {
        let mut sessions: Vec<SessionKey> = self.messages.iter().map(|m| m.message.session.clone()).collect();
        sessions.sort();
        sessions.dedup();
        sessions
    }

    /// For each message, whether it was deleted and is sent again.
    pub(super) fn again(&self, session: &SessionKey, messages: &[NewMessage]) -> Vec<bool> {
        let sent: Vec<SentMessage<'_>> = messages
            .iter()
            .map(|new| sent(&new.message, new.client_id.as_deref()))
            .collect();
        let before = self.messages.iter().rfind(|m| &m.message.session == session);
        let before = before.map(|m| digests_of(&m.message));
        let is_marked = |mark| Ok::<_, ()>(self.words.contains(&(session.scope.clone(), mark)));
        sent_again(before.as_ref(), &sent, is_marked).expect("it is in memory")
    }

    pub(super) fn strike(&mut self, scope: &Scope, new: &NewMessage) {
        for mark in sent(&new.message, new.client_id.as_deref()).marks() {
            self.words.remove(&(scope.clone(), mark));
        }
    }

    /// Among the first `known` messages the one without a client id that equals this one.
    pub(super) fn equal(&self, known: usize, new: &NewMessage) -> Option<MessageId> {
        let known = self.messages[..known]
            .iter()
            .filter(|stored| stored.client_id.is_none() && stored.message.session == new.message.session);
        let is_equal = |stored: &&Stored| match &new.repeat_key {
            Some(_) => stored.repeat_key == new.repeat_key,
            None => stored.repeat_key.is_none() && says_the_same(&stored.message, &new.message),
        };
        let mut known = known.filter(is_equal);
        known.next().map(|stored| stored.message.id.clone())
    }

    /// For each message its original in another session of the log's user, if it has one.
    pub(super) fn originals(&self, session: &SessionKey, messages: &[NewMessage]) -> Vec<Option<MessageId>> {
        let mut taken = BTreeSet::new();
        let originals = messages.iter().map(|new| {
            let user = new.log_of.as_ref()?;
            let is_theirs = |other: &SessionKey| {
                let mut of_session = self.messages.iter().filter(|m| &m.message.session == other);
                of_session.any(|m| m.message.role == Role::User && m.message.sender == *user)
            };
            let is_original = |m: &Message| {
                m.session.scope == session.scope
                    && m.session != *session
                    && says_the_same(m, &new.message)
                    && is_theirs(&m.session)
                    && !taken.contains(&m.id)
            };
            let mut all = self.messages.iter().map(|stored| &stored.message);
            let id = all.find(|m| is_original(m))?.id.clone();
            taken.insert(id.clone());
            Some(id)
        });
        originals.collect()
    }
}

/// Whether two messages are equal apart from their ids, sessions and display names.
fn says_the_same(one: &Message, other: &Message) -> bool {
    let (one, other) = (one.without_names(), other.without_names());
    (&one.sender, one.role, one.time) == (&other.sender, other.role, other.time)
        && (&one.content, &one.tool_calls, &one.tool_call_id)
            == (&other.content, &other.tool_calls, &other.tool_call_id)
}
