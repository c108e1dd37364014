//! Events as the clients send them, on a root with a real vault and ledger; the index is in memory.

use clap::Parser;
use gateway::{Gateway, GatewaySettings};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;
use crate::args::{Cli, Command};
use crate::commands::tests::desk;
use crate::output::tests::SAID;
use crate::serving::Notice;
use crate::world::World;

struct Stage {
    api: Api,
    args: AgentArgs,
    root: TempDir,
}

impl Stage {
    async fn new() -> Self {
        let root = TempDir::new().expect("a folder");
        let desk = desk(root.path(), &[]);
        let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
        Self {
            api: Api::here(world.expect("it opens")),
            args: args(),
            root,
        }
    }

    /// The hook's answer to an event, parsed.
    async fn after(&self, event: Value) -> Value {
        let event = Event::parse(&event.to_string()).expect("an event");
        SAID.take();
        let whose = event.whose(&self.args);
        let hook = Hook::new(&self.api, self.root.path(), &whose);
        hook.answer(&event).await.expect("it is answered");
        let said = SAID.take();
        if said.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&said).expect("one JSON object")
    }

    /// The stored messages of a session, each with its role.
    async fn stored(&self, session: &str) -> Vec<(String, String)> {
        let search = json!({"user_id": "me", "query": "boat Marula", "include_messages": 100,
            "filters": {"session_id": session}});
        let found: Value = self
            .api
            .post("/memory/search", &search)
            .await
            .expect("it searches");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let messages = found["messages"].as_array().expect("a list").iter();
        let mut stored: Vec<_> = messages
            .map(|message| (text(&message["role"]), text(&message["content"])))
            .collect();
        stored.sort();
        stored
    }

    async fn episodes(&self) -> Value {
        let get = json!({"user_id": "me", "memory_type": "episode"});
        let got: Value = self.api.post("/memory/get", &get).await.expect("it lists");
        got["count"].clone()
    }
}

fn args() -> AgentArgs {
    match Cli::parse_from(["quipu", "hook"]).command {
        Command::Hook(args) => args,
        other => panic!("{other:?}"),
    }
}

fn prompt(session: &str, text: &str) -> Value {
    json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": "/w", "prompt_id": "p1",
        "hook_event_name": "UserPromptSubmit", "prompt": text})
}

fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_default()
}

#[tokio::test]
async fn the_next_session_receives_a_memory_and_a_greeting_receives_none() {
    let stage = Stage::new().await;
    assert_eq!(
        stage.after(prompt("s1", "My boat is called Marula.")).await,
        Value::Null
    );
    let answer = stage.after(prompt("s2", "What is my boat called?")).await;
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    let text = context(&answer);
    assert!(
        text.starts_with("<quipu-memory ") && text.contains("My boat is called Marula."),
        "{text}"
    );
    // Codex refuses an answer with other fields.
    assert_eq!(answer.as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(
        answer["hookSpecificOutput"].as_object().map(serde_json::Map::len),
        Some(2)
    );
    let here = stage.after(prompt("s1", "What is my boat called?")).await;
    assert_eq!(here, Value::Null, "the session's own words are in the session");
    let gemini = json!({"session_id": "g1", "timestamp": "2026-11-23T22:00:00Z", "hook_event_name": "BeforeAgent",
        "prompt": "What is my boat called?"});
    let answer = stage.after(gemini).await;
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "BeforeAgent");
    assert!(context(&answer).contains("Marula"), "{answer}");
    assert_eq!(stage.after(prompt("s3", "Hello!")).await, Value::Null);
}

#[tokio::test]
async fn a_session_receives_a_memory_once_until_it_is_compacted() {
    let stage = Stage::new().await;
    stage.after(prompt("s1", "My boat is called Marula.")).await;
    let ask = prompt("s2", "What is my boat called?");
    for compact in [
        json!({"session_id": "s2", "hook_event_name": "PreCompact", "trigger": "manual"}),
        json!({"session_id": "s2", "hook_event_name": "SessionStart", "source": "clear"}),
    ] {
        assert!(context(&stage.after(ask.clone()).await).contains("Marula"));
        assert_eq!(stage.after(ask.clone()).await, Value::Null, "the model sees it");
        stage.after(compact).await;
    }
    assert!(context(&stage.after(prompt("s3", "What is my boat called?")).await).contains("Marula"));
    let quiet = std::fs::read_dir(stage.root.path().join("hooks")).expect("a folder");
    let quiet: Vec<PathBuf> = quiet.flatten().map(|file| file.path()).collect();
    assert!(!quiet.is_empty());
    for file in &quiet {
        let file = File::options().append(true).open(file).expect("a file");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH)
            .expect("it is old");
    }
    let start = json!({"session_id": "s4", "hook_event_name": "SessionStart", "source": "startup"});
    stage.after(start).await;
    assert!(quiet.iter().all(|file| !file.exists()), "nobody continues them");
}

#[tokio::test]
async fn a_turn_is_stored_once_in_the_persons_words_without_subagents() {
    let stage = Stage::new().await;
    let wrapped = "<system-reminder>Be brief about the boat.</system-reminder>\nMy boat is called Marula.";
    let said = prompt("s1", wrapped);
    let answered = json!({"session_id": "s1", "prompt_id": "p1", "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "Marula is a good name for a boat."});
    let of_gemini = json!({"session_id": "s1", "timestamp": "t2", "hook_event_name": "AfterAgent",
        "prompt": "…", "prompt_response": "The boat Marula, noted."});
    for event in [&said, &answered, &said, &answered, &of_gemini] {
        assert_eq!(stage.after(event.clone()).await, Value::Null);
    }
    let expected = [
        ("assistant", "Marula is a good name for a boat."),
        ("assistant", "The boat Marula, noted."),
        ("user", "My boat is called Marula."),
    ];
    let expected: Vec<_> = expected
        .map(|(role, text)| (role.to_owned(), text.to_owned()))
        .into();
    assert_eq!(stage.stored("me/s1").await, expected);
    let mut again = said.clone();
    again["prompt_id"] = json!("p2");
    stage.after(again).await;
    assert_eq!(
        stage.stored("me/s1").await.len(),
        4,
        "another turn may say the same"
    );
    let mut subagents = prompt("s4", "What is my boat Marula called?");
    subagents["agent_id"] = json!("a1");
    let clients = prompt(
        "s4",
        "<system-reminder>The boat Marula has a new file.</system-reminder>",
    );
    let every_turn = json!({"session_id": "s1", "hook_event_name": "PreCompress", "trigger": "auto"});
    let unknown =
        json!({"session_id": "s4", "hook_event_name": "PostToolUse", "prompt": "What is my boat called?"});
    let empty = json!({"session_id": "s4", "hook_event_name": "Stop", "last_assistant_message": null});
    for event in [subagents, clients, unknown, every_turn, empty] {
        assert_eq!(stage.after(event).await, Value::Null);
    }
    assert!(stage.stored("me/s4").await.is_empty());
    assert_eq!(stage.episodes().await, 0);
}

#[tokio::test]
async fn a_long_session_without_a_server_is_stored_completely() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, true).await;
    let stage = Stage {
        api: Api::here(world.expect("it opens")),
        args: args(),
        root,
    };
    for turn in 0..60 {
        let said = json!({"session_id": "s1", "prompt_id": turn, "hook_event_name": "Stop",
            "last_assistant_message": format!("The boat Marula has {turn} planks.")});
        stage.after(said).await;
    }
    stage.after(prompt("s1", "My boat is called Marula.")).await;
    assert_eq!(stage.stored("me/s1").await.len(), 61);
    assert_eq!(stage.episodes().await, 0, "nobody waited for that");
}

#[tokio::test]
async fn a_session_starts_with_the_latest_sessions_and_is_extracted_before_a_compaction() {
    let stage = Stage::new().await;
    let start =
        |source: &str| json!({"session_id": "s2", "hook_event_name": "SessionStart", "source": source});
    assert_eq!(
        stage.after(start("startup")).await,
        Value::Null,
        "nothing is known"
    );
    stage
        .after(prompt("s1", "I sold my boat Marula to a friend in Lisbon."))
        .await;
    assert_eq!(stage.episodes().await, 0);
    let end = json!({"session_id": "s1", "hook_event_name": "SessionEnd", "reason": "exit"});
    assert_eq!(stage.after(end).await, Value::Null);
    assert_eq!(stage.episodes().await, 1, "at once: nobody is left to make it");
    stage.after(prompt("s1", "I bought the boat Kiko instead.")).await;
    let compact = json!({"session_id": "s1", "hook_event_name": "PreCompact", "trigger": "auto"});
    assert_eq!(stage.after(compact).await, Value::Null);
    let settled = json!({"session_id": "me/s1", "wait": true});
    let settled = stage.api.post::<Value>("/memory/flush", &settled).await;
    assert_eq!(settled.expect("it settles")["status"], "no_extraction");
    assert_eq!(stage.episodes().await, 2);
    for source in ["startup", "clear", "compact"] {
        let answer = stage.after(start(source)).await;
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
        let text = context(&answer);
        assert!(
            text.starts_with("<quipu-memory ") && text.contains("Marula"),
            "{source}: {text}"
        );
    }
    assert_eq!(
        stage.after(start("resume")).await,
        Value::Null,
        "the session shows it"
    );
}

#[tokio::test]
async fn a_hook_asks_a_running_server_and_ignores_the_address_of_a_dead_one() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    assert!(
        Api::beside(&desk).expect("it looks").is_none(),
        "there is no root"
    );
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let world = world.expect("it opens");
    let gateway = Gateway::new(
        world.engine.clone(),
        GatewaySettings::default(),
        world.clock.clone(),
        world.ids.clone(),
    );
    let listener = gateway.bind("127.0.0.1:0".parse().expect("an address")).await;
    let listener = listener.expect("it binds");
    let address = listener.local_addr().expect("an address");
    let mut server = JoinSet::new();
    server.spawn(async move { gateway.serve(listener, std::future::pending()).await });
    let notice = Notice::put(&desk.root, address, "key").expect("it is written");
    let api = Api::beside(&desk).expect("it looks").expect("a server");
    let stage = Stage {
        api,
        args: args(),
        root,
    };
    stage.after(prompt("s1", "My boat is called Marula.")).await;
    let answer = stage.after(prompt("s2", "What is my boat called?")).await;
    assert!(context(&answer).contains("Marula"), "{answer}");
    server.shutdown().await;
    world.shutdown().await;
    drop(world);
    assert!(desk.root.join("serving.addr").exists());
    assert!(Api::beside(&desk).expect("it looks").is_none(), "it is dead");
    drop(notice);
}

#[test]
fn a_failure_is_logged_and_the_agent_continues() {
    let root = TempDir::new().expect("a folder");
    for text in [
        "",
        "[]",
        "{",
        r#"{"hook_event_name": "Stop"}"#,
        r#"{"session_id": "s"}"#,
    ] {
        let failure = Event::parse(text).expect_err(text);
        assert_eq!(excused(Some(root.path().to_owned()), &failure), Exit::Ok);
    }
    let log = std::fs::read_to_string(root.path().join(HOOK_LOG)).expect("a log");
    assert_eq!(log.lines().count(), 5, "{log}");
    assert!(log.contains("lacks `hook_event_name` or `session_id`"), "{log}");
    let wrong_usage = ["quipu", "hook", "--no-such-option"].map(Into::into);
    let open_index = |_: &std::path::Path, _| panic!("nothing is opened");
    assert_eq!(crate::run(wrong_usage, open_index), Exit::Ok);
    let others = ["quipu", "status", "--no-such-option"].map(Into::into);
    assert_eq!(crate::run(others, open_index), Exit::Usage);
}

#[test]
fn a_full_log_starts_again() {
    let root = TempDir::new().expect("a folder");
    let file = root.path().join(HOOK_LOG);
    std::fs::write(&file, vec![b'x'; 300 << 10]).expect("it is written");
    excused(Some(root.path().to_owned()), &Failure::usage("no event"));
    let log = std::fs::read_to_string(file).expect("a log");
    assert!(log.len() < 100 && log.ends_with("no event\n"), "{}", log.len());
}

/// Files of a plugin's folder.
fn plugin(client: &str, file: &str) -> String {
    let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
    let path = plugins.join(client).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_plugins_have_one_skill_this_version_and_known_events() {
    let skill = plugin("claude-code", "skills/quipu-memory/SKILL.md");
    for client in ["codex", "gemini", "opencode", "openclaw"] {
        assert_eq!(plugin(client, "skills/quipu-memory/SKILL.md"), skill, "{client}");
    }
    for (client, manifest) in [
        ("claude-code", ".claude-plugin/plugin.json"),
        ("codex", ".codex-plugin/plugin.json"),
        ("gemini", "gemini-extension.json"),
        ("openclaw", "openclaw.plugin.json"),
    ] {
        let manifest: Value = serde_json::from_str(&plugin(client, manifest)).expect("JSON");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{client}");
    }
    for client in ["claude-code", "codex", "gemini"] {
        let hooks: Value = serde_json::from_str(&plugin(client, "hooks/hooks.json")).expect("JSON");
        let events = hooks["hooks"].as_object().expect("events");
        assert!(events.len() >= 4, "{client}");
        for (name, entries) in events {
            assert_eq!(
                entries[0]["hooks"][0]["command"], "quipu hook",
                "{client}: {name}"
            );
            let event = json!({"session_id": "s", "hook_event_name": name});
            let event = Event::parse(&event.to_string()).expect("an event");
            assert_ne!(event.deed(), Deed::Nothing, "{client}: {name}");
        }
    }
}
