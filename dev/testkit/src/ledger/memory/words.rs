//! Deleted words in memory, and messages that are known by their content.
//!
//! Owns: which messages an append leaves out. Never: hiding what the marks stand for.

use model::marks::{SaidMessage, SentMessage, sent_again};
use model::{Message, MessageId, Scope, SessionKey};
use ports::NewMessage;

use super::State;

fn said(message: &Message) -> SaidMessage {
    SaidMessage::of(message, <[u8]>::to_vec)
}

fn sent<'a>(message: &Message, client_id: Option<&'a str>) -> SentMessage<'a> {
    SentMessage {
        said: said(message),
        client_id,
        time: message.time,
    }
}

impl State {
    /// Notes the words of messages that are about to be deleted together.
    pub(super) fn note_words(&mut self, gone: impl Fn(&Message) -> bool) {
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
                    marks.push(said(&one.message).behind(&said(&all[previous].message)));
                }
                if let Some(next) = all.get(at + 1) {
                    marks.push(said(&one.message).ahead_of(&said(&next.message)));
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

    /// Which of these messages were deleted and are sent again.
    pub(super) fn again(&self, session: &SessionKey, messages: &[NewMessage]) -> Vec<bool> {
        let sent: Vec<SentMessage<'_>> = messages
            .iter()
            .map(|new| sent(&new.message, new.client_id.as_deref()))
            .collect();
        let before = self.messages.iter().rfind(|m| &m.message.session == session);
        let before = before.map(|m| said(&m.message));
        let is_marked = |mark| Ok::<_, ()>(self.words.contains(&(session.scope.clone(), mark)));
        sent_again(before.as_ref(), &sent, is_marked).expect("it is in memory")
    }

    pub(super) fn strike(&mut self, scope: &Scope, new: &NewMessage) {
        for mark in sent(&new.message, new.client_id.as_deref()).marks() {
            self.words.remove(&(scope.clone(), mark));
        }
    }

    /// Of the first `known` messages the one without a client id that this one repeats.
    pub(super) fn equal(&self, known: usize, new: &Message) -> Option<MessageId> {
        let is_equal = |m: &Message| {
            (&m.session, &m.sender, m.role, m.time) == (&new.session, &new.sender, new.role, new.time)
                && (&m.content, &m.tool_calls, &m.tool_call_id)
                    == (&new.content, &new.tool_calls, &new.tool_call_id)
        };
        let known = self.messages[..known]
            .iter()
            .filter(|stored| stored.client_id.is_none());
        let known = known.map(|stored| &stored.message);
        known.filter(|m| is_equal(m)).map(|m| m.id.clone()).next()
    }
}
