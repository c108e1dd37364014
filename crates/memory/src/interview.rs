//! Model extraction: asks a chat model about a conversation, and again if the answer is unusable.
//!
//! Owns: sending it. Never: the prompt, the reading of an answer, or the tries (`extract` has them).

use extract::{Answer, Interview, Reaction};
use ports::{Chat, ChatError, ChatMessage, ChatReply, ChatRequest, ChatRole, Clock};
use std::time::Duration;

use crate::error::Trouble;
use crate::world::World;

/// What the model says, as far as it was said.
pub(crate) async fn ask(world: &World, interview: Interview<'_>) -> Result<Answer, Trouble> {
    let Some(chat) = &world.parts.chat else {
        return Err(Trouble::NoModel);
    };
    let _turn = world.passes.turn().await;
    let answer = answer(&**chat, interview).await;
    let mut tally = world.passes.tally();
    match &answer {
        Ok(answer) => {
            tally.facts += answer.facts.len();
            tally.left_out += answer.dropped.len();
        }
        Err(Trouble::Unusable(_)) => tally.unusable += 1,
        Err(_) => {}
    }
    answer
}

/// Asks a model until it has given a usable answer or had its tries.
async fn answer(chat: &dyn Chat, mut interview: Interview<'_>) -> Result<Answer, Trouble> {
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
            Reaction::Done(answer) => return Ok(answer),
            Reaction::GiveUp(problem) => return Err(Trouble::Unusable(problem)),
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

/// What a chat model made of [`extract::sample_talk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelTrial {
    /// Statements of the talk.
    pub stated: usize,
    /// The model's statements that somebody said there.
    pub said: usize,
    /// Its other statements; of a real talk they would be left out.
    pub left_out: usize,
}

impl ModelTrial {
    /// Whether it finds half of what was said at least, and says little else.
    pub fn is_good_enough(self) -> bool {
        self.said * 2 >= self.stated && self.left_out * 2 <= self.said
    }
}

/// Tries a chat model on a short talk; nothing is stored.
pub async fn try_model(chat: &dyn Chat) -> Result<ModelTrial, Trouble> {
    let messages = extract::sample_talk();
    let interview = Interview::facts(&messages, &[]).expect("people state something in it");
    let answer = answer(chat, interview).await?;
    Ok(ModelTrial {
        stated: messages.len(),
        said: answer.facts.len(),
        left_out: answer.dropped.len(),
    })
}

/// The answer of a chat model, which can be busy with a conversation for longer than somebody waits.
pub(crate) async fn patient(
    clock: &dyn Clock,
    chat: &dyn Chat,
    request: ChatRequest,
    patience: Duration,
) -> Result<ChatReply, ChatError> {
    tokio::select! {
        biased;
        reply = chat.complete(request) => reply,
        () = clock.sleep(patience) => Err(ChatError::Unavailable {
            reason: "the chat model was busy for too long".to_owned(),
        }),
    }
}
