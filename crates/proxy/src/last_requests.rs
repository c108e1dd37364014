//! State of a conversation outside of its log: its last request, and the frame for a call of our own.
//!
//! Owns: both, in memory, for the newest conversations. Never: the messages (`conversation`).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::conversation::Conversation;
use parking_lot::Mutex;
use prefix::chain::ConversationId;
use prefix::diverge::Outline;

use crate::idle::Frame;

/// Maximum number of known conversations.
const KNOWN_MAX: usize = 512;

/// The last request and its reply.
#[derive(Debug, Clone)]
pub(crate) struct Last {
    pub(crate) outline: Outline,
    pub(crate) tokens: usize,
    /// Number of requests that its server had before it.
    pub(crate) turn: u64,
    /// The server's slot that the request named.
    pub(crate) slot: Option<u32>,
}

#[derive(Debug, Default)]
struct RequestState {
    last: Option<Last>,
    frame: Option<Frame>,
    used: u64,
}

/// By conversation.
#[derive(Debug, Default)]
pub(crate) struct LastRequests {
    known: Mutex<(u64, BTreeMap<ConversationId, RequestState>)>,
}

impl LastRequests {
    fn with<T>(&self, id: &ConversationId, act: impl FnOnce(&mut RequestState) -> T) -> T {
        let mut held = self.known.lock();
        let (uses, known) = &mut *held;
        *uses += 1;
        if known.len() >= KNOWN_MAX && !known.contains_key(id) {
            let oldest = known
                .iter()
                .min_by_key(|(_, kept)| kept.used)
                .map(|(id, _)| id.clone());
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        let kept = known.entry(id.clone()).or_default();
        kept.used = *uses;
        act(kept)
    }

    pub(crate) fn take_last(&self, id: &ConversationId) -> Option<Last> {
        self.with(id, |kept| kept.last.take())
    }

    pub(crate) fn set_last(&self, id: &ConversationId, last: Option<Last>) {
        self.with(id, |kept| kept.last = last);
    }

    pub(crate) fn set_frame(&self, id: &ConversationId, frame: Frame) {
        self.with(id, |kept| kept.frame = Some(frame));
    }

    /// When the last turn of a conversation ended, on the monotonic clock; none if unknown.
    pub(crate) fn ended(&self, conversation: &Conversation) -> Option<Duration> {
        self.with(&conversation.identity(), |kept| Some(kept.frame.as_ref()?.ended))
    }

    /// Whether the frame of its last request is known.
    pub(crate) fn knows(&self, conversation: &Conversation) -> bool {
        self.with(&conversation.identity(), |kept| kept.frame.is_some())
    }

    /// The frame for a call of our own; none while a request runs or a tool's result is missing.
    pub(crate) fn at_rest(&self, conversation: &Conversation) -> Option<Frame> {
        let frame = self.with(&conversation.identity(), |kept| kept.frame.clone());
        frame.filter(|frame| conversation.is_at_rest() && !frame.stored.is_held)
    }

    /// Drops the conversations whose ids begin with this text.
    pub(crate) fn forget_all(&self, beginning: &str) {
        let mut held = self.known.lock();
        held.1.retain(|id, _| !id.0.starts_with(beginning));
    }
}
