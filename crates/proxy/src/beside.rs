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
struct Side {
    last: Option<Last>,
    frame: Option<Frame>,
    used: u64,
}

/// By conversation.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    sides: Mutex<(u64, BTreeMap<ConversationId, Side>)>,
}

impl Beside {
    fn with<T>(&self, id: &ConversationId, act: impl FnOnce(&mut Side) -> T) -> T {
        let mut held = self.sides.lock();
        let (uses, sides) = &mut *held;
        *uses += 1;
        if sides.len() >= KNOWN_MAX && !sides.contains_key(id) {
            let oldest = sides
                .iter()
                .min_by_key(|(_, side)| side.used)
                .map(|(id, _)| id.clone());
            oldest.and_then(|oldest| sides.remove(&oldest));
        }
        let side = sides.entry(id.clone()).or_default();
        side.used = *uses;
        act(side)
    }

    pub(crate) fn take_last(&self, id: &ConversationId) -> Option<Last> {
        self.with(id, |side| side.last.take())
    }

    pub(crate) fn set_last(&self, id: &ConversationId, last: Option<Last>) {
        self.with(id, |side| side.last = last);
    }

    pub(crate) fn set_frame(&self, id: &ConversationId, frame: Frame) {
        self.with(id, |side| side.frame = Some(frame));
    }

    /// When the last turn of a conversation ended, on the monotonic clock; none if unknown.
    pub(crate) fn ended(&self, conversation: &Conversation) -> Option<Duration> {
        self.with(&conversation.identity(), |side| Some(side.frame.as_ref()?.ended))
    }

    /// Whether the frame of its last request is known.
    pub(crate) fn knows(&self, conversation: &Conversation) -> bool {
        self.with(&conversation.identity(), |side| side.frame.is_some())
    }

    /// The frame for a call of our own; none while a request runs or a tool's result is missing.
    pub(crate) fn at_rest(&self, conversation: &Conversation) -> Option<Frame> {
        let frame = self.with(&conversation.identity(), |side| side.frame.clone());
        frame.filter(|frame| conversation.is_at_rest() && !frame.stored.is_held)
    }

    /// Drops the conversations whose ids begin with this text.
    pub(crate) fn forget_all(&self, beginning: &str) {
        let mut held = self.sides.lock();
        held.1.retain(|id, _| !id.0.starts_with(beginning));
    }
}
