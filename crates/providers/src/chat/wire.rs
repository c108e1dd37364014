//! The JSON of the chat dialect, without streaming.
//!
//! Owns: its field names. Never: sending it.

use ports::{ChatReply, ChatRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Structure;

/// Fields that this endpoint accepts, as far as known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) structure: Structure,
    pub(super) newer_limit: bool,
}

#[derive(Deserialize)]
struct ChatCompletion {
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: ChoiceMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceMessage {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

/// The body of a request.
pub(super) fn request(model: &str, request: &ChatRequest, form: Form) -> Result<Value, String> {
    let mut messages: Vec<Value> = request
        .messages
        .iter()
        .map(|m| json!({ "role": m.role.as_str(), "content": m.content }))
        .collect();
    if let (Some(part), Some(last)) = (&request.attached, messages.last_mut()) {
        let part: Value =
            serde_json::from_str(part).map_err(|error| format!("the attachment is not JSON: {error}"))?;
        last["content"] = json!([{ "type": "text", "text": last["content"] }, part]);
    }
    let limit = if form.newer_limit {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let mut body = json!({ "model": model, "messages": messages, "stream": false });
    body[limit] = request.tokens_max.into();
    if let Some(slot) = request.slot {
        body["id_slot"] = slot.into();
    }
    if let Some((name, schema)) = &request.schema {
        let schema: Value = serde_json::from_str(schema)
            .map_err(|error| format!("the schema `{name}` is not JSON: {error}"))?;
        match form.structure {
            Structure::Schema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": { "name": name, "strict": true, "schema": schema },
                });
            }
            Structure::Object => body["response_format"] = json!({ "type": "json_object" }),
            Structure::Plain => {}
        }
    }
    Ok(body)
}

/// The model's answer, or why it is unusable.
pub(super) fn reply(answer: Value, model: &str) -> Result<ChatReply, String> {
    let answer: ChatCompletion = serde_json::from_value(answer)
        .map_err(|_| "answered JSON without `choices[].message`: is it a chat endpoint?".to_owned())?;
    let choice = answer
        .choices
        .into_iter()
        .next()
        .ok_or("answered without a choice")?;
    if let Some(refusal) = choice.message.refusal {
        return Err(format!("answered that the model refuses: {refusal}"));
    }
    let content = choice
        .message
        .content
        .filter(|content| !content.trim().is_empty());
    let content = content.ok_or_else(|| {
        let why = choice.finish_reason.as_deref().unwrap_or("no reason given");
        format!(
            "answered without text ({why}); `length` means that its reasoning used all tokens of the answer"
        )
    })?;
    let usage = answer.usage.unwrap_or_default();
    Ok(ChatReply {
        content,
        model: answer.model.unwrap_or_else(|| model.to_owned()),
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
    })
}
