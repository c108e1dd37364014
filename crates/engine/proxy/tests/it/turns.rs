//! Turns over real HTTP: what arrives at the server, byte by byte.

use prefix::backend::Kind;
use proptest::prelude::*;
use proxy::Memory;
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config, Reply, ToolCall};

use crate::stage::{Client, Stage, messages, read, request};

fn config(cache: CacheKind) -> Config {
    Config {
        cache,
        ..Config::default()
    }
}

/// A server that calls a tool whenever the last message says `work`.
fn worker() -> Config {
    let reply = |request: &Value, nth: usize| {
        let last = request["messages"]
            .as_array()
            .and_then(|all| all.last())
            .cloned()
            .unwrap_or_default();
        let works = last["role"] == "user" && last["content"].to_string().contains("work");
        if works {
            Reply::calls([ToolCall {
                id: format!("call{nth}"),
                name: "ls".to_owned(),
                arguments: r#"{"path" : "."}"#.to_owned(),
            }])
        } else {
            Reply::text(format!("answer {nth}"))
        }
    };
    Config {
        reply: std::sync::Arc::new(reply),
        ..Config::default()
    }
}

/// Whether one request begins with the messages of the one before.
fn extends(before: &[String], after: &[String]) -> bool {
    after.len() > before.len() && after[..before.len()] == *before
}

#[tokio::test]
async fn an_answer_comes_through_and_the_conversation_is_one() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    let mut client = Client::new();
    let first = client.turn(&stage, "Hello there").await;
    assert!(first.text.contains("data: "), "{}", first.text);
    let id = first.conversation.expect("it is named");
    let second = client.turn(&stage, "And again").await;
    assert_eq!(second.conversation.as_deref(), Some(&*id));
    let other = Client::new().turn(&stage, "Hello there").await;
    assert_ne!(
        other.conversation.as_deref(),
        Some(&*id),
        "another talk that begins alike is another"
    );
    assert_eq!(stage.last().violations, [""; 0]);
}

#[tokio::test]
async fn memory_comes_once_into_the_turn_that_asks_and_stays_there() {
    let mut stage = Stage::new(config(CacheKind::StrictExtension)).await;
    stage
        .remember("earlier", "My sister Clara lives in Lisbon and breeds goats.")
        .await;
    let mut client = Client::new();
    let told = client
        .turn(
            &stage,
            "Where does my sister Clara live, and what does she breed?",
        )
        .await;
    let injected = told.injected.expect("memory helps");
    assert!(injected.tokens > 0 && !injected.memories.is_empty());
    let first = messages(&stage.last());
    assert!(
        first[1].contains("Lisbon") && first[1].contains("quipu-memory"),
        "{}",
        first[1]
    );
    assert!(!first[0].contains("Lisbon"), "never in the system's message");
    stage.restart().await;
    let again = client
        .turn(&stage, "Where does my sister Clara live? Tell me once more.")
        .await;
    assert_eq!(again.injected, None, "what is visible is not told again");
    let second = messages(&stage.last());
    assert!(extends(&first, &second), "{first:?}\n{second:?}");
    let seen = stage.last();
    assert!(seen.cached_tokens > 0, "a restart keeps the prefix");
}

#[tokio::test]
async fn what_was_said_a_moment_ago_in_another_conversation_is_known() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    Client::new()
        .turn(&stage, "My parrot is called Kiko and it sleeps in the kitchen.")
        .await;
    let told = Client::new()
        .turn(&stage, "What is my parrot called, and where does it sleep?")
        .await;
    assert!(told.injected.is_some(), "{told:?}");
    let sent = messages(&stage.last());
    assert!(sent[1].contains("Kiko"), "{sent:?}");
}

#[tokio::test]
async fn the_date_stands_in_the_persons_turn_and_only_when_it_changed() {
    let stage = Stage::new(config(CacheKind::StrictExtension)).await;
    let mut client = Client::new();
    for _ in 0..3 {
        client.turn(&stage, "What day is it?").await;
    }
    stage.clock.advance(std::time::Duration::from_hours(26));
    client.turn(&stage, "And now?").await;
    let sent = messages(&stage.last());
    let dated: Vec<bool> = sent
        .iter()
        .map(|message| message.contains("quipu-time"))
        .collect();
    assert_eq!(dated, [false, true, false, false, false, false, false, true]);
}

#[tokio::test]
async fn a_tool_loop_is_not_disturbed() {
    let stage = Stage::new(worker()).await;
    stage
        .remember(
            "earlier",
            "The work folder is /srv/goats and it holds goat pictures.",
        )
        .await;
    let mut client = Client::new();
    client
        .turn(&stage, "Please work on the goat pictures in the work folder")
        .await;
    let before = messages(&stage.last());
    let call = client.history.last().expect("a call")["tool_calls"][0].clone();
    assert_eq!(call["function"]["arguments"], r#"{"path" : "."}"#, "verbatim");
    stage
        .remember("meanwhile", "The goat pictures in the work folder are secret.")
        .await;
    client
        .history
        .push(json!({"role": "tool", "tool_call_id": call["id"], "content": "a.jpg"}));
    let got = client.goes_on(&stage).await;
    assert_eq!(got.injected, None);
    let after = messages(&stage.last());
    assert!(extends(&before, &after));
    assert!(!after.last().expect("one").contains("quipu"));
    assert_eq!(stage.last().violations, [""; 0]);
}

#[tokio::test]
async fn what_is_unknown_passes_through_and_what_is_ours_is_added() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    let body = r#"{"model":"tiny","temperature":0.70,"x_new":{"b":1e2,"a":null},"messages":[{"role":"user","content":"h\u00e9","extra":1.0}],"stream":false}"#;
    let mut asked = request(&json!({}));
    asked.body = body.into();
    stage.got(asked).await;
    let seen = stage.last();
    let sent = String::from_utf8(seen.body.to_vec()).expect("text");
    for kept in [
        r#""temperature":0.70"#,
        r#""x_new":{"b":1e2,"a":null}"#,
        r#""extra":1.0"#,
        r"h\u00e9",
    ] {
        assert!(sent.contains(kept), "{kept} is missing in {sent}");
    }
    assert!(
        sent.contains(r#""cache_prompt":true"#) && sent.contains("session_id"),
        "{sent}"
    );
}

#[tokio::test]
async fn extras_are_for_local_servers_and_conversations_alone() {
    let hosted = Config {
        kind: Kind::OpenAi,
        strict: true,
        ..config(CacheKind::Rewindable)
    };
    let stage = Stage::new(hosted).await;
    Client::new().turn(&stage, "Hi").await;
    let sent: Value = serde_json::from_slice(&stage.last().body).expect("JSON");
    assert!(sent.get("session_id").is_none() && sent.get("cache_prompt").is_none());
    assert!(sent["prompt_cache_key"].is_string());
    assert_eq!(stage.last().violations, [""; 0]);
    let local = Stage::new(config(CacheKind::Rewindable)).await;
    let mut asked = Client::new();
    asked.says("Hi");
    let mut incognito = asked.request();
    incognito.memory = Memory::Incognito;
    let body = incognito.body.clone();
    local.got(incognito).await;
    assert_eq!(local.last().body, body, "as it came");
    assert!(
        local.proxy.measures().upstreams().is_empty(),
        "nothing is measured"
    );
}

#[tokio::test]
async fn what_was_said_is_remembered_without_what_was_added() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    stage
        .remember("earlier", "My sister Clara lives in Lisbon and breeds goats.")
        .await;
    let mut client = Client::new();
    client
        .turn(
            &stage,
            "Where does my sister Clara live, and what does she breed?",
        )
        .await;
    let told = stage.ledger.everything();
    let texts: Vec<String> = told.iter().map(|(message, _)| message.text()).collect();
    assert!(texts.iter().any(|text| text.starts_with("Where does my sister")));
    assert!(texts.iter().any(|text| text == "ok 1"), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("quipu")), "{texts:?}");
    for (memory, learns) in [
        (Memory::ReadOnly, false),
        (Memory::Off, false),
        (Memory::On, true),
    ] {
        let before = stage.ledger.everything().len();
        let mut client = Client::new();
        client.says("Something else");
        let mut asked = client.request();
        asked.memory = memory;
        stage.got(asked).await;
        assert_eq!(stage.ledger.everything().len() > before, learns, "{memory:?}");
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_the_answer_and_not_the_memory() {
    let stage = Stage::new(Config {
        hold: true,
        ..config(CacheKind::Rewindable)
    })
    .await;
    let mut client = Client::new();
    client.says("Tell me a long story");
    let mut answer = stage.ask(client.request()).await.expect("an answer");
    futures::StreamExt::next(&mut answer.body).await;
    drop(answer);
    stage.proxy.rest().await;
    let texts: Vec<String> = stage
        .ledger
        .everything()
        .iter()
        .map(|(message, _)| message.text())
        .collect();
    assert!(texts.contains(&"Tell me a long story".to_owned()), "{texts:?}");
}

#[tokio::test]
async fn a_long_talk_is_compacted_into_its_window_and_stays_a_prefix_after() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    let mut client = Client::new();
    let mut last: Vec<String> = Vec::new();
    let mut rewrites = 0;
    for turn in 0..40 {
        client
            .turn(
                &stage,
                &format!(
                    "Note {turn}: {}",
                    "the quick brown fox jumps over it. ".repeat(220)
                ),
            )
            .await;
        let sent = messages(&stage.last());
        rewrites += usize::from(!last.is_empty() && !extends(&last, &sent));
        last = sent;
        assert_eq!(stage.last().violations, [""; 0]);
    }
    assert!(
        rewrites >= 1,
        "the window is 32,768 tokens and the talk has some 70,000"
    );
    assert!(rewrites <= 6, "few and large steps: {rewrites}");
    assert!(
        last.iter()
            .any(|message| message.contains("conversation_summary"))
    );
}

#[tokio::test]
async fn what_can_never_fit_is_refused_with_its_parts() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    let mut client = Client::new();
    client.says(&"all work and no play ".repeat(12_000));
    let refusal = stage.ask(client.request()).await.expect_err("it cannot fit");
    assert_eq!((refusal.status, refusal.code), (400, "context_length_exceeded"));
    assert!(refusal.message.contains("current_request"), "{}", refusal.message);
    assert!(
        stage.backend.requests().iter().all(|seen| seen.method == "GET"),
        "nothing was sent"
    );
}

#[derive(Debug, Clone)]
enum Step {
    Say(String),
    Work,
    Remember(String),
    Day,
    Restart,
    Edit(usize),
    Regenerate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => "[a-z ]{1,60}".prop_map(Step::Say),
        2 => Just(Step::Work),
        2 => "(goats|Lisbon|trains) [a-z ]{5,40}".prop_map(Step::Remember),
        1 => Just(Step::Day),
        1 => Just(Step::Restart),
        1 => (0_usize..20).prop_map(Step::Edit),
        1 => Just(Step::Regenerate),
    ]
}

/// X-1, X-3: whatever happens between two requests, the second begins with the first, unless the client itself went back.
async fn holds(steps: Vec<Step>) {
    let mut stage = Stage::new(worker()).await;
    let mut client = Client::new();
    let mut last: Vec<String> = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        let mut went_back = false;
        match step {
            Step::Say(text) => client.says(&format!("goats and Lisbon and trains {text}")),
            Step::Work => client.says("work on goats in Lisbon"),
            Step::Remember(text) => {
                stage
                    .remember(&format!("s{at}"), &format!("I like {text}."))
                    .await;
                continue;
            }
            Step::Day => {
                stage.clock.advance(std::time::Duration::from_hours(30));
                continue;
            }
            Step::Restart => {
                stage.restart().await;
                continue;
            }
            Step::Edit(which) => {
                let users: Vec<usize> = (0..client.history.len())
                    .filter(|at| client.history[*at]["role"] == "user")
                    .collect();
                let Some(place) = users.get(which % users.len().max(1)) else {
                    continue;
                };
                client.history.truncate(*place);
                client.says(&format!("edited {at}"));
                went_back = true;
            }
            Step::Regenerate => {
                if client
                    .history
                    .last()
                    .is_none_or(|last| last["role"] != "assistant")
                {
                    continue;
                }
                client.history.pop();
                went_back = true;
            }
        }
        client.goes_on(&stage).await;
        loop {
            let sent = messages(&stage.last());
            assert!(
                went_back || last.is_empty() || extends(&last, &sent),
                "{last:#?}\n{sent:#?}"
            );
            assert_eq!(stage.last().violations, [""; 0]);
            last = sent;
            went_back = false;
            let reply = client.history.last().expect("a reply").clone();
            let Some(calls) = reply["tool_calls"].as_array() else {
                break;
            };
            for call in calls {
                client
                    .history
                    .push(json!({"role": "tool", "tool_call_id": call["id"], "content": "done"}));
            }
            client.goes_on(&stage).await;
        }
    }
}

/// A case is a server and up to sixteen turns: a quarter of what `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases / 4,
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_request_extends_the_last_one_and_its_reply(steps in prop::collection::vec(step(), 1..16)) {
        tokio::runtime::Runtime::new().expect("a runtime").block_on(holds(steps));
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_given_as_far_as_it_came() {
    let stage = Stage::new(config(CacheKind::Rewindable)).await;
    stage
        .backend
        .fail_next(testkit::backend::Fault::ResetAfterChunks(1));
    let mut client = Client::new();
    client.says("Hello");
    // The probe may take the fault.
    let got = read(stage.ask(client.request()).await.expect("a head")).await;
    assert!(got.broke_off || got.status == 200);
    stage.proxy.rest().await;
    let again = client.clone().turn(&stage, "Once more").await;
    assert_eq!(again.status, 200);
}
