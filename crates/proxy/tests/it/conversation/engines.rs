//! A user's own context engine in proxied turns: the order of its hooks, the verification of its views, and that its
//! faults do no harm.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use model::{Name, Owner, Scope, SessionId};
use ports::context_engine::{ContextEngine, EngineFault, EngineInfo, TurnMeta};
use prefix::shadow::Reason;
use proxy::conversation::Party;
use serde_json::{Value, json};
use testkit::backend::Config;
use transcript::{Block, Item, Role};

use crate::stage::{Client, Stage, read};

/// Behaviour of the test's engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Keeps the defaults of all hooks.
    Plain,
    /// Owns compaction: keeps the newest two items.
    NewestTwo,
    /// Owns compaction: claims one token, and returns a list that is far too long.
    Lies,
    /// Leaves out the newest message of the user.
    DropsTheRequest,
    Fails,
    /// Fails after Quipu has compacted.
    FailsAfterCompaction,
    Panics,
    Hangs,
    /// Shows messages of the user in capitals.
    Capitals,
    /// Returns fewer items from `ingest` than its input has.
    Swallows,
}

#[derive(Debug)]
struct Engine {
    way: Way,
    called: Mutex<Vec<&'static str>>,
    /// The items and the reply of each `after_turn`, as text.
    turns: Mutex<Vec<(Vec<String>, String)>>,
}

impl Engine {
    fn new(way: Way) -> Arc<Self> {
        Arc::new(Self {
            way,
            called: Mutex::default(),
            turns: Mutex::default(),
        })
    }

    fn note(&self, hook: &'static str) {
        self.called.lock().expect("no panic inside").push(hook);
    }

    fn called(&self) -> Vec<&'static str> {
        self.called.lock().expect("no panic inside").clone()
    }
}

#[async_trait]
impl ContextEngine for Engine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: "test".to_owned(),
            owns_compaction: matches!(self.way, Way::NewestTwo | Way::Lies | Way::DropsTheRequest),
        }
    }

    async fn bootstrap(&self, _: &TurnMeta) -> Result<(), EngineFault> {
        self.note("bootstrap");
        Ok(())
    }

    async fn ingest(&self, items: Vec<Arc<Item>>, _: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("ingest");
        match self.way {
            Way::Capitals => Ok(items.into_iter().map(capitals).collect()),
            Way::Swallows => Ok(Vec::new()),
            _ => Ok(items),
        }
    }

    async fn assemble(&self, items: Vec<Arc<Item>>, _: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("assemble");
        let items = match self.way {
            Way::Fails => return Err(EngineFault::Failed("no\nreason".to_owned())),
            Way::FailsAfterCompaction
                if items
                    .iter()
                    .any(|item| item.prose().contains("<conversation_summary")) =>
            {
                return Err(EngineFault::Failed("no reason".to_owned()));
            }
            Way::Panics => panic!("the engine of a test panics"),
            Way::Hangs => std::future::pending().await,
            Way::NewestTwo => items[items.len().saturating_sub(2)..].to_vec(),
            Way::Lies => items.iter().cycle().take(items.len() * 40).cloned().collect(),
            Way::DropsTheRequest => items[..items.len() - 1].to_vec(),
            Way::Plain | Way::Capitals | Way::Swallows | Way::FailsAfterCompaction => items,
        };
        Ok(items)
    }

    async fn compact(
        &self,
        items: Vec<Arc<Item>>,
        _: usize,
        _: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("compact");
        if self.way == Way::Lies {
            return Ok(items.iter().cycle().take(items.len() * 400).cloned().collect());
        }
        Ok(items[items.len().saturating_sub(2)..].to_vec())
    }

    async fn after_turn(&self, items: &[Arc<Item>], reply: &Item, _: &TurnMeta) -> Result<(), EngineFault> {
        self.note("after_turn");
        let shown = items.iter().map(|item| item.prose()).collect();
        self.turns
            .lock()
            .expect("no panic inside")
            .push((shown, reply.prose()));
        Ok(())
    }

    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        _: &str,
        _: &TurnMeta,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("prepare_subagent_spawn");
        Ok(items)
    }

    async fn on_subagent_ended(
        &self,
        _: &str,
        _: &[Arc<Item>],
        _: Option<&str>,
        _: &TurnMeta,
    ) -> Result<(), EngineFault> {
        self.note("on_subagent_ended");
        Ok(())
    }
}

fn capitals(item: Arc<Item>) -> Arc<Item> {
    if item.role == Role::User {
        Arc::new(Item::text(Role::User, item.prose().to_uppercase()))
    } else {
        item
    }
}

async fn stage(engine: &Arc<Engine>) -> Stage {
    Stage::with_engine(Config::default(), 4_096, engine.clone()).await
}

fn named_request(client: &Client) -> proxy::Request {
    let mut request = client.request();
    request.conversation = Some(SessionId::new("line"));
    request.memory = proxy::MemoryUse::Off;
    request
}

fn party() -> Party {
    Party {
        scope: Scope::default(),
        owner: Owner::user(Name::parse("ann").expect("a name")),
        conversation: Some(SessionId::new("line")),
        family: None,
    }
}

/// The messages of the last request that the server got.
fn sent(stage: &Stage) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
    body["messages"].as_array().expect("messages").clone()
}

/// One turn; its answer is added to the client's history.
async fn turn(stage: &Stage, client: &mut Client, text: &str) {
    client.says(text);
    let got = stage.got(named_request(client)).await;
    assert_eq!(got.status, 200, "{}", got.text);
    client.hears(&got.text);
}

fn reasons(stage: &Stage) -> Vec<Reason> {
    let (_, measured) = stage.proxy.measures().newest(1).remove(0);
    measured.first().expect("a request").reasons.clone()
}

#[tokio::test]
async fn ce_1_the_hooks_are_called_in_order() {
    let engine = Engine::new(Way::NewestTwo);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    turn(&stage, &mut client, "One.").await;
    let contexts = stage.proxy.contexts();
    contexts.compact(&party(), None).await.expect("compacted");
    contexts.spawn(&party(), "explorer").await.expect("messages");
    contexts.ended(&party(), "one", &[], None).await.expect("told");
    let order = [
        "bootstrap",
        "ingest",
        "assemble",
        "after_turn",
        "compact",
        "prepare_subagent_spawn",
        "on_subagent_ended",
    ];
    assert_eq!(engine.called(), order);
}

#[tokio::test]
async fn ce_8_a_subagent_starts_with_the_system_and_the_newest() {
    let stage = Stage::with_window(Config::default(), 100_000).await;
    let mut client = Client::new();
    for at in 0..15 {
        turn(&stage, &mut client, &format!("Turn {at}.")).await;
    }
    for (role, count) in [("explorer", 11), ("writer", 21)] {
        let spawned = stage
            .proxy
            .contexts()
            .spawn(&party(), role)
            .await
            .expect("messages");
        assert_eq!(spawned.len(), count, "{role}");
        assert!(spawned[0].contains("Be brief."), "the system text is first");
        assert!(spawned[count - 2].contains("Turn 14."), "the newest are last");
    }
}

#[tokio::test]
async fn ce_10_an_engine_that_owns_compaction_shows_less_with_a_reason() {
    let engine = Engine::new(Way::NewestTwo);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    for text in ["One.", "Two.", "Three."] {
        turn(&stage, &mut client, text).await;
    }
    let messages = sent(&stage);
    let texts: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["content"].as_str())
        .collect();
    assert_eq!(messages.len(), 3, "{texts:?}");
    assert!(
        texts[0].starts_with("Be brief.") && texts[2].starts_with("Three."),
        "{texts:?}"
    );
    assert_eq!(
        reasons(&stage),
        [Reason::Engine],
        "what was sent before is shown otherwise"
    );
}

#[tokio::test]
async fn ce_12_the_view_of_an_engine_is_verified() {
    let engine = Engine::new(Way::DropsTheRequest);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    client.says("One and two and three.");
    let refusal = stage
        .ask(named_request(&client))
        .await
        .expect_err("it is refused");
    assert_eq!(refusal.status, 400);
    assert!(
        refusal.message.starts_with("CURRENT_REQUEST_DROPPED"),
        "{}",
        refusal.message
    );
    assert!(
        stage.backend.requests().iter().all(|seen| seen.method != "POST"),
        "nothing was sent"
    );
}

#[tokio::test]
async fn ce_12_a_message_that_is_too_long_by_itself_reaches_no_engine() {
    let engine = Engine::new(Way::Plain);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    client.says(&"all work and no play ".repeat(3_000));
    let refusal = stage
        .ask(named_request(&client))
        .await
        .expect_err("it is refused");
    assert!(
        refusal.message.starts_with("CURRENT_REQUEST_EXCEEDS_BUDGET"),
        "{}",
        refusal.message
    );
    assert!(!engine.called().contains(&"assemble"), "the engine is not asked");
}

#[tokio::test]
async fn quipu_replaces_a_view_that_is_too_long_with_a_warning() {
    let engine = Engine::new(Way::Lies);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    client.says(&"One and two and three. ".repeat(20));
    let answer = stage.ask(named_request(&client)).await.expect("an answer");
    let warning = answer.warning.clone().expect("a warning");
    assert!(warning.contains("its view has"), "{warning}");
    let text = read(answer).await.text;
    client.hears(&text);
    assert_eq!(sent(&stage)[1..], client.history[1..2], "the view is Quipu's own");
    let contexts = stage.proxy.contexts();
    let compacted = contexts.compact(&party(), None).await.expect("compacted");
    assert!(engine.called().contains(&"compact"), "the engine was asked");
    let limit = contexts.stats(&party(), None).await.expect("figures").limit;
    assert!(Some(compacted.tokens_after) <= limit, "and Quipu did it");
}

#[tokio::test]
async fn a_fault_appears_once_as_a_line_of_the_warning() {
    let engine = Engine::new(Way::Fails);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    for _ in 0..3 {
        client.says("One.");
        let answer = stage.ask(named_request(&client)).await.expect("an answer");
        let warning = answer.warning.clone().expect("a warning");
        assert_eq!(warning, "the context engine failed: no reason");
        client.hears(&read(answer).await.text);
        stage.proxy.rest().await;
    }
    client.says("One.");
    let answer = stage.ask(named_request(&client)).await.expect("an answer");
    assert_eq!(answer.warning, None, "it is no longer asked");
}

#[tokio::test]
async fn an_engine_boots_once_even_if_the_first_request_is_refused() {
    let engine = Engine::new(Way::Plain);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    client.says(&"all work and no play ".repeat(3_000));
    stage
        .ask(named_request(&client))
        .await
        .expect_err("it is refused");
    let mut client = Client::new();
    turn(&stage, &mut client, "One.").await;
    let boots = engine
        .called()
        .iter()
        .filter(|hook| **hook == "bootstrap")
        .count();
    assert_eq!(boots, 1);
}

#[tokio::test]
async fn an_engine_failure_after_a_compaction_keeps_the_compactions_reason() {
    let engine = Engine::new(Way::FailsAfterCompaction);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    for at in 0..40 {
        turn(
            &stage,
            &mut client,
            &format!("Turn {at}: {}", "a bridge ".repeat(60)),
        )
        .await;
        let failed = stage
            .proxy
            .contexts()
            .stats(&party(), None)
            .await
            .expect("figures")
            .faults;
        if !failed.is_empty() {
            assert_eq!(reasons(&stage), [Reason::Compaction]);
            return;
        }
    }
    panic!("so much does not fit");
}

#[tokio::test]
async fn an_engine_receives_each_reply() {
    let engine = Engine::new(Way::Plain);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    for text in ["One.", "Two."] {
        turn(&stage, &mut client, text).await;
    }
    let replies: Vec<&str> = client
        .history
        .iter()
        .filter_map(|message| (message["role"] == "assistant").then(|| message["content"].as_str())?)
        .collect();
    let turns = engine.turns.lock().expect("no panic inside").clone();
    let told: Vec<&str> = turns.iter().map(|(_, reply)| reply.as_str()).collect();
    assert_eq!(told, replies);
    let (shown, reply) = turns.last().expect("two turns");
    assert_eq!(shown.last(), Some(reply), "it was recorded before");
    assert_eq!(shown.len(), 4, "{shown:?}");
}

#[tokio::test]
async fn a_plain_engine_keeps_the_prefix() {
    let engine = Engine::new(Way::Plain);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    let mut before: Vec<Value> = Vec::new();
    for text in ["One.", "Two.", "Three."] {
        turn(&stage, &mut client, text).await;
        let messages = sent(&stage);
        assert_eq!(messages[..before.len()], before[..]);
        before = messages;
    }
    assert_eq!(reasons(&stage), []);
}

#[tokio::test]
async fn an_ingested_version_of_a_message_is_sent_in_every_later_request() {
    let engine = Engine::new(Way::Capitals);
    let mut stage = stage(&engine).await;
    let mut client = Client::new();
    turn(&stage, &mut client, "One.").await;
    turn(&stage, &mut client, "Two.").await;
    let before = sent(&stage);
    assert_eq!(before[1]["content"], "ONE.");
    assert_eq!(before[3]["content"], "TWO.");
    stage.restart().await;
    turn(&stage, &mut client, "Three.").await;
    let after = sent(&stage);
    assert_eq!(after[..before.len()], before[..], "a restart changes nothing");
    assert_eq!(reasons(&stage), []);
    let original = stage
        .proxy
        .contexts()
        .recover(&party(), "m0")
        .await
        .expect("an original");
    assert!(
        original[0].message.contains("One."),
        "the original is as the client wrote it"
    );
}

#[tokio::test]
async fn i31_a_failing_engine_harms_no_turn_and_is_no_longer_called() {
    for way in [Way::Fails, Way::Panics, Way::Swallows] {
        let engine = Engine::new(way);
        let stage = stage(&engine).await;
        let mut client = Client::new();
        let mut before: Vec<Value> = Vec::new();
        for at in 0..5 {
            turn(&stage, &mut client, &format!("Turn {at}.")).await;
            let messages = sent(&stage);
            assert_eq!(messages[..before.len()], before[..], "{way:?}");
            before = messages;
        }
        let stats = stage
            .proxy
            .contexts()
            .stats(&party(), None)
            .await
            .expect("figures");
        assert!(!stats.faults.is_empty(), "{way:?}");
        let asked = engine.called().iter().filter(|hook| **hook == "assemble").count();
        if way == Way::Swallows {
            assert_eq!(asked, 5, "its other hooks work");
        } else {
            assert!(asked <= 4, "{way:?}: {asked}");
        }
    }
}

#[tokio::test]
async fn i31_a_hanging_hook_is_given_up_after_the_time_limit() {
    let engine = Engine::new(Way::Hangs);
    let stage = stage(&engine).await;
    let mut client = Client::new();
    client.says("One.");
    let (got, ()) = tokio::join!(stage.got(named_request(&client)), async {
        while !engine.called().contains(&"assemble") {
            tokio::task::yield_now().await;
        }
        stage.clock.sleeping(2).await;
        stage.clock.advance(std::time::Duration::from_secs(5));
    });
    assert_eq!(got.status, 200);
    assert_eq!(sent(&stage).last().expect("a message")["content"], json!("One."));
}

#[test]
fn the_capitals_engine_changes_the_text_of_an_item() {
    let item = Arc::new(Item::text(Role::User, "a"));
    assert_eq!(capitals(item).blocks, [Block::Text("A".to_owned())]);
}
