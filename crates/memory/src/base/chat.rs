//! The chat model: asked about a conversation, and again if an answer is unusable.
//!
//! Owns: sending questions, the limit of questions at a time, counting the results. Never: the prompt, the reading of
//! an answer, or the number of attempts (`extract` has them).

use std::sync::Arc;
use std::time::Duration;

use extract::{Answer, Interview, Reaction};
use parking_lot::Mutex;
use ports::{Chat, ChatError, ChatMessage, ChatReply, ChatRequest, ChatRole, Clock};
use tokio::sync::Semaphore;

use crate::api::ModelAnswers;
use crate::error::Trouble;

/// Maximum number of questions to the model at a time.
const CALLS_MAX: usize = 4;

/// The chat model, if one is configured.
#[derive(Debug)]
pub(crate) struct ChatModel {
    chat: Option<Arc<dyn Chat>>,
    turns: Semaphore,
    tally: Mutex<ModelAnswers>,
}

impl ChatModel {
    pub(crate) fn new(chat: Option<Arc<dyn Chat>>) -> Self {
        Self {
            chat,
            turns: Semaphore::new(CALLS_MAX),
            tally: Mutex::default(),
        }
    }

    /// Counts of the model's answers so far.
    pub(crate) fn tally(&self) -> ModelAnswers {
        *self.tally.lock()
    }

    /// The model's answer, without the statements that no message supports.
    pub(crate) async fn ask(&self, interview: Interview<'_>) -> Result<Answer, Trouble> {
        let Some(chat) = &self.chat else {
            return Err(Trouble::NoModel);
        };
        let _turn = self.turns.acquire().await.expect("it is never closed");
        let answer = answer(&**chat, interview).await;
        let mut tally = self.tally.lock();
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
}

/// Asks a model until it gives a usable answer or its attempts are used up.
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

/// Result of a chat model on [`extract::sample_talk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelTrial {
    /// Statements of the talk.
    pub stated: usize,
    /// The model's statements that the talk contains.
    pub said: usize,
    /// Its other statements; in a real conversation they would be left out.
    pub left_out: usize,
}

impl ModelTrial {
    /// Whether the model found at least half of the statements, and at most half as many wrong ones.
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

/// The answer of a chat model within a time limit, because the model can be busy with a conversation for longer than a
/// caller waits.
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
