//! Asking the model of a run, where there is one and it may be asked.
//!
//! Owns: that whatever goes wrong with a model leaves the work to the rules. Never: a prompt, or reading an answer.

use std::error::Error;

use extract::Prompt;
use offline::{Failure, RunContext};
use ports::{ChatMessage, ChatRequest, ChatRole};

/// Asks once: what was made of the answer, and which model gave it. None means that the rules have to do.
pub(crate) async fn ask<T, E: Error>(
    context: &RunContext,
    prompt: Prompt,
    read: impl Fn(&str) -> Result<T, E>,
) -> Option<(T, String)> {
    let chat = context.chat.as_ref()?;
    let message = |role, content| ChatMessage { role, content };
    let request = ChatRequest {
        messages: vec![
            message(ChatRole::System, prompt.system),
            message(ChatRole::User, prompt.user),
        ],
        schema: Some((prompt.schema_name, prompt.schema_json)),
        tokens_max: prompt.tokens_max,
    };
    let strategy = &context.run.work.strategy;
    match chat.complete(request).await {
        Ok(reply) => match read(&reply.content) {
            Ok(told) => Some((told, chat.model().to_owned())),
            Err(problem) => {
                tracing::warn!(%strategy, %problem, "the rules do what the model's answer does not");
                None
            }
        },
        Err(error) => {
            tracing::debug!(%strategy, %error, "the rules do what no model can be asked");
            None
        }
    }
}

/// What a store could not do now may be done later.
pub(crate) fn retry(error: &dyn Error) -> Failure {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    Failure::Retry(text)
}
