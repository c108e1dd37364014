//! A chat model behind a gate: extraction waits while a client uses the same server.
//!
//! Owns: nothing but the way through the gate. Never: a request of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::FutureExt;
use parking_lot::Mutex;
use ports::{Chat, ChatError, ChatReply, ChatRequest};
use tokio::sync::oneshot;

use crate::gate::{BackgroundCall, Gate, JobEnd};

/// A chat model for calls while no client uses its server.
#[derive(Debug)]
pub struct GatedChat {
    model: Arc<dyn Chat>,
    gate: Gate,
    asked: AtomicU64,
}

impl GatedChat {
    /// The model, asked through the gate of its server.
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

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        let (answer, answered) = oneshot::channel();
        let answer = Arc::new(Mutex::new(Some(answer)));
        let model = Arc::clone(&self.model);
        let run = move || {
            let (model, request, answer) = (Arc::clone(&model), request.clone(), Arc::clone(&answer));
            let work = async move {
                let reply = model.complete(request).await;
                let end = match &reply {
                    Ok(_) => JobEnd::Done,
                    Err(error) => JobEnd::Failed(error.to_string()),
                };
                let answer = answer.lock().take();
                // The caller may be gone.
                answer.map(|answer| answer.send(reply).ok());
                end
            };
            work.boxed()
        };
        self.gate.submit(BackgroundCall {
            name: "extraction".to_owned(),
            displaces: true,
            key: self.asked.fetch_add(1, Ordering::Relaxed).to_string(),
            run: Box::new(run),
        });
        answered.await.unwrap_or_else(|_| {
            Err(ChatError::Unavailable {
                reason: "the model server is always busy".to_owned(),
            })
        })
    }
}
