//! The work after a chat: Odysseus' `run_post_response_tasks`, on the parts of a server with one shared model (seed
//! 003).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use background::{BackgroundParts, BackgroundSettings, Offline};
use context::policy::Policy;
use gateway::{Gateway, GatewaySettings};
use memory::{Engine, MemorySettings, Parts};
use model::{Name, Zone};
use ports::{Chat, Embedder};
use providers::{EndpointSettings, HttpChat, HttpUpstream};
use proxy::conversation::Contexts;
use proxy::conversation::contexts::ContextsParts;
use proxy::gate::{Gate, Gates};
use proxy::{DirectParts, GatedChat, Proxy, ProxyParts, Route};
use serde_json::{Value, json};
use testkit::backend::{Backend, Config, Reply, ToolCall};
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::HashEmbedder;
use testkit::vault::MemoryVault;

use super::stage::CHAT;
use crate::house::{post, sent};

const EXTRACTOR: &str = "extractor";
const ASKED: &str = "Please list the pictures in the folder srv.";
const SKILL: &str = "list-pictures";

/// A model that calls a tool three times before it answers; it also extracts and writes a skill.
fn reply(request: &Value, _: usize) -> Reply {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    if request["model"] == EXTRACTOR {
        if request["response_format"]["json_schema"]["name"] == "agent_skill" {
            let content = "## Before\n- `ls` is there.\n## Steps\n1. `ls` on `/srv/0`\n2. `ls` on `/srv/1`";
            let skill = json!({
                "action": "write", "name": SKILL, "description": "List the pictures in the folder srv.",
                "content": content, "confidence": 0.8,
            });
            return Reply::text(skill.to_string());
        }
        if request["response_format"]["json_schema"]["name"] == "facts" {
            return Reply::text(json!({"facts": []}).to_string());
        }
        let asked = messages[1]["content"].as_str().unwrap_or_default();
        let last = asked.rsplit_once("\"last\": ").map_or("0", |(_, last)| last);
        let digits = last.find(|c: char| !c.is_ascii_digit()).unwrap_or(last.len());
        let last: usize = last[..digits].parse().unwrap_or_default();
        let part = json!({"last": last, "title": "A talk", "summary": "A talk."});
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
        session_id: true,
    }
}

/// A server whose memory and agents use the model behind it.
struct Shared {
    backend: Backend,
    gateway: Gateway,
    gate: Gate,
    offline: Offline,
    proxy: Proxy,
    clock: Arc<ManualClock>,
}

fn turns(
    engine: &Engine,
    ledger: Arc<MemoryLedger>,
    clock: &Arc<ManualClock>,
    ids: &Arc<CountingIds>,
) -> DirectParts {
    DirectParts {
        engine: engine.clone(),
        contexts: Contexts::new(ContextsParts::plain(ledger, Policy::quipu(), clock.clone())),
        owner: Some(Name::parse("tester").expect("a name")),
        instructions: None,
        idle_after: Duration::from_mins(5),
        clock: clock.clone(),
        ids: ids.clone(),
    }
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
        let chat = HttpChat::new(
            EndpointSettings::new(backend.base_url(), EXTRACTOR),
            clock.clone(),
        );
        let chat = GatedChat::new(Arc::new(chat.expect("a good address")), gate.clone());
        let chat: Arc<dyn Chat> = Arc::new(chat);
        let parts = BackgroundParts {
            runs: ledger.clone(),
            chat: Some(chat.clone()),
            models: BTreeMap::default(),
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let offline = Offline::new(parts, BackgroundSettings::default());
        let embedder = Arc::new(HashEmbedder::new(64));
        let parts = Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: vault.clone(),
            vault_writer: vault.clone(),
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
        let parts = turns(&engine, ledger, &clock, &ids);
        let servers = ProxyParts {
            routes: vec![route(&backend, &clock)],
            passthrough: Vec::new(),
            gates,
        };
        let proxy = Proxy::start(Arc::new(parts), servers);
        let settings = GatewaySettings::default();
        let gateway = Gateway::new(engine, settings, clock.clone(), ids).with_proxy(proxy.clone());
        Self {
            backend,
            gateway,
            gate,
            offline,
            proxy,
            clock,
        }
    }

    async fn ask(&self, path: &str, body: &Value) -> Value {
        sent(&self.gateway.router(), post(path, body).request())
            .await
            .data()
    }

    /// A chat with three tool calls, up to its answer.
    async fn chat(&self, session: &str, said: &str) {
        let router = self.gateway.router();
        let mut history = vec![json!({"role": "user", "content": said})];
        let tools =
            json!([{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]);
        loop {
            let ask = post(
                CHAT,
                &json!({"model": "test-model", "messages": history, "tools": tools}),
            );
            let ask = ask
                .header("x-quipu-conversation", session)
                .header("x-quipu-agent", "coder");
            let answer = sent(&router, ask.request()).await;
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

    /// Ends a session and waits until its memory is written.
    async fn flush(&self, session: &str) {
        let ended = json!({"session_id": format!("tester/{session}"), "wait": true});
        self.ask("/api/v2/memory/flush", &ended).await;
    }

    /// The agent's memories of a kind, as soon as there are `count`; the clock advances while the model is idle.
    async fn learnt(&self, kind: &str, count: usize) -> Value {
        for _ in 0..10_000 {
            let asked = json!({"agent_id": "coder", "memory_type": kind});
            let listed = self.ask("/api/v2/memory/get", &asked).await;
            if listed["total_count"] == count {
                return listed;
            }
            tokio::task::yield_now().await;
            if !self.gate.stats().running {
                self.clock.advance(Duration::from_secs(1));
            }
        }
        panic!("no {count} of {kind}");
    }

    /// Whether a chat's request contains the skill.
    async fn is_told(&self, session: &str) -> bool {
        let before = self.backend.requests().len();
        self.chat(session, ASKED).await;
        let seen = self.backend.requests().split_off(before);
        let bodies = seen.iter().map(|seen| String::from_utf8_lossy(&seen.body));
        let mut turns = bodies.filter(|body| body.contains("test-model"));
        turns.any(|body| body.contains("`ls` on `/srv/1`"))
    }

    /// The background calls that the model received: their purposes and bodies.
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
    shared.chat("sess-Y", "hello").await;
    assert_eq!(shared.jobs().len(), 0, "not beside the chat");
    shared.flush("sess-Y").await;
    while shared.jobs().len() < 3 || shared.gate.stats().running {
        tokio::task::yield_now().await;
    }
    let jobs = shared.jobs();
    let names: Vec<&str> = jobs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["memory", "facts", "skill"],
        "each once, one after the other"
    );
    for (name, body) in &jobs {
        let asked = body["messages"][1]["content"].as_str().expect("text");
        assert!(asked.contains("hello"), "{name} is of this session: {asked}");
    }
    shared.offline.stop().await;
}

#[tokio::test]
async fn an_agents_chats_become_cases_and_a_skill_that_is_injected_once_approved() {
    let shared = Shared::start().await;
    for session in ["one", "two", "three"] {
        shared.chat(session, ASKED).await;
        shared.flush(session).await;
    }
    let cases = shared.learnt("agent_case", 3).await;
    assert_eq!(cases["agent_cases"][0]["task_intent"], ASKED);
    let drafts = shared.learnt("agent_skill", 1).await;
    let draft = &drafts["agent_skills"][0];
    assert_eq!(
        (&draft["name"], &draft["status"]),
        (&json!(SKILL), &json!("draft"))
    );
    assert!(!shared.is_told("four").await, "a draft");
    let id = draft["id"].as_str().expect("an id");
    shared
        .ask(&format!("/api/v2/skills/{id}/approve"), &json!({}))
        .await;
    assert!(shared.is_told("five").await, "a skill that a person approved");
    shared.offline.stop().await;
}
