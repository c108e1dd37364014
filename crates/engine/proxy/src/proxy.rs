//! The proxy's handle, what it is built of, and what a door hands to it.
//!
//! Owns: which server answers for a model, whose a request is. Never: the order of a turn (`turn`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use engine::Engine;
use model::{Name, Owner, Scope, SessionId};
use ports::{Clock, Conversations, Ids, Probed, Upstream};
use prefix::backend::{self, Kind};
use serde_json::value::RawValue;
use transcript::dialect::Dialect;

use crate::body::Body;
use crate::endings::Endings;
use crate::gate::Gates;
use crate::idle::{self, Idle};
use crate::keeper::Keeper;
use crate::measure::Measures;
use crate::outgoing::Learnt;
use crate::refusal::Refusal;
use crate::store::Store;
use crate::whose::{Whose, name_of};

/// How many of a conversation's newest requests stay measured.
const MEASURED: usize = 64;

/// A configured server, and the models that it answers for.
#[derive(Debug, Clone)]
pub struct Route {
    pub upstream: Arc<dyn Upstream>,
    /// Wins over what the server seems to be.
    pub kind: Option<Kind>,
    /// Names of models, with `*` at the end for all that begin so; none for all. The first route that names a model answers,
    /// the later ones that do so stand in for it.
    pub models: Vec<String>,
    /// The server's own name for the model, where it is another.
    pub model: Option<String>,
}

/// What whoever runs the proxy has every conversation begin with.
pub trait Instructions: Send + Sync + std::fmt::Debug {
    /// As it stands now, at most so many characters; empty where there is nothing.
    fn read(&self, chars_max: usize) -> String;
}

/// What the proxy stands on.
#[derive(Debug, Clone)]
pub struct Parts {
    pub engine: Engine,
    pub conversations: Arc<dyn Conversations>,
    pub routes: Vec<Route>,
    /// Whose memory it is where a request does not say; none: a request must say.
    pub owner: Option<Name>,
    /// Behind the client's own system text, as it was when an epoch began.
    pub instructions: Option<Arc<dyn Instructions>>,
    /// By the base URLs of the servers.
    pub gates: Arc<Gates>,
    /// A conversation is idle after so long without a turn.
    pub idle_after: Duration,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

/// The handle. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Proxy {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Arc<Store>,
    pub(crate) keeper: Keeper,
    pub(crate) idle: Idle,
    pub(crate) gates: Arc<Gates>,
    pub(crate) measures: Arc<Measures>,
    /// What is done after answers.
    pub(crate) endings: Endings,
    pub(crate) instructions: Option<Arc<dyn Instructions>>,
    targets: Arc<[Target]>,
    models: Arc<[Vec<String>]>,
    owner: Option<Name>,
    ids: Arc<dyn Ids>,
}

/// One server as a turn sees it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) model: Option<String>,
    configured: Option<Kind>,
    pub(crate) learnt: Learnt,
    turns: Arc<AtomicU64>,
    /// The conversation that each slot was given to, and the turn in which it used it last.
    slots: Arc<Mutex<BTreeMap<u32, (String, u64)>>>,
}

/// A slot whose conversation was quiet for so many turns of each slot goes to another.
const QUIET_TURNS: u64 = 4;

impl Target {
    /// The slot of a conversation, where the server has several: left to itself it would put two conversations that begin alike
    /// into one. None where more conversations are under way than there are slots.
    pub(crate) fn slot(&self, probed: &Probed, conversation: &str) -> Option<u32> {
        let count = probed.slots.filter(|count| *count > 1)?;
        let turn = self.turns.load(Ordering::Relaxed);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = slots
            .iter()
            .find(|(_, (held, _))| held == conversation)
            .map(|(slot, _)| *slot);
        let free = || (0..count).find(|slot| !slots.contains_key(slot));
        let quiet = || {
            let (slot, (_, last)) = slots.iter().min_by_key(|(_, (_, last))| *last)?;
            (turn.saturating_sub(*last) > QUIET_TURNS * u64::from(count)).then_some(*slot)
        };
        let slot = mine.or_else(free).or_else(quiet)?;
        slots.insert(slot, (conversation.to_owned(), turn));
        Some(slot)
    }

    /// The slot that a conversation was given, where the server is told of it.
    pub(crate) fn slot_of(&self, conversation: &str) -> Option<u32> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = slots.iter().find(|(_, (held, _))| held == conversation);
        mine.map(|(slot, _)| *slot).filter(|_| self.names_slots())
    }

    /// What the server is, as far as is known.
    pub(crate) fn kind(&self, probed: &Probed) -> Kind {
        backend::decide(self.configured, probed.kind, self.upstream.base_url())
    }

    /// Counts a request.
    pub(crate) fn next_turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }
}

/// What of memory a request uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    #[default]
    On,
    /// Recalled, and nothing is learnt.
    ReadOnly,
    /// Neither recalled nor learnt.
    Off,
    /// Nothing of the request is kept anywhere.
    Incognito,
}

impl Memory {
    pub(crate) fn recalls(self) -> bool {
        matches!(self, Self::On | Self::ReadOnly)
    }

    pub(crate) fn learns(self) -> bool {
        self == Self::On
    }
}

/// How a conversation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    /// OpenAI's chat completions.
    Chat,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
}

impl Speech {
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Chat => Dialect::OpenAi,
            Self::Messages => Dialect::Anthropic,
            Self::Responses => Dialect::OpenAiResponses,
        }
    }

    /// How its answers are written.
    pub(crate) fn answers(self) -> stream::Dialect {
        match self {
            Self::Chat => stream::Dialect::OpenAiChat,
            Self::Messages => stream::Dialect::Anthropic,
            Self::Responses => stream::Dialect::OpenAiResponses,
        }
    }

    /// The field of how long an answer may be, where the client has none of another name.
    pub(crate) fn length_field(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "max_tokens",
            Self::Responses => "max_output_tokens",
        }
    }

    /// The field of the messages.
    pub(crate) fn messages_field(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "messages",
            Self::Responses => "input",
        }
    }

    /// The field of the system text; in a chat it is a message.
    pub(crate) fn system_field(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "system",
            Self::Responses => "instructions",
        }
    }

    /// The messages of a reply: one, or the items of a response.
    pub(crate) fn replies(self, message: &str) -> Vec<&str> {
        let items = || serde_json::from_str::<Vec<&RawValue>>(message).unwrap_or_default();
        match self {
            Self::Chat | Self::Messages => vec![message],
            Self::Responses => items().into_iter().map(RawValue::get).collect(),
        }
    }
}

/// A request as a door hands it over.
#[derive(Debug, Clone)]
pub struct Request {
    /// Behind `/v1/`, with its query.
    pub path: String,
    pub is_get: bool,
    /// The client's, but for those that concern the connection or are ours. Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub scope: Scope,
    /// Whose memory, as the door found it; see [`name_of`].
    pub owner: Option<Name>,
    /// The agent that works here, where it is named.
    pub agent: Option<Name>,
    /// The client's name of its conversation.
    pub conversation: Option<SessionId>,
    /// The client's own id of a group of conversations; a hint, and no name.
    pub family: Option<String>,
    pub memory: Memory,
}

impl Proxy {
    /// A proxy in front of these servers. Its task ends with the last handle, or at [`Proxy::shutdown`].
    pub fn start(parts: Parts) -> Self {
        let store = Arc::new(Store::new(Arc::clone(&parts.conversations)));
        let target = |route: &Route| Target {
            upstream: Arc::clone(&route.upstream),
            model: route.model.clone(),
            configured: route.kind,
            learnt: Learnt::default(),
            turns: Arc::default(),
            slots: Arc::default(),
        };
        let keeper = Keeper::start(Arc::clone(&store));
        let endings = Endings::default();
        let tools = idle::Tools {
            after: parts.idle_after,
            clock: Arc::clone(&parts.clock),
            store: Arc::clone(&store),
            keeper: keeper.clone(),
            gates: Arc::clone(&parts.gates),
            endings: endings.clone(),
        };
        let servers = parts
            .routes
            .iter()
            .map(|route| route.upstream.base_url().to_owned());
        Self {
            idle: Idle::start(tools, servers),
            keeper,
            gates: parts.gates,
            measures: Arc::new(Measures::new(MEASURED)),
            endings,
            targets: parts.routes.iter().map(target).collect(),
            models: parts.routes.into_iter().map(|route| route.models).collect(),
            instructions: parts.instructions,
            engine: parts.engine,
            clock: parts.clock,
            store,
            owner: parts.owner,
            ids: parts.ids,
        }
    }

    /// What requests cost.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Lets go of what a tenant's conversations were, after something of it was deleted: what is still on disk is found again.
    pub async fn forgotten(&self, scope: &Scope) {
        self.store.reload(scope).await;
        self.measures
            .forget_all(&format!("{}/{}/", scope.app, scope.project));
    }

    /// The gates, one for each server.
    pub fn gates(&self) -> &Gates {
        &self.gates
    }

    /// Sends on a request that is no conversation: embeddings, models, completions.
    pub async fn forward(&self, request: Request) -> Result<crate::after::Answer, Refusal> {
        let model = std::str::from_utf8(&request.body)
            .ok()
            .and_then(|text| Body::read(text).ok()?.text("model"))
            .unwrap_or_default();
        let targets = self.targets(&model)?;
        self.pass(&targets, &request, request.body.clone()).await
    }

    /// Waits until what was said so far is taken in: measured, remembered, on its way to the disk.
    pub async fn rest(&self) {
        self.endings.rest().await;
    }

    /// Ends what is under way: what was said is written, what waits for a server is dropped. No task of the proxy is left.
    pub async fn shutdown(&self, bound: Duration) {
        self.idle.finish().await;
        self.endings.finish(&*self.clock, bound).await;
        self.gates.shutdown(bound).await;
        self.keeper.finish().await;
    }

    /// The servers that answer for a model, in the order in which they are tried.
    pub(crate) fn targets(&self, model: &str) -> Result<Vec<Target>, Refusal> {
        let answers = |models: &Vec<String>| {
            models.is_empty()
                || models.iter().any(|name| match name.strip_suffix('*') {
                    Some(beginning) => model.starts_with(beginning),
                    None => name == model,
                })
        };
        let pairs = self.targets.iter().zip(self.models.iter());
        let targets: Vec<Target> = pairs
            .filter(|(_, models)| answers(models))
            .map(|(target, _)| target.clone())
            .collect();
        if targets.is_empty() {
            return Err(Refusal::no_model(model));
        }
        Ok(targets)
    }

    /// The request's owner: the door's, else the body's `user`, else the configured one.
    pub(crate) fn whose(&self, request: &Request, body: &Body<'_>) -> Result<Whose, Refusal> {
        let user = || name_of(&body.text("user")?);
        let owner = request.owner.clone().or_else(user).or_else(|| self.owner.clone());
        let owner = owner.ok_or_else(|| {
            Refusal::invalid(
                "whose memory is this? Send the header `x-quipu-user`, give the token a `user`, or set `proxy.owner`",
            )
        })?;
        Ok(Whose {
            scope: request.scope.clone(),
            owner: Owner::user(owner),
            conversation: request.conversation.clone(),
            family: request.family.clone(),
        })
    }

    /// An id that sorts by the time of its making.
    pub(crate) fn fresh_conversation(&self) -> String {
        format!("{:012x}-{:016x}", self.clock.now().millis(), self.ids.next())
    }
}
