//! Turns of the Responses API: items, with the history at the client or at the server.

use std::sync::Arc;

use model::{Name, Role, SessionId};
use prefix::backend::Kind;
use prefix::shadow::Reason;
use proxy::{MemoryUse, Request, Speech};
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config, Reply, ToolCall};

use crate::stage::{Got, Stage, request};

const TURNS: usize = 20;
/// Tolerance at a border, in tokens.
const BORDER: usize = 8;

/// A server that thinks, and calls a tool whenever a person says `work`.
fn server() -> Config {
    let reply = |request: &Value, nth: usize| {
        let input = &request["input"];
        let last = input.as_array().and_then(|all| all.last()).unwrap_or(input);
        let is_result = last["type"] == "function_call_output";
        let works = !is_result && last.to_string().contains("work");
        let call = || ToolCall {
            id: format!("call{nth}"),
            name: "ls".to_owned(),
            arguments: r#"{"path" : "."}"#.to_owned(),
        };
        Reply {
            reasoning: Some(format!("hm {nth}")),
            text: format!("Answer {nth}, as far as I can tell."),
            calls: works.then(call).into_iter().collect(),
        }
    };
    Config {
        reply: Arc::new(reply),
        ..Config::default()
    }
}

/// The place of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Client,
    /// At the server, by the id of the last response.
    Response,
    /// At the server, by the id of a conversation.
    Conversation,
}

const HOLDERS: [Holder; 3] = [Holder::Client, Holder::Response, Holder::Conversation];

struct Line {
    holder: Holder,
    /// The input of the next request.
    input: Vec<Value>,
    last_id: Option<String>,
    /// Tokens of the last request and its reply.
    before: usize,
    stream: bool,
}

impl Line {
    fn new(holder: Holder) -> Self {
        Self {
            holder,
            input: Vec::new(),
            last_id: None,
            before: 0,
            stream: true,
        }
    }

    fn request(&self) -> Request {
        let mut body = json!({
            "model": "tiny", "instructions": "Be brief.", "input": self.input, "stream": self.stream,
        });
        match self.holder {
            Holder::Client => {}
            Holder::Response => body["previous_response_id"] = json!(self.last_id),
            Holder::Conversation => body["conversation"] = json!({"id": "conv_1"}),
        }
        request(&body)
    }

    fn says(&mut self, text: &str) {
        let content = json!([{"type": "input_text", "text": text}]);
        self.input
            .push(json!({"type": "message", "role": "user", "content": content}));
    }

    /// Sends the input, runs the called tool, and asserts that only new tokens were evaluated.
    async fn turn(&mut self, stage: &Stage, text: &str) -> Got {
        self.says(text);
        let mut first = None;
        while !self.input.is_empty()
            && (first.is_none() || self.input.last().expect("one")["output"].is_string())
        {
            let got = self.goes_on(stage).await;
            assert!(first.is_none() || got.injected.is_none(), "inside a tool loop");
            first = first.or(Some(got));
        }
        first.expect("a request")
    }

    async fn goes_on(&mut self, stage: &Stage) -> Got {
        let got = stage.got_in(Speech::Responses, self.request()).await;
        let seen = stage.last();
        assert_eq!(seen.violations, [""; 0]);
        assert_eq!(got.status, 200, "{}", got.text);
        let new = seen.prompt_tokens.saturating_sub(self.before);
        assert!(
            seen.evaluated_tokens <= new + BORDER,
            "{:?}: {new} of {seen:?}",
            self.holder
        );
        let mut reply = prefix::stream::Reply::new(transcript::dialect::Dialect::OpenAiResponses);
        reply.push(got.text.as_bytes());
        let outcome = reply.finish();
        let generated = outcome.usage.completion_tokens.expect("told");
        self.before = seen.prompt_tokens + usize::try_from(generated).expect("small");
        self.last_id = outcome.id;
        let items: Vec<Value> = serde_json::from_str(&outcome.message.expect("items")).expect("JSON");
        let calls = items.iter().filter(|item| item["type"] == "function_call");
        let result = |call: &Value| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "a.jpg"});
        let results: Vec<Value> = calls.map(result).collect();
        if self.holder == Holder::Client {
            self.input.extend(items.iter().cloned());
        } else {
            self.input.clear();
        }
        self.input.extend(results);
        got
    }
}

fn sent(stage: &Stage) -> Value {
    serde_json::from_slice(&stage.last().body).expect("JSON")
}

#[tokio::test]
async fn a_turn_costs_only_its_new_tokens() {
    for holder in HOLDERS {
        for cache in [CacheKind::Rewindable, CacheKind::StrictExtension] {
            let stage = Stage::new(Config { cache, ..server() }).await;
            let mut line = Line::new(holder);
            let mut conversations = Vec::new();
            for turn in 0..TURNS {
                let fact = format!("Person{turn} moved to town{turn} and keeps goats{turn}.");
                stage.remember(&format!("s{turn}"), &fact).await;
                stage.clock.advance(std::time::Duration::from_hours(5));
                let work = if turn % 5 == 4 { " Then work." } else { "" };
                line.stream = turn % 3 > 0;
                let question = format!("Does person{turn} in town{turn} have goats{turn}?{work}");
                let asked = stage.backend.requests().len();
                let got = line.turn(&stage, &question).await;
                let injected = got.injected.expect("memory helps");
                assert_eq!(injected.fragment, format!("f{turn}"));
                let requests = stage.backend.requests();
                let first = requests[asked..]
                    .iter()
                    .find(|seen| seen.method == "POST")
                    .expect("one");
                let body = String::from_utf8_lossy(&first.body).into_owned();
                assert_eq!(body.matches(&fact).count(), 1, "{holder:?}, turn {turn}: {body}");
                conversations.extend(got.conversation);
            }
            conversations.dedup();
            assert_eq!(conversations.len(), 1, "{holder:?}: {conversations:?}");
        }
    }
}

/// Some clients send back messages and calls without the reasoning.
#[tokio::test]
async fn reasoning_may_be_left_out() {
    let stage = Stage::new(server()).await;
    stage
        .remember("earlier", "My sister Clara lives in Lisbon and breeds goats.")
        .await;
    let mut line = Line::new(Holder::Client);
    let mut seen = Vec::new();
    for text in ["Where does my sister Clara live?", "Then work.", "Thank you."] {
        line.says(text);
        loop {
            line.before = 0;
            let got = line.goes_on(&stage).await;
            line.input.retain(|item| item["type"] != "reasoning");
            seen.push((got.conversation, sent(&stage)["input"][0].to_string()));
            if line.input.last().is_some_and(|last| last["type"] == "message") {
                break;
            }
        }
    }
    assert!(seen[0].1.contains("Lisbon"), "{seen:?}");
    assert!(
        seen.iter().all(|one| *one == seen[0]),
        "one conversation, the same bytes: {seen:?}"
    );
    let told: Vec<String> = stage
        .ledger
        .everything()
        .iter()
        .skip(1)
        .map(|(message, _)| message.text())
        .collect();
    let mut once = told.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!((told.len(), once.len()), (8, 8), "{told:?}");
}

#[tokio::test]
async fn a_restart_goes_on_from_all_items() {
    let mut stage = Stage::new(Config {
        cache: CacheKind::StrictExtension,
        ..server()
    })
    .await;
    let mut line = Line::new(Holder::Client);
    for turn in 0..4 {
        line.turn(&stage, &format!("Work on goats{turn}, please work."))
            .await;
        stage.restart().await;
    }
}

#[tokio::test]
async fn a_plain_text_input_is_sent_unchanged_or_with_additions_at_its_end() {
    let stage = Stage::new(Config {
        kind: Kind::Ollama,
        ..server()
    })
    .await;
    stage
        .remember("earlier", "My sister Clara lives in Lisbon and breeds goats.")
        .await;
    let text = r#"{"model":"tiny","temperature":0.70,"input": "Where does my sister Clara l\u0069ve?", "x":{"a":null}}"#;
    for (memory, added) in [(MemoryUse::Off, false), (MemoryUse::On, true)] {
        let asked = Request {
            body: text.into(),
            memory,
            ..request(&json!({}))
        };
        let got = stage.got_in(Speech::Responses, asked).await;
        assert_eq!((got.status, got.injected.is_some()), (200, added));
        let body = stage.last().body;
        assert_eq!(body == text, !added);
        if added {
            let sent = String::from_utf8_lossy(&body).into_owned();
            assert!(
                sent.contains(r#""input":"Where does my sister Clara l\u0069ve?\n\n<quipu-memory"#),
                "{sent}"
            );
            assert!(
                sent.contains("0.70") && sent.contains("Lisbon") && sent.contains(r#"{"a":null}"#),
                "{sent}"
            );
        }
    }
}

#[tokio::test]
async fn messages_are_remembered_without_the_additions() {
    for holder in HOLDERS {
        let stage = Stage::new(server()).await;
        stage
            .remember("earlier", "My sister Clara lives in Lisbon and breeds goats.")
            .await;
        let mut line = Line::new(holder);
        line.turn(&stage, "Where does my sister Clara live?").await;
        line.turn(&stage, "Then work.").await;
        let texts: Vec<(Role, String)> = stage
            .ledger
            .everything()
            .iter()
            .map(|(message, _)| (message.role, message.text()))
            .skip(1)
            .collect();
        let expected = [
            (Role::User, "Where does my sister Clara live?"),
            (Role::Assistant, "Answer 1, as far as I can tell."),
            (Role::User, "Then work."),
            (Role::Assistant, "Answer 2, as far as I can tell."),
            (Role::Tool, "a.jpg"),
            (Role::Assistant, "Answer 3, as far as I can tell."),
        ];
        assert_eq!(
            texts,
            expected.map(|(role, text)| (role, text.to_owned())),
            "{holder:?}"
        );
    }
}

/// The conversation and the response id of a request that continues this response.
async fn goes_on_from(stage: &Stage, id: Option<&str>, owner: &str, name: Option<&str>) -> (String, String) {
    let body = json!({"model": "tiny", "input": "And now?", "previous_response_id": id});
    let asked = Request {
        owner: Some(Name::parse(owner).expect("a name")),
        conversation: name.map(SessionId::new),
        ..request(&body)
    };
    let got = stage.got_in(Speech::Responses, asked).await;
    let json: Value = serde_json::from_str(&got.text).expect("JSON");
    (
        got.conversation.expect("named"),
        json["id"].as_str().unwrap_or_default().to_owned(),
    )
}

#[tokio::test]
async fn a_response_leads_only_to_its_own_conversation() {
    let stage = Stage::new(Config {
        strict: false,
        ..server()
    })
    .await;
    let (first, id) = goes_on_from(&stage, None, "ann", None).await;
    let (second, next) = goes_on_from(&stage, Some(&id), "ann", None).await;
    assert_eq!(second, first);
    let (branch, _) = goes_on_from(&stage, Some(&id), "ann", None).await;
    assert_eq!(branch, first, "another reply to the same");
    let (anew, _) = goes_on_from(&stage, Some("resp_unknown"), "ann", None).await;
    assert_ne!(anew, first);
    let (others, _) = goes_on_from(&stage, Some(&next), "bob", None).await;
    assert_ne!(others, first);
    let (named, id) = goes_on_from(&stage, None, "ann", Some("mine")).await;
    assert_eq!(named, "mine");
    let (named, _) = goes_on_from(&stage, Some(&id), "ann", Some("mine")).await;
    assert_eq!(named, "mine");
}

#[tokio::test]
async fn only_a_history_at_the_client_is_compacted() {
    let stage = Stage::new(server()).await;
    let note = "the quick brown fox jumps over it. ".repeat(220);
    for holder in HOLDERS {
        let mut line = Line::new(holder);
        let mut shortened = false;
        for turn in 0..30 {
            line.says(&format!("Note {turn}: {note}"));
            let got = stage.got_in(Speech::Responses, line.request()).await;
            assert_eq!(got.status, 200, "{holder:?}: {}", got.text);
            assert_eq!(stage.last().violations, [""; 0]);
            shortened |= sent(&stage).to_string().contains("conversation_summary");
            line.before = usize::MAX;
            let mut reply = prefix::stream::Reply::new(transcript::dialect::Dialect::OpenAiResponses);
            reply.push(got.text.as_bytes());
            let outcome = reply.finish();
            line.last_id = outcome.id;
            let items: Vec<Value> = serde_json::from_str(&outcome.message.expect("items")).expect("JSON");
            if holder == Holder::Client {
                line.input.extend(items);
            } else {
                assert_eq!(
                    sent(&stage)["input"].as_array().map(Vec::len),
                    Some(1),
                    "only what is new"
                );
                line.input.clear();
            }
        }
        assert_eq!(shortened, holder == Holder::Client);
        let (_, measured) = stage.proxy.measures().newest(1).remove(0);
        let is_compacted = measured
            .iter()
            .any(|one| one.reasons.contains(&Reason::Compaction));
        assert_eq!(is_compacted, holder == Holder::Client, "{holder:?}");
    }
    let long = "all work and no play ".repeat(3_500);
    for (output, fits) in [(64, true), (16_000, false)] {
        let body = json!({"model": "tiny", "input": long, "max_output_tokens": output});
        let asked = Request {
            path: "responses".to_owned(),
            ..request(&body)
        };
        let answer = stage.proxy.converse(asked, Speech::Responses).await;
        assert_eq!(
            answer.map(|answer| answer.status).map_err(|refusal| refusal.code),
            if fits {
                Ok(200)
            } else {
                Err("context_length_exceeded")
            }
        );
    }
}

/// Like a client of the AI SDK, which refers to the items of a reply by id.
#[tokio::test]
async fn a_reference_to_a_reply_stands_for_the_reply() {
    let stage = Stage::new(server()).await;
    let mut input: Vec<Value> = Vec::new();
    let (mut conversation, mut before) = (None, String::new());
    for turn in 0..6 {
        input.push(json!({"role": "user", "content": [{"type": "input_text", "text": format!("Turn {turn}, and on.")}]}));
        let asked = request(&json!({"model": "tiny", "input": input}));
        let got = stage.got_in(Speech::Responses, asked).await;
        assert_eq!(
            (got.status, &stage.last().violations[..]),
            (200, &[][..]),
            "{}",
            got.text
        );
        let known = conversation.get_or_insert(got.conversation.clone());
        assert_eq!(*known, got.conversation, "turn {turn}");
        let sent = String::from_utf8(stage.last().body.to_vec()).expect("text");
        assert_eq!(
            sent.matches("item_reference").count(),
            turn * 2,
            "as it came: {sent}"
        );
        let list = sent.split_once(r#""input":["#).expect("a list").1;
        let list = list.rsplit_once("],").map_or(list, |(list, _)| list).to_owned();
        assert!(list.starts_with(&before), "{before}\n{list}");
        before = list;
        let said: Value = serde_json::from_str(&got.text).expect("JSON");
        let items = said["output"].as_array().expect("items").iter();
        input.extend(items.map(|item| json!({"type": "item_reference", "id": item["id"]})));
    }
    let texts: Vec<String> = stage
        .ledger
        .everything()
        .iter()
        .map(|(message, _)| message.text())
        .collect();
    assert_eq!(texts.len(), 12, "each said once: {texts:?}");
}
