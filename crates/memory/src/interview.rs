//! Model extraction: asks a chat model about a conversation, and again if the answer is unusable.
//!
//! Owns: the tries. Never: the prompt or the reading of an answer (`extract` has both).

use extract::{AnswerPart, AnswerProblem, Tail};
use model::Message;
use ports::{ChatError, ChatMessage, ChatRequest, ChatRole};

use crate::world::World;

/// Answers that cannot be used before the rules take over.
const ANSWERS_MAX: usize = 3;

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

/// The parts of these messages, as the model divides them.
pub(crate) async fn ask(world: &World, messages: &[Message], tail: Tail) -> Result<Vec<AnswerPart>, Trouble> {
    let Some(chat) = &world.parts.chat else {
        return Err(Trouble::NoModel);
    };
    let _turn = world.passes.turn().await;
    let zone = &world.settings.zone;
    let prompt = extract::memcell_request(messages, zone, tail);
    let mut request = ChatRequest {
        schema: Some((prompt.schema_name, prompt.schema_json)),
        ..ChatRequest::new(prompt.system, prompt.user, prompt.tokens_max)
    };
    let asked = request.messages.clone();
    let mut answers = 0;
    loop {
        let reply = chat
            .complete(request.clone())
            .await
            .map_err(|error| match error {
                ChatError::Unavailable { .. } | ChatError::OverBudget { .. } => Trouble::Unavailable(error),
                ChatError::Refused { .. } => Trouble::Refused(error),
            })?;
        let problem = match extract::parse_answer(&reply.content, messages, zone, tail) {
            Ok(answer) => return Ok(answer.parts),
            Err(problem) => problem,
        };
        answers += 1;
        if answers == ANSWERS_MAX {
            return Err(Trouble::Unusable(problem));
        }
        request.messages.clone_from(&asked);
        // An endpoint takes no empty message, so an empty answer is not shown to the model.
        if !reply.content.trim().is_empty() {
            let say = |role, content| ChatMessage { role, content };
            request.messages.extend([
                say(ChatRole::Assistant, reply.content),
                say(ChatRole::User, extract::retry_hint(&problem)),
            ]);
        }
    }
}
