//! Writes the records of conversations to disk, in order, without delaying answers.
//!
//! Owns: the queue to the disk. A request does not wait for it. If a crash loses the queue, the server's cache loses
//! one turn, but no message is lost: the client sends its messages again. Never: dropping a record of the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Owner, SessionKey};
use ports::{LedgerError, NewRecord};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::conversation::state::Conversation;
use crate::conversation::store::Store;

/// If more conversations than this wait for the disk, a turn waits too.
const QUEUE_MAX: usize = 1_024;

struct KeeperEntry {
    key: SessionKey,
    owner: Owner,
    at: u64,
    records: Vec<NewRecord>,
    /// Receives the number of records on disk.
    written: Arc<AtomicU64>,
    /// Set if a caller waits for the entry.
    done: Option<oneshot::Sender<Result<(), LedgerError>>>,
}

/// The sender's side of the queue.
#[derive(Debug, Clone)]
pub struct Keeper {
    queue: Arc<Mutex<Option<mpsc::Sender<KeeperEntry>>>>,
    task: Arc<Mutex<JoinSet<()>>>,
}

impl Keeper {
    pub fn start(store: Arc<Store>) -> Self {
        let (sender, mut entries) = mpsc::channel::<KeeperEntry>(QUEUE_MAX);
        let mut task = JoinSet::new();
        task.spawn(async move {
            while let Some(entry) = entries.recv().await {
                let kept = store
                    .logs
                    .append(&entry.key, &entry.owner, entry.at, None, entry.records)
                    .await;
                let kept = match kept {
                    Ok(count) => {
                        entry.written.store(count, Ordering::Release);
                        Ok(())
                    }
                    Err(error) => {
                        tracing::error!(%error, conversation = %entry.key.session, "cannot write a turn; reloading the conversation from disk");
                        store.forget(&entry.key);
                        Err(error)
                    }
                };
                if let Some(done) = entry.done {
                    // The waiting caller may be gone.
                    done.send(kept).ok();
                }
            }
        });
        Self {
            queue: Arc::new(Mutex::new(Some(sender))),
            task: Arc::new(Mutex::new(task)),
        }
    }

    /// Queues a conversation's unwritten records.
    pub async fn keep(&self, conversation: &mut Conversation) {
        if !conversation.unwritten.is_empty() {
            self.put(conversation, None).await;
        }
    }

    /// Queues them too, and waits until they are on disk.
    pub(crate) async fn write(&self, conversation: &mut Conversation) -> Result<(), LedgerError> {
        if conversation.unwritten.is_empty() {
            return Ok(());
        }
        let (done, written) = oneshot::channel();
        self.put(conversation, Some(done)).await;
        written
            .await
            .unwrap_or_else(|_| Err(LedgerError::Store("the conversation writer has stopped".into())))
    }

    async fn put(
        &self,
        conversation: &mut Conversation,
        done: Option<oneshot::Sender<Result<(), LedgerError>>>,
    ) {
        let (at, records) = conversation.take_unwritten();
        let entry = KeeperEntry {
            key: conversation.key.clone(),
            owner: conversation.party.owner.clone(),
            at,
            records,
            written: Arc::clone(&conversation.written),
            done,
        };
        let Some(queue) = self.queue.lock().await.clone() else {
            return;
        };
        if queue.send(entry).await.is_err() {
            tracing::error!(conversation = %conversation.key.session, "the conversation writer has stopped");
        }
    }

    /// Writes the queue, and ends.
    pub async fn finish(&self) {
        self.queue.lock().await.take();
        if let Some(Err(error)) = self.task.lock().await.join_next().await {
            tracing::error!(%error, "the conversation writer failed");
        }
    }
}
