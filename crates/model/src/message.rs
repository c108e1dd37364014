//! One message of a conversation, as the client sent it.
//!
//! Owns: the shape of a message and its text for memory. Never: judging or changing its content.

use std::borrow::Cow;
use std::sync::Arc;

use crate::attachment::{attachment, without_attachments};
use crate::{MessageId, SenderId, SessionKey, Timestamp};

crate::worded! {
    /// Role of a speaker.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Role {
        /// A person.
        User = "user",
        /// A model.
        Assistant = "assistant",
        /// A tool's result.
        Tool = "tool",
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

/// One typed part of a message's content. The text of an attachment is the text for memory: a line
/// that names it, and its extracted text as a quotation.
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

/// One message of a conversation. Its copies share its content, which may be long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionKey,
    pub sender: SenderId,
    pub sender_name: Option<String>,
    pub role: Role,
    pub time: Timestamp,
    pub content: Arc<Content>,
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call that a tool message answers.
    pub tool_call_id: Option<String>,
}

impl Message {
    /// The message without id and display name, with text parts joined: equal for messages with the
    /// same words.
    #[must_use]
    pub fn without_names(&self) -> Self {
        let content = match &*self.content {
            Content::Parts(parts) if parts.iter().all(|part| part.kind == PartKind::Text) => {
                Arc::new(Content::Text(self.text()))
            }
            _ => self.content.clone(),
        };
        Self {
            id: MessageId::new(""),
            sender_name: None,
            content,
            ..self.clone()
        }
    }

    /// The text for memory: the texts of the parts, a line each; a quotation is between blank
    /// lines.
    pub fn text(&self) -> String {
        self.shared_text().into_owned()
    }

    /// At most the first `bytes_max` bytes of that text.
    pub fn beginning(&self, bytes_max: usize) -> String {
        let text = self.shared_text();
        text[..text.floor_char_boundary(bytes_max)].to_owned()
    }

    fn shared_text(&self) -> Cow<'_, str> {
        let parts = match &*self.content {
            Content::Text(text) => return text.into(),
            Content::Parts(parts) => parts,
        };
        let mut text = String::new();
        let mut is_after_quotation = false;
        for (at, part) in parts.iter().enumerate() {
            let own = part.as_text();
            let is_quotation = part.kind != PartKind::Text && own.contains('\n');
            if at > 0 {
                text.push_str(if is_quotation || is_after_quotation {
                    "\n\n"
                } else {
                    "\n"
                });
            }
            text.push_str(&own);
            is_after_quotation = is_quotation;
        }
        text.into()
    }

    /// Estimated size in bytes.
    pub fn bytes(&self) -> usize {
        let lengths = |texts: &[&Option<String>]| -> usize {
            texts
                .iter()
                .filter_map(|text| text.as_ref())
                .map(String::len)
                .sum()
        };
        let content: usize = match &*self.content {
            Content::Text(text) => text.len(),
            Content::Parts(parts) => parts
                .iter()
                .map(|part| {
                    size_of::<Part>()
                        + lengths(&[&part.text, &part.uri, &part.base64, &part.name, &part.extras_json])
                })
                .sum(),
        };
        let calls = self.tool_calls.iter();
        let calls: usize = calls
            .map(|call| size_of::<ToolCall>() + call.name.len() + call.arguments.len())
            .sum();
        size_of::<Self>() + content + calls + lengths(&[&self.sender_name, &self.tool_call_id])
    }

    /// Its text without attachments, which are not the sender's words.
    pub fn own_text(&self) -> Cow<'_, str> {
        match self.shared_text() {
            Cow::Borrowed(text) => without_attachments(text),
            Cow::Owned(text) => match without_attachments(&text) {
                Cow::Borrowed(_) => text.into(),
                Cow::Owned(said) => said.into(),
            },
        }
    }

    /// The name for a reader: the sender's display name, else its id.
    pub fn speaker(&self) -> &str {
        self.sender_name.as_deref().unwrap_or(self.sender.as_str())
    }
}

impl Part {
    fn as_text(&self) -> Cow<'_, str> {
        if let Some(text) = &self.text {
            return text.into();
        }
        match self.kind.label() {
            None => "".into(),
            Some(label) => {
                let name = self.name.as_deref().unwrap_or_default();
                match &self.uri {
                    None => attachment(label, name, "").into(),
                    Some(uri) => attachment(label, &format!("{name} {uri}, not fetched"), "").into(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Name, Scope, SessionId};

    #[test]
    fn attachments_are_separate_and_not_the_senders_words() {
        let part = |kind, text: &str| Part {
            kind,
            text: (!text.is_empty()).then(|| text.to_owned()),
            uri: None,
            base64: None,
            ext: None,
            name: Some("a.b".to_owned()),
            extras_json: None,
        };
        let linked = Part {
            uri: Some("https://example.org/x".to_owned()),
            ..part(PartKind::Pdf, "")
        };
        let plan = attachment("document", "plan.docx", "I live in Rome.");
        let message = Message {
            id: MessageId::new("m"),
            session: SessionKey::new(Scope::default(), SessionId::new("s")),
            sender: Name::parse("ada").expect("a name"),
            sender_name: None,
            role: Role::User,
            time: Timestamp::default(),
            content: Content::Parts(vec![
                part(PartKind::Text, "See"),
                part(PartKind::Image, ""),
                linked,
                part(PartKind::Doc, &plan),
                part(PartKind::Text, "and tell me."),
            ])
            .into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        let before =
            "See\n[image: a.b]\n[PDF: a.b https://example.org/x, not fetched]\n\n[document: plan.docx]\n";
        assert_eq!(
            message.text(),
            format!("{before}> I live in Rome.\n\nand tell me.")
        );
        assert_eq!(message.own_text(), format!("{before}\nand tell me."));
        assert_eq!(message.beginning(5), "See\n[");

        let long = Message {
            content: Content::Text("thé ".repeat(100_000)).into(),
            ..message.clone()
        };
        assert!(matches!(long.own_text(), Cow::Borrowed(_)), "it is long");
        assert_eq!(long.beginning(3), "th", "no half letter");
        assert!((500_000..501_000).contains(&long.bytes()));
        let row = crate::Doc::of_message(&long, &crate::Owner::user(message.sender));
        assert!(row.text.len() > crate::TURN_BYTES_MAX - 4 && row.text.len() <= crate::TURN_BYTES_MAX);
    }
}
