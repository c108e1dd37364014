//! A proxy on fakes that outlive it, in front of a real HTTP server without a model; and a typical client.
//!
//! Owns: building it, restarting it, the client's history. Never: the expected results.

use context::policy::Policy;
use proxy::conversation::Contexts;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use memory::{Add, Engine, Flush};
use model::{Content, Message, MessageId, Name, Role, Scope, SessionId, SessionKey};
use ports::{Chat, Embedder, NewMessage};
use providers::{EndpointSettings, HttpChat, HttpUpstream};
use proxy::gate::Gates;
use proxy::{
    DirectParts, GatedChat, MemoryUse, Proxy, ProxyAnswer, ProxyParts, Refusal, Request, Route, Speech,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use testkit::backend::{Backend, Config, Reply, Seen, ToolCall};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::HashEmbedder;
use testkit::vault::MemoryVault;

/// Time after which a conversation is idle.
pub(crate) const IDLE_AFTER: Duration = Duration::from_mins(5);

pub(crate) struct Stage {
    pub(crate) backend: Backend,
    pub(crate) engine: Engine,
    pub(crate) proxy: Proxy,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) vault: Arc<MemoryVault>,
    pub(crate) index: Arc<MemoryIndex>,
    /// The operator's instructions.
    pub(crate) sheet: Arc<Sheet>,
    kept: Kept,
}

/// Instructions that a test changes, and the number of reads.
#[derive(Debug, Default)]
pub(crate) struct Sheet(pub(crate) Mutex<String>, pub(crate) AtomicUsize);

impl proxy::Instructions for Sheet {
    fn read(&self, chars_max: usize) -> String {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0
            .lock()
            .expect("unpoisoned")
            .chars()
            .take(chars_max)
            .collect()
    }
}

/// The parts that survive a restart.
#[derive(Clone)]
struct Kept {
    clock: Arc<ManualClock>,
    ledger: Arc<MemoryLedger>,
    vault: Arc<MemoryVault>,
    index: Arc<MemoryIndex>,
    ids: Arc<CountingIds>,
    sheet: Arc<Sheet>,
    kind: prefix::backend::Kind,
    wishes: Wishes,
}

/// Differences from a plain stage.
#[derive(Clone, Default)]
pub(crate) struct Wishes {
    /// Its memory extracts with the same server, through its gate.
    pub(crate) learns: bool,
    pub(crate) window_tokens: Option<usize>,
    pub(crate) plugin: Option<Arc<dyn ports::context_engine::ContextEngine>>,
    pub(crate) session_header: Option<String>,
    pub(crate) cache_retention: Option<String>,
    pub(crate) no_session_id: bool,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) conversation: Option<String>,
    pub(crate) injected: Option<proxy::Injected>,
    pub(crate) broke_off: bool,
}

impl Stage {
    pub(crate) async fn new(config: Config) -> Self {
        Self::with(config, Wishes::default()).await
    }

    /// A stage with a user's own context engine, and a window in tokens.
    pub(crate) async fn with_engine(
        config: Config,
        tokens: usize,
        plugin: Arc<dyn ports::context_engine::ContextEngine>,
    ) -> Self {
        let wishes = Wishes {
            window_tokens: Some(tokens),
            plugin: Some(plugin),
            ..Wishes::default()
        };
        Self::with(config, wishes).await
    }

    /// A stage that extracts with the same server, through its gate.
    pub(crate) async fn learning(config: Config) -> Self {
        let wishes = Wishes {
            learns: true,
            ..Wishes::default()
        };
        Self::with(config, wishes).await
    }

    /// A stage with a configured window, in tokens.
    pub(crate) async fn with_window(config: Config, tokens: usize) -> Self {
        let wishes = Wishes {
            window_tokens: Some(tokens),
            ..Wishes::default()
        };
        Self::with(config, wishes).await
    }

    pub(crate) async fn with(config: Config, wishes: Wishes) -> Self {
        let kind = config.kind;
        let backend = Backend::start(config).await;
        let kept = Kept {
            clock: Arc::default(),
            ledger: Arc::default(),
            vault: Arc::new(MemoryVault::new(model::Zone::utc())),
            index: Arc::new(MemoryIndex::new(HashEmbedder::new(64).id().clone())),
            ids: Arc::default(),
            sheet: Arc::default(),
            kind,
            wishes,
        };
        let (engine, proxy) = kept.start(&backend).await;
        Self {
            backend,
            engine,
            proxy,
            clock: kept.clock.clone(),
            ledger: kept.ledger.clone(),
            vault: kept.vault.clone(),
            index: kept.index.clone(),
            sheet: kept.sheet.clone(),
            kept,
        }
    }

    /// Ends everything except the stores, and starts it again on them.
    pub(crate) async fn restart(&mut self) {
        self.proxy.shutdown(Duration::from_secs(1)).await;
        self.engine.shutdown().await;
        (self.engine, self.proxy) = self.kept.start(&self.backend).await;
    }

    pub(crate) async fn ask(&self, request: Request) -> Result<ProxyAnswer, Refusal> {
        self.proxy.converse(request, Speech::Chat).await
    }

    pub(crate) async fn got(&self, request: Request) -> Got {
        let answer = self.ask(request).await.expect("an answer");
        let got = read(answer).await;
        self.proxy.rest().await;
        got
    }

    /// Sends a request in another API than chat, and reads the whole answer.
    pub(crate) async fn got_in(&self, speech: Speech, request: Request) -> Got {
        let path = match speech {
            Speech::Chat => "chat/completions",
            Speech::Messages => "messages",
            Speech::Responses => "responses",
        };
        let request = Request {
            path: path.to_owned(),
            ..request
        };
        let answer = self.proxy.converse(request, speech).await.expect("an answer");
        let got = read(answer).await;
        self.proxy.rest().await;
        got
    }

    pub(crate) fn last(&self) -> Seen {
        self.backend
            .requests()
            .into_iter()
            .rfind(|seen| seen.method == "POST")
            .expect("a request")
    }

    /// Stores a memory for ann.
    pub(crate) async fn remember(&self, session: &str, text: &str) {
        let session = SessionKey::new(Scope::default(), SessionId::new(session));
        let message = Message {
            id: MessageId::new(""),
            session: session.clone(),
            sender: Name::parse("ann").expect("a name"),
            sender_name: None,
            role: Role::User,
            time: ports::Clock::now(&*self.clock),
            content: Content::Text(text.to_owned()).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        let add = Add {
            title: None,
            session: session.clone(),
            messages: vec![NewMessage::new(message, None)],
            defer_extraction: false,
            task: None,
        };
        self.engine.add(add).await.expect("it is remembered");
        let flush = Flush {
            session,
            task: None,
            wait: true,
        };
        self.engine.flush(flush).await.expect("it is written");
    }
}

impl Kept {
    fn contexts(&self) -> Contexts {
        let mut parts = proxy::conversation::contexts::ContextsParts::plain(
            self.ledger.clone(),
            Policy::quipu(),
            self.clock.clone(),
        );
        parts.chosen.plugin.clone_from(&self.wishes.plugin);
        Contexts::new(parts)
    }

    async fn start(&self, backend: &Backend) -> (Engine, Proxy) {
        let gates = Arc::new(Gates::new(self.clock.clone()));
        let parts = memory::Parts {
            transcripts: self.ledger.clone(),
            jobs: self.ledger.clone(),
            file_changes: self.ledger.clone(),
            retention: self.ledger.clone(),
            vault: self.vault.clone(),
            vault_writer: self.vault.clone(),
            history: self.ledger.clone(),
            pages: self.vault.clone(),
            index: self.index.clone(),
            embedder: Arc::new(HashEmbedder::new(64)),
            reranker: None,
            chat: self.wishes.learns.then(|| self.chat(backend, &gates)),
            events: Arc::new(testkit::NoEvents),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        };
        let engine = Engine::start(parts, memory::MemorySettings::default())
            .await
            .expect("it starts");
        let upstream = HttpUpstream::new(
            "fake",
            backend.base_url(),
            None,
            Some(self.kind),
            self.clock.clone(),
        );
        let parts = DirectParts {
            engine: engine.clone(),
            contexts: self.contexts(),
            owner: Some(Name::parse("ann").expect("a name")),
            instructions: Some(self.sheet.clone()),
            idle_after: IDLE_AFTER,
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        };
        let servers = ProxyParts {
            routes: vec![Route {
                upstream: Arc::new(upstream.expect("a good address")),
                kind: Some(self.kind),
                models: Vec::new(),
                model: None,
                window_tokens: self.wishes.window_tokens,
                session_header: self.wishes.session_header.clone(),
                cache_retention: self.wishes.cache_retention.clone(),
                session_id: !self.wishes.no_session_id,
            }],
            passthrough: Vec::new(),
            gates,
        };
        (engine, Proxy::start(Arc::new(parts), servers))
    }

    fn chat(&self, backend: &Backend, gates: &Gates) -> Arc<dyn Chat> {
        let settings = EndpointSettings::new(backend.base_url(), "extractor");
        let chat = HttpChat::new(settings, self.clock.clone()).expect("a good address");
        Arc::new(GatedChat::new(Arc::new(chat), gates.of(backend.base_url())))
    }
}

/// Waits for the work of other tasks, with a bound.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    const TRIES: usize = 5_000_000;
    for _ in 0..TRIES {
        if is_so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it does not come about");
}

pub(crate) async fn read(mut answer: ProxyAnswer) -> Got {
    let mut text = Vec::new();
    let mut broke_off = false;
    while let Some(chunk) = answer.body.next().await {
        match chunk {
            Ok(bytes) => text.extend_from_slice(&bytes),
            Err(_) => broke_off = true,
        }
    }
    Got {
        status: answer.status,
        text: String::from_utf8(text).expect("text"),
        conversation: answer.conversation.clone(),
        injected: answer.injected.clone(),
        broke_off,
    }
}

/// A request as a client sends it.
pub(crate) fn request(body: &Value) -> Request {
    Request {
        path: "chat/completions".to_owned(),
        method: "POST".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Bytes::from(body.to_string()),
        scope: Scope::default(),
        owner: None,
        agent: None,
        conversation: None,
        family: None,
        memory: MemoryUse::On,
        with_person: true,
        is_guarded: false,
    }
}

/// A client that keeps its own history and sends all of it, as they all do.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) history: Vec<Value>,
    pub(crate) stream: bool,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self {
            history: vec![json!({"role": "system", "content": "Be brief."})],
            stream: true,
        }
    }

    pub(crate) fn request(&self) -> Request {
        request(&json!({"model": "tiny", "messages": self.history, "stream": self.stream}))
    }

    pub(crate) fn says(&mut self, text: &str) {
        self.history.push(json!({"role": "user", "content": text}));
    }

    /// One turn: sends the text, and adds the answer to the history.
    pub(crate) async fn turn(&mut self, stage: &Stage, text: &str) -> Got {
        self.says(text);
        self.goes_on(stage).await
    }

    pub(crate) async fn goes_on(&mut self, stage: &Stage) -> Got {
        let got = stage.got(self.request()).await;
        assert_eq!(got.status, 200, "{}", got.text);
        self.hears(&got.text);
        got
    }

    pub(crate) fn hears(&mut self, text: &str) {
        let mut reply = prefix::stream::Reply::new(transcript::dialect::Dialect::OpenAi);
        reply.push(text.as_bytes());
        let message = reply.finish().message.expect("a message");
        self.history.push(serde_json::from_str(&message).expect("JSON"));
    }
}

/// The messages of a request, byte for byte.
pub(crate) fn messages(seen: &Seen) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let body: Body<'_> = serde_json::from_slice(&seen.body).expect("JSON");
    body.messages
        .iter()
        .map(|message| message.get().to_owned())
        .collect()
}

/// A server that calls a tool whenever the last message says `work`.
pub(crate) fn worker() -> Config {
    let reply = |request: &Value, nth: usize| {
        let last = request["messages"]
            .as_array()
            .and_then(|all| all.last())
            .cloned()
            .unwrap_or_default();
        let works = last["role"] == "user" && last["content"].to_string().contains("work");
        if works {
            Reply::calls([ToolCall {
                id: format!("call{nth}"),
                name: "ls".to_owned(),
                arguments: r#"{"path" : "."}"#.to_owned(),
            }])
        } else {
            Reply::text(format!("answer {nth}"))
        }
    };
    Config {
        reply: Arc::new(reply),
        ..Config::default()
    }
}

/// Whether a request begins with the messages of the previous one.
pub(crate) fn extends(before: &[String], after: &[String]) -> bool {
    after.len() > before.len() && after[..before.len()] == *before
}
