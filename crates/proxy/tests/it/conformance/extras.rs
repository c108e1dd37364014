//! O-8 to O-10 and X-11: fields that a server gets besides the client's own.

use std::collections::BTreeSet;

use prefix::backend::Kind;
use proxy::{MemoryUse, Request, Speech};
use serde_json::{Value, json};
use testkit::backend::{CacheKind, Config, Seen};

use super::{body, named_request};
use crate::stage::{Client, Stage, Wishes, read, request};

fn of(kind: Kind) -> Config {
    Config {
        kind,
        strict: true,
        ..Config::default()
    }
}

/// The fields of a body besides the client's own.
fn added(seen: &Seen) -> Vec<(String, Value)> {
    let own = ["model", "messages", "stream", "max_tokens", "prompt", "input"];
    let body = body(seen);
    let fields = body.as_object().expect("an object").iter();
    let added = fields.filter(|(name, _)| !own.contains(&name.as_str()));
    added.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[tokio::test]
async fn o08_a_local_server_gets_a_session_of_its_own_on_every_call() {
    let stage = Stage::new(Config {
        cache: CacheKind::StrictExtension,
        slots: 2,
        ..Config::default()
    })
    .await;
    let mut clients = [("session-A", Client::new()), ("session-B", Client::new())];
    for turn in 0..6 {
        let (name, client) = &mut clients[turn % 2];
        client.says(&format!("Turn {turn}"));
        let got = stage.got(named_request(client, name)).await;
        client.hears(&got.text);
        let seen = stage.last();
        assert_eq!(body(&seen)["session_id"], format!("ann/{name}"));
        assert_eq!(body(&seen)["cache_prompt"], true);
        assert_eq!(body(&seen)["id_slot"], turn % 2, "each has a slot");
        assert!(turn < 2 || seen.cached_tokens > 0, "turn {turn} reads all anew");
    }
}

#[tokio::test]
async fn o09_no_hosted_server_gets_fields_of_a_local_one() {
    for kind in Kind::ALL.into_iter().filter(|kind| !kind.profile().local) {
        let stage = Stage::new(of(kind)).await;
        let mut client = Client::new();
        for turn in 0..2 {
            client.says(&format!("Turn {turn}"));
            let got = stage.got(named_request(&client, "session-A")).await;
            assert_eq!(got.status, 200, "{kind:?}: {}", got.text);
            client.hears(&got.text);
            let sent = body(&stage.last());
            for name in ["session_id", "cache_prompt", "id_slot", "cache_salt"] {
                assert!(sent.get(name).is_none(), "{kind:?} gets {name}");
            }
            assert_eq!(stage.last().violations, [""; 0], "{kind:?}");
        }
        let sent = stage.backend.requests();
        let posts = sent.iter().filter(|seen| seen.method == "POST").count();
        assert_eq!(posts, 2, "{kind:?} refused nothing before");
    }
}

/// A request that belongs to no conversation.
fn lone(path: &str, body: &Value) -> Request {
    Request {
        path: path.to_owned(),
        ..request(body)
    }
}

#[tokio::test]
async fn o10_a_request_outside_of_conversations_is_sent_on_unchanged() {
    for kind in [Kind::LlamaCpp, Kind::LmStudio, Kind::Vllm, Kind::UnknownLocal] {
        let stage = Stage::new(of(kind)).await;
        let asks = [
            lone("completions", &json!({"model": "tiny", "prompt": "A title:"})),
            lone("embeddings", &json!({"model": "tiny", "input": "goat"})),
        ];
        for ask in asks {
            let body = ask.body.clone();
            read(stage.proxy.forward(ask).await.expect("an answer")).await;
            assert_eq!(stage.last().body, body, "{kind:?}");
        }
        let mut client = Client::new();
        client.says("A title, please");
        let mut ask = named_request(&client, "session-A");
        ask.memory = MemoryUse::Incognito;
        let body = ask.body.clone();
        stage.got(ask).await;
        assert_eq!(stage.last().body, body, "{kind:?}");
    }
}

/// A field's name, and its value; none for an opaque value.
type Field = (&'static str, Option<&'static str>);

/// The fields that a conversation adds to a request, by server.
const MATRIX: [(Kind, &[Field]); 7] = [
    (
        Kind::LlamaCpp,
        &[("session_id", Some("\"ID\"")), ("cache_prompt", Some("true"))],
    ),
    (
        Kind::LmStudio,
        &[("session_id", Some("\"ID\"")), ("cache_prompt", Some("true"))],
    ),
    (Kind::Ollama, &[]),
    (Kind::Vllm, &[("cache_salt", None)]),
    (Kind::OpenAi, &[("prompt_cache_key", None)]),
    (Kind::Mistral, &[("prompt_cache_key", None)]),
    (Kind::Anthropic, &[]),
];

async fn sent(stage: &Stage, kind: Kind, client: &Client, name: Option<&str>) -> (Seen, Option<String>) {
    let (speech, path) = match kind {
        Kind::Anthropic => (Speech::Messages, "messages"),
        _ => (Speech::Chat, "chat/completions"),
    };
    let text = json!({"model": "tiny", "messages": client.history[1..], "max_tokens": 64});
    let mut ask = lone(path, &text);
    ask.conversation = name.map(model::SessionId::new);
    let answer = stage.proxy.converse(ask, speech).await.expect("an answer");
    let got = read(answer).await;
    assert_eq!(got.status, 200, "{kind:?}: {}", got.text);
    (stage.last(), got.conversation)
}

#[tokio::test]
async fn x11_each_server_gets_only_its_own_extras() {
    for (kind, expected) in MATRIX {
        let stage = Stage::new(of(kind)).await;
        let mut client = Client::new();
        client.says("Hello");
        let mut values: Vec<BTreeSet<String>> = vec![BTreeSet::new(); expected.len()];
        let names = [Some("one"), Some("two"), None, Some("one")];
        for name in names {
            let (seen, id) = sent(&stage, kind, &client, name).await;
            let id = id.expect("a conversation has a name");
            assert!(name.is_none_or(|name| name == id));
            // Two owners can use the same name.
            let id = name.map_or(id, |name| format!("ann/{name}"));
            let added = added(&seen);
            let shown: Vec<&str> = added.iter().map(|(name, _)| name.as_str()).collect();
            let wanted: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
            assert_eq!(shown, wanted, "{kind:?}, {name:?}");
            for (at, (field, value)) in added.iter().enumerate() {
                match expected[at].1 {
                    Some(fixed) => {
                        assert_eq!(value.to_string(), fixed.replace("ID", &id), "{kind:?} {field}");
                    }
                    None => assert!(
                        !value.as_str().expect("text").contains(&id),
                        "{kind:?} {field} is opaque"
                    ),
                }
                values[at].insert(value.to_string());
            }
            let ours = |name: &str| name.starts_with("x-") && !name.starts_with("x-api");
            assert!(
                !seen.headers.iter().any(|(name, _)| ours(name)),
                "{:?}",
                seen.headers
            );
            assert_eq!(seen.violations, [""; 0], "{kind:?}");
        }
        for ((field, _), values) in expected.iter().zip(values) {
            let per_conversation = !matches!(*field, "cache_prompt" | "cache_salt");
            assert_eq!(
                values.len(),
                if per_conversation { 3 } else { 1 },
                "{kind:?} {field}"
            );
        }
        if kind != Kind::Anthropic {
            let ask = lone("completions", &json!({"model": "tiny", "prompt": "A title:"}));
            read(stage.proxy.forward(ask).await.expect("an answer")).await;
            assert_eq!(added(&stage.last()), [], "{kind:?} without a conversation");
        }
    }
}

#[tokio::test]
async fn a_server_gets_the_configured_header_and_retention() {
    let wishes = Wishes {
        session_header: Some("x-session-id".to_owned()),
        cache_retention: Some("24h".to_owned()),
        ..Wishes::default()
    };
    let stage = Stage::with(of(Kind::OpenAi), wishes).await;
    let mut client = Client::new();
    client.says("Hello");
    let mut keys = Vec::new();
    for name in ["one", "two", "one"] {
        let (seen, _) = sent(&stage, Kind::OpenAi, &client, Some(name)).await;
        assert_eq!(body(&seen)["prompt_cache_retention"], "24h");
        let header = seen.headers.iter().find(|(name, _)| name == "x-session-id");
        let (_, key) = header.expect("the header");
        assert_eq!(
            body(&seen)["prompt_cache_key"],
            key.as_str(),
            "the same opaque key"
        );
        keys.push(key.clone());
        assert_eq!(seen.violations, [""; 0]);
    }
    assert!(keys[0] == keys[2] && keys[0] != keys[1], "{keys:?}");
}

#[tokio::test]
async fn the_configuration_can_withhold_the_session_id_from_a_local_server() {
    let wishes = Wishes {
        no_session_id: true,
        ..Wishes::default()
    };
    let stage = Stage::with(of(Kind::LmStudio), wishes).await;
    let mut client = Client::new();
    client.says("Hello");
    let (seen, _) = sent(&stage, Kind::LmStudio, &client, Some("one")).await;
    assert_eq!(added(&seen), [("cache_prompt".to_owned(), json!(true))]);
}
