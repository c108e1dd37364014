//! Model extraction: asks a chat model about a conversation, and again if the answer is unusable.
//!
//! Owns: sending it. Never: the prompt, the reading of an answer, or the tries (`extract` has them).

use extract::{Answer, AnswerProblem, Interview, Reaction};
use ports::{ChatError, ChatMessage, ChatRequest, ChatRole};

use crate::world::World;

/// Why there is nothing from the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// None is configured.
    #[error("there is no chat model")]
    NoModel,
    /// It may answer later.
    #[error("the chat model did not answer")]
    Unavailable(#[source] ChatError),
    /// It never will.
    #[error("the chat model refused")]
    Refused(#[source] ChatError),
    /// It answered, again and again, with something that cannot be used.
    #[error("the chat model's answers are unusable")]
    Unusable(#[source] AnswerProblem),
}

/// What the model says, as far as it was said.
pub(crate) async fn ask(world: &World, mut interview: Interview<'_>) -> Result<Answer, Trouble> {
    let Some(chat) = &world.parts.chat else {
        return Err(Trouble::NoModel);
    };
    let _turn = world.passes.turn().await;
    let prompt = interview.prompt();
    let mut request = ChatRequest {
        schema: Some((prompt.schema_name, prompt.schema_json)),
        ..ChatRequest::new(prompt.system, prompt.user, prompt.tokens_max)
    };
    let asked = request.messages.clone();
    loop {
        let reply = chat
            .complete(request.clone())
            .await
            .map_err(|error| match error {
                ChatError::Unavailable { .. } | ChatError::OverBudget { .. } => Trouble::Unavailable(error),
                ChatError::Refused { .. } => Trouble::Refused(error),
            })?;
        let hint = match interview.read(&reply.content) {
            Reaction::Done(answer) => {
                let mut tally = world.passes.tally();
                tally.facts += answer.facts.len();
                tally.left_out += answer.dropped.len();
                return Ok(answer);
            }
            Reaction::GiveUp(problem) => {
                world.passes.tally().unusable += 1;
                return Err(Trouble::Unusable(problem));
            }
            Reaction::Again(hint) => hint,
        };
        request.messages.clone_from(&asked);
        if let Some(hint) = hint {
            let say = |role, content| ChatMessage { role, content };
            request
                .messages
                .extend([say(ChatRole::Assistant, reply.content), say(ChatRole::User, hint)]);
        }
    }
}
