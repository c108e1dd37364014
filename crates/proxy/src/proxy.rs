//! The proxy's handle, its parts, and the input from a door.
//!
//! Owns: the choice of the server for a model, the owner of a request. Never: the order of a turn (`turn`).

use std::sync::Arc;
use std::time::Duration;

use crate::conversation::{Contexts, Logged, Party, Shared, Store, name_of};
use bytes::Bytes;
use model::{Name, Owner, Scope, SessionId};
use prefix::chain::ConversationId;
use serde::{Deserialize, Serialize};
use transcript::dialect::Dialect;
use transcript::json;

use crate::blocking;
use crate::body::Body;
use crate::gate::Gates;
use crate::idle::{self, Frame, Idle};
use crate::last_requests::LastRequests;
use crate::learn;
use crate::measure::Measures;
use crate::parts::DirectParts;
use crate::refusal::Refusal;
use crate::target::{Route, Target};

/// Number of a conversation's newest requests with measurements.
const MEASURED: usize = 64;

/// The model servers of the proxy.
#[derive(Debug, Clone)]
pub struct ProxyParts {
    pub routes: Vec<Route>,
    /// Paths behind `/v1/` that every token can use, with all paths below them: `files`.
    pub passthrough: Vec<String>,
    /// By the base URLs of the servers.
    pub gates: Arc<Gates>,
}

/// The handle. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Proxy {
    pub(crate) parts: Arc<DirectParts>,
    pub(crate) gates: Arc<Gates>,
    pub(crate) passthrough: Arc<[String]>,
    pub(crate) last_requests: Arc<LastRequests>,
    pub(crate) idle: Idle,
    pub(crate) measures: Arc<Measures>,
    pub(crate) targets: Arc<[Target]>,
}

/// Memory mode of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryUse {
    #[default]
    On,
    /// Memory is recalled, and nothing is learnt.
    ReadOnly,
    /// Memory is neither recalled nor learnt.
    Off,
    /// Nothing of the request is kept anywhere.
    Incognito,
}

impl MemoryUse {
    pub(crate) fn recalls(self) -> bool {
        matches!(self, Self::On | Self::ReadOnly)
    }

    pub(crate) fn learns(self) -> bool {
        self == Self::On
    }
}

/// The API in which a conversation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speech {
    /// OpenAI's chat completions.
    Chat,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
}

impl Speech {
    /// The dialect of its messages and answers.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Chat => Dialect::OpenAi,
            Self::Messages => Dialect::Anthropic,
            Self::Responses => Dialect::OpenAiResponses,
        }
    }

    /// The fields of the messages, of the system text (in a chat it is a message), and of the maximum length of an
    /// answer, if the client uses no other.
    fn fields(self) -> [&'static str; 3] {
        match self {
            Self::Chat | Self::Messages => ["messages", "system", "max_tokens"],
            Self::Responses => ["input", "instructions", "max_output_tokens"],
        }
    }

    pub(crate) fn messages_field(self) -> &'static str {
        self.fields()[0]
    }

    pub(crate) fn system_field(self) -> &'static str {
        self.fields()[1]
    }

    pub(crate) fn length_field(self) -> &'static str {
        self.fields()[2]
    }

    /// The messages of a reply: one, or the items of a response.
    pub(crate) fn replies(self, message: &str) -> Vec<&str> {
        match self {
            Self::Chat | Self::Messages => vec![message],
            Self::Responses => {
                let items = json::parsed(message).map_or_else(Vec::new, |list| list.elements());
                items.iter().map(json::Value::text).collect()
            }
        }
    }
}

/// A request from a door.
#[derive(Debug, Clone)]
pub struct Request {
    /// Behind `/v1/`, with its query.
    pub path: String,
    /// The HTTP method, in upper case.
    pub method: String,
    /// The client's headers, without those of the connection and of Quipu. Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub scope: Scope,
    /// The user, as the door determined it; see [`name_of`].
    pub owner: Option<Name>,
    /// The agent of the request, if it is named.
    pub agent: Option<Name>,
    /// The client's name of its conversation.
    pub conversation: Option<SessionId>,
    /// The client's own id of a group of conversations: a hint, not a name.
    pub family: Option<String>,
    pub memory: MemoryUse,
    /// Whether the caller may see messages of the user from outside of the project, and facts about the user that apply
    /// everywhere.
    pub with_person: bool,
    /// The caller used a token: the request can reach no object of other owners on the model server.
    pub is_guarded: bool,
}

impl Proxy {
    /// Starts a proxy in front of these servers. Its task ends with the last handle, or at [`Proxy::shutdown`].
    pub fn start(parts: Arc<DirectParts>, servers: ProxyParts) -> Self {
        let targets: Arc<[Target]> = servers.routes.into_iter().map(Target::new).collect();
        let (gates, last_requests) = (servers.gates, Arc::<LastRequests>::default());
        let served = idle::Served {
            targets: Arc::clone(&targets),
            last_requests: Arc::clone(&last_requests),
            gates: Arc::clone(&gates),
        };
        Self {
            idle: Idle::start(Arc::clone(&parts), Some(served)),
            parts,
            gates,
            passthrough: servers.passthrough.into(),
            last_requests,
            measures: Arc::new(Measures::new(MEASURED)),
            targets,
        }
    }

    /// Stores a request's frame, for work while the conversation is idle; returns the conversation's id.
    pub(crate) async fn keep_frame(&self, shared: &Shared, frame: Frame) -> ConversationId {
        let mut conversation = shared.lock().await;
        let (id, written) = (conversation.identity(), frame.write());
        if conversation.frame != written {
            conversation.record(&Logged::Frame { text: written });
            self.parts.contexts.keeper().keep(&mut conversation).await;
        }
        self.last_requests.set_frame(&id, frame);
        id
    }

    pub(crate) fn store(&self) -> &Store {
        self.parts.contexts.store()
    }

    /// The service of conversations.
    pub fn contexts(&self) -> &Contexts {
        &self.parts.contexts
    }

    /// Measurements of requests.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Drops a tenant's conversations from memory after a deletion; those still on disk are read again.
    pub async fn forgotten(&self, scope: &Scope) {
        self.store().reload(scope).await;
        let beginning = format!("{}/{}/", scope.app, scope.project);
        self.last_requests.forget_all(&beginning);
        self.measures.forget_all(&beginning);
    }

    /// The gates, one for each server.
    pub fn gates(&self) -> &Gates {
        &self.gates
    }

    /// Sends on a request that is not a chat: embeddings, models, files.
    pub async fn forward(&self, request: Request) -> Result<crate::after::ProxyAnswer, Refusal> {
        let (body, proxy, checked) = (request.body.clone(), self.clone(), request.clone());
        blocking::if_large(body.len(), async move { proxy.check_reach(&checked).await }).await??;
        let model = blocking::if_large(body.len(), async move { model_of(&body) }).await?;
        // A request without a model goes to the first server, if no server matches it.
        let targets = match self.targets(&model) {
            Err(_) if model.is_empty() && !self.targets.is_empty() => vec![self.targets[0].clone()],
            targets => targets?,
        };
        self.pass(&targets, &request, request.body.clone()).await
    }

    /// Waits until all answers so far are processed: measured, remembered, queued for the disk.
    pub async fn rest(&self) {
        self.parts.contexts.tasks().rest().await;
        self.parts.engine.caught_up(None).await;
    }

    /// Ends all work within the bound: messages are written, jobs that wait for a server are dropped. No task of the
    /// proxy is left.
    pub async fn shutdown(&self, bound: Duration) {
        let end = self.parts.clock.elapsed() + bound;
        self.idle.finish().await;
        self.parts
            .contexts
            .tasks()
            .finish(&*self.parts.clock, bound / 2)
            .await;
        let left = end.saturating_sub(self.parts.clock.elapsed());
        self.gates.shutdown(left).await;
        self.parts.contexts.keeper().finish().await;
    }

    /// The servers for a model, in the order of attempts.
    pub(crate) fn targets(&self, model: &str) -> Result<Vec<Target>, Refusal> {
        let answers = |models: &[String]| {
            models.is_empty()
                || models.iter().any(|name| match name.strip_suffix('*') {
                    Some(beginning) => model.starts_with(beginning),
                    None => name == model,
                })
        };
        let targets = self.targets.iter().filter(|target| answers(&target.route.models));
        let targets: Vec<Target> = targets.cloned().collect();
        if targets.is_empty() {
            return Err(Refusal::no_model(model));
        }
        Ok(targets)
    }

    /// The request's owner: the door's user, else the body's `user`, else the configured default.
    pub(crate) fn party(&self, request: &Request, body: &Body<'_>) -> Result<Party, Refusal> {
        let user = || name_of(&body.text("user")?);
        let owner = request
            .owner
            .clone()
            .or_else(user)
            .or_else(|| self.parts.owner.clone());
        let owner = owner.ok_or_else(|| {
            Refusal::invalid(
                "the request names no user: send the header `x-quipu-user`, give the token a `user`, or set `proxy.owner`",
            )
        })?;
        Ok(Party {
            scope: request.scope.clone(),
            owner: Owner::user(owner),
            conversation: request.conversation.clone(),
            family: request.family.clone(),
        })
    }

    /// An id that sorts by creation time.
    pub(crate) fn fresh_conversation(&self) -> String {
        learn::fresh(&*self.parts.clock, &*self.parts.ids)
    }
}

/// The model that a body names; empty if it is not JSON.
fn model_of(body: &Bytes) -> String {
    let text = std::str::from_utf8(body).ok();
    let model = text.and_then(|text| Body::read(text).ok()?.text("model"));
    model.unwrap_or_default()
}
