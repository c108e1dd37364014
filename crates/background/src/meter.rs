//! A chat model that counts the tokens of each call, for the run and for the day, and refuses calls once the day's
//! tokens are used up.
//!
//! Owns: the budget. Never: waiting for a server's turn (the inner model goes through the gate).
//!
//! The cost of a call is known only after it. Calls that are running when the budget ends are finished: at most one for
//! each running attempt.

use std::sync::Arc;

use async_trait::async_trait;
use ports::runs::Cost;
use ports::{Chat, ChatError, ChatReply, ChatRequest, RunId};

use crate::engine::Core;

#[derive(Debug)]
pub(crate) struct MeteredChat {
    pub(crate) model: Arc<dyn Chat>,
    pub(crate) core: Arc<Core>,
    pub(crate) run: RunId,
    /// Text of the operator that follows the instructions of each prompt.
    pub(crate) instructions: Option<String>,
}

#[async_trait]
impl Chat for MeteredChat {
    fn model(&self) -> &str {
        self.model.model()
    }

    async fn complete(&self, mut request: ChatRequest) -> Result<ChatReply, ChatError> {
        if let (Some(own), Some(first)) = (&self.instructions, request.messages.first_mut()) {
            first.content = format!("{}\n\n{own}", first.content);
        }
        let settings = self.core.settings();
        let runs = &self.core.parts.runs;
        let today = || settings.zone.date(self.core.time.clock.now());
        let uncounted = |error| ChatError::Unavailable {
            reason: format!("cannot record the cost: {error}"),
        };
        if let Some(tokens_max) = settings.tokens_per_day_max {
            let spent = runs.spent(today()).await;
            if spent.map_err(uncounted)?.tokens() >= tokens_max {
                return Err(ChatError::OverBudget { tokens_max });
            }
        }
        let reply = self.model.complete(request).await;
        let cost = Cost {
            calls: 1,
            prompt_tokens: reply.as_ref().map_or(0, |reply| reply.prompt_tokens),
            completion_tokens: reply.as_ref().map_or(0, |reply| reply.completion_tokens),
            millis: 0,
        };
        runs.charge(&self.run, today(), cost).await.map_err(uncounted)?;
        reply
    }
}
