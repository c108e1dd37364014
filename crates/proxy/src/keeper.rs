//! Writes what happened to conversations, in order, beside the answers.
//!
//! Owns: the queue to the disk. A request does not wait for it: what a crash takes of it costs the server's cache one turn and
//! nobody a word, since the client sends its messages again. Never: dropping what is in the queue.

use std::sync::Arc;

use model::{Owner, SessionKey};
use ports::NewRecord;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::store::Store;

/// More conversations than this wait for the disk before a turn does.
const QUEUE_MAX: usize = 1_024;

struct Entry {
    key: SessionKey,
    owner: Owner,
    at: u64,
    records: Vec<NewRecord>,
}

/// The queue's entrance.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    queue: Arc<Mutex<Option<mpsc::Sender<Entry>>>>,
    task: Arc<Mutex<JoinSet<()>>>,
}

impl Keeper {
    pub(crate) fn start(store: Arc<Store>) -> Self {
        let (sender, mut entries) = mpsc::channel::<Entry>(QUEUE_MAX);
        let mut task = JoinSet::new();
        task.spawn(async move {
            while let Some(entry) = entries.recv().await {
                let kept = store
                    .keep(&entry.key, &entry.owner, entry.at, entry.records)
                    .await;
                if let Err(error) = kept {
                    tracing::error!(%error, conversation = %entry.key.session, "a turn could not be written: the conversation begins anew");
                    store.forget(&entry.key);
                }
            }
        });
        Self {
            queue: Arc::new(Mutex::new(Some(sender))),
            task: Arc::new(Mutex::new(task)),
        }
    }

    /// Puts records behind those that wait.
    pub(crate) async fn keep(&self, key: &SessionKey, owner: &Owner, at: u64, records: Vec<NewRecord>) {
        let entry = Entry {
            key: key.clone(),
            owner: owner.clone(),
            at,
            records,
        };
        let queue = self.queue.lock().await;
        if let Some(queue) = &*queue
            && queue.send(entry).await.is_err()
        {
            tracing::error!(conversation = %key.session, "the writer of conversations has ended");
        }
    }

    /// Writes what waits, and ends.
    pub(crate) async fn finish(&self) {
        self.queue.lock().await.take();
        if let Some(Err(error)) = self.task.lock().await.join_next().await {
            tracing::error!(%error, "the writer of conversations failed");
        }
    }
}
