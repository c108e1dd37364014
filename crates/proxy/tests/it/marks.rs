//! Turns with a server that caches only marked parts, like Anthropic's.

use std::sync::Arc;

use model::{Scope, SessionId, SessionKey};
use ports::Conversations;
use prefix::backend::Kind;
use proxy::Speech;
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config, Fault, Reply, Seen, ToolCall};

use crate::stage::{Got, Stage, request};

/// A server that thinks, and calls three tools at `work.`, or more tools than a mark looks back at `work!`.
fn server() -> Config {
    let reply = |request: &Value, nth: usize| {
        let last = request["messages"].as_array().and_then(|all| all.last());
        let content = last.map(|last| last["content"].clone()).unwrap_or_default();
        let words = content[0]["text"]
            .as_str()
            .or(content.as_str())
            .unwrap_or_default();
        let words = words.split("\n\n").next().unwrap_or_default();
        let calls = match words.rsplit(' ').next() {
            Some("work.") => 3,
            Some("work!") => 25,
            _ => 0,
        };
        let call = |at: usize| ToolCall {
            id: format!("call{nth}_{at}"),
            name: "ls".to_owned(),
            arguments: r#"{"path":"."}"#.to_owned(),
        };
        Reply {
            reasoning: Some(format!("hm {nth}")),
            text: format!("Answer {nth}."),
            calls: (0..calls).map(call).collect(),
        }
    };
    Config {
        kind: Kind::Anthropic,
        cache: CacheKind::Marks,
        reply: Arc::new(reply),
        ..Config::default()
    }
}

/// A client of Anthropic's with a system text.
struct Talker {
    history: Vec<Value>,
    /// Prompt tokens of the last request.
    before: usize,
}

impl Talker {
    fn new() -> Self {
        Self {
            history: Vec::new(),
            before: 0,
        }
    }

    /// Sends a message, runs every called tool, and asserts that only new tokens were evaluated.
    async fn turn(&mut self, stage: &Stage, content: Value) {
        self.history.push(json!({"role": "user", "content": content}));
        loop {
            let got = self.sends(stage).await;
            let seen = stage.last();
            assert_eq!(seen.violations, [""; 0]);
            assert_eq!(got.status, 200, "{}", got.text);
            // The whole last request except the border before its reply.
            assert!(
                seen.cached_tokens + 1 >= self.before,
                "{} of {}: {seen:?}",
                seen.cached_tokens,
                self.before
            );
            self.before = seen.prompt_tokens;
            let mut reply = prefix::stream::Reply::new(transcript::dialect::Dialect::Anthropic);
            reply.push(got.text.as_bytes());
            let message: Value =
                serde_json::from_str(&reply.finish().message.expect("a message")).expect("JSON");
            let result =
                |call: &Value| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "a.jpg"});
            let blocks = message["content"].as_array().expect("blocks");
            let results: Vec<Value> = blocks
                .iter()
                .filter(|block| block["type"] == "tool_use")
                .map(result)
                .collect();
            self.history.push(message);
            if results.is_empty() {
                return;
            }
            self.history.push(json!({"role": "user", "content": results}));
        }
    }

    async fn sends(&self, stage: &Stage) -> Got {
        let body = json!({
            "model": "claude", "max_tokens": 64, "stream": true, "system": "Be brief.", "messages": self.history,
        });
        stage.got_in(Speech::Messages, request(&body)).await
    }
}

fn marks(seen: &Seen) -> usize {
    String::from_utf8_lossy(&seen.body)
        .matches("cache_control")
        .count()
}

#[tokio::test]
async fn all_tokens_except_new_ones_are_reused() {
    let stage = Stage::new(server()).await;
    let mut talker = Talker::new();
    for turn in 0..20 {
        let fact = format!("Person{turn} moved to town{turn} and keeps goats{turn}.");
        stage.remember(&format!("s{turn}"), &fact).await;
        stage.clock.advance(std::time::Duration::from_hours(5));
        // Some turns call tools, and some more of them than a mark looks back.
        let work = ["", "", " Then work.", "", " Then work!"][turn % 5];
        let question = format!("Does person{turn} in town{turn} have goats{turn}?{work}");
        let content = if turn % 2 == 0 {
            json!(question)
        } else {
            json!([{"type": "text", "text": question}])
        };
        let asked = talker.history.len();
        talker.turn(&stage, content).await;
        let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
        let said = sent["messages"][asked]["content"].to_string();
        assert!(said.contains(&fact), "turn {turn}: {said}");
        assert!((2..=4).contains(&marks(&stage.last())));
    }
}

#[tokio::test]
async fn a_turn_of_more_blocks_than_a_mark_looks_back_is_reused() {
    let stage = Stage::new(server()).await;
    let mut talker = Talker::new();
    for turn in 0..3 {
        let part = |at: usize| json!({"type": "text", "text": format!("{turn} {at} x")});
        talker.turn(&stage, (0..45).map(part).collect()).await;
    }
}

#[tokio::test]
async fn marks_of_the_client_replace_ours_and_ours_are_stored_nowhere() {
    let stage = Stage::new(server()).await;
    let mut talker = Talker::new();
    talker.turn(&stage, json!("Hello")).await;
    let key = SessionKey {
        scope: Scope::default(),
        session: SessionId::new(talker.sends(&stage).await.conversation.expect("named")),
    };
    let log = stage.ledger.read(&key, 0, 100).await.expect("a log");
    assert!(log.len() > 2 && log.iter().all(|record| !record.body.contains("cache_control")));
    let own = json!({"type": "text", "text": "Again", "cache_control": {"type": "ephemeral", "ttl": "1h"}});
    talker.history.push(json!({"role": "user", "content": [own]}));
    talker.sends(&stage).await;
    let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
    assert_eq!((marks(&stage.last()), &sent["system"]), (1, &json!("Be brief.")));
}

#[tokio::test]
async fn refused_marks_are_never_sent_again() {
    let stage = Stage::new(server()).await;
    let mut talker = Talker::new();
    talker.turn(&stage, json!("Hello")).await;
    assert_eq!(marks(&stage.last()), 2);
    stage.backend.fail_next(Fault::Status {
        code: 400,
        headers: Vec::new(),
        body: r#"{"type":"error","error":{"message":"messages.0: cache_control: extra fields"}}"#.to_owned(),
    });
    let asked = stage.backend.requests().len();
    for _ in 0..2 {
        talker.history.push(json!({"role": "user", "content": "Again"}));
        assert_eq!(talker.sends(&stage).await.status, 200);
        talker.history.push(json!({"role": "assistant", "content": "So"}));
    }
    let requests = stage.backend.requests();
    let sent: Vec<usize> = requests[asked..]
        .iter()
        .filter(|seen| seen.method == "POST")
        .map(marks)
        .collect();
    assert_eq!(sent, [3, 0, 0]);
}

/// Marks as Claude Code sets them: on the system text, and at the end of the two newest messages.
fn marked(history: &[Value]) -> Vec<Value> {
    let mut messages = history.to_vec();
    let newest = messages.len().saturating_sub(3);
    for message in messages[newest..].iter_mut().step_by(2) {
        let text = message["content"][0]["text"].clone();
        message["content"] = json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    }
    messages
}

#[tokio::test]
async fn marks_of_a_client_do_not_accumulate_at_any_server() {
    for kind in Kind::ALL {
        for (speech, field) in [(Speech::Messages, "system"), (Speech::Chat, "ignored")] {
            let reply = Arc::new(|_: &Value, nth: usize| Reply::text(format!("ok {nth}")));
            let stage = Stage::new(Config {
                kind,
                strict: false,
                reply,
                ..Config::default()
            })
            .await;
            let mut history: Vec<Value> = Vec::new();
            let mut before: Vec<Value> = Vec::new();
            for turn in 0..6 {
                history.push(json!({"role": "user", "content": [{"type": "text", "text": format!("Turn {turn}, and on.")}]}));
                let system = json!([
                    {"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": "A lot.", "cache_control": {"type": "ephemeral"}},
                ]);
                let body =
                    json!({"model": "m", "max_tokens": 9, field: system, "messages": marked(&history)});
                let got = stage.got_in(speech, request(&body)).await;
                assert_eq!(got.status, 200, "{kind:?}: {}", got.text);
                let seen = stage.last();
                let text = String::from_utf8(seen.body.to_vec()).expect("text");
                assert!(
                    text.matches("cache_control").count() <= 4,
                    "{kind:?} {speech:?} {turn}: {text}"
                );
                let sent: Value = serde_json::from_str(&text).expect("JSON");
                let bare: Value =
                    serde_json::from_str(&text.replace(r#","cache_control":{"type":"ephemeral"}"#, ""))
                        .expect("JSON");
                assert_eq!(
                    sent["messages"][turn * 2]["content"][0]["cache_control"]["type"],
                    "ephemeral",
                    "{kind:?}: the client's own"
                );
                let bare = bare["messages"].as_array().expect("a list").clone();
                assert!(
                    bare.starts_with(&before),
                    "{kind:?}: what was said is sent again as it was"
                );
                before = bare;
                let words = if speech == Speech::Chat {
                    "/choices/0/message/content"
                } else {
                    "/content/0/text"
                };
                let said: Value = serde_json::from_str(&got.text).expect("JSON");
                let said = said.pointer(words).expect("words").clone();
                history.push(json!({"role": "assistant", "content": [{"type": "text", "text": said}]}));
            }
        }
    }
}

/// Like older versions of Claude Code: a new number in each request before all other text.
#[tokio::test]
async fn a_number_that_changes_with_each_request_costs_a_local_server_nothing() {
    for kind in [Kind::LlamaCpp, Kind::Vllm, Kind::Anthropic] {
        let reply = Arc::new(|_: &Value, nth: usize| Reply::text(format!("ok {nth}")));
        let stage = Stage::new(Config {
            kind,
            reply,
            ..Config::default()
        })
        .await;
        let mut history: Vec<Value> = Vec::new();
        let mut systems = Vec::new();
        for turn in 0..4 {
            history.push(json!({"role": "user", "content": format!("Turn {turn}, and on.")}));
            let line = format!("x-anthropic-billing-header: cc_version=2.1.100.a; cch=a{turn}f09;");
            let system = json!([{"type": "text", "text": line}, {"type": "text", "text": "You help."}]);
            let body = json!({"model": "m", "max_tokens": 9, "system": system, "messages": history});
            let got = stage.got_in(Speech::Messages, request(&body)).await;
            let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
            let line = sent["system"][0]["text"].as_str().expect("a line").to_owned();
            assert_eq!(
                line.contains(&format!("cch=a{turn}f09;")),
                kind == Kind::Anthropic,
                "{kind:?}: {line}"
            );
            systems.push(line);
            history.push(json!({"role": "assistant", "content": said(&got)}));
        }
        let is_constant = systems.iter().all(|line| *line == systems[0]);
        assert_eq!(is_constant, kind != Kind::Anthropic, "{systems:?}");
    }
}

fn said(got: &Got) -> Value {
    let said: Value = serde_json::from_str(&got.text).expect("JSON");
    said["content"][0]["text"].clone()
}
