//! One message of a conversation, as the client sent it.
//!
//! Owns: the shape of a message and the text that memory sees of it. Never: judging or changing its content.

use crate::{MessageId, SenderId, SessionKey, Timestamp};

/// Role of a speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// A tool's result.
    Tool,
}

impl Role {
    /// The wire's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// The role of that word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            "tool" => Some(Self::Tool),
            _ => None,
        }
    }
}

/// A message's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Typed parts, in order.
    Parts(Vec<Part>),
}

/// The type of a content part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartKind {
    Text,
    Image,
    Audio,
    Doc,
    Pdf,
    Html,
    Email,
}

/// One typed part of a message's content; other content than text is stored as a reference and named in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub kind: PartKind,
    pub text: Option<String>,
    pub uri: Option<String>,
    pub base64: Option<String>,
    pub ext: Option<String>,
    pub name: Option<String>,
    /// The client's extra fields, as the JSON text it sent.
    pub extras_json: Option<String>,
}

/// A tool call that an assistant made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// The arguments exactly as sent; they need not be valid JSON.
    pub arguments: String,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionKey,
    pub sender: SenderId,
    pub sender_name: Option<String>,
    pub role: Role,
    pub time: Timestamp,
    pub content: Content,
    pub tool_calls: Vec<ToolCall>,
    /// Which call a tool message answers.
    pub tool_call_id: Option<String>,
}

impl Message {
    /// The text that memory sees: text parts joined by line feeds, other parts as `[image: name]`.
    pub fn text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => parts.iter().map(Part::as_text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// The name a reader should see: the sender's display name, else its id.
    pub fn speaker(&self) -> &str {
        self.sender_name.as_deref().unwrap_or(self.sender.as_str())
    }
}

impl Part {
    fn as_text(&self) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let label = match self.kind {
            PartKind::Text => return String::new(),
            PartKind::Image => "image",
            PartKind::Audio => "audio",
            PartKind::Doc => "document",
            PartKind::Pdf => "PDF",
            PartKind::Html => "web page",
            PartKind::Email => "e-mail",
        };
        match self.name.as_deref().or(self.uri.as_deref()) {
            Some(name) => format!("[{label}: {name}]"),
            None => format!("[{label}]"),
        }
    }
}
