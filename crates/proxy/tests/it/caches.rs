//! The cost of a turn for a server with a prefix cache, in tokens that it evaluates. A token is a byte of the rendered
//! prompt.
//!
//! Owns: the bounds, the comparison with other places for memory. Never: caches (`prefix::sim`), their protocol (`testkit`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use ports::{Clock, Upstream, UpstreamRequest};
use providers::HttpUpstream;
use proxy::Request;
use proxy::gate::{BackgroundCall, Gate, JobEnd};
use serde_json::{Value, json};
use testkit::backend::{Backend, CacheKind, Config, Reply, Seen, ToolCall};
use testkit::clock::ManualClock;
use tokio::sync::mpsc;

use crate::stage::{Stage, read, request, until};

const TURNS: usize = 60;
const BLOCK: usize = 16;
/// Tolerance at a border, in tokens.
pub(crate) const BORDER: usize = 8;
/// Tokens that may be evaluated besides the new ones: a border; the last batch before a checkpoint; a block.
pub(crate) const CACHES: [(&str, CacheKind, usize); 4] = [
    ("rewindable", CacheKind::Rewindable, BORDER),
    ("checkpoints", CacheKind::Checkpoints, 516),
    ("strict extension", CacheKind::StrictExtension, BORDER),
    (
        "blocks",
        CacheKind::Blocks {
            tokens: BLOCK,
            tokens_min: 2 * BLOCK,
            known_max: 100_000,
        },
        BLOCK,
    ),
];

/// A server that calls a tool whenever a person says `work`.
pub(crate) fn server(cache: CacheKind, slots: usize) -> Config {
    let reply = |request: &Value, nth: usize| {
        let last = request["messages"].as_array().and_then(|all| all.last());
        let works =
            last.is_some_and(|last| last["role"] == "user" && last["content"].to_string().contains("work"));
        if works {
            Reply::calls([ToolCall {
                id: format!("call{nth}"),
                name: "ls".to_owned(),
                arguments: r#"{"path" : "."}"#.to_owned(),
            }])
        } else {
            Reply::text(format!("Answer {nth}, as far as I can tell."))
        }
    };
    Config {
        cache,
        slots,
        reply: Arc::new(reply),
        ..Config::default()
    }
}

fn fact(turn: usize) -> String {
    format!("Person{turn} moved to town{turn} and keeps goats{turn}.")
}

/// A question about this turn's fact; every fifth one begins a tool loop.
fn question(turn: usize) -> String {
    let work = if turn % 5 == 4 { " Then work." } else { "" };
    format!("Does person{turn} in town{turn} have goats{turn}?{work}")
}

/// Minutes between turns, and every tenth time days.
fn pause(turn: usize) -> Duration {
    if turn % 10 == 9 {
        Duration::from_hours(50)
    } else {
        Duration::from_mins(7)
    }
}

/// Cost of a request, in tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) prompt: usize,
    /// Prompt tokens beyond the last request and its reply.
    new: usize,
    pub(crate) evaluated: usize,
}

/// A client's side of a conversation, and the cost of each of its requests.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) history: Vec<Value>,
    /// Tokens of the last request and its reply.
    before: usize,
    pub(crate) costs: Vec<Cost>,
}

impl Line {
    pub(crate) fn new(system: &str) -> Self {
        Self {
            history: vec![json!({"role": "system", "content": system})],
            before: 0,
            costs: Vec::new(),
        }
    }

    pub(crate) fn says(&mut self, text: &str) {
        self.history.push(json!({"role": "user", "content": text}));
    }

    pub(crate) fn request(&self) -> Request {
        request(&body(&self.history))
    }

    /// Sends the history through the proxy; returns whether tools were called, with their results added.
    pub(crate) async fn goes_on(&mut self, stage: &Stage) -> bool {
        let got = stage.got(self.request()).await;
        assert_eq!(got.status, 200, "{}", got.text);
        self.hears(&got.text, &stage.last())
    }

    /// Adds the answer to the history; returns whether tools were called, with their results added.
    fn hears(&mut self, text: &str, seen: &Seen) -> bool {
        let mut reply = prefix::stream::Reply::new(transcript::dialect::Dialect::OpenAi);
        reply.push(text.as_bytes());
        let outcome = reply.finish();
        let generated = outcome.usage.completion_tokens.expect("usage was asked for");
        let generated = usize::try_from(generated).expect("small");
        self.costs.push(Cost {
            prompt: seen.prompt_tokens,
            new: seen.prompt_tokens.saturating_sub(self.before),
            evaluated: seen.evaluated_tokens,
        });
        self.before = seen.prompt_tokens + generated;
        let message: Value = serde_json::from_str(&outcome.message.expect("a message")).expect("JSON");
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        self.history.push(message);
        for call in &calls {
            self.history
                .push(json!({"role": "tool", "tool_call_id": call["id"], "content": "a.jpg b.jpg"}));
        }
        !calls.is_empty()
    }

    /// Asserts that no request cost more than its new tokens and this tolerance.
    fn stays_within(&self, over: usize, name: &str) {
        for (at, cost) in self.costs.iter().enumerate() {
            assert!(
                cost.evaluated <= cost.new + over,
                "{name}, request {at}: {cost:?}"
            );
        }
    }

    fn evaluated(&self) -> usize {
        self.costs.iter().map(|cost| cost.evaluated).sum()
    }
}

fn body(messages: &[Value]) -> Value {
    json!({"model": "tiny", "messages": messages, "stream": true, "stream_options": {"include_usage": true}})
}

/// Sixty turns through the proxy, and the fragment of each.
async fn proxied(cache: CacheKind) -> (Line, Vec<String>) {
    let stage = Stage::new(server(cache, 1)).await;
    let mut line = Line::new("Be brief.");
    let mut fragments = Vec::new();
    for turn in 0..TURNS {
        stage.remember(&format!("s{turn}"), &fact(turn)).await;
        stage.clock.advance(pause(turn));
        line.says(&question(turn));
        let asked = line.history.len() - 1;
        let mut open = line.goes_on(&stage).await;
        let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
        let content = sent["messages"][asked]["content"].as_str().expect("text");
        let fragment = content.strip_prefix(&*question(turn)).expect("it is appended");
        assert!(fragment.contains(&fact(turn)), "turn {turn}: {content}");
        fragments.push(fragment.to_owned());
        while open {
            open = line.goes_on(&stage).await;
        }
    }
    (line, fragments)
}

/// Where other clients put memory and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// There is no memory.
    Nowhere,
    /// Both at the end of the system message.
    System,
    /// Memory in a user's message of its own, before the history.
    BeforeHistory,
    /// Both at the end of the last user's message, and in no later turn.
    LastTurn,
}

impl Place {
    fn put(self, history: &[Value], memory: &str, time: &str) -> Vec<Value> {
        let mut messages = history.to_vec();
        let append = |message: &mut Value| {
            let text = message["content"].as_str().expect("text");
            message["content"] = json!(format!("{text}{memory}\n\n<quipu-time>{time}</quipu-time>"));
        };
        match self {
            Self::Nowhere => {}
            Self::System => append(&mut messages[0]),
            Self::BeforeHistory => messages.insert(1, json!({"role": "user", "content": memory})),
            Self::LastTurn => {
                let last = messages.iter_mut().rfind(|message| message["role"] == "user");
                append(last.expect("somebody asked"));
            }
        }
        messages
    }
}

/// The same turns sent directly to a server of its own, with the memory of each turn's fragment in that place.
async fn direct(cache: CacheKind, place: Place, fragments: &[String]) -> Line {
    let backend = Backend::start(server(cache, 1)).await;
    let clock = Arc::<ManualClock>::default();
    let upstream = upstream(&backend, clock.clone());
    let mut line = Line::new("Be brief.");
    for turn in 0..TURNS {
        clock.advance(pause(turn));
        line.says(&question(turn));
        let fragment = fragments.get(turn).map_or("", String::as_str);
        let memory = fragment.split("\n\n<quipu-time>").next().unwrap_or_default();
        loop {
            let messages = place.put(&line.history, memory, &clock.now().to_string());
            let text = post(&upstream, &body(&messages)).await;
            let seen = backend.requests().pop().expect("a request");
            if !line.hears(&text, &seen) {
                break;
            }
        }
    }
    line
}

fn upstream(backend: &Backend, clock: Arc<ManualClock>) -> HttpUpstream {
    let kind = Some(Config::default().kind);
    HttpUpstream::new("direct", backend.base_url(), None, kind, clock).expect("a good address")
}

async fn post(upstream: &HttpUpstream, body: &Value) -> String {
    let sent = UpstreamRequest {
        method: "POST".to_owned(),
        body: Some(Bytes::from(body.to_string())),
        path: "chat/completions".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
    };
    let mut answer = upstream.send(sent).await.expect("an answer");
    let mut text = Vec::new();
    while let Some(chunk) = answer.body.next().await {
        text.extend_from_slice(&chunk.expect("whole"));
    }
    let text = String::from_utf8(text).expect("text");
    assert_eq!(answer.status, 200, "{text}");
    text
}

#[tokio::test]
async fn a_turn_costs_only_its_new_tokens() {
    for (name, cache, over) in CACHES {
        let (line, _) = proxied(cache).await;
        assert_eq!(line.costs.len(), TURNS + TURNS / 5);
        line.stays_within(over, name);
    }
}

#[tokio::test]
async fn the_proxy_costs_no_tokens_besides_its_additions() {
    for (name, cache, _) in CACHES {
        let (ours, fragments) = proxied(cache).await;
        let theirs = direct(cache, Place::Nowhere, &[]).await;
        let injected: usize = fragments.iter().map(String::len).sum();
        let (ours, theirs) = (ours.evaluated() - injected, theirs.evaluated());
        println!("{name}: {ours} through the proxy beside {injected} injected, {theirs} without it");
        assert!(ours * 100 <= theirs * 105, "{name}: {ours} and {theirs}");
    }
}

/// Prints the table with `--no-capture`.
#[tokio::test]
async fn no_other_place_for_memory_costs_less() {
    let places = [
        ("end of the system message", Place::System),
        ("before the history", Place::BeforeHistory),
        ("last turn, not kept", Place::LastTurn),
        ("(no memory, no proxy)", Place::Nowhere),
    ];
    let mut table: BTreeMap<usize, (&str, Vec<usize>)> = BTreeMap::new();
    for (name, cache, _) in CACHES {
        let (line, fragments) = proxied(cache).await;
        let ours = line.evaluated() / TURNS;
        let mut add = |at, label, mean| table.entry(at).or_insert((label, Vec::new())).1.push(mean);
        add(0, "quipu", ours);
        for (at, (label, place)) in places.into_iter().enumerate() {
            let mean = direct(cache, place, &fragments).await.evaluated() / TURNS;
            add(at + 1, label, mean);
            let times = if cache == CacheKind::StrictExtension { 5 } else { 1 };
            assert!(
                place == Place::Nowhere || ours * times < mean,
                "{name}, {label}: {mean}, ours {ours}"
            );
        }
    }
    let names = CACHES.map(|(name, ..)| name);
    println!(
        "| evaluated per turn | {} |\n|---|{}",
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    for (label, means) in table.into_values() {
        let means: Vec<String> = means.iter().map(usize::to_string).collect();
        println!("| {label} | {} |", means.join(" | "));
    }
}

/// A model for extraction with a prompt of its own, and the number of open streams at each of its calls.
struct Extraction {
    gate: Gate,
    upstream: Arc<HttpUpstream>,
    beside: Arc<AtomicUsize>,
    began: Arc<AtomicUsize>,
    done: mpsc::UnboundedSender<()>,
}

impl Extraction {
    fn submit(&self, turn: usize) {
        let text = "Some episode. ".repeat(40);
        let prompt = json!({"model": "tiny", "messages": [{"role": "user", "content": format!("Extract {turn}: {text}")}]});
        let (gate, upstream, done) = (self.gate.clone(), Arc::clone(&self.upstream), self.done.clone());
        let (beside, began) = (Arc::clone(&self.beside), Arc::clone(&self.began));
        let run = move || {
            beside.fetch_add(gate.stats().foreground, SeqCst);
            began.fetch_add(1, SeqCst);
            let (upstream, prompt, done) = (Arc::clone(&upstream), prompt.clone(), done.clone());
            async move {
                post(&upstream, &prompt).await;
                done.send(()).ok();
                JobEnd::Done
            }
            .boxed()
        };
        self.gate.submit(BackgroundCall {
            name: "extraction".to_owned(),
            key: turn.to_string(),
            displaces: true,
            run: Box::new(run),
        });
    }
}

/// Twelve turns, with extraction due while every second one streams; returns their cost.
async fn beside_extraction(cache: CacheKind, slots: usize) -> Line {
    let stage = Stage::new(Config {
        hold: true,
        ..server(cache, slots)
    })
    .await;
    let (done, mut ended) = mpsc::unbounded_channel();
    let extraction = Extraction {
        gate: stage.proxy.gates().of(stage.backend.base_url()),
        upstream: Arc::new(upstream(&stage.backend, stage.clock.clone())),
        beside: Arc::default(),
        began: Arc::default(),
        done,
    };
    let mut line = Line::new("Be brief.");
    for turn in 0..12 {
        stage.remember(&format!("s{turn}"), &fact(turn)).await;
        line.says(&format!("Does person{turn} in town{turn} have goats{turn}?"));
        let answer = stage.ask(line.request()).await.expect("an answer");
        let seen = stage.last();
        let is_due = turn % 2 == 1;
        if is_due {
            extraction.submit(turn);
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let stats = extraction.gate.stats();
            assert_eq!((stats.foreground, stats.waiting, stats.running), (1, 1, false));
            assert_eq!(extraction.began.load(SeqCst), turn / 2, "it waits for the stream");
        }
        stage.backend.release();
        let got = read(answer).await;
        stage.proxy.rest().await;
        line.hears(&got.text, &seen);
        if is_due {
            ended.recv().await.expect("it is done");
            // Afterwards the server reads the conversation again.
            until(|| extraction.gate.stats().done == turn as u64 + 1).await;
        }
    }
    assert_eq!(extraction.beside.load(SeqCst), 0, "never beside a stream");
    assert_eq!(extraction.began.load(SeqCst), 6, "each once");
    line
}

#[tokio::test]
async fn extraction_waits_for_the_stream_and_costs_the_next_turn_nothing() {
    for (name, cache, over) in CACHES {
        for slots in [1, 2] {
            let line = beside_extraction(cache, slots).await;
            line.stays_within(over, &format!("{name}, {slots} slots"));
        }
    }
}

#[tokio::test]
async fn a_restart_costs_nothing() {
    let mut stage = Stage::new(server(CacheKind::StrictExtension, 1)).await;
    let mut line = Line::new("Be brief.");
    for turn in 0..10 {
        stage.remember(&format!("s{turn}"), &fact(turn)).await;
        stage.clock.advance(pause(turn));
        line.says(&question(turn));
        // Also inside a tool loop.
        while line.goes_on(&stage).await {
            stage.restart().await;
        }
        stage.restart().await;
    }
    assert_eq!(line.costs.len(), 12);
    line.stays_within(BORDER, "restarted");
}

/// A server that chooses slots itself takes the slot with the longest common prefix: these conversations would share
/// one.
#[tokio::test]
async fn two_conversations_with_the_same_beginning_keep_a_slot_each() {
    let head = "You are careful and kind and brief. ".repeat(40);
    for (name, cache, over) in CACHES {
        let stage = Stage::new(server(cache, 2)).await;
        let mut lines = [Line::new(&head), Line::new(&head)];
        for turn in 0..16 {
            stage.remember(&format!("s{turn}"), &fact(turn)).await;
            stage.clock.advance(pause(turn));
            let line = &mut lines[turn % 2];
            line.says(&question(turn));
            while line.goes_on(&stage).await {}
        }
        for line in &lines {
            line.stays_within(over, name);
        }
    }
}

/// A server that empties unused slots finds their content again only if it chooses the slot itself. The proxy learns
/// this from one prompt that the server read anew. Planted: slots named for ever.
#[tokio::test]
async fn slots_with_shared_memory_are_soon_no_longer_named() {
    let stage = Stage::new(server(CacheKind::Shared, 4)).await;
    let mut lines = [Line::new("Be brief."), Line::new("You keep goats.")];
    for turn in 0..16 {
        let line = &mut lines[turn % 2];
        line.says(&question(turn));
        while line.goes_on(&stage).await {}
    }
    let costs = lines.iter().flat_map(|line| &line.costs);
    let over = costs.filter(|cost| cost.evaluated > cost.new + BORDER).count();
    assert_eq!(over, 1, "once, in {:?}", lines.map(|line| line.costs));
}

#[tokio::test]
async fn an_edit_costs_only_the_tokens_behind_it() {
    let stage = Stage::new(server(CacheKind::Rewindable, 1)).await;
    let mut line = Line::new("Be brief.");
    let mut places = Vec::new();
    for turn in 0..10 {
        stage.remember(&format!("s{turn}"), &fact(turn)).await;
        places.push((line.history.len(), line.before));
        line.says(&question(turn));
        while line.goes_on(&stage).await {}
    }
    let (at, before) = places[6];
    line.history.truncate(at);
    line.before = before;
    line.says("Something else, then.");
    line.goes_on(&stage).await;
    let cost = line.costs.last().expect("one");
    assert!(before > 1_000 && cost.prompt > before, "{cost:?}");
    line.stays_within(BORDER, "edited");
}
