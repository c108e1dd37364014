//! Queues of messages that are stored after the caller has its answer.
//!
//! Owns: the order within a session, the bound on queued messages, waiting until a queue is empty. A crash loses queued messages; a
//! shutdown stores them, as far as its time bound allows. Never: storing itself (`memorize`).

use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use model::{Scope, SessionKey};
use parking_lot::Mutex;
use text::chain;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::api::Add;
use crate::error::EngineError;
use crate::memorize;
use crate::runtime::tasks::words_of;
use crate::world::World;

/// Room of the queued adds of all sessions; `take_on` blocks while there are more.
const PLACES: u32 = 1_024;
/// An add takes a place, and one more for each such piece of it.
const PLACE_BYTES: usize = 32 << 10;

/// Writes that wait for the disk, by session.
#[derive(Debug)]
pub(crate) struct Behind {
    /// A session is here exactly as long as a task works for it.
    queues: Mutex<BTreeMap<SessionKey, VecDeque<Waiting>>>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
enum Waiting {
    Add(Add, OwnedSemaphorePermit),
    /// Told when everything before it is done.
    Told(oneshot::Sender<()>),
}

impl Behind {
    pub(crate) fn new() -> Self {
        Self {
            queues: Mutex::default(),
            room: Arc::new(Semaphore::new(PLACES as usize)),
        }
    }

    fn tell_when_done(&self, scope: Option<&Scope>) -> Vec<oneshot::Receiver<()>> {
        let mut queues = self.queues.lock();
        let of_scope = queues
            .iter_mut()
            .filter(|(session, _)| scope.is_none_or(|scope| session.scope == *scope));
        let mark = |(_, queue): (&SessionKey, &mut VecDeque<Waiting>)| {
            let (tell, told) = oneshot::channel();
            queue.push_back(Waiting::Told(tell));
            told
        };
        of_scope.map(mark).collect()
    }

    /// The next write of a session; the last one removes the queue.
    fn next(&self, session: &SessionKey) -> Option<Waiting> {
        let mut queues = self.queues.lock();
        let next = queues.get_mut(session)?.pop_front();
        if next.is_none() {
            queues.remove(session);
        }
        next
    }
}

/// Queues messages behind those of the same session.
pub(crate) async fn take_on(world: &Arc<World>, add: Add) -> Result<(), EngineError> {
    world.accepting()?;
    let room = world.behind.room.clone().acquire_many_owned(places(&add)).await;
    let waiting = Waiting::Add(add.clone(), room.map_err(|_| EngineError::Stopping)?);
    let mut queues = world.behind.queues.lock();
    if let Some(queue) = queues.get_mut(&add.session) {
        queue.push_back(waiting);
        return Ok(());
    }
    queues.insert(add.session.clone(), VecDeque::from([waiting]));
    let world_of_task = world.clone();
    world
        .work
        .spawn(async move { empty(&world_of_task, &add.session).await });
    Ok(())
}

/// How much of the room an add takes.
fn places(add: &Add) -> u32 {
    let bytes: usize = add.messages.iter().map(|new| new.message.bytes()).sum();
    u32::try_from(1 + bytes / PLACE_BYTES)
        .unwrap_or(PLACES)
        .min(PLACES)
}

/// Waits until the messages queued so far, of a scope or of all scopes, are stored. Returns at once when the engine stops.
pub(crate) async fn caught_up(world: &World, scope: Option<&Scope>) {
    let told = world.behind.tell_when_done(scope);
    // Nearly always nothing waits: the futures of all use cases stay small.
    if told.is_empty() {
        return;
    }
    let all = Box::pin(join_all(told));
    world.work.unless_stopping(all).await;
}

async fn empty(world: &Arc<World>, session: &SessionKey) {
    while let Some(waiting) = world.behind.next(session) {
        match waiting {
            Waiting::Add(add, _room) => {
                let remembered = AssertUnwindSafe(remember(world, add)).catch_unwind().await;
                let remembered =
                    remembered.unwrap_or_else(|panic| Err(EngineError::Panicked(words_of(&*panic))));
                if let Err(error) = remembered {
                    world.mind(&error);
                    tracing::error!(error = chain(&error), session = %session.session, "cannot store messages in memory");
                }
            }
            // The waiting caller may be gone.
            Waiting::Told(tell) => drop(tell.send(())),
        }
    }
}

/// If a session has too many waiting tasks, its messages get none of their own.
async fn remember(world: &Arc<World>, mut add: Add) -> Result<(), EngineError> {
    match memorize::add(world, add.clone()).await {
        Err(EngineError::Saturated { .. }) => {
            (add.defer_extraction, add.task) = (true, None);
            memorize::add(world, add).await.map(drop)
        }
        added => added.map(drop),
    }
}
