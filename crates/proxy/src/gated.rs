//! A chat model behind a gate: extraction waits while a client uses the same server.
//!
//! Owns: passing calls through the gate. Never: a request of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::join_all;
use parking_lot::Mutex;
use ports::{Chat, ChatError, ChatReply, ChatRequest};
use tokio::sync::oneshot;

use crate::gate::{BackgroundCall, Gate, JobEnd};

/// A chat model whose calls run while no client uses its server.
#[derive(Debug)]
pub struct GatedChat {
    model: Arc<dyn Chat>,
    gate: Gate,
    asked: AtomicU64,
}

impl GatedChat {
    /// Wraps a model so that it is called through the gate of its server.
    pub fn new(model: Arc<dyn Chat>, gate: Gate) -> Self {
        Self {
            model,
            gate,
            asked: AtomicU64::new(0),
        }
    }
}

#[async_trait]
impl Chat for GatedChat {
    fn model(&self) -> &str {
        self.model.model()
    }

    /// A single call uses the slot that no conversation has; for several at once, the server chooses the slots.
    async fn complete(&self, mut request: ChatRequest) -> Result<ChatReply, ChatError> {
        request.slot = self.gate.spare_slot();
        let mut replies = self.complete_all(vec![request]).await;
        replies.pop().unwrap_or_else(|| Err(busy()))
    }

    /// One job of the gate makes all calls, so that its queue does not separate them. A job that was cancelled for a
    /// client repeats only the calls without an answer.
    async fn complete_all(&self, requests: Vec<ChatRequest>) -> Vec<Result<ChatReply, ChatError>> {
        if requests.iter().any(|request| request.is_awaited) {
            return self.gate.awaited(self.model.complete_all(requests)).await;
        }
        let count = requests.len();
        let replies: Replies = Arc::new(Mutex::new((0..count).map(|_| None).collect()));
        let (done, all_done) = oneshot::channel();
        let done = Arc::new(Mutex::new(Some(done)));
        let (model, answers) = (Arc::clone(&self.model), Arc::clone(&replies));
        let run = move || {
            let (done, model, answers) = (Arc::clone(&done), Arc::clone(&model), Arc::clone(&answers));
            let requests = requests.clone();
            let work = async move {
                let open = (0..count).filter(|&at| answers.lock()[at].is_none());
                let asked = open.collect::<Vec<_>>().into_iter().map(|at| {
                    let (model, answers, request) = (&model, &answers, requests[at].clone());
                    async move {
                        let reply = model.complete(request).await;
                        answers.lock()[at] = Some(reply);
                    }
                });
                join_all(asked).await;
                let failed = answers
                    .lock()
                    .iter()
                    .flatten()
                    .find_map(|reply| Some(reply.as_ref().err()?.to_string()));
                let done = done.lock().take();
                // The caller may be gone.
                done.map(|done| done.send(()).ok());
                failed.map_or(JobEnd::Done, JobEnd::Failed)
            };
            work.boxed()
        };
        self.gate.submit(BackgroundCall {
            name: "extraction".to_owned(),
            displaces: true,
            key: self.asked.fetch_add(1, Ordering::Relaxed).to_string(),
            run: Box::new(run),
        });
        all_done.await.ok();
        let mut replies = replies.lock();
        replies
            .drain(..)
            .map(|reply| reply.unwrap_or_else(|| Err(busy())))
            .collect()
    }
}

type Replies = Arc<Mutex<Vec<Option<Result<ChatReply, ChatError>>>>>;

fn busy() -> ChatError {
    ChatError::Unavailable {
        reason: "the model server is always busy".to_owned(),
    }
}
