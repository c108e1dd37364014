//! Counts all calls of a chat model, and the calls of the ledger when there is nothing to do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use background::{BackgroundSettings, Offline};
use context::tokens::Meter;
use memory::{Add, Engine, Flush};
use model::{Content, Message, MessageId, Role, Scope, SessionId, SessionKey};
use ports::runs::{RunQuery, Runs};
use ports::{Chat, ChatError, ChatReply, ChatRequest, Clock, Embedder, NewMessage};
use serde_json::json;
use testkit::clock::{CountingIds, ManualClock};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::{HashEmbedder, ScriptedChat};
use testkit::vault::MemoryVault;
use tokio::task::yield_now;

use crate::strategies::agents::stage::deployment;
use crate::strategies::stage::name;

/// Pause between two adds that follow each other at once, and between two adds of people who think and type.
const BURST: Duration = Duration::from_secs(2);
const TALK: Duration = Duration::from_mins(10);

const CALLS_MAX: usize = 60;
const PROMPT_TOKENS_MAX: usize = 100_000;

/// A model that gives scripted answers and counts prompt tokens as OpenAI does, the schema included.
#[derive(Debug)]
struct Weighed {
    chat: ScriptedChat,
    /// Calls and prompt tokens, by requested schema.
    asked: Mutex<BTreeMap<String, (usize, usize)>>,
}

impl Weighed {
    fn total(&self) -> (usize, usize) {
        let asked = self.asked.lock().expect("no panic");
        let sum = |(calls, tokens), (more, also)| (calls + more, tokens + also);
        asked.values().copied().fold((0, 0), sum)
    }
}

#[async_trait]
impl Chat for Weighed {
    fn model(&self) -> &str {
        self.chat.model()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ChatError> {
        let meter = Meter::for_model("gpt-4o");
        let (schema, json) = request.schema.clone().expect("every request has one");
        let said: usize = request
            .messages
            .iter()
            .map(|one| meter.text(&one.content) + 4)
            .sum();
        let prompt = said + meter.text(&json);
        {
            let mut asked = self.asked.lock().expect("no panic");
            let (calls, tokens) = asked.entry(schema).or_default();
            (*calls, *tokens) = (*calls + 1, *tokens + prompt);
        }
        let reply = self.chat.complete(request).await?;
        Ok(ChatReply {
            prompt_tokens: prompt as u64,
            ..reply
        })
    }
}

/// The numbered lines that a request shows.
fn lines(request: &ChatRequest) -> Vec<&str> {
    let user = &request.messages.last().expect("a message").content;
    let lines = user.lines().filter_map(|line| line.split_once(". "));
    lines
        .filter(|(number, _)| number.parse::<usize>().is_ok())
        .map(|(_, text)| text)
        .collect()
}

/// A part for each ten messages.
fn parts(request: &ChatRequest) -> String {
    let lines = lines(request);
    let is_open = request.messages[1].content.contains("goes on");
    let part = |chunk: &[&str], first: usize| json!({"last": first + chunk.len() - 1, "title": "Leaking planks", "summary": "A plank leaks again."});
    let chunks = lines.chunks(10).enumerate();
    let mut parts: Vec<_> = chunks.map(|(n, chunk)| part(chunk, n * 10 + 1)).collect();
    if is_open {
        let last = parts.last_mut().expect("there is a message");
        *last = json!({"last": lines.len(), "title": "", "summary": ""});
    }
    json!({"parts": parts}).to_string()
}

fn answer(request: &ChatRequest) -> String {
    let schema = request.schema.as_ref().expect("every request has one");
    match schema.0.as_str() {
        "memory_parts" => parts(request),
        "facts" => json!({"facts": ["Ann owns the boat."]}).to_string(),
        "profile" => {
            let facts = lines(request).into_iter().zip(1..);
            let said = facts.map(
                |(fact, n)| json!({"heading": "Possessions", "text": fact, "facts": [n], "replaces": 0}),
            );
            json!({"statements": said.collect::<Vec<_>>(), "remove": []}).to_string()
        }
        "page_operations" => json!({"add": [{"memories": [1],
            "text": lines(request).last().copied().unwrap_or_default()}], "merge": [], "drop": []})
        .to_string(),
        "agent_case" => json!({"worth": true, "task_intent": "Deploy a service to staging.",
            "approach": "1. `run` on `migrate`\n2. `run` on `deploy --env staging --wait`",
            "key_insight": "The deploy must wait.", "quality_score": 0.9})
        .to_string(),
        _ => json!({"action": "none", "name": "", "description": "", "content": "", "confidence": 0})
            .to_string(),
    }
}

/// All parts wired as in `quipu serve`, on fakes.
struct Product {
    ledger: Arc<MemoryLedger>,
    clock: Arc<ManualClock>,
    engine: Engine,
    offline: Offline,
}

impl Product {
    async fn open(chat: Option<Arc<Weighed>>) -> Self {
        let (ledger, clock) = (Arc::<MemoryLedger>::default(), Arc::<ManualClock>::default());
        let (ids, embedder) = (Arc::<CountingIds>::default(), Arc::new(HashEmbedder::new(64)));
        let vault = Arc::new(MemoryVault::new(model::Zone::utc()));
        let model = chat.map(|chat| chat as Arc<dyn Chat>);
        let settings = BackgroundSettings::default();
        let parts = background::BackgroundParts {
            runs: ledger.clone(),
            chat: model.clone(),
            models: BTreeMap::default(),
            clock: clock.clone(),
            ids: ids.clone(),
        };
        let offline = Offline::new(parts, settings);
        let parts = memory::Parts {
            transcripts: ledger.clone(),
            jobs: ledger.clone(),
            file_changes: ledger.clone(),
            retention: ledger.clone(),
            vault: vault.clone(),
            vault_writer: vault.clone(),
            pages: vault,
            history: ledger.clone(),
            index: Arc::new(MemoryIndex::new(embedder.id().clone())),
            embedder,
            reranker: None,
            chat: model,
            events: offline.events(),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: clock.clone(),
            ids,
        };
        let engine = Engine::start(parts, memory::MemorySettings::default())
            .await
            .expect("it starts");
        let users = background::strategies::user_track(&engine, background::strategies::Limits::default());
        let agents = background::strategies::agent_track(&engine, ledger.clone());
        offline.register(users.into_iter().chain(agents).collect());
        offline.start().await.expect("it starts");
        Self {
            ledger,
            clock,
            engine,
            offline,
        }
    }

    /// Advances the clock in steps, and lets everything run that falls due.
    async fn pass(&self, time: Duration) {
        for _ in 0..20 {
            for _ in 0..100 {
                yield_now().await;
            }
            self.clock.advance(time / 20);
        }
    }

    async fn add(&self, key: &SessionKey, messages: Vec<NewMessage>) {
        let add = Add {
            title: None,
            session: key.clone(),
            messages,
            defer_extraction: false,
            task: None,
        };
        self.engine.add(add).await.expect("it is accepted");
    }

    async fn flush(&self, key: &SessionKey) {
        let flush = Flush {
            session: key.clone(),
            task: None,
            wait: false,
        };
        self.engine.flush(flush).await.expect("it cuts");
        self.pass(BURST).await;
    }

    /// Number of runs by strategy.
    async fn runs(&self) -> BTreeMap<String, usize> {
        let query = RunQuery {
            page: 1,
            page_size: 10_000,
            ..RunQuery::default()
        };
        let mut count = BTreeMap::new();
        for run in self.ledger.page(&query).await.expect("it reads").runs {
            *count.entry(run.work.strategy).or_default() += 1;
        }
        count
    }

    async fn close(self) {
        self.offline.stop().await;
        self.offline.register(Vec::new());
        self.engine.shutdown().await;
    }
}

fn key(session: &str) -> SessionKey {
    SessionKey::new(Scope::default(), SessionId::new(session))
}

/// A message in a session, from Ann if `n` is even, else from an agent.
fn new_message(product: &Product, key: &SessionKey, n: usize, text: String) -> NewMessage {
    let (sender, role) = if n.is_multiple_of(2) {
        ("ann", Role::User)
    } else {
        ("coder", Role::Assistant)
    };
    let message = Message {
        id: MessageId::new(""),
        session: key.clone(),
        sender: name(sender),
        sender_name: n.is_multiple_of(2).then(|| "Ann".to_owned()),
        role,
        time: product.clock.now(),
        content: Content::Text(text).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    NewMessage::new(message, None)
}

/// Ten short messages, one of them an announcement.
fn chat(product: &Product, key: &SessionKey, first: usize) -> Vec<NewMessage> {
    let text = |n: usize| match n % 10 {
        0 => format!("I'm taking trip {n} to the island on Friday."),
        4 | 6 => format!("I own the boat Wave{n}, at the third pier of the old harbour behind the mill."),
        n if n.is_multiple_of(2) => format!("And what about the plank number {n} that leaks again?"),
        n => format!("Sealing plank {n} with tar helps for a season or two."),
    };
    (first..first + 10)
        .map(|n| new_message(product, key, n, text(n)))
        .collect()
}

/// Ten messages, nine of them about work with tools.
fn work(product: &Product, key: &SessionKey, first: usize) -> Vec<NewMessage> {
    let mut messages = deployment(&format!("service{first}"), 0);
    for one in &mut messages {
        one.message.time = product.clock.now();
    }
    messages.push(new_message(product, key, 0, format!("That was number {first}.")));
    messages
}

/// Calls and prompt tokens of 500 messages in 10 sessions, added ten at a time, and of all background work in a day.
#[expect(
    clippy::print_stdout,
    reason = "docs/internals/measurements.md shows what it prints"
)]
async fn cost(pace: Duration) -> (usize, usize) {
    let chat_model = Arc::new(Weighed {
        chat: ScriptedChat::answering(|request| Ok(answer(request))),
        asked: Mutex::default(),
    });
    let product = Product::open(Some(chat_model.clone())).await;
    for session in 0..10 {
        let key = key(&format!("s{session}"));
        if session == 5 {
            product.pass(Duration::from_hours(24)).await;
        }
        for tenth in 0..5 {
            // The second half repeats statements of the first, so they enter core memory, which then has no room for
            // all of them.
            let first = session % 5 * 50 + tenth * 10;
            let messages = if session % 5 == 4 {
                work(&product, &key, first)
            } else {
                chat(&product, &key, first)
            };
            product.add(&key, messages).await;
            product.pass(pace).await;
        }
        product.flush(&key).await;
        product.pass(Duration::from_hours(1)).await;
    }
    product.pass(Duration::from_hours(24)).await;
    let runs = product.runs().await;
    let asked = chat_model.asked.lock().expect("no panic").clone();
    println!("{:?}: {asked:?}\nruns: {runs:?}", chat_model.total());
    for schema in [
        "memory_parts",
        "profile",
        "page_operations",
        "agent_case",
        "agent_skill",
    ] {
        assert!(asked.contains_key(schema), "{schema}: {asked:?}");
    }
    assert!(runs["extract_foresight"] >= 20, "{runs:?}");
    product.close().await;
    chat_model.total()
}

#[tokio::test]
async fn five_hundred_short_messages_with_every_strategy_stay_within_the_cost_limit() {
    for pace in [BURST, TALK] {
        let (calls, tokens) = cost(pace).await;
        assert!(calls <= CALLS_MAX, "{calls} calls");
        assert!(tokens <= PROMPT_TOKENS_MAX, "{tokens} prompt tokens");
    }
}

#[tokio::test]
async fn segments_without_an_announcement_or_a_tool_cause_no_run_of_their_own() {
    let product = Product::open(None).await;
    for n in 0..20 {
        let key = key(&format!("s{n}"));
        let text = format!("I own the boat Wave{n} now.");
        product
            .add(&key, vec![new_message(&product, &key, 0, text)])
            .await;
        product.pass(BURST).await;
        product.flush(&key).await;
    }
    let runs = product.runs().await;
    assert_eq!(runs.get("extract_foresight"), None, "{runs:?}");
    assert_eq!(runs.get("extract_agent_case"), None, "{runs:?}");
    product.close().await;
}
