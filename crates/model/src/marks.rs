//! Distinguishes a deleted message that is sent again from a new one with the same words.
//!
//! Owns: the evidence, and the marks that store it. Never: storing marks, or hashing them.

use crate::{Message, Role, Timestamp};

/// Minimum characters of a long text. Shorter texts, such as "Yes, go on." or "Can you explain
/// that?", recur every day, while a sentence with a name, a place or a number is seldom shorter.
const SHORT_CHARS: usize = 24;

/// Minimum bytes of a client id that identifies a message outside its session; a shorter one, such
/// as `line-3`, is unique within its session only.
const OWN_ID_BYTES: usize = 16;

/// The speaker and the words of a message, without place and time. For models and tools only the
/// role counts, since exports name them differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidMessage {
    key: Vec<u8>,
    is_long: bool,
    is_users: bool,
}

/// A message as a client sends it.
#[derive(Debug, Clone)]
pub struct SentMessage<'a> {
    pub said: SaidMessage,
    pub client_id: Option<&'a str>,
    pub session: &'a str,
    pub time: Timestamp,
}

impl SaidMessage {
    /// Reads a message; `digest` hashes its fields for use in every mark.
    pub fn of(message: &Message, digest: impl FnOnce(&[u8]) -> Vec<u8>) -> Self {
        let text = message.text();
        let text = text.trim();
        let is_users = message.role == Role::User;
        let sender = if is_users { message.sender.as_str() } else { "" };
        let mut fields = vec![message.role.as_str(), sender, text];
        let calls = message.tool_calls.iter();
        fields.extend(calls.flat_map(|call| [call.name.as_str(), call.arguments.as_str()]));
        let fields: Vec<&[u8]> = fields.into_iter().map(str::as_bytes).collect();
        Self {
            key: digest(&mark(b'm', &fields)),
            is_long: text.chars().nth(SHORT_CHARS - 1).is_some(),
            is_users,
        }
    }

    fn word_mark(&self) -> Vec<u8> {
        mark(b'w', &[&self.key])
    }

    fn time_mark(&self, time: Timestamp) -> Vec<u8> {
        mark(b't', &[&self.key, &time.millis().to_le_bytes()])
    }

    fn client_id_mark(&self, client_id: &str) -> Vec<u8> {
        mark(b'i', &[&self.key, client_id.as_bytes()])
    }

    fn session_mark(&self, session: &str) -> Vec<u8> {
        mark(b's', &[&self.key, session.as_bytes()])
    }

    /// The mark of deleted words with the message before them.
    pub fn mark_after(&self, previous: &Self) -> Vec<u8> {
        mark(b'b', &[&self.key, &previous.key])
    }

    /// The mark of deleted words with the message after them.
    pub fn mark_before(&self, next: &Self) -> Vec<u8> {
        mark(b'a', &[&self.key, &next.key])
    }

    /// Whether the words and a neighbour identify a message: no other conversation is likely to
    /// have both. A short neighbour is enough for a user's words that are sent as history; a model
    /// often repeats its words.
    fn is_proved_by(&self, neighbour: &Self, is_history: bool) -> bool {
        self.is_long && (neighbour.is_long || self.is_users && is_history)
    }
}

impl SentMessage<'_> {
    /// The marks of this message alone. Without any of them stored, it is new.
    pub fn marks(&self) -> Vec<Vec<u8>> {
        let said = &self.said;
        let mut marks = vec![
            said.word_mark(),
            said.time_mark(self.time),
            said.session_mark(self.session),
        ];
        marks.extend(self.client_id.map(|id| said.client_id_mark(id)));
        marks
    }
}

/// For each of these messages, whether it was deleted and is sent again; `before` is the session's
/// last message before them. Such a message has the words of a deleted one and one thing more: its
/// time; its client id, if text and id are long; both its former neighbours; one of them, if the
/// two texts identify it; or one that is itself sent again. A user's message before another one in
/// what is sent, or in its session of then, is history: then one neighbour of any length is enough.
pub fn sent_again<E>(
    before: Option<&SaidMessage>,
    sent: &[SentMessage<'_>],
    mut is_marked: impl FnMut(Vec<u8>) -> Result<bool, E>,
) -> Result<Vec<bool>, E> {
    // Whether each message follows, and precedes, the same neighbour as when it was deleted.
    let (mut behind, mut ahead) = (vec![false; sent.len()], vec![false; sent.len()]);
    let mut again = vec![false; sent.len()];
    // What a user says now is behind what a client sends again.
    let last_user = sent.iter().rposition(|one| one.said.is_users);
    for (at, message) in sent.iter().enumerate() {
        let (said, session, client_id) = (&message.said, message.session, message.client_id);
        if !is_marked(said.word_mark())? {
            continue;
        }
        let previous = at
            .checked_sub(1)
            .map_or(before, |previous| Some(&sent[previous].said));
        let next = sent.get(at + 1).map(|next| &next.said);
        behind[at] = previous.map_or(Ok(false), |previous| is_marked(said.mark_after(previous)))?;
        ahead[at] = next.map_or(Ok(false), |next| is_marked(said.mark_before(next)))?;
        let is_history = last_user.is_some_and(|last| at < last) || is_marked(said.session_mark(session))?;
        let is_proved =
            |neighbour: Option<&SaidMessage>| neighbour.is_some_and(|one| said.is_proved_by(one, is_history));
        let client_id = client_id.filter(|id| said.is_long && id.len() >= OWN_ID_BYTES);
        again[at] = (behind[at] && (ahead[at] || is_proved(previous)))
            || (ahead[at] && is_proved(next))
            || is_marked(said.time_mark(message.time))?
            || client_id.map_or(Ok(false), |id| is_marked(said.client_id_mark(id)))?;
    }
    for at in 1..sent.len() {
        again[at] |= behind[at] && again[at - 1];
    }
    for at in (1..sent.len()).rev() {
        again[at - 1] |= ahead[at - 1] && again[at];
    }
    Ok(again)
}

/// Lengths in the mark separate the fields.
fn mark(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
    let mut mark = vec![kind];
    for field in fields {
        mark.extend((field.len() as u64).to_le_bytes());
        mark.extend_from_slice(field);
    }
    mark
}
