//! One answer of a model, as it arrives.
//!
//! Owns: assembling the chunks of a chat completion. Never: the history, or the request.

use prefix::stream::sse::Decoder;
use serde::Deserialize;
use serde_json::Value;

use super::screen::Screen;
use super::server::{Server, unanswered, words};
use crate::error::Failure;

/// The received part of an answer.
#[derive(Debug, Default)]
pub(super) struct ChatAnswer {
    pub(super) text: String,
    /// Token counts of the model server; they come at the end.
    pub(super) usage: Option<Value>,
    /// The server's name for the conversation.
    pub(super) conversation: Option<String>,
    /// Value of the header for injected memory.
    pub(super) injected: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StreamChunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
}

/// Sends a request and shows the answer while it arrives; after an error, `answer` contains the received part.
pub(super) async fn receive(
    server: &Server,
    body: &Value,
    headers: &[(&str, &str)],
    answer: &mut ChatAnswer,
    screen: &mut Screen<'_>,
) -> Result<(), Failure> {
    let mut arriving = server.stream("/v1/chat/completions", body, headers).await?;
    let header = |name: &str| arriving.header(name).map(str::to_owned);
    answer.conversation = header("x-quipu-conversation");
    answer.injected = header("x-quipu-injected");
    let (mut events, mut is_whole) = (Decoder::default(), false);
    while let Some(piece) = arriving.next().await.map_err(unanswered)? {
        for event in events.push(piece.as_ref()) {
            is_whole |= event.data == "[DONE]" || take(&event.data, answer, screen)?;
        }
    }
    if is_whole {
        return Ok(());
    }
    Err(Failure::from(anyhow::anyhow!("the answer ended too early")).hint("send the message again"))
}

/// Takes a chunk in; whether it is the answer's last.
fn take(payload: &str, answer: &mut ChatAnswer, screen: &mut Screen<'_>) -> Result<bool, Failure> {
    let chunk: StreamChunk = serde_json::from_str(payload).map_err(|error| {
        Failure::from(anyhow::Error::from(error).context("cannot read a part of the answer"))
            .hint("the model server must support OpenAI's chat completions")
    })?;
    if let Some(error) = &chunk.error {
        let words = words(error).unwrap_or("no reason given");
        return Err(Failure::from(anyhow::anyhow!(
            "the model server's answer ended too early: {words}"
        ))
        .hint("send the message again"));
    }
    answer.usage = chunk.usage.or(answer.usage.take());
    let mut is_last = false;
    for choice in chunk.choices {
        screen.thought(&choice.delta.reasoning_content.unwrap_or_default())?;
        let said = choice.delta.content.unwrap_or_default();
        screen.said(&said)?;
        answer.text.push_str(&said);
        is_last |= choice.finish_reason.is_some();
    }
    Ok(is_last)
}
