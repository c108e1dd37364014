//! An agent's work through the models' own routes becomes its cases.

use std::collections::BTreeMap;
use std::sync::Arc;

use background::Offline;
use model::{Name, Owner, Role, Scope, SessionId};
use ports::runs::MemoryEvent;
use serde_json::{Value, json};
use testkit::backend::{Backend, Config, Reply, ToolCall};
use testkit::clock::CountingIds;
use tokio::task::yield_now;

use super::stage::{CHAT, MESSAGES, RESPONSES, Stage, echo};
use crate::house::{House, post};

const ASKED: &str = "Deploy the billing service to staging.";
/// The result of every tool: a sentence that would be a fact if a person said it.
const RESULT: &str = "I live in Toolville.\nExit code: 2";

/// A server that calls a tool until it has three results.
fn worker() -> Config {
    let reply = |request: &Value, _: usize| {
        let results = ["\"tool_call_id\"", "\"tool_result\"", "\"function_call_output\""]
            .map(|mark| request.to_string().matches(mark).count());
        match results.into_iter().sum::<usize>() {
            done @ 0..3 => Reply::calls([ToolCall {
                id: format!("call{done}"),
                name: "run".to_owned(),
                arguments: format!(r#"{{"command":"deploy billing --step {done}"}}"#),
            }]),
            _ => Reply::text("It is deployed."),
        }
    };
    Config {
        reply: Arc::new(reply),
        ..echo()
    }
}

/// Appends a client's messages after an answer: the answer itself, and the results of its tools. Returns whether
/// there were tool calls.
fn answered(path: &str, answer: &Value, messages: &mut Vec<Value>) -> bool {
    let reminder = json!({"type": "text", "text": "<system-reminder>\nBe careful.\n</system-reminder>"});
    match path {
        CHAT => {
            let message = answer["choices"][0]["message"].clone();
            messages.push(message.clone());
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            messages.extend(
                calls
                    .iter()
                    .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": RESULT})),
            );
            !calls.is_empty()
        }
        MESSAGES => {
            let content = answer["content"].as_array().cloned().unwrap_or_default();
            messages.push(json!({"role": "assistant", "content": content}));
            let calls = content.iter().filter(|block| block["type"] == "tool_use");
            let mut blocks: Vec<Value> = calls
                .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": RESULT}))
                .collect();
            let works = !blocks.is_empty();
            if works {
                blocks.push(reminder);
                messages.push(json!({"role": "user", "content": blocks}));
            }
            works
        }
        _ => {
            let items = answer["output"].as_array().cloned().unwrap_or_default();
            messages.extend(items.iter().cloned());
            let calls: Vec<&Value> = items
                .iter()
                .filter(|item| item["type"] == "function_call")
                .collect();
            messages.extend(calls.iter().map(
                |call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": RESULT}),
            ));
            !calls.is_empty()
        }
    }
}

/// Runs the agents' strategies on a session's episodes.
async fn practised(house: &House, session: &str) {
    let offline = Offline::new(
        background::BackgroundParts {
            runs: house.ledger.clone(),
            chat: None,
            models: BTreeMap::default(),
            clock: house.clock.clone(),
            ids: Arc::new(CountingIds::new()),
        },
        background::BackgroundSettings::default(),
    );
    offline.register(background::strategies::agent_track(
        &house.engine,
        house.ledger.clone(),
    ));
    offline.start().await.expect("it starts");
    let mut cells: Vec<_> = house
        .ledger
        .everything()
        .into_iter()
        .filter_map(|(_, cell)| cell)
        .collect();
    cells.dedup();
    let mut events = Vec::new();
    for id in cells {
        let cell = house
            .engine
            .cell(&id)
            .await
            .expect("it reads")
            .expect("it is there");
        events.push(MemoryEvent::EpisodeWritten {
            scope: Scope::default(),
            owner: Owner::user(Name::parse("ada").expect("a name")),
            session: SessionId::new(session),
            episode: model::EntryId::new("ep_1"),
            cell: Arc::new(cell),
        });
    }
    offline.events().emit(events).await.expect("it is told");
    for _ in 0..5_000 {
        yield_now().await;
    }
    offline.stop().await;
}

#[tokio::test]
async fn an_agents_work_is_stored_once_and_becomes_a_case() {
    for (path, field, agent) in [
        (CHAT, "messages", Some("coder")),
        (MESSAGES, "messages", None),
        (RESPONSES, "input", None),
    ] {
        let backend = Backend::start(worker()).await;
        let stage = Stage::new(backend.base_url()).await;
        let mut messages = vec![json!({"role": "user", "content": ASKED})];
        let mut conversation;
        loop {
            let mut ask = post(path, &json!({"model": "tiny", "max_tokens": 64, field: messages}));
            if path == RESPONSES {
                ask = post(path, &json!({"model": "tiny", field: messages}));
            }
            if let Some(agent) = agent {
                ask = ask.header("x-quipu-agent", agent);
            }
            let got = stage.ask(ask).await;
            assert_eq!(got.status, 200, "{}", got.text());
            conversation = got.headers["x-quipu-conversation"]
                .to_str()
                .expect("text")
                .to_owned();
            if !answered(path, &got.json(), &mut messages) {
                break;
            }
        }
        let round = [(Role::Assistant, ""), (Role::Tool, RESULT)];
        let mut expected = vec![(Role::User, ASKED)];
        expected.extend(round.iter().cycle().take(6).copied());
        expected.push((Role::Assistant, "It is deployed."));
        let expected: Vec<(Role, String)> = expected
            .into_iter()
            .map(|(role, text)| (role, text.to_owned()))
            .collect();
        assert_eq!(stage.stored(), expected, "{path}: each once");

        let flush = json!({"session_id": conversation, "wait": true});
        stage.house.post("/api/v1/memory/flush", &flush).await.data();
        practised(&stage.house, &conversation).await;
        let owner = agent.unwrap_or("assistant");
        let get = json!({"agent_id": owner, "memory_type": "agent_case"});
        let cases = stage.house.post("/api/v1/memory/get", &get).await.data();
        let case = &cases["agent_cases"][0];
        assert_eq!(case["task_intent"], ASKED, "{path}: {cases}");
        let approach = case["approach"].as_str().expect("steps");
        assert!(
            approach.contains("`run` on `deploy billing --step 2`"),
            "{approach}"
        );
        assert!(approach.contains("failed (\"exit code 2\")"), "{approach}");
        for file in stage.house.vault.paths() {
            if file.contains("/facts/") || file.contains("/profile/") {
                let text = String::from_utf8(stage.house.vault.bytes(&file).expect("a file")).expect("text");
                assert!(!text.contains("Toolville"), "{file}: {text}");
            }
        }
    }
}
