//! Adds: those that wait for their answer, and those that are stored after the caller has its answer.
//!
//! Owns: the order within a session, the bound on queued messages, waiting until a queue is empty. A crash loses queued
//! messages; a shutdown stores them, as far as its time bound allows. Never: storing itself (`memorize`).

use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use model::text::chain;
use model::{Scope, SessionKey};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::api::{Add, Added};
use crate::error::EngineError;
use crate::forgetting::{Forgetting, unfinished};
use crate::intake::memorize;
use crate::runtime::panic_text;

/// Maximum size of the queued adds of all sessions, in places; `take_on` waits while there are more.
const PLACES: u32 = 1_024;
/// An add takes a place, and one more for each piece of this size.
const PLACE_BYTES: usize = 32 << 10;

/// Adds that wait for the disk, by session.
#[derive(Debug)]
pub(crate) struct AddQueue {
    forgetting: Arc<Forgetting>,
    /// A session is here exactly as long as a task stores its adds.
    queues: Mutex<BTreeMap<SessionKey, VecDeque<Waiting>>>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
enum Waiting {
    Add(Add, OwnedSemaphorePermit),
    /// Sends when everything before it is done.
    Caller(oneshot::Sender<()>),
}

impl AddQueue {
    pub(crate) fn new(forgetting: Arc<Forgetting>) -> Self {
        Self {
            forgetting,
            queues: Mutex::default(),
            room: Arc::new(Semaphore::new(PLACES as usize)),
        }
    }

    /// Stores messages, once no unfinished deletion could delete them.
    pub(crate) async fn add(&self, add: Add) -> Result<Added, EngineError> {
        let forgetting = &self.forgetting;
        forgetting.base.accepting()?;
        unfinished::finish(forgetting, |forget| unfinished::could_take(forget, &add)).await?;
        memorize::add(&forgetting.intake, add).await
    }

    /// Queues messages behind those of the same session.
    pub(crate) async fn take_on(self: &Arc<Self>, add: Add) -> Result<(), EngineError> {
        self.forgetting.base.accepting()?;
        let room = self.room.clone().acquire_many_owned(places(&add)).await;
        let waiting = Waiting::Add(add.clone(), room.map_err(|_| EngineError::Stopping)?);
        let mut queues = self.queues.lock();
        if let Some(queue) = queues.get_mut(&add.session) {
            queue.push_back(waiting);
            return Ok(());
        }
        queues.insert(add.session.clone(), VecDeque::from([waiting]));
        let own = self.clone();
        let work = &self.forgetting.base.work;
        work.spawn(async move { own.empty(&add.session).await });
        Ok(())
    }

    /// Waits until the messages queued so far, of a scope or of all scopes, are stored. Returns at once when the engine
    /// stops.
    pub(crate) async fn caught_up(&self, scope: Option<&Scope>) {
        let receivers = self.when_done(scope);
        // Nearly always nothing waits; so the futures of all use cases stay small.
        if receivers.is_empty() {
            return;
        }
        let all = Box::pin(join_all(receivers));
        self.forgetting.base.work.unless_stopping(all).await;
    }

    fn when_done(&self, scope: Option<&Scope>) -> Vec<oneshot::Receiver<()>> {
        let mut queues = self.queues.lock();
        let of_scope = queues
            .iter_mut()
            .filter(|(session, _)| scope.is_none_or(|scope| session.scope == *scope));
        let mark = |(_, queue): (&SessionKey, &mut VecDeque<Waiting>)| {
            let (sender, receiver) = oneshot::channel();
            queue.push_back(Waiting::Caller(sender));
            receiver
        };
        of_scope.map(mark).collect()
    }

    /// The next add of a session; the last one removes the queue.
    fn next(&self, session: &SessionKey) -> Option<Waiting> {
        let mut queues = self.queues.lock();
        let next = queues.get_mut(session)?.pop_front();
        if next.is_none() {
            queues.remove(session);
        }
        next
    }

    async fn empty(&self, session: &SessionKey) {
        while let Some(waiting) = self.next(session) {
            match waiting {
                Waiting::Add(add, _room) => {
                    let added = AssertUnwindSafe(self.remember(add)).catch_unwind().await;
                    let added = added.unwrap_or_else(|panic| Err(EngineError::Panicked(panic_text(&*panic))));
                    if let Err(error) = added {
                        self.forgetting.base.note_error(&error);
                        tracing::error!(error = chain(&error), session = %session.session, "cannot store messages in memory");
                    }
                }
                // The waiting caller may be gone.
                Waiting::Caller(sender) => drop(sender.send(())),
            }
        }
    }

    /// Stores an add; if its session has too many waiting tasks, without a task of its own.
    async fn remember(&self, mut add: Add) -> Result<(), EngineError> {
        match self.add(add.clone()).await {
            Err(EngineError::Saturated { .. }) => {
                (add.defer_extraction, add.task) = (true, None);
                self.add(add).await.map(drop)
            }
            added => added.map(drop),
        }
    }
}

/// The places that an add takes.
fn places(add: &Add) -> u32 {
    let bytes: usize = add.messages.iter().map(|new| new.message.bytes()).sum();
    u32::try_from(1 + bytes / PLACE_BYTES)
        .unwrap_or(PLACES)
        .min(PLACES)
}
