//! A user's context engine in another process: real programs answer the seven hooks.

mod command;
mod conformance;
mod failing;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ports::context_engine::{ContextEngine, EngineFault, TurnMeta};
use providers::{CommandEngine, EngineSettings};
use serde_json::{Value, json};
use testkit::clock::ManualClock;
use transcript::dialect::{self, Dialect};
use transcript::{Item, Role};

const TIMEOUT: Duration = Duration::from_secs(2);

fn settings() -> EngineSettings {
    EngineSettings {
        timeout: TIMEOUT,
        config: json!({"keep": 3}),
        ..EngineSettings::new("configured")
    }
}

fn project(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(path).to_string_lossy().into_owned()
}

fn python(script: &str, arguments: &[&str]) -> Vec<String> {
    let fixed = ["python3".to_owned(), project(script)];
    let arguments = arguments.iter().map(|argument| (*argument).to_owned());
    fixed.into_iter().chain(arguments).collect()
}

fn command(argv: Vec<String>, clock: &Arc<ManualClock>) -> CommandEngine {
    CommandEngine::new(settings(), argv, Arc::<ManualClock>::clone(clock)).expect("a command")
}

/// The engine that behaves as the arguments tell it.
fn probe(arguments: &[&str], clock: &Arc<ManualClock>) -> CommandEngine {
    command(
        python("crates/providers/tests/it/engine/probe.py", arguments),
        clock,
    )
}

/// The engine that answers every call with these members and writes the calls to a file.
fn saying(members: &Value, log: &str, settings: EngineSettings) -> CommandEngine {
    let script = "crates/providers/tests/it/engine/probe.py";
    let argv = python(script, &["say", log, &members.to_string()]);
    CommandEngine::new(settings, argv, Arc::new(ManualClock::new())).expect("a command")
}

fn turn(conversation: &str) -> TurnMeta {
    TurnMeta {
        conversation: conversation.to_owned(),
        model: "qwen3".to_owned(),
        limit_tokens: 7_000,
        turn: 3,
    }
}

fn read(message: &Value) -> Arc<Item> {
    Arc::new(dialect::read_message(Dialect::OpenAi, &message.to_string()).expect("a chat message"))
}

fn user(text: &str) -> Arc<Item> {
    read(&json!({"role": "user", "content": text, "name": "ann"}))
}

fn reply(text: &str) -> Arc<Item> {
    read(&json!({"role": "assistant", "content": text}))
}

fn system(text: &str) -> Arc<Item> {
    read(&json!({"role": "system", "content": text}))
}

/// A call of a tool and its result.
fn pair(id: &str, output: &str) -> [Arc<Item>; 2] {
    let function = json!({"name": "ls", "arguments": "{}"});
    let call = json!({"id": id, "type": "function", "function": function});
    [
        read(&json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        read(&json!({"role": "tool", "tool_call_id": id, "content": output})),
    ]
}

fn same(one: &[Arc<Item>], other: &[Arc<Item>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
}

async fn assemble(engine: &dyn ContextEngine, items: &[Arc<Item>]) -> Result<Vec<Arc<Item>>, EngineFault> {
    engine.assemble(items.to_vec(), &turn("ann/chat")).await
}

/// Why the engine's view is refused.
async fn fault(engine: &dyn ContextEngine) -> String {
    let assembled = assemble(engine, &[user("hi")]).await;
    assembled.expect_err("it fails").to_string()
}

/// Calls the seven hooks, once each, in their order.
async fn drive(engine: &dyn ContextEngine) -> Result<(), EngineFault> {
    let (turn, items) = (turn("ann/chat"), vec![user("hi")]);
    engine.bootstrap(&turn).await?;
    engine.ingest(items.clone(), &turn).await?;
    engine.assemble(items.clone(), &turn).await?;
    engine.compact(items.clone(), 500, &turn).await?;
    engine.after_turn(&items, &reply("hello"), &turn).await?;
    engine
        .prepare_subagent_spawn(items.clone(), "explorer", &turn)
        .await?;
    engine.on_subagent_ended("a1", &items, Some("done"), &turn).await
}

const HOOKS: [&str; 7] = [
    "bootstrap",
    "ingest",
    "assemble",
    "compact",
    "after_turn",
    "prepare_subagent_spawn",
    "on_subagent_ended",
];

fn roles(items: &[Arc<Item>]) -> Vec<Role> {
    items.iter().map(|item| item.role).collect()
}
