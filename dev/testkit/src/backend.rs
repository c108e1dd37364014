//! Model servers without a model: real HTTP on a loopback port, for tests of clients and proxies.
//!
//! Owns: the protocol, checked on every call; a prefix cache that counts like the real one; planted faults.
//! Never: a model, a clock.

mod answer;
mod call;
mod kept;
mod line;
mod probe;
mod prompt;
mod rules;
mod serve;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::caches::{Blocks, Cache, Checkpoints, Evaluated, Rewind, Slots};
use hyper::body::Bytes;
use prefix::backend::Kind;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use kept::{Border, Marks};
use line::Gate;

/// Default of the window that probes report, in tokens. Longer prompts are accepted.
pub const WINDOW_TOKENS: usize = 32_768;

/// The server's prefix cache. A token is one byte of the rendered prompt, or one border of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Slots that can rewind to any token.
    Rewindable,
    /// Slots that can rewind to checkpoints, placed as a llama.cpp chat endpoint does.
    Checkpoints,
    /// Slots that reuse their whole state, or nothing.
    StrictExtension,
    /// Slots that can rewind to any token and share their memory: a request that starts empties the others.
    Shared,
    /// [`crate::caches::Blocks`], shared by all requests.
    Blocks {
        tokens: usize,
        tokens_min: usize,
        known_max: usize,
    },
    /// The prefixes that end at a `cache_control`, as Anthropic caches them; shared by all requests.
    Marks,
    /// No cache.
    None,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON text.
    pub arguments: String,
}

/// The model's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub reasoning: Option<String>,
    pub text: String,
    pub calls: Vec<ToolCall>,
}

impl Reply {
    /// Only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Only tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// A fault of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this status, without the model.
    Status {
        code: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    /// Closes the connection without a byte, without the model.
    CloseBeforeHead,
    /// Resets the connection after this many chunks of the body (events of a stream; any other body is one),
    /// at its end at the latest.
    ResetAfterChunks(usize),
    /// A stream with nonsense after its first event, also for a request without streaming.
    GarbageSse,
    /// The answer ends in the middle of a JSON text; the transfer is complete.
    TruncatedJson,
    /// Answers after the next [`Backend::release`].
    Hang,
    /// Each [`Backend::release`] lets one byte of the head out; the body follows at once.
    SlowLoris,
}

/// Gets the request, and its number among those that the model answers, from 1.
pub type Respond = Arc<dyn Fn(&Value, usize) -> Reply + Send + Sync>;

/// The behaviour of a server.
#[derive(Clone)]
pub struct Config {
    /// Decides which probes are answered, how cached tokens are reported, and which unknown fields are
    /// refused.
    pub kind: Kind,
    pub cache: CacheKind,
    /// Number of slots, for caches that have slots.
    pub slots: usize,
    /// Answers a violation with 400; otherwise it is only recorded.
    pub strict: bool,
    pub reply: Respond,
    /// One fault for each of the next requests, of any route.
    pub faults: Vec<Fault>,
    /// Streams pause after their first chunk until the next [`Backend::release`].
    pub hold: bool,
    /// The window that probes report, in tokens.
    pub window_tokens: usize,
    /// A longer prompt is refused in llama.cpp's form.
    pub prompt_tokens_max: Option<usize>,
    /// The model's template requires alternating turns of user and assistant, as those of Gemma and Mistral
    /// do.
    pub alternates: bool,
}

impl Default for Config {
    /// A strict llama.cpp server with one rewindable slot that answers "ok 1", "ok 2".
    fn default() -> Self {
        Self {
            kind: Kind::LlamaCpp,
            cache: CacheKind::Rewindable,
            slots: 1,
            strict: true,
            reply: Arc::new(|_, number| Reply::text(format!("ok {number}"))),
            faults: Vec::new(),
            hold: false,
            window_tokens: WINDOW_TOKENS,
            prompt_tokens_max: None,
            alternates: false,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("kind", &self.kind)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

/// A request as it arrived, and its cost. Counts are in tokens; they are 0 for a request that no model
/// answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub prompt_tokens: usize,
    pub cached_tokens: usize,
    pub evaluated_tokens: usize,
    /// Why a real server would refuse it.
    pub violations: Vec<String>,
}

/// A running server. Dropping it ends the server and its connections.
#[derive(Debug)]
pub struct Backend {
    base_url: String,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

impl Backend {
    /// Listens on a free loopback port and serves.
    pub async fn start(config: Config) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("loopback always has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared::new(config));
        let mut serving = JoinSet::new();
        serving.spawn(serve::accept(listener, Arc::clone(&shared)));
        Self {
            base_url: format!("http://{address}/v1"),
            shared,
            _serving: serving,
        }
    }

    /// As in `http://127.0.0.1:8080/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.lock().seen.clone()
    }

    /// Waits until this many requests have arrived.
    pub async fn arrived(&self, count: usize) {
        let mut arrived = self.shared.arrived.subscribe();
        let waited = arrived.wait_for(|arrived| *arrived >= count).await;
        waited.expect("the sender is in `shared`");
    }

    /// Plants a fault after those already planted.
    pub fn fail_next(&self, fault: Fault) {
        self.shared.lock().faults.push_back(fault);
    }

    /// Sets whether streams that arrive from now on pause after their first chunk.
    pub fn hold(&self, hold: bool) {
        self.shared.hold.store(hold, Ordering::SeqCst);
    }

    /// Releases everything that waits now: held streams and hangs to their end, slow heads by a byte. Later
    /// arrivals wait for the next release.
    pub fn release(&self) {
        self.shared.gate.release();
    }
}

/// The state that all connections share.
struct Shared {
    kind: Kind,
    slots: usize,
    strict: bool,
    reply: Respond,
    hold: AtomicBool,
    window_tokens: usize,
    prompt_tokens_max: Option<usize>,
    alternates: bool,
    gate: Gate,
    arrived: watch::Sender<usize>,
    state: Mutex<State>,
}

struct State {
    cache: Simulated,
    faults: VecDeque<Fault>,
    seen: Vec<Seen>,
    answered: usize,
    responses: kept::Responses,
}

impl Shared {
    fn new(config: Config) -> Self {
        Self {
            kind: config.kind,
            slots: config.slots.max(1),
            strict: config.strict,
            reply: config.reply,
            hold: AtomicBool::new(config.hold),
            window_tokens: config.window_tokens,
            prompt_tokens_max: config.prompt_tokens_max,
            alternates: config.alternates,
            gate: Gate::default(),
            arrived: watch::Sender::new(0),
            state: Mutex::new(State {
                cache: Simulated::new(config.cache, config.slots),
                faults: config.faults.into(),
                seen: Vec::new(),
                answered: 0,
                responses: kept::Responses::default(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the lock")
    }

    /// The last step before a request is answered: a test that waits for the request then finds all of it.
    fn note(&self, seen: Seen) {
        let mut state = self.lock();
        state.seen.push(seen);
        self.arrived.send_replace(state.seen.len());
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

enum Simulated {
    Slots(Slots),
    Blocks(Blocks),
    Marks(Marks),
    None,
}

impl Simulated {
    fn new(kind: CacheKind, slots: usize) -> Self {
        let rewind = match kind {
            CacheKind::Rewindable => Rewind::Any,
            CacheKind::Checkpoints => Rewind::Checkpoints(Checkpoints::chat(prompt::USER)),
            CacheKind::StrictExtension => Rewind::Never,
            CacheKind::Shared => return Self::Slots(Slots::shared(Rewind::Any, slots)),
            CacheKind::Blocks {
                tokens,
                tokens_min,
                known_max,
            } => return Self::Blocks(Blocks::new(tokens, tokens_min, known_max)),
            CacheKind::Marks => return Self::Marks(Marks::default()),
            CacheKind::None => return Self::None,
        };
        Self::Slots(Slots::new(rewind, slots))
    }

    /// Evaluates a prompt and its reply in one step: another request can use the slot only afterwards.
    fn run(&mut self, slot: Option<usize>, prompt: &[u32], borders: &[Border], reply: &[u32]) -> Evaluated {
        let cache: &mut dyn Cache = match self {
            Self::Slots(slots) => {
                let Some(slot) = slot else {
                    return run(slots, prompt, reply);
                };
                let evaluated = slots.request_in(slot, prompt);
                slots.reply(reply);
                return evaluated;
            }
            Self::Blocks(blocks) => blocks,
            // A reply is not cached before a request contains it.
            Self::Marks(marks) => return marks.request(prompt, borders),
            Self::None => {
                return Evaluated {
                    cached: 0,
                    evaluated: prompt.len(),
                };
            }
        };
        run(cache, prompt, reply)
    }
}

fn run(cache: &mut dyn Cache, prompt: &[u32], reply: &[u32]) -> Evaluated {
    let evaluated = cache.request(prompt);
    cache.reply(reply);
    evaluated
}
