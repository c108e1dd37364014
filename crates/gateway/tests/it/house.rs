//! A gateway on an engine with in-memory stores, and a client of it.
//!
//! Owns: requests of tests. Never: expectations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use background::Offline;
use context::flush::{Destination, Unwritable};
use context::policy::Policy;
use gateway::{Auth, Gateway, GatewaySettings, Secret, Token, TokenRole};
use memory::library::Knowledge;
use memory::{Engine, Parts};
use model::{Name, Scope, Zone};
use ports::{Chat, Embedder};
use proxy::conversation::flush::Keeping;
use proxy::conversation::{Contexts, Party};
use proxy::{Direct, DirectParts};
use serde_json::{Value, json};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::HashEmbedder;
use testkit::vault::MemoryVault;
use tower::ServiceExt;

use crate::gate::GatedLedger;
use crate::library::form;

/// Time after which a conversation of a program that calls its model itself is idle.
pub(crate) const IDLE_AFTER: Duration = Duration::from_mins(5);

/// Time of the first message in every test: 2024-05-08T13:56:00Z.
pub(crate) const SAID: i64 = 1_715_176_560_000;

pub(crate) struct House {
    pub(crate) gateway: Gateway,
    pub(crate) router: Router,
    pub(crate) engine: Engine,
    pub(crate) ledger: Arc<MemoryLedger>,
    /// The transcripts of the engine, which a test can hold.
    pub(crate) gated: Arc<GatedLedger>,
    pub(crate) vault: Arc<MemoryVault>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) embedder: Arc<HashEmbedder>,
    /// Facts of compacted messages, by owner.
    pub(crate) facts: Facts,
}

pub(crate) type Facts = Arc<Mutex<BTreeMap<String, String>>>;

/// The facts of one owner.
struct FactsOf(Facts, String);

impl Destination for FactsOf {
    fn read(&self) -> Result<String, Unwritable> {
        let facts = self.0.lock().expect("nobody panicked");
        Ok(facts.get(&self.1).cloned().unwrap_or_default())
    }

    fn append(&mut self, section: &str) -> Result<(), Unwritable> {
        let mut facts = self.0.lock().expect("nobody panicked");
        facts.entry(self.1.clone()).or_default().push_str(section);
        Ok(())
    }

    fn place(&self) -> String {
        self.1.clone()
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The data of a success.
    pub(crate) fn data(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text);
        let body = self.json();
        assert!(body["request_id"].is_string(), "{body}");
        body["data"].clone()
    }

    /// The code and message of a failure, in its envelope.
    pub(crate) fn error(&self) -> (u16, String, String) {
        assert!(!self.status.is_success(), "{} {}", self.status, self.text);
        let body = self.json();
        let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["request_id", "error"], "{body}");
        let error = &body["error"];
        for key in ["code", "message", "timestamp", "path"] {
            assert!(error[key].is_string(), "{body}");
        }
        assert_eq!(
            self.headers["x-request-id"],
            body["request_id"].as_str().expect("a string")
        );
        let text = |key: &str| error[key].as_str().expect("a string").to_owned();
        (self.status.as_u16(), text("code"), text("message"))
    }
}

/// A request before it is sent.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn post(path: &str, body: &Value) -> Ask {
    Ask {
        method: "POST",
        path: path.to_owned(),
        headers: vec![
            ("host", "localhost".to_owned()),
            ("content-type", "application/json".to_owned()),
        ],
        body: body.to_string().into_bytes(),
    }
}

pub(crate) fn get(path: &str) -> Ask {
    Ask {
        method: "GET",
        path: path.to_owned(),
        headers: vec![("host", "localhost".to_owned())],
        body: Vec::new(),
    }
}

impl Ask {
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(have, _)| *have != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(have, _)| *have != name);
        self
    }

    pub(crate) fn token(self, secret: &str) -> Self {
        self.header("authorization", &format!("Bearer {secret}"))
    }

    pub(crate) fn bytes(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn request(self) -> Request<Body> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(Body::from(self.body)).expect("a request")
    }
}

/// Sends a request to a router.
pub(crate) async fn sent(router: &Router, request: Request<Body>) -> Reply {
    let Ok(response) = router.clone().oneshot(request).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a body");
    Reply {
        status: parts.status,
        headers: parts.headers,
        text: String::from_utf8(body.to_vec()).expect("text"),
    }
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(GatewaySettings::default(), Zone::utc()).await
    }

    pub(crate) async fn with(settings: GatewaySettings, zone: Zone) -> Self {
        let rules = memory::MemorySettings {
            zone,
            ..memory::MemorySettings::default()
        };
        Self::ruled(settings, rules).await
    }

    /// A house with settings of the engine.
    pub(crate) async fn ruled(settings: GatewaySettings, rules: memory::MemorySettings) -> Self {
        let zone = rules.zone.clone();
        let ledger = Arc::new(MemoryLedger::new());
        let gated = Arc::new(GatedLedger::new(ledger.clone()));
        let embedder = Arc::new(HashEmbedder::new(64));
        let index = Arc::new(MemoryIndex::new(embedder.id().clone()));
        let vault = Arc::new(MemoryVault::new(zone));
        let clock = Arc::new(ManualClock::new());
        let parts = Parts {
            transcripts: gated.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: vault.clone(),
            vault_writer: vault.clone(),
            history: ledger.clone(),
            pages: vault.clone(),
            index,
            embedder: embedder.clone(),
            reranker: None,
            chat: None,
            events: Arc::new(testkit::NoEvents),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: clock.clone(),
            ids: Arc::new(CountingIds::new()),
        };
        let engine = Engine::start(parts, rules).await.expect("the engine starts");
        let ids = Arc::new(CountingIds::new());
        let knowledge = Knowledge::new(memory::library::KnowledgeParts {
            engine: engine.clone(),
            vault: vault.clone(),
            shelf: vault.clone(),
            embedder: embedder.clone(),
            chat: None,
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let facts = Facts::default();
        let gateway = Gateway::new(engine.clone(), settings, clock.clone(), ids)
            .with_offline(idle_background(&ledger, &clock))
            .with_direct(direct(&engine, &ledger, &clock, &facts, (Policy::quipu(), None)))
            .with_knowledge(knowledge);
        Self {
            router: gateway.router(),
            gateway,
            facts,
            engine,
            ledger,
            gated,
            vault,
            clock,
            embedder,
        }
    }

    /// Restarts the conversations on the same ledger.
    pub(crate) fn restart_contexts(&mut self) {
        self.restart_contexts_with(Policy::quipu(), None);
    }

    /// Restarts them with this policy and this chat model.
    pub(crate) fn restart_contexts_with(&mut self, policy: Policy, chat: Option<Arc<dyn Chat>>) -> Contexts {
        let own = (policy, chat);
        let direct = direct(&self.engine, &self.ledger, &self.clock, &self.facts, own);
        let contexts = direct.contexts().clone();
        self.gateway = self.gateway.clone().with_direct(direct);
        self.router = self.gateway.router();
        contexts
    }

    pub(crate) async fn ask(&self, ask: Ask) -> Reply {
        self.send(ask.request()).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        sent(&self.router, request).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask(post(path, body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.ask(get(path)).await
    }

    /// Stores a conversation, and waits until its memories are written.
    pub(crate) async fn remember(&self, session: &str, said: &[(&str, &str)]) -> Value {
        let body = conversation(session, said);
        self.post("/api/v1/memory/add", &body).await.data();
        let flush = json!({"session_id": session, "wait": true});
        self.post("/api/v1/memory/flush", &flush).await.data()
    }
}

/// Background runs without strategies, not started.
fn idle_background(ledger: &Arc<MemoryLedger>, clock: &Arc<ManualClock>) -> Offline {
    let parts = background::BackgroundParts {
        runs: ledger.clone(),
        chat: None,
        models: BTreeMap::default(),
        clock: clock.clone(),
        ids: Arc::new(CountingIds::new()),
    };
    let offline = Offline::new(parts, background::BackgroundSettings::default());
    offline.register(Vec::new());
    offline
}

/// An add with messages one minute apart; `bot` is an assistant.
pub(crate) fn conversation(session: &str, said: &[(&str, &str)]) -> Value {
    let messages: Vec<Value> = (0..)
        .zip(said)
        .map(|(minute, (who, text)): (i64, _)| {
            let role = if *who == "bot" { "assistant" } else { "user" };
            json!({"sender_id": who, "role": role, "timestamp": SAID + minute * 60_000, "content": text})
        })
        .collect();
    json!({"session_id": session, "messages": messages})
}

pub(crate) const TEA: [(&str, &str); 4] = [
    (
        "ada",
        "I moved to Lisbon in March and I drink green tea every morning.",
    ),
    ("bot", "Lisbon is lovely. Which green tea do you like?"),
    ("ada", "My favourite is sencha from a small shop in Alfama."),
    ("bot", "Noted: sencha from Alfama."),
];

pub(crate) fn scope(app: &str) -> Scope {
    Scope::new(
        Name::parse(app).expect("a name"),
        Name::parse("p").expect("a name"),
    )
}

/// Settings with the tokens `root` for everything, and `a` and `b` for one tenant each.
pub(crate) fn tokens() -> GatewaySettings {
    let token = |secret: &str, scope| Token {
        secret: Secret::new(secret),
        role: TokenRole::Admin,
        scope,
        user: None,
        person: false,
    };
    GatewaySettings {
        auth: Auth {
            tokens: vec![
                token("root", None),
                token("a", Some(scope("a"))),
                token("b", Some(scope("b"))),
            ],
            ..Auth::default()
        },
        ..GatewaySettings::default()
    }
}

/// Conversations of programs that call their model themselves.
fn direct(
    engine: &Engine,
    ledger: &Arc<MemoryLedger>,
    clock: &Arc<ManualClock>,
    facts: &Facts,
    (policy, chat): (Policy, Option<Arc<dyn Chat>>),
) -> Direct {
    let facts = facts.clone();
    let place_of = move |whose: &Party| -> Box<dyn Destination> {
        Box::new(FactsOf(facts.clone(), whose.owner.id.to_string()))
    };
    let mut contexts =
        proxy::conversation::contexts::ContextsParts::plain(ledger.clone(), policy, clock.clone());
    contexts.chat = chat;
    contexts.keeping = Some(Keeping {
        policy: context::flush::Policy::default(),
        place_of: Arc::new(parking_lot::Mutex::new(place_of)),
    });
    Direct::start(DirectParts {
        engine: engine.clone(),
        contexts: Contexts::new(contexts),
        instructions: None,
        owner: None,
        idle_after: IDLE_AFTER,
        clock: clock.clone(),
        ids: Arc::new(CountingIds::new()),
    })
}

fn context_sample(name: &str) -> Value {
    let mut body = json!({"user_id": "ada", "conversation_id": "s"});
    let own = match name {
        "/context/append" => json!({"messages": [{"role": "user", "content": "What is for dessert?"}]}),
        "/context/assemble" | "/context/compact" => json!({"window_tokens": 4_096}),
        "/context/after_turn" => json!({"message": {"role": "assistant", "content": "Cake."}}),
        "/context/pin" | "/context/expand" => json!({"id": "m0"}),
        "/context/fork" => json!({"to": "copy"}),
        "/context/rewind" => json!({"to": "m0"}),
        "/context/subagent/spawn" => json!({"role": "explorer"}),
        "/context/cleanup" => json!({}),
        "/context/subagent/end" => json!({"subagent_id": "one"}),
        other => panic!("no sample for {other}"),
    };
    for (key, value) in own.as_object().expect("an object") {
        body[key] = value.clone();
    }
    body
}

/// Every path of the document with its methods, also under `/api/v1`, which the document leaves out.
fn described() -> Vec<(String, Value)> {
    let document: Value = serde_json::from_str(&gateway::openapi_json()).expect("JSON");
    let mut paths = Vec::new();
    for (path, item) in document["paths"].as_object().expect("an object") {
        if let Some(name) = path.strip_prefix("/api/v2") {
            paths.push((format!("/api/v1{name}"), item.clone()));
        }
        paths.push((path.clone(), item.clone()));
    }
    paths
}

/// Every route of both versions, with a request that succeeds without data.
pub(crate) fn every_route() -> Vec<Ask> {
    let mut asks = Vec::new();
    for (path, item) in &described() {
        for method in item.as_object().expect("an object").keys() {
            let name = path.trim_start_matches("/api/v1").trim_start_matches("/api/v2");
            let ask = match (method.as_str(), name) {
                ("get", _) => get(&format!("{}{}", with_ids(path), look(name))),
                ("post" | "put", _) if name.starts_with("/knowledge/documents") => {
                    form(&method.to_uppercase(), &with_ids(path), "tea.md", path.as_bytes())
                }
                ("post", _) => post(&with_ids(path), &sample(name)),
                ("patch", _) => Ask {
                    method: "PATCH",
                    ..post(&with_ids(path), &json!({"title": "Tea"}))
                },
                ("delete", _) => Ask {
                    method: "DELETE",
                    ..get(&with_ids(path))
                },
                other => panic!("no sample for {other:?}"),
            };
            asks.push(ask);
        }
    }
    asks
}

/// The query that a read of a conversation needs.
fn look(name: &str) -> &'static str {
    match name {
        "/context/view" | "/context/given" | "/context/stats" | "/context/guard" | "/context/archives" => {
            "?user_id=ada&conversation_id=s"
        }
        "/history/files" => "?change=0",
        "/context/recover" => "?user_id=ada&conversation_id=s&id=m0",
        "/context/find" => "?user_id=ada&conversation_id=s&query=dessert",
        "/context/conversations" | "/memory/export" => "?user_id=ada",
        _ => "",
    }
}

/// A path with unknown ids.
fn with_ids(path: &str) -> String {
    path.replace("{task_id}", "0123")
        .replace("{memory_id}", "ada_ep_1")
        .replace("{change_id}", "4567")
        .replace("{skill_id}", "ada_sk_1")
        .replace("{doc_id}", "d_000000000000")
        .replace("{topic_id}", "d_000000000000_1")
}

/// The routes of both versions with a JSON body.
pub(crate) fn bodies() -> Vec<String> {
    let with_body = described()
        .into_iter()
        .filter(|(_, item)| item["post"]["requestBody"]["content"]["application/json"].is_object());
    with_body.map(|(path, _)| with_ids(&path)).collect()
}

/// A request for each route that succeeds or names an unknown object.
pub(crate) fn sample(name: &str) -> Value {
    match name {
        "/memory/add" => conversation("s", &TEA),
        "/memory/flush" | "/memory/delete" | "/memory/preview" => json!({"session_id": "s"}),
        "/memory/search" => json!({"user_id": "ada", "query": "tea", "include_messages": 5}),
        "/memory/context" => json!({"user_id": "ada", "query": "what tea do I like?"}),
        "/memory/get" => json!({"user_id": "ada", "memory_type": "episode"}),
        "/memory/overview" | "/memory/review" => json!({"user_id": "ada"}),
        "/memory/answer" => json!({"user_id": "ada", "id": "ada_af_1", "verdict": "keep"}),
        "/memory/import" => json!({"quipu_export": 1, "user_id": "ada"}),
        "/memory/delete_by_ids" => json!({"ids": ["ada_ep_1"]}),
        "/history/undo" => json!({"run_id": "r_1"}),
        "/memory/edit" => json!({"id": "ada_ep_1", "summary": "changed"}),
        "/memory/update" => {
            json!({"memory_type": "episode", "memory_id": "ada_ep_1", "patch": {"summary": "changed"}})
        }
        name if name.starts_with("/context/") => context_sample(name),
        "/knowledge/search" => json!({"query": "tea"}),
        "/ome/trigger" => json!({"name": "nobody"}),
        "/skills/{skill_id}/approve"
        | "/skills/{skill_id}/reject"
        | "/cascade/quiesce"
        | "/tasks/{task_id}/retry"
        | "/index/sync"
        | "/index/rebuild" => Value::Null,
        other => panic!("no sample for {other}"),
    }
}
