//! A message in requests and answers.
//!
//! Owns: its JSON form and bounds. Never: its id (the engine assigns it) or extraction.

use model::{Content, Message, MessageId, Part, PartKind, Role, SessionKey, Timestamp, ToolCall};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use crate::wire::Invalid;
use crate::wire::scope::name;

/// Maximum length of a client's own message id, in characters.
pub const MESSAGE_ID_CHARS_MAX: usize = 128;

/// One message to add. Unknown keys are ignored.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, DeriveDeserialize, ToSchema)]
pub struct MessageItem {
    #[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9_.@+-]+$")]
    pub sender_id: String,
    pub sender_name: Option<String>,
    #[serde(deserialize_with = "super::json::word")]
    pub role: MessageRole,
    /// Time of the message in epoch milliseconds.
    #[serde(deserialize_with = "super::json::millis")]
    #[schema(exclusive_minimum = 0)]
    pub timestamp: i64,
    pub content: MessageContent,
    #[serde(default, deserialize_with = "super::json::maybe_objects")]
    pub tool_calls: Option<Vec<ToolCallItem>>,
    /// The call that a tool's message answers; required if `role` is `tool`.
    pub tool_call_id: Option<String>,
    /// Quipu: the client's own id, unique in its session. A second message with the same id is ignored.
    #[schema(min_length = 1, max_length = 128)]
    pub message_id: Option<String>,
}

/// Role of the speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, DeriveDeserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    User,
    Assistant,
    Tool,
}

/// Plain text, or typed parts in order.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum MessageContent {
    Text(String),
    Parts(Vec<ContentItem>),
}

/// One part of a message's content. The text of a document, page or e-mail becomes part of the message's text, as a quotation. Of an
/// image or sound without `text`, and of a file that Quipu cannot read, the message names the name, size and digest. Quipu fetches no
/// `uri`.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize, DeriveDeserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentItem {
    #[serde(rename = "type", deserialize_with = "super::json::word")]
    pub kind: ContentType,
    pub text: Option<String>,
    pub uri: Option<String>,
    pub base64: Option<String>,
    pub ext: Option<String>,
    pub name: Option<String>,
    /// Any JSON object; returned exactly as it was sent.
    #[schema(value_type = Option<Object>)]
    pub extras: Option<Box<RawValue>>,
}

/// The type of a content part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, DeriveDeserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContentType {
    Text,
    Image,
    Audio,
    Doc,
    Pdf,
    Html,
    Email,
}

/// An assistant's tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, DeriveDeserialize, ToSchema)]
pub struct ToolCallItem {
    pub id: String,
    #[serde(rename = "type", default = "function")]
    #[schema(default = "function")]
    pub kind: String,
    #[serde(deserialize_with = "super::json::object")]
    pub function: ToolFunction,
}

/// The called function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, DeriveDeserialize, ToSchema)]
pub struct ToolFunction {
    pub name: String,
    /// The arguments as text; they need not be valid JSON.
    pub arguments: String,
}

fn function() -> String {
    "function".to_owned()
}

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrParts;
        impl<'de> Visitor<'de> for TextOrParts {
            type Value = MessageContent;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string or a list of content items")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(MessageContent::Text(text.to_owned()))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(MessageContent::Text(text))
            }
            /// An assistant's message with tool calls alone has no text.
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(MessageContent::Text(String::new()))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
                let items = de::value::SeqAccessDeserializer::new(items);
                crate::wire::json::objects(items).map(MessageContent::Parts)
            }
        }
        deserializer.deserialize_any(TextOrParts)
    }
}

impl MessageItem {
    /// A message of text only, without an id.
    pub fn text(sender_id: impl Into<String>, role: MessageRole, timestamp: i64, text: String) -> Self {
        Self {
            sender_id: sender_id.into(),
            sender_name: None,
            role,
            timestamp,
            content: MessageContent::Text(text),
            tool_calls: None,
            tool_call_id: None,
            message_id: None,
        }
    }

    /// The message in the types of the model, without an id of ours, and the client's own id; `at` is its position in
    /// the request.
    pub fn into_message(self, at: usize, session: &SessionKey) -> Result<(Message, Option<String>), Invalid> {
        let path = |field: &str| format!("messages.{at}.{field}");
        let sender = name(&path("sender_id"), &self.sender_id)?;
        let time = instant(self.timestamp).map_err(|problem| Invalid::at(path("timestamp"), problem))?;
        if self.role == MessageRole::Tool && self.tool_call_id.is_none() {
            return Err(Invalid::at(
                path("tool_call_id"),
                "this field is required when `role` is `tool`",
            ));
        }
        if let Some(id) = &self.message_id {
            let chars = id.chars().count();
            if !(1..=MESSAGE_ID_CHARS_MAX).contains(&chars) {
                return Err(Invalid::at(
                    path("message_id"),
                    format!("must have 1 to {MESSAGE_ID_CHARS_MAX} characters, this one has {chars}"),
                ));
            }
        }
        let content = match self.content {
            MessageContent::Text(text) => Content::Text(text),
            MessageContent::Parts(items) => {
                let parts = (0..)
                    .zip(items)
                    .map(|(n, item): (usize, _)| item.into_part(&path("content"), n));
                Content::Parts(parts.collect::<Result<_, _>>()?)
            }
        };
        let message = Message {
            id: MessageId::new(""),
            session: session.clone(),
            sender,
            sender_name: self.sender_name,
            role: model::same!(self.role, MessageRole => Role: User, Assistant, Tool),
            time,
            content: content.into(),
            tool_calls: self
                .tool_calls
                .unwrap_or_default()
                .into_iter()
                .map(Into::into)
                .collect(),
            tool_call_id: self.tool_call_id,
        };
        Ok((message, self.message_id))
    }
}

fn instant(millis: i64) -> Result<Timestamp, &'static str> {
    if millis <= 0 {
        return Err("must be greater than 0: epoch milliseconds, as in 1715176560000");
    }
    let time = Timestamp::from_millis(millis);
    if time.millis() == millis {
        Ok(time)
    } else {
        Err("is beyond the year 9999: give milliseconds, not micro- or nanoseconds")
    }
}

impl ContentItem {
    fn into_part(self, path: &str, at: usize) -> Result<Part, Invalid> {
        if self
            .extras
            .as_ref()
            .is_some_and(|extras| !extras.get().starts_with('{'))
        {
            return Err(Invalid::at(format!("{path}.{at}.extras"), "must be an object"));
        }
        Ok(Part {
            kind: model::same!(self.kind, ContentType => PartKind: Text, Image, Audio, Doc, Pdf, Html, Email),
            text: self.text,
            uri: self.uri,
            base64: self.base64,
            ext: self.ext,
            name: self.name,
            extras_json: self.extras.map(|extras| extras.get().to_owned()),
        })
    }
}

impl From<&Part> for ContentItem {
    fn from(part: &Part) -> Self {
        Self {
            kind: model::same!(part.kind, PartKind => ContentType: Text, Image, Audio, Doc, Pdf, Html, Email),
            text: part.text.clone(),
            uri: part.uri.clone(),
            base64: part.base64.clone(),
            ext: part.ext.clone(),
            name: part.name.clone(),
            extras: part
                .extras_json
                .clone()
                .and_then(|json| RawValue::from_string(json).ok()),
        }
    }
}

impl From<&Content> for MessageContent {
    fn from(content: &Content) -> Self {
        match content {
            Content::Text(text) => Self::Text(text.clone()),
            Content::Parts(parts) => Self::Parts(parts.iter().map(Into::into).collect()),
        }
    }
}

impl From<Role> for MessageRole {
    fn from(role: Role) -> Self {
        model::same!(role, Role => Self: User, Assistant, Tool)
    }
}

impl From<ToolCallItem> for ToolCall {
    fn from(call: ToolCallItem) -> Self {
        Self {
            id: call.id,
            name: call.function.name,
            arguments: call.function.arguments,
        }
    }
}

impl From<&ToolCall> for ToolCallItem {
    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id.clone(),
            kind: function(),
            function: ToolFunction {
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            },
        }
    }
}
