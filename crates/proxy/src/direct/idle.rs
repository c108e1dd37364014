//! Compaction ahead of need for programs that call their model themselves.
//!
//! Owns: when such a conversation is idle. A configured model writes the summary. Never: choosing the items that leave
//! a view (`context`), warming a server, proxied conversations (`crate::idle`).

use std::sync::Arc;
use std::time::Duration;

use crate::conversation::Contexts;
use memory::Due;
use ports::{Clock, LedgerError};
use prefix::chain::ConversationId;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

/// Maximum number of conversations that become idle work after a restart.
const RESUMED_MAX: usize = 64;

/// The worker's entrance.
#[derive(Debug, Clone)]
pub(super) struct Idle {
    told: mpsc::UnboundedSender<ConversationId>,
    task: Arc<Mutex<JoinSet<()>>>,
}

impl Idle {
    /// A conversation without a turn for the time `after` is idle.
    pub(super) fn start(contexts: Contexts, clock: Arc<dyn Clock>, after: Duration) -> Self {
        let (told, heard) = mpsc::unbounded_channel();
        let mut task = JoinSet::new();
        task.spawn(work(contexts, clock, after, heard));
        Self {
            told,
            task: Arc::new(Mutex::new(task)),
        }
    }

    /// A turn ended.
    pub(super) fn turn(&self, conversation: ConversationId) {
        // After a shutdown there is no receiver.
        self.told.send(conversation).ok();
    }

    /// Ends the worker.
    pub(super) async fn finish(&self) {
        self.task.lock().await.shutdown().await;
    }
}

async fn work(
    contexts: Contexts,
    clock: Arc<dyn Clock>,
    after: Duration,
    mut heard: mpsc::UnboundedReceiver<ConversationId>,
) {
    let mut due = Due::default();
    match contexts.store().newest(RESUMED_MAX).await {
        Ok(newest) => newest
            .into_iter()
            .for_each(|id| due.set(id, clock.elapsed() + after)),
        Err(error) => {
            tracing::warn!(%error, "cannot list conversations; those idle since before the start stay uncompacted");
        }
    }
    loop {
        while let Some(conversation) = due.take(clock.elapsed()) {
            if let Err(error) = settle(&contexts, &conversation).await {
                tracing::warn!(%error, conversation = conversation.0, "cannot read an idle conversation");
            }
        }
        let first = due.first().map(|at| at.saturating_sub(clock.elapsed()));
        tokio::select! {
            told = heard.recv() => match told {
                Some(conversation) => due.set(conversation, clock.elapsed() + after),
                None => return,
            },
            () = clock.sleep(first.unwrap_or_default()), if first.is_some() => {}
        }
    }
}

/// A conversation has become idle. Its compaction is done to its end once it began.
async fn settle(contexts: &Contexts, id: &ConversationId) -> Result<(), LedgerError> {
    let Some(shared) = contexts.store().get(id).await? else {
        return Ok(());
    };
    let is_proxied = !shared.lock().await.frame().is_empty();
    if is_proxied {
        return Ok(());
    }
    let this = contexts.clone();
    let work = async move {
        if let Err(error) = this.compact_at_rest(&shared).await {
            tracing::warn!(%error, "cannot compact an idle conversation");
        }
    };
    // A shutdown may cut it off.
    contexts.tasks().spawn(work).await.ok();
    Ok(())
}
