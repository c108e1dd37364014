//! Cached buffers of active sessions: an add need not read from the ledger what earlier adds stored.
//!
//! Owns: the number of cached buffers. Never: truth; the ledger cuts no buffer that differs from the cached one.

use std::collections::BTreeMap;

use model::{Message, SessionKey};
use parking_lot::Mutex;

/// Maximum number of cached sessions, and of their bytes; beyond either all are dropped, and read again when needed.
const SESSIONS_MAX: usize = 1_024;
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Buffers by session. Only the holder of a session's lock takes and puts its buffer.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_session: BTreeMap<SessionKey, Vec<Message>>,
    bytes: usize,
}

impl Buffers {
    /// Takes a session's buffer out of the cache until it is put back.
    pub(crate) fn take(&self, session: &SessionKey) -> Option<Vec<Message>> {
        let mut kept = self.kept.lock();
        let buffer = kept.by_session.remove(session)?;
        kept.bytes -= bytes(&buffer);
        Some(buffer)
    }

    /// Caches a session's buffer.
    pub(crate) fn put(&self, session: &SessionKey, buffer: Vec<Message>) {
        let bytes = bytes(&buffer);
        let mut kept = self.kept.lock();
        if kept.by_session.len() >= SESSIONS_MAX || kept.bytes + bytes > BYTES_MAX {
            *kept = Kept::default();
        }
        if bytes > BYTES_MAX {
            return;
        }
        kept.bytes += bytes;
        if let Some(before) = kept.by_session.insert(session.clone(), buffer) {
            kept.bytes -= self::bytes(&before);
        }
    }
}

fn bytes(buffer: &[Message]) -> usize {
    buffer.iter().map(Message::bytes).sum()
}

#[cfg(test)]
mod tests {
    use model::{Content, MessageId, Name, Role, Scope, SessionId, Timestamp};

    use super::*;

    /// Number of cached sessions, and their bytes.
    fn kept(buffers: &Buffers) -> (usize, usize) {
        let kept = buffers.kept.lock();
        (kept.by_session.len(), kept.bytes)
    }

    fn session(name: &str) -> SessionKey {
        SessionKey::new(Scope::default(), SessionId::new(name))
    }

    fn message(text: &str) -> Message {
        Message {
            id: MessageId::new("m"),
            session: session("s"),
            sender: Name::parse("ann").expect("a name"),
            sender_name: None,
            role: Role::User,
            time: Timestamp::default(),
            content: Content::Text(text.to_owned()).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    #[test]
    fn the_cache_of_buffers_has_a_bound() {
        let buffers = Buffers::default();
        let mebibyte = message(&"x".repeat(1024 * 1024));
        for n in 0..7 {
            buffers.put(&session(&n.to_string()), vec![mebibyte.clone()]);
        }
        assert!(kept(&buffers).1 > 7 * 1024 * 1024);
        buffers.put(&session("7"), vec![mebibyte.clone()]);
        assert_eq!(kept(&buffers).0, 1, "all but the last are read again");
        buffers.put(&session("8"), vec![mebibyte; 9]);
        assert_eq!(kept(&buffers), (0, 0));
    }

    #[test]
    fn a_buffer_is_taken_once() {
        let buffers = Buffers::default();
        buffers.put(&session("a"), vec![message("one")]);
        buffers.put(&session("a"), vec![message("one"), message("two")]);
        assert_eq!(buffers.take(&session("a")).map(|buffer| buffer.len()), Some(2));
        assert_eq!(buffers.take(&session("a")), None);
        assert_eq!(kept(&buffers), (0, 0));
    }
}
