//! The content of a request, in each dialect: its messages, and the part that the server stores.
//!
//! Owns: their place in a body, an input that is a plain text. Never: choosing the messages to send (`outgoing`).

use std::borrow::Cow;

use serde::Deserialize;

use crate::body::{self, Body, Unfit};
use crate::proxy::Speech;

/// Wrapper of an input that is a plain text.
const MESSAGE: (&str, &str) = (r#"{"role":"user","content":"#, "}");

/// The client's own part of a request.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    pub(crate) messages: Vec<Cow<'a, str>>,
    is_text: bool,
    /// The response that the request continues: the server stores the messages up to it.
    pub(crate) previous: Option<String>,
    /// The server's name for a conversation that it holds.
    pub(crate) conversation: Option<String>,
}

impl<'a> Input<'a> {
    pub(crate) fn read(body: &Body<'a>, speech: Speech) -> Result<Self, Unfit> {
        let field = speech.messages_field();
        let of_responses = |name| body.get(name).filter(|_| speech == Speech::Responses);
        let text = of_responses(field).filter(|input| input.starts_with('"'));
        let messages = match text {
            Some(text) => vec![Cow::Owned([MESSAGE.0, text, MESSAGE.1].concat())],
            None => body.list(field)?.into_iter().map(Cow::Borrowed).collect(),
        };
        let id = |json: &str| match serde_json::from_str(json).unwrap_or_default() {
            serde_json::Value::String(id) => Some(id),
            named => named["id"].as_str().map(str::to_owned),
        };
        Ok(Self {
            messages,
            is_text: text.is_some(),
            previous: of_responses("previous_response_id").and_then(id),
            conversation: of_responses("conversation").and_then(id),
        })
    }

    /// The server's id of the messages that it stores; none if the client sends all of them.
    pub(crate) fn held_id(&self) -> Option<&str> {
        self.previous.as_deref().or(self.conversation.as_deref())
    }

    /// The messages; a reference to an item is replaced by the item, if it is known.
    pub(crate) fn messages_with<'b>(&'b self, known: &'b [Option<String>]) -> impl Iterator<Item = &'b str> {
        let messages = self.messages.iter().enumerate();
        messages.map(|(at, message)| known.get(at).and_then(Option::as_deref).unwrap_or(message))
    }

    /// The message at this place, if it is only a reference to an item.
    pub(crate) fn name_at(&self, at: usize) -> Option<&str> {
        let message = self.messages.get(at)?;
        reference(message).map(|_| &**message)
    }

    /// The field's value with these messages; none if they are the client's own.
    pub(crate) fn field(&self, sent: &[&str]) -> Option<String> {
        if self.messages == sent {
            return None;
        }
        let text = match sent {
            [message] if self.is_text => message.strip_prefix(MESSAGE.0),
            _ => None,
        };
        let text = text.and_then(|rest| rest.strip_suffix(MESSAGE.1));
        Some(text.map_or_else(|| body::list(sent), str::to_owned))
    }
}

/// The id of the item that a message refers to, if the message is only a reference: the server stores the item.
pub(crate) fn reference(message: &str) -> Option<String> {
    if !message.contains(REFERENCE) {
        return None;
    }
    let item: ItemHead = serde_json::from_str(message).ok()?;
    item.id.filter(|_| item.kind.as_deref() == Some(REFERENCE))
}

/// The id of a response's item.
pub(crate) fn id(item: &str) -> Option<String> {
    let item: ItemHead = serde_json::from_str(item).ok()?;
    item.id
}

const REFERENCE: &str = "item_reference";

/// The fields that identify an item.
#[derive(Deserialize)]
struct ItemHead {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}
