//! Adding messages in mem0's format.
//!
//! Owns: mem0's form of a message, its speaker, and the session of a run. Never: extraction; mem0 extracts memories
//! from each add, so each add ends the segment of its session.

use axum::Json;
use axum::response::IntoResponse;
use memory::Flush;
use model::{Name, Owner};
use ports::JobId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::memories::Ids;
use super::names::{agents_own, in_its_words, no_run, refuse_app};
use crate::add::accepted;
use crate::body::JsonBody;
use crate::frame::{Answer, Visit};
use crate::wire::message::{ContentItem, ContentType, MessageRole};
use crate::wire::scope::name;
use crate::wire::{AddRequest, Invalid, MessageContent, MessageItem};

/// The speaker of an assistant's message without an agent.
const ASSISTANT: &str = "assistant";
/// The user of a run that names no user.
const USER: &str = "user";

const QUEUED: &str = "Memory processing has been queued for background execution";
const STORED_BEFORE: &str = "These messages were stored before; nothing new is stored";

/// The body of an add. Other keys, such as `metadata` and `infer`, are ignored: the messages are stored word for
/// word, and facts are extracted from them.
#[derive(Debug, Deserialize)]
pub(super) struct Adding {
    messages: Value,
    #[serde(flatten)]
    ids: Ids,
    filters: Option<Map<String, Value>>,
    /// Seconds since 1970.
    timestamp: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct SaidTo {
    role: String,
    #[serde(default)]
    content: Value,
    name: Option<String>,
    tool_call_id: Option<String>,
}

/// Stores the messages; a task writes the memories later, and its id is the event's id.
pub(super) async fn add(visit: Visit, JsonBody(value, hold, _): JsonBody<Adding>) -> Answer {
    let gateway = &visit.gateway;
    let request = value.request(&visit)?;
    let add = accepted(&visit, request, None).map_err(in_its_words)?;
    let event = JobId(gateway.fresh_id());
    let flush = Flush {
        session: add.session.clone(),
        task: Some(event.clone()),
        wait: false,
    };
    let engine = gateway.engine.clone();
    let write = async move {
        let _hold = hold;
        let added = engine.add(add).await?;
        engine.flush(flush).await?;
        Ok(added)
    };
    let added = gateway.see_through(write).await?;
    gateway.metrics.added(added.accepted.len(), 0);
    let is_new = added.accepted.iter().any(|accepted| !accepted.duplicate);
    let pending = json!({
        "message": if is_new { QUEUED } else { STORED_BEFORE },
        "status": "PENDING",
        "event_id": event.0,
    });
    Ok(Json(pending).into_response())
}

impl Adding {
    /// The request for the memory API.
    fn request(self, visit: &Visit) -> Result<AddRequest, Invalid> {
        let given = |own: &Option<String>, key: &str| -> Option<String> {
            let filters = self.filters.as_ref();
            own.clone()
                .or_else(|| filters?.get(key)?.as_str().map(str::to_owned))
        };
        refuse_app(given(&self.ids.app_id, "app_id").as_deref(), &visit.caller.home)?;
        let named = |own: &Option<String>, key: &str| given(own, key).map(|id| name(key, &id)).transpose();
        let user = named(&self.ids.user_id, "user_id")?;
        let agent = named(&self.ids.agent_id, "agent_id")?;
        let run = given(&self.ids.run_id, "run_id");
        let owner = match (&user, &agent) {
            (Some(user), _) => Owner::user(user.clone()),
            (None, Some(agent)) => agents_own(agent)?,
            (None, None) if run.is_some() => Owner::user(name("run_id", USER)?),
            (None, None) => {
                let problem = "say whose memory it is: give `user_id`, `agent_id` or `run_id`";
                return Err(Invalid::request(problem));
            }
        };
        let assistant = agent.as_ref().map_or(ASSISTANT, |agent| agent.as_str());
        let own_name = user.is_none().then_some(agent.as_ref()).flatten();
        let said = match self.messages {
            Value::String(_) => vec![json!({"role": "user", "content": self.messages})],
            Value::Array(said) => said,
            one => vec![one],
        };
        let now = visit.gateway.clock.now().millis();
        let began = self
            .timestamp
            .map_or(now, |seconds| seconds.saturating_mul(1_000));
        let speakers = Speakers {
            user: &owner.id,
            user_name: own_name,
            assistant,
        };
        let message = |(at, said): (usize, Value)| {
            let time = began.saturating_add(i64::try_from(at).unwrap_or_default());
            speakers.message(at, said, time).transpose()
        };
        let messages = said.into_iter().enumerate().filter_map(message);
        let messages = messages.collect::<Result<Vec<MessageItem>, _>>()?;
        let session = run.unwrap_or_else(|| no_run(&owner));
        let mut request = AddRequest::new(session, messages);
        request.defer_extraction = true;
        request.undated = self.timestamp.is_none();
        Ok(request)
    }
}

/// The names of the speakers.
struct Speakers<'a> {
    user: &'a Name,
    user_name: Option<&'a Name>,
    assistant: &'a str,
}

impl Speakers<'_> {
    /// A message for the memory API; none for system messages and messages without content.
    fn message(&self, at: usize, said: Value, timestamp: i64) -> Result<Option<MessageItem>, Invalid> {
        let said: SaidTo =
            serde_json::from_value(said).map_err(|error| Invalid::at(format!("messages.{at}"), error))?;
        let role = match said.role.as_str() {
            "user" => MessageRole::User,
            "tool" => MessageRole::Tool,
            "assistant" => MessageRole::Assistant,
            _ => return Ok(None),
        };
        let is_user = role == MessageRole::User;
        Ok(content(said.content, at)?.map(|content| MessageItem {
            sender_id: if is_user {
                self.user.to_string()
            } else {
                self.assistant.to_owned()
            },
            sender_name: said
                .name
                .or_else(|| self.user_name.filter(|_| is_user).map(ToString::to_string)),
            role,
            timestamp,
            content,
            tool_calls: None,
            tool_call_id: said.tool_call_id,
            message_id: None,
        }))
    }
}

/// A message's content; none for a tool call without text.
fn content(content: Value, at: usize) -> Result<Option<MessageContent>, Invalid> {
    let path = || format!("messages.{at}.content");
    let parts = match content {
        Value::Null => return Ok(None),
        Value::String(text) => return Ok(Some(MessageContent::Text(text))),
        Value::Array(parts) => parts,
        part @ Value::Object(_) => vec![part],
        _ => return Err(Invalid::at(path(), "must be a string or a list of parts")),
    };
    let items = parts.iter().map(|part| {
        let kind = part["type"].as_str().unwrap_or_default();
        let (kind, text, uri) = match kind {
            "text" => (ContentType::Text, &part["text"], &Value::Null),
            "image_url" => (ContentType::Image, &Value::Null, &part["image_url"]["url"]),
            "pdf_url" => (ContentType::Pdf, &Value::Null, &part["pdf_url"]["url"]),
            "mdx_url" => (ContentType::Doc, &Value::Null, &part["mdx_url"]["url"]),
            _ => {
                return Err(Invalid::at(
                    path(),
                    "a part is `text`, `image_url`, `pdf_url` or `mdx_url`",
                ));
            }
        };
        Ok(ContentItem {
            kind,
            text: text.as_str().map(str::to_owned),
            uri: uri.as_str().map(str::to_owned),
            base64: None,
            ext: None,
            name: None,
            extras: None,
        })
    });
    Ok(Some(MessageContent::Parts(items.collect::<Result<_, _>>()?)))
}
