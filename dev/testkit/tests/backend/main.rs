//! The model servers without a model, tested over plain TCP.

#![expect(clippy::unwrap_used, reason = "a test's helper may panic as a test does")]

mod client;
mod faults;

use std::sync::Arc;

use prefix::backend::Kind;
use serde_json::{Value, json};
use testkit::backend::{Backend, CacheKind, Config, Reply, Seen, ToolCall};
use testkit::caches::{Blocks, Cache, Checkpoints, Evaluated, Rewind, Slots};

use client::{CHAT, ask, chat, get, hello, says};

fn cost(seen: &Seen) -> Evaluated {
    Evaluated {
        cached: seen.cached_tokens,
        evaluated: seen.evaluated_tokens,
    }
}

const USER: u32 = 256;

/// The template written once more, for users and assistants.
fn rendered(messages: &[Value]) -> Vec<u32> {
    let mut tokens = Vec::new();
    for message in messages {
        tokens.push(if message["role"] == "user" { USER } else { 258 });
        tokens.extend(message["content"].as_str().unwrap().bytes().map(u32::from));
        tokens.push(263);
    }
    tokens.push(258);
    tokens
}

async fn check_cache(kind: CacheKind, mut sim: impl Cache, last_cached: impl Fn(usize) -> bool) {
    let config = Config {
        cache: kind,
        ..Config::default()
    };
    let backend = Backend::start(config).await;
    let long = "a long question ".repeat(60);
    let mut messages = vec![says("user", &long)];
    for turn in 1..=3 {
        if turn == 3 {
            messages[2] = says("user", "another question");
        }
        let tokens = rendered(&messages);
        let expected = sim.request(&tokens);
        let reply = format!("ok {turn}");
        let mut generated: Vec<u32> = reply.bytes().map(u32::from).collect();
        generated.push(263);
        sim.reply(&generated);
        let answer = ask(&backend, CHAT, &chat(&messages)).await.json();
        let seen = backend.requests()[turn - 1].clone();
        assert_eq!(cost(&seen), expected, "{kind:?}, turn {turn}");
        assert_eq!(seen.prompt_tokens, tokens.len());
        let usage = &answer["usage"];
        assert_eq!(usage["prompt_tokens"], tokens.len());
        assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], expected.cached);
        assert_eq!(answer["timings"]["cache_n"], expected.cached);
        assert_eq!(answer["timings"]["prompt_n"], expected.evaluated);
        assert!(turn < 3 || last_cached(expected.cached), "{kind:?}: {expected:?}");
        messages.extend([says("assistant", &reply), says("user", "and then?")]);
    }
}

struct Nothing;

impl Cache for Nothing {
    fn request(&mut self, tokens: &[u32]) -> Evaluated {
        Evaluated {
            cached: 0,
            evaluated: tokens.len(),
        }
    }

    fn reply(&mut self, _: &[u32]) {}
}

#[tokio::test]
async fn every_cache_reports_the_counts_of_its_simulation() {
    let slots = |rewind| Slots::new(rewind, 1);
    let checkpoints = Rewind::Checkpoints(Checkpoints::chat(USER));
    check_cache(CacheKind::Rewindable, slots(Rewind::Any), |cached| cached > 960).await;
    // The checkpoint 4 tokens before the end of the first prompt.
    check_cache(CacheKind::Checkpoints, slots(checkpoints), |cached| cached == 959).await;
    check_cache(CacheKind::StrictExtension, slots(Rewind::Never), |cached| {
        cached == 0
    })
    .await;
    let blocks = CacheKind::Blocks {
        tokens: 16,
        tokens_min: 64,
        known_max: 1_000,
    };
    check_cache(blocks, Blocks::new(16, 64, 1_000), |cached| cached == 960).await;
    check_cache(CacheKind::None, Nothing, |cached| cached == 0).await;
}

#[tokio::test]
async fn a_llama_server_serves_the_slot_that_a_request_names() {
    let config = Config {
        slots: 2,
        ..Config::default()
    };
    let backend = Backend::start(config).await;
    for slot in [0, 1, 0] {
        let mut request = hello(false);
        request["id_slot"] = json!(slot);
        ask(&backend, CHAT, &request).await;
    }
    let cached: Vec<usize> = backend.requests().iter().map(|seen| seen.cached_tokens).collect();
    assert_eq!(cached, [0, 0, rendered(&[says("user", "hello")]).len() - 1]);
}

fn thoughtful() -> Reply {
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        arguments: r#"{"at":"the sky"}"#.to_owned(),
    };
    Reply {
        reasoning: Some("let me see".to_owned()),
        text: "one moment".to_owned(),
        calls: vec![call("c1"), call("c2")],
    }
}

async fn thoughtful_backend(kind: Kind, cache: CacheKind) -> Backend {
    let config = Config {
        kind,
        cache,
        reply: Arc::new(|_, number| {
            if number == 1 {
                thoughtful()
            } else {
                Reply::text("done")
            }
        }),
        ..Config::default()
    };
    Backend::start(config).await
}

/// A path, the field of its messages, and the function that makes the next request from an answer.
type Dialect<'a> = (&'a str, &'a str, &'a dyn Fn(&Value) -> Value);

#[tokio::test]
async fn an_echoed_reply_costs_nothing_in_any_dialect() {
    let tools = json!([{"type": "function", "function": {"name": "look"}}]);
    let results = |answers: &dyn Fn(&str) -> Value| [answers("c1"), answers("c2")];
    let echo_chat = |answer: &Value| {
        let mut messages = vec![says("user", "up?"), answer["choices"][0]["message"].clone()];
        messages.extend(results(
            &|id| json!({"role": "tool", "tool_call_id": id, "content": "blue"}),
        ));
        json!({"messages": messages, "tools": tools})
    };
    let echo_messages = |answer: &Value| {
        let results = results(&|id| json!({"type": "tool_result", "tool_use_id": id, "content": "blue"}));
        let said = json!({"role": "assistant", "content": answer["content"]});
        json!({"messages": [says("user", "up?"), said, {"role": "user", "content": results}], "tools": tools})
    };
    let echo_responses = |answer: &Value| {
        let mut items = vec![says("user", "up?")];
        items.extend(answer["output"].as_array().unwrap().clone());
        items.extend(results(
            &|id| json!({"type": "function_call_output", "call_id": id, "output": "blue"}),
        ));
        json!({"input": items, "tools": tools})
    };
    let dialects: [Dialect<'_>; 3] = [
        (CHAT, "messages", &echo_chat),
        ("/v1/messages", "messages", &echo_messages),
        ("/v1/responses", "input", &echo_responses),
    ];
    for (path, list, echo) in dialects {
        let backend = thoughtful_backend(Kind::LlamaCpp, CacheKind::StrictExtension).await;
        let first = json!({list: [says("user", "up?")], "tools": tools});
        let answer = ask(&backend, path, &first).await.json();
        let second = ask(&backend, path, &echo(&answer)).await;
        assert_eq!(second.status, 200, "{path}: {}", second.body);
        let usage = &answer["usage"];
        let generated = usage["completion_tokens"]
            .as_u64()
            .or(usage["output_tokens"].as_u64());
        let seen = backend.requests();
        let kept = seen[0].prompt_tokens as u64 + generated.unwrap();
        assert_eq!(seen[1].cached_tokens as u64, kept, "{path}");
    }
}

#[tokio::test]
async fn streams_have_the_same_content_as_whole_answers() {
    let backend = thoughtful_backend(Kind::OpenAi, CacheKind::None).await;
    let mut request = hello(true);
    request["stream_options"] = json!({"include_usage": true});
    let chunks = ask(&backend, CHAT, &request).await.events();
    let said = |field: &str| -> String {
        let deltas = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
        deltas.filter_map(|delta| delta[field].as_str()).collect()
    };
    assert_eq!(
        (said("content"), said("reasoning_content")),
        ("one moment".into(), "let me see".into())
    );
    let calls = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"][0]);
    let second = calls.filter(|call| call["index"] == 1);
    let arguments: String = second
        .filter_map(|call| call["function"]["arguments"].as_str())
        .collect();
    assert_eq!(arguments, thoughtful().calls[1].arguments);
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["prompt_tokens"].as_u64() > Some(0));
    assert!(others.iter().all(|chunk| chunk["usage"].is_null()));

    let backend = thoughtful_backend(Kind::Anthropic, CacheKind::None).await;
    let events = ask(&backend, "/v1/messages", &hello(true)).await.events();
    let types: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!((types[0], types[1]), ("message_start", "content_block_start"));
    assert!(types.ends_with(&["content_block_stop", "message_delta", "message_stop"]));
    let input = events.iter().filter(|event| event["index"] == 3);
    let input: String = input
        .filter_map(|event| event["delta"]["partial_json"].as_str())
        .collect();
    assert_eq!(input, thoughtful().calls[1].arguments);

    let backend = thoughtful_backend(Kind::OpenAi, CacheKind::None).await;
    let request = json!({"input": "hello", "stream": true});
    let events = ask(&backend, "/v1/responses", &request).await.events();
    let last = &events.last().unwrap()["response"];
    assert_eq!(last["output"][2]["arguments"], thoughtful().calls[0].arguments);
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "response.output_text.delta");
    let text: String = deltas.filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(text, "one moment");
}

#[tokio::test]
async fn each_kind_reports_its_usage_in_its_own_way() {
    for (kind, path, cached) in [
        (Kind::DeepSeek, "/usage/prompt_cache_hit_tokens", true),
        (Kind::OpenAi, "/usage/prompt_tokens_details/cached_tokens", true),
        (Kind::Ollama, "/usage/prompt_tokens_details", false),
        (Kind::OpenAi, "/timings", false),
    ] {
        let backend = Backend::start(Config {
            kind,
            ..Config::default()
        })
        .await;
        let answer = ask(&backend, CHAT, &hello(false)).await.json();
        assert_eq!(answer.pointer(path).is_some(), cached, "{kind:?} {path}");
    }
    // Streams report it on request; Mistral's always do, and refuse the request.
    let asked = json!({"messages": [says("user", "hello")], "stream": true, "stream_options": {"include_usage": true}});
    for (kind, request, told) in [
        (Kind::LlamaCpp, hello(true), false),
        (Kind::LlamaCpp, asked.clone(), true),
        (Kind::Mistral, hello(true), true),
    ] {
        let backend = Backend::start(Config {
            kind,
            ..Config::default()
        })
        .await;
        let last = ask(&backend, CHAT, &request).await.events().pop().unwrap();
        assert_eq!(last["usage"].is_object(), told, "{kind:?}");
        assert_eq!(last["timings"].is_object(), kind == Kind::LlamaCpp);
    }
    let mistral = Backend::start(Config {
        kind: Kind::Mistral,
        ..Config::default()
    })
    .await;
    assert_eq!(ask(&mistral, CHAT, &asked).await.status, 400);
}

#[tokio::test]
async fn anthropic_caches_marked_prefixes() {
    let config = Config {
        kind: Kind::Anthropic,
        cache: CacheKind::Marks,
        ..Config::default()
    };
    let backend = Backend::start(config).await;
    let marked = json!([{"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}]);
    let mut told = Vec::new();
    for system in [json!("rules"), json!("rules"), marked.clone(), marked] {
        let request = json!({"system": system, "messages": [says("user", "hello")], "max_tokens": 9});
        let usage = ask(&backend, "/v1/messages", &request).await.json()["usage"].clone();
        let count = ask(&backend, "/v1/messages/count_tokens", &request).await.json()["input_tokens"].clone();
        let parts = [
            "input_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ];
        let parts = parts.map(|name| usage[name].as_u64().unwrap());
        assert_eq!(count, parts.iter().sum::<u64>());
        told.push((parts[1], parts[2]));
    }
    // A border, five letters, a border.
    assert_eq!(told, [(0, 0), (0, 0), (7, 0), (0, 7)]);
    // A mark on the last block finds the mark on the first one only within so many blocks.
    for (blocks, found) in [(20, true), (22, false)] {
        let block = |at: usize| json!({"type": "tool_result", "tool_use_id": format!("{blocks} {at}"), "content": "x"});
        let with = |at: usize| {
            let mut list: Vec<Value> = (0..blocks).map(block).collect();
            list[at]["cache_control"] = json!({"type": "ephemeral"});
            let calls = (0..blocks).map(
                |at| json!({"type": "tool_use", "id": format!("{blocks} {at}"), "name": "x", "input": {}}),
            );
            let calls = json!({"role": "assistant", "content": calls.collect::<Vec<_>>()});
            json!({"messages": [says("user", "go"), calls, {"role": "user", "content": list}], "max_tokens": 9})
        };
        ask(&backend, "/v1/messages", &with(0)).await;
        let usage = ask(&backend, "/v1/messages", &with(blocks - 1)).await.json()["usage"].clone();
        assert_eq!(
            usage["cache_read_input_tokens"].as_u64() > Some(0),
            found,
            "{blocks}"
        );
    }
}

#[tokio::test]
async fn a_response_is_stored_and_continued() {
    let backend = Backend::start(Config {
        kind: Kind::OpenAi,
        ..Config::default()
    })
    .await;
    let path = "/v1/responses";
    let first = ask(&backend, path, &json!({"input": "one"})).await.json();
    let next = json!({"input": "two", "previous_response_id": first["id"]});
    ask(&backend, path, &next).await;
    let seen = backend.requests();
    // The answer, its end, and the next message between its borders.
    assert_eq!(
        seen[1].prompt_tokens,
        seen[0].prompt_tokens + "ok 1".len() + 1 + "two".len() + 3
    );
    for input in ["one", "two"] {
        let named = json!({"input": input, "conversation": {"id": "conv_a"}});
        ask(&backend, path, &named).await;
    }
    assert!(backend.requests()[3].prompt_tokens > backend.requests()[2].prompt_tokens + 6);
}

#[tokio::test]
async fn the_other_routes_answer() {
    let backend = Backend::start(Config::default()).await;
    let request = json!({"prompt": "once", "stream": true});
    let events = ask(&backend, "/v1/completions", &request).await.events();
    assert_eq!(events[0]["choices"][0]["text"], "ok ");
    let embedded = ask(&backend, "/v1/embeddings", &json!({"input": ["a", "bc"]}))
        .await
        .json();
    assert_eq!(
        (
            embedded["data"].as_array().unwrap().len(),
            &embedded["usage"]["prompt_tokens"]
        ),
        (2, &json!(3))
    );
    let completed = ask(&backend, "/v1/completions", &json!({"prompt": "onceok 1 more"}))
        .await
        .json();
    assert_eq!(completed["timings"]["cache_n"], 8);
    assert_eq!(ask(&backend, "/v1/nothing", &json!({})).await.status, 404);
}

#[tokio::test]
async fn each_kind_answers_its_own_probes() {
    let probes = [
        ("/props", Kind::LlamaCpp),
        ("/slots", Kind::LlamaCpp),
        ("/api/v0/models", Kind::LmStudio),
        ("/api/version", Kind::Ollama),
        ("/version", Kind::Vllm),
        ("/get_server_info", Kind::Sglang),
    ];
    for kind in Kind::ALL {
        let backend = Backend::start(Config {
            kind,
            slots: 3,
            ..Config::default()
        })
        .await;
        assert_eq!(get(&backend, "/v1/models").await.json()["data"][0]["id"], "fake");
        for (path, owner) in probes {
            let status = get(&backend, path).await.status;
            assert_eq!(status == 200, kind == owner, "{kind:?} {path}");
        }
    }
    let backend = Backend::start(Config {
        slots: 3,
        ..Config::default()
    })
    .await;
    assert_eq!(get(&backend, "/props").await.json()["total_slots"], 3);
    assert_eq!(get(&backend, "/slots").await.json().as_array().unwrap().len(), 3);
}
