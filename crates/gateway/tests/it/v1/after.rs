//! What follows a chat: Odysseus' `run_post_response_tasks`, with the parts of a server that shares one model (seed 003).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use background::{BackgroundParts, BackgroundSettings, Offline};
use context::policy::Policy;
use conversation::Contexts;
use conversation::contexts::ContextsParts;
use gateway::{Gateway, GatewaySettings};
use memory::{Engine, MemorySettings, Parts};
use model::{Name, Zone};
use ports::{Chat, Embedder};
use providers::{ChatSettings, HttpChat, HttpUpstream};
use proxy::gate::{Gate, Gates};
use proxy::{GatedChat, Proxy, ProxyParts, Route};
use serde_json::{Value, json};
use testkit::backend::{Backend, Config, Reply, ToolCall};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::HashEmbedder;
use testkit::vault::MemoryVault;

use super::stage::CHAT;
use crate::house::{Mains, post, sent};

const EXTRACTOR: &str = "extractor";

/// A model that calls a tool three times before it answers, and that extracts.
fn reply(request: &Value, _: usize) -> Reply {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    if request["model"] == EXTRACTOR {
        let asked = messages[1]["content"].as_str().unwrap_or_default();
        let last = asked.rsplit_once("\"last\": ").map_or("0", |(_, last)| last);
        let digits = last.find(|c: char| !c.is_ascii_digit()).unwrap_or(last.len());
        let last: usize = last[..digits].parse().unwrap_or_default();
        let part = json!({"last": last, "title": "A talk", "summary": "A talk.", "facts": []});
        return Reply::text(json!({"parts": [part]}).to_string());
    }
    match messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .count()
    {
        calls @ 0..3 => Reply::calls([ToolCall {
            id: format!("call{calls}"),
            name: "ls".to_owned(),
            arguments: json!({"path": format!("/srv/{calls}")}).to_string(),
        }]),
        _ => Reply::text("hi there"),
    }
}

fn route(backend: &Backend, clock: &Arc<ManualClock>) -> Route {
    let upstream = HttpUpstream::new("fake", backend.base_url(), None, None, clock.clone());
    Route {
        upstream: Arc::new(upstream.expect("a good address")),
        kind: None,
        models: Vec::new(),
        model: None,
        window_tokens: None,
        session_header: None,
        cache_retention: None,
    }
}

/// A server whose memory and agents ask the model that it stands before.
struct Shared {
    backend: Backend,
    gateway: Gateway,
    gate: Gate,
    offline: Offline,
    proxy: Proxy,
}

impl Shared {
    async fn start() -> Self {
        let backend = Backend::start(Config {
            reply: Arc::new(reply),
            ..Config::default()
        })
        .await;
        let (clock, ids) = (Arc::new(ManualClock::new()), Arc::new(CountingIds::new()));
        let (ledger, vault) = (
            Arc::new(MemoryLedger::new()),
            Arc::new(MemoryVault::new(Zone::utc())),
        );
        let gates = Arc::new(Gates::new(clock.clone()));
        let gate = gates.of(backend.base_url());
        let chat = HttpChat::new(ChatSettings::new(backend.base_url(), EXTRACTOR), clock.clone());
        let chat = GatedChat::new(Arc::new(chat.expect("a good address")), gate.clone());
        let chat: Arc<dyn Chat> = Arc::new(chat);
        let parts = BackgroundParts {
            runs: ledger.clone(),
            chat: Some(chat.clone()),
            models: BTreeMap::default(),
            clock: clock.clone(),
            ids: ids.clone(),
            power: Arc::new(Mains),
        };
        let offline = Offline::new(parts, BackgroundSettings::default());
        let embedder = Arc::new(HashEmbedder::new(64));
        let parts = Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: vault.clone(),
            history: ledger.clone(),
            pages: vault,
            index: Arc::new(MemoryIndex::new(embedder.id().clone())),
            embedder,
            reranker: None,
            chat: Some(chat),
            events: offline.events(),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let engine = Engine::start(parts, MemorySettings::default()).await;
        let engine = engine.expect("it starts");
        offline.register(background::strategies::agent_track(&engine, ledger.clone()));
        offline.start().await.expect("it starts");
        let proxy = Proxy::start(ProxyParts {
            engine: engine.clone(),
            contexts: Contexts::new(ContextsParts::plain(ledger, Policy::quipu(), clock.clone())),
            routes: vec![route(&backend, &clock)],
            owner: Some(Name::parse("tester").expect("a name")),
            passthrough: Vec::new(),
            instructions: None,
            gates,
            idle_after: Duration::from_mins(5),
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let gateway = Gateway::new(engine, GatewaySettings::default(), clock, ids).with_proxy(proxy.clone());
        Self {
            backend,
            gateway,
            gate,
            offline,
            proxy,
        }
    }

    /// A chat with a loop of three tools, to its answer.
    async fn chat(&self) {
        let router = self.gateway.router();
        let mut history = vec![json!({"role": "user", "content": "hello"})];
        loop {
            let ask = post(CHAT, &json!({"model": "test-model", "messages": history}));
            let answer = sent(&router, ask.header("x-quipu-conversation", "sess-Y").request()).await;
            self.proxy.rest().await;
            let message = answer.json()["choices"][0]["message"].clone();
            history.push(message.clone());
            let Some(calls) = message["tool_calls"].as_array() else {
                return assert_eq!(message["content"], "hi there");
            };
            history.extend(
                calls
                    .iter()
                    .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "a.jpg"})),
            );
        }
    }

    /// The background calls that the model got: what each was for, and its body.
    fn jobs(&self) -> Vec<(String, Value)> {
        let seen = self.backend.requests().into_iter();
        let bodies = seen.filter_map(|seen| serde_json::from_slice::<Value>(&seen.body).ok());
        let asked = bodies.filter(|body| body["model"] == EXTRACTOR);
        let named = asked.map(|body| {
            let form = body["response_format"]["json_schema"]["name"].as_str();
            let name = match form.unwrap_or_default() {
                "memory_parts" => "memory",
                "agent_case" => "skill",
                other => other,
            };
            (name.to_owned(), body)
        });
        named.collect()
    }
}

#[tokio::test]
async fn run_post_response_tasks_does_not_fire_extraction_concurrently() {
    let shared = Shared::start().await;
    shared.chat().await;
    assert_eq!(shared.jobs().len(), 0, "not beside the chat");
    let ended = json!({"session_id": "tester/sess-Y", "wait": true});
    let flush = post("/api/v2/memory/flush", &ended).request();
    sent(&shared.gateway.router(), flush).await.data();
    while shared.jobs().len() < 2 || shared.gate.stats().running {
        tokio::task::yield_now().await;
    }
    let jobs = shared.jobs();
    let names: Vec<&str> = jobs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["memory", "skill"], "each once, one after the other");
    for (name, body) in &jobs {
        let asked = body["messages"][1]["content"].as_str().expect("text");
        assert!(asked.contains("hello"), "{name} is of this session: {asked}");
    }
    shared.offline.stop().await;
}
