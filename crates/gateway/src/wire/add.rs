//! `memory/add` and `memory/flush`: storing messages.
//!
//! Owns: their requests, bounds and answers. Never: deciding when memory is extracted.

use macro_rules_attribute::apply;
use memory::Add;
use model::{Scope, SessionKey};
use ports::NewMessage;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::{IntoParams, ToSchema};

use crate::wire::fields::filled;
use crate::wire::{Invalid, MessageItem, scope};

/// Maximum number of messages in one add.
pub const MESSAGES_MAX: usize = 500;

/// Messages of one session to add. Unknown keys are ignored.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct AddRequest {
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: String,
    /// Quipu: title of the session; episodes made by rules take it as their subject.
    #[schema(value_type = String, required = false)]
    pub session_title: Option<String>,
    #[schema(value_type = String, required = false, min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9_.@+-]+$", default = "default")]
    pub app_id: Option<String>,
    #[schema(value_type = String, required = false, min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9_.@+-]+$", default = "default")]
    pub project_id: Option<String>,
    #[serde(deserialize_with = "super::json::objects")]
    #[schema(min_items = 1, max_items = 500)]
    pub messages: Vec<MessageItem>,
    /// Only accept the messages; a later flush extracts memories from them.
    #[serde(default)]
    #[schema(default = false)]
    pub defer_extraction: bool,
    /// Answer 202 at once; `GET tasks/{request_id}` returns the result.
    #[serde(default)]
    #[schema(default = false)]
    pub async_mode: bool,
    /// Quipu: answer only when all memories of the session are written and searchable.
    #[serde(default)]
    #[schema(default = false)]
    pub wait: bool,
    /// Quipu: also store messages that were deleted before. Without it an add leaves them out: the same words of the same sender,
    /// with the time, the `message_id` or the neighbours of then.
    #[serde(default)]
    #[schema(default = false)]
    pub accept_forgotten: bool,
    /// Quipu: the user for whom an agent wrote the messages to its log. A log begins with a copy of the session that it goes on from:
    /// a message that another session of this user has, with the same sender, role, timestamp and content, is a duplicate.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9_.@+-]+$")]
    pub log_of: Option<String>,
    /// Quipu: the timestamps say when the messages are sent, not when they were said. The same messages, sent again to the session on the
    /// same day (UTC), are duplicates.
    #[serde(default)]
    #[schema(default = false)]
    pub undated: bool,
}

impl AddRequest {
    /// A request with messages of a session and defaults for everything else.
    pub fn new(session_id: impl Into<String>, messages: Vec<MessageItem>) -> Self {
        Self {
            session_id: session_id.into(),
            messages,
            ..Self::default()
        }
    }

    /// Checks the request. The gateway adds the task and the keys that detect repeated messages.
    pub fn into_add(self, home: &Scope) -> Result<Add, Invalid> {
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        let session = scope::session(&self.session_id, scope)?;
        let count = self.messages.len();
        if !(1..=MESSAGES_MAX).contains(&count) {
            return Err(Invalid::at(
                "messages",
                format!("must have 1 to {MESSAGES_MAX} messages, this has {count}"),
            ));
        }
        if self.async_mode && self.wait {
            return Err(Invalid::at("wait", "cannot be true when `async_mode` is"));
        }
        let log_of = self.log_of.as_deref().map(|user| scope::name("log_of", user));
        let log_of = log_of.transpose()?;
        let new = |(at, item): (usize, MessageItem)| {
            let (message, client_id) = item.into_message(at, &session)?;
            Ok(NewMessage {
                accept_forgotten: self.accept_forgotten,
                log_of: log_of.clone(),
                ..NewMessage::new(message, client_id)
            })
        };
        let messages = self.messages.into_iter().enumerate().map(new);
        Ok(Add {
            messages: messages.collect::<Result<_, _>>()?,
            session,
            title: self.session_title,
            defer_extraction: self.defer_extraction,
            task: None,
        })
    }
}

/// Result of an add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AddData {
    pub message_count: usize,
    pub status: AddStatus,
    /// Quipu: the ids of the messages that are stored, in the order they were sent: all but those in `withheld`.
    pub message_ids: Vec<String>,
    /// Quipu: number of messages that were stored before, also those deleted since. Without a `message_id` a message is the
    /// same if its session, sender, role, timestamp and content are.
    pub duplicates: usize,
    /// Quipu: number of duplicates that were deleted and are left out.
    #[serde(default)]
    pub forgotten: usize,
    /// Quipu: the positions in the request, from 0, of the messages that are left out.
    #[serde(default)]
    pub withheld: Vec<usize>,
    /// Quipu: number of messages that were deleted before and are stored again, as `accept_forgotten` asks.
    #[serde(default)]
    pub restored: usize,
    /// Quipu: number of secrets removed from them before they were written.
    #[serde(default)]
    pub redacted: usize,
}

/// Whether an add made memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddStatus {
    Accumulated,
    Extracted,
}

/// A 202: the messages are on disk; a task does the rest.
#[apply(filled!)]
#[from(added: &AddData, pending: usize)]
pub struct QueuedData {
    #[value(QueuedStatus::Queued)]
    pub status: QueuedStatus,
    pub message_count: usize,
    /// Unfinished tasks of this session, this one included.
    #[value(pending)]
    pub pending: usize,
    /// Quipu: the ids of the messages that are stored, in the order they were sent: all but those in `withheld`.
    #[serde(default)]
    pub message_ids: Vec<String>,
    /// Quipu: number of messages that were stored before, also those deleted since. Without a `message_id` a message is the
    /// same if its session, sender, role, timestamp and content are.
    #[serde(default)]
    pub duplicates: usize,
    /// Quipu: number of duplicates that were deleted and are left out.
    #[serde(default)]
    pub forgotten: usize,
    /// Quipu: the positions in the request, from 0, of the messages that are left out.
    #[serde(default)]
    pub withheld: Vec<usize>,
    /// Quipu: number of messages that were deleted before and are stored again, as `accept_forgotten` asks.
    #[serde(default)]
    pub restored: usize,
    /// Quipu: number of secrets removed from them before they were written.
    #[serde(default)]
    pub redacted: usize,
}

/// The one word of a 202.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum QueuedStatus {
    Queued,
}

/// Extracts memories from all messages in a session's buffer.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlushRequest {
    #[schema(min_length = 1, max_length = 128)]
    pub session_id: String,
    #[schema(value_type = String, required = false, min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9_.@+-]+$", default = "default")]
    pub app_id: Option<String>,
    #[schema(value_type = String, required = false, min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9_.@+-]+$", default = "default")]
    pub project_id: Option<String>,
    /// Quipu: answer only when it is written and searchable.
    #[serde(default)]
    #[schema(default = false)]
    pub wait: bool,
}

impl FlushRequest {
    /// Checks the request.
    pub fn session(&self, home: &Scope) -> Result<SessionKey, Invalid> {
        let scope = scope::scope(self.app_id.as_deref(), self.project_id.as_deref(), home)?;
        scope::session(&self.session_id, scope)
    }
}

/// Result of a flush.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlushData {
    pub status: FlushStatus,
}

/// Whether a flush made memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlushStatus {
    Extracted,
    NoExtraction,
}

/// `?wait=true`, the same as in the body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// Quipu: answer only when it is written and searchable.
    #[serde(default)]
    #[param(required = false)]
    pub wait: bool,
}
