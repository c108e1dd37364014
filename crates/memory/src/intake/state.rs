//! State of the intake.
//!
//! Owns: the state of sessions whose messages are not in an episode yet. Never: a use case.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use model::SessionKey;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::buffers::Buffers;
use super::passes::ModelPasses;
use crate::base::Base;
use crate::runtime::{Due, KeyedLocks};

/// The parts of the intake.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) base: Arc<Base>,
    pub(crate) sessions: KeyedLocks<SessionKey>,
    pub(crate) buffers: Buffers,
    pub(crate) passes: ModelPasses,
    pub(crate) idle: IdleSessions,
    /// The number of secrets that were removed from messages.
    pub(crate) redacted: AtomicUsize,
}

impl Intake {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self {
            base,
            sessions: KeyedLocks::default(),
            buffers: Buffers::default(),
            passes: ModelPasses::default(),
            idle: IdleSessions::default(),
            redacted: AtomicUsize::default(),
        }
    }
}

/// When each session with a buffer becomes idle, by the monotonic clock.
#[derive(Debug, Default)]
pub(crate) struct IdleSessions {
    pub(super) due: Mutex<Due<SessionKey>>,
    /// Wakes the loop when the queue was empty and is no longer.
    pub(super) begun: Notify,
}

impl IdleSessions {
    /// Notes a new message of a session.
    pub(crate) fn touch(&self, session: &SessionKey, due: Duration) {
        let mut queue = self.due.lock();
        let was_empty = queue.first().is_none();
        queue.set(session.clone(), due);
        drop(queue);
        if was_empty {
            self.begun.notify_one();
        }
    }
}
