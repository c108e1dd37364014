//! The chat model: asked about a conversation, and again if an answer is unusable.
//!
//! Owns: sending questions, how many at a time, what came of the answers. Never: the prompt, the reading of an answer, or the
//! tries (`extract` has them).

use std::sync::Arc;
use std::time::Duration;

use extract::{Answer, Interview, Reaction};
use parking_lot::Mutex;
use ports::{Chat, ChatError, ChatMessage, ChatReply, ChatRequest, ChatRole, Clock};
use tokio::sync::Semaphore;

use crate::api::ModelAnswers;
use crate::error::Trouble;

/// Questions that the model has to answer at a time.
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

    /// What came of the model's answers so far.
    pub(crate) fn tally(&self) -> ModelAnswers {
        *self.tally.lock()
    }

    /// What the model says, as far as it was said.
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
