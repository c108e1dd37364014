//! Roles in turns, for a server that rejects two neighbouring messages of one role, through any number of compactions.
//!
//! Owns: a long conversation in a small window, in each dialect, with tools and pauses. Never: the content of a summary
//! (`context`).

use std::sync::Arc;

use prefix::shadow::Reason;
use proptest::prelude::*;
use proxy::Speech;
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config, Reply, ToolCall};

use crate::stage::{Client, IDLE_AFTER, Stage, extends, messages, request};

/// A server with a small window, which calls a tool while the last message says `work`.
fn strict() -> Config {
    let reply = |request: &Value, nth: usize| {
        let list = request["messages"].as_array().or(request["input"].as_array());
        let last = list.and_then(|all| all.last()).cloned().unwrap_or_default();
        let tail = last["content"].to_string() + &last["output"].to_string();
        // Additions follow the person's words.
        let works = tail.contains("work") && last["role"] != "assistant";
        if works {
            Reply::calls([ToolCall {
                id: format!("call{nth}"),
                name: "ls".to_owned(),
                arguments: r#"{"path":"."}"#.to_owned(),
            }])
        } else {
            Reply::text(format!("Answer {nth}: {}", "and so it goes on. ".repeat(20)))
        }
    };
    Config {
        cache: CacheKind::Rewindable,
        window_tokens: 8_192,
        alternates: true,
        reply: Arc::new(reply),
        ..Config::default()
    }
}

fn note(at: usize, words: usize) -> String {
    format!(
        "Note {at}: {}",
        "the quick brown fox jumps over it. ".repeat(words / 7)
    )
}

/// Number of the conversation's compactions, by the reasons of its requests.
fn compactions(stage: &Stage, conversation: &str) -> usize {
    let measured = stage.proxy.measures().conversation(conversation);
    let is_one = |reasons: &Vec<Reason>| reasons.contains(&Reason::Compaction);
    measured.iter().filter(|one| is_one(&one.reasons)).count()
}

#[tokio::test]
async fn roles_take_turns_through_any_number_of_compactions() {
    let stage = Stage::new(strict()).await;
    let mut client = Client::new();
    let mut last: Vec<String> = Vec::new();
    let mut rewrites = 0;
    for turn in 0..60 {
        let got = client.turn(&stage, &note(turn, 400)).await;
        assert_eq!(stage.last().violations, [""; 0], "turn {turn}");
        let sent = messages(&stage.last());
        if !last.is_empty() && !extends(&last, &sent) {
            rewrites += 1;
            let id = format!("default/default/{}", got.conversation.expect("it is named"));
            assert_eq!(compactions(&stage, &id), rewrites, "each has its reason");
        }
        last = sent;
    }
    assert!(rewrites >= 4, "{rewrites}");
    assert!(last.concat().contains("conversation_summary"));
}

#[tokio::test]
async fn roles_take_turns_in_every_dialect() {
    for (speech, list) in [(Speech::Messages, "messages"), (Speech::Responses, "input")] {
        let stage = Stage::new(strict()).await;
        let mut history: Vec<Value> = Vec::new();
        for turn in 0..40 {
            history.push(json!({"role": "user", "content": [match speech {
                Speech::Responses => json!({"type": "input_text", "text": note(turn, 500)}),
                _ => json!({"type": "text", "text": note(turn, 500)}),
            }]}));
            let mut asked = request(&json!({"model": "tiny", "max_tokens": 500}));
            asked.body = json!({"model": "tiny", list: history, "stream": false})
                .to_string()
                .into();
            let got = stage.got_in(speech, asked).await;
            assert_eq!(got.status, 200, "{speech:?} {turn}: {}", got.text);
            assert_eq!(stage.last().violations, [""; 0], "{speech:?} {turn}");
            let said: Value = serde_json::from_str(&got.text).expect("JSON");
            match speech {
                Speech::Responses => history.extend(said["output"].as_array().cloned().unwrap_or_default()),
                _ => history.push(json!({"role": "assistant", "content": said["content"]})),
            }
        }
        let sent = String::from_utf8(stage.last().body.to_vec()).expect("text");
        assert!(sent.contains("conversation_summary"), "{speech:?}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Say(usize),
    /// This many tool calls, each with a result of this many words.
    Work(usize, usize),
    Remember,
    Pause,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (20_usize..500).prop_map(Step::Say),
        2 => (1_usize..9, 20_usize..400).prop_map(|(calls, words)| Step::Work(calls, words)),
        1 => Just(Step::Remember),
        1 => Just(Step::Pause),
    ]
}

async fn run(stage: &Stage, client: &mut Client, at: usize, step: Step) {
    match step {
        Step::Say(words) => client.says(&note(at, words)),
        Step::Work(..) => client.says(&format!("Please work at {at} now.")),
        Step::Remember => {
            let text = format!("The fox number {at} jumps over brown notes.");
            return stage.remember(&format!("s{at}"), &text).await;
        }
        Step::Pause => return stage.clock.advance(IDLE_AFTER),
    }
    let mut calls = match step {
        Step::Work(calls, _) => calls,
        _ => 0,
    };
    loop {
        let asked = client.history.len();
        client.goes_on(stage).await;
        assert_eq!(stage.last().violations, [""; 0]);
        let reply = client.history[asked].clone();
        let Some(call) = reply["tool_calls"].get(0) else {
            return;
        };
        calls = calls.saturating_sub(1);
        let words = match step {
            Step::Work(_, words) => note(at, words),
            _ => String::new(),
        };
        let more = if calls > 0 { "work on" } else { "done" };
        let result =
            json!({"role": "tool", "tool_call_id": call["id"], "content": format!("{words} {more}")});
        client.history.push(result);
    }
}

/// Each case is a conversation of many windows.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.div_ceil(32),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn no_conversation_contains_two_neighbours_of_one_role(steps in prop::collection::vec(step(), 20..45)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new(strict()).await;
            let mut client = Client::new();
            for (at, step) in steps.into_iter().enumerate() {
                run(&stage, &mut client, at, step).await;
            }
            let refused = stage.backend.requests().into_iter().filter(|seen| !seen.violations.is_empty());
            let refused: Vec<Vec<String>> = refused.map(|seen| seen.violations).collect();
            assert!(refused.is_empty(), "those between turns too: {refused:?}");
        });
    }
}
