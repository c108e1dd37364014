//! Chat completions as the servers send them.

use expect_test::expect;
use serde_json::json;
use transcript::dialect::Dialect::OpenAi;

use super::{message, streamed, until, whole};

pub(crate) const OPENAI: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"x"}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-2025-08-07","choices":[{"index":0,"delta":{"content":"Grüß "},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-2025-08-07","choices":[{"index":0,"delta":{"content":"Gott \ud83e\udd80"},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-2025-08-07","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-2025-08-07","choices":[],"usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}

data: [DONE]

"#;

pub(crate) const PARALLEL: &str = r#"data: {"model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}

data: {"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":  \"a"}}]},"finish_reason":null}]}

data: {"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"write","arguments":""}}]},"finish_reason":null}]}

data: {"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"n\":1.0"}},{"index":0,"function":{"arguments":".rs\"}"}}]},"finish_reason":null}]}

data: {"model":"gpt-4o","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":null}]}

data: {"model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

pub(crate) const LLAMA_CPP: &str = r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","system_fingerprint":"b6900","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":"Let me"}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"reasoning_content":" look."}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Looking."}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":0,"id":"q7","type":"function","function":{"name":"ls","arguments":"{"}}]}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":"tool_calls","index":0,"delta":{}}],"created":1,"id":"chatcmpl-x","model":"qwen3.gguf","object":"chat.completion.chunk","timings":{"cache_n":236,"prompt_n":14,"prompt_ms":30.9,"prompt_per_token_ms":2.2,"predicted_n":35,"predicted_ms":661.0}}

data: [DONE]

"#;

pub(crate) const VLLM: &str = r#"data: {"id":"chatcmpl-v","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":22,"total_tokens":22,"completion_tokens":0}}

data: {"id":"chatcmpl-v","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"tool_calls":[{"id":"chatcmpl-tool-1","type":"function","index":0,"function":{"name":"get_weather","arguments":"{\"city\": "}}]},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":22,"total_tokens":30,"completion_tokens":8}}

data: {"id":"chatcmpl-v","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"tool_calls":[{"id":"chatcmpl-tool-9","index":0,"function":{"arguments":"\"Linz\"}"}}]},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":22,"total_tokens":33,"completion_tokens":11}}

data: {"id":"chatcmpl-v","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen3-8B","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"tool_calls","stop_reason":null}],"usage":{"prompt_tokens":22,"total_tokens":35,"completion_tokens":13}}

data: {"id":"chatcmpl-v","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen3-8B","choices":[],"usage":{"prompt_tokens":22,"total_tokens":35,"completion_tokens":13,"prompt_tokens_details":null}}

data: [DONE]

"#;

pub(crate) const OLLAMA: &str = r#"data: {"id":"chatcmpl-630","object":"chat.completion.chunk","created":1,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Both."},"finish_reason":null}]}

data: {"id":"chatcmpl-630","object":"chat.completion.chunk","created":1,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","index":0,"type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"call_2","index":0,"type":"function","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-630","object":"chat.completion.chunk","created":1,"model":"qwen3:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

pub(crate) const OPENROUTER: &str = r#": OPENROUTER PROCESSING

: OPENROUTER PROCESSING

data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"First","reasoning_details":[{"type":"reasoning.text","text":"First","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}

data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":", then","reasoning_details":[{"type":"reasoning.text","text":", then","format":"anthropic-claude-v1","index":0}]},"finish_reason":null}]}

data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":null,"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","text":"","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"ZW5j","index":1}]},"finish_reason":null}]}

data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"Done."},"finish_reason":"stop","native_finish_reason":"end_turn"}]}

data: {"id":"gen-1","provider":"Anthropic","model":"anthropic/claude-sonnet-4.5","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42,"cost":0.01,"prompt_tokens_details":{"cached_tokens":8}}}

data: [DONE]

"#;

/// A stream of deltas, each one an element of `tool_calls`.
fn calls(deltas: &[&str]) -> serde_json::Value {
    let chunk =
        |delta: &&str| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{delta}]}}}}]}}\n\n");
    let stream: String = deltas.iter().map(chunk).collect();
    message(&streamed(OpenAi, &stream))["tool_calls"].clone()
}

fn call(id: &str, name: &str, arguments: &str) -> serde_json::Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[test]
fn openai() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":\"Grüß Gott 🦀\"}",
            ),
            text: "Grüß Gott 🦀",
            usage: Usage {
                prompt_tokens: Some(
                    2006,
                ),
                cached_tokens: Some(
                    1920,
                ),
                completion_tokens: Some(
                    300,
                ),
            },
            complete: true,
            id: Some(
                "chatcmpl-1",
            ),
            conversation: None,
        }
    "#]]
    .assert_debug_eq(&streamed(OpenAi, OPENAI));
}

#[test]
fn parallel_calls_with_interleaved_arguments() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":  \\\"a.rs\\\"}\"}},{\"id\":\"call_b\",\"type\":\"function\",\"function\":{\"name\":\"write\",\"arguments\":\"{\\\"n\\\":1.0}\"}}]}",
            ),
            text: "",
            usage: Usage {
                prompt_tokens: None,
                cached_tokens: None,
                completion_tokens: None,
            },
            complete: true,
            id: None,
            conversation: None,
        }
    "#]].assert_debug_eq(&streamed(OpenAi, PARALLEL));
}

#[test]
fn llama_cpp_sends_reasoning_text_and_calls() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":\"Looking.\",\"reasoning_content\":\"Let me look.\",\"tool_calls\":[{\"id\":\"q7\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]}",
            ),
            text: "Looking.",
            usage: Usage {
                prompt_tokens: Some(
                    250,
                ),
                cached_tokens: Some(
                    236,
                ),
                completion_tokens: Some(
                    35,
                ),
            },
            complete: true,
            id: Some(
                "chatcmpl-x",
            ),
            conversation: None,
        }
    "#]].assert_debug_eq(&streamed(OpenAi, LLAMA_CPP));
}

#[test]
fn vllm_draws_new_ids_and_repeats_usage() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"chatcmpl-tool-1\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\": \\\"Linz\\\"}\"}}]}",
            ),
            text: "",
            usage: Usage {
                prompt_tokens: Some(
                    22,
                ),
                cached_tokens: None,
                completion_tokens: Some(
                    13,
                ),
            },
            complete: true,
            id: Some(
                "chatcmpl-v",
            ),
            conversation: None,
        }
    "#]].assert_debug_eq(&streamed(OpenAi, VLLM));
}

#[test]
fn ollama_sends_whole_calls_under_one_index() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":null,\"reasoning\":\"Both.\",\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}},{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"b\\\"}\"}}]}",
            ),
            text: "",
            usage: Usage {
                prompt_tokens: None,
                cached_tokens: None,
                completion_tokens: None,
            },
            complete: true,
            id: Some(
                "chatcmpl-630",
            ),
            conversation: None,
        }
    "#]].assert_debug_eq(&streamed(OpenAi, OLLAMA));
}

#[test]
fn openrouter_keeps_each_form_of_reasoning() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":\"Done.\",\"reasoning\":\"First, then\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"First, then\",\"format\":\"anthropic-claude-v1\",\"index\":0,\"signature\":\"c2ln\"},{\"type\":\"reasoning.encrypted\",\"data\":\"ZW5j\",\"index\":1}]}",
            ),
            text: "Done.",
            usage: Usage {
                prompt_tokens: Some(
                    30,
                ),
                cached_tokens: Some(
                    8,
                ),
                completion_tokens: Some(
                    12,
                ),
            },
            complete: true,
            id: Some(
                "gen-1",
            ),
            conversation: None,
        }
    "#]].assert_debug_eq(&streamed(OpenAi, OPENROUTER));
}

#[test]
fn calls_without_an_index() {
    let whole = [
        r#"{"id":"a","function":{"name":"f","arguments":"{}"}}"#,
        r#"{"id":"b","function":{"name":"f","arguments":"{}"}}"#,
    ];
    assert_eq!(calls(&whole), json!([call("a", "f", "{}"), call("b", "f", "{}")]));
    let pieces = [
        r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#,
        r#"{"function":{"arguments":"1"}}"#,
        r#"{"id":"b","function":{"name":"g"}}"#,
        r#"{"id":"a","function":{"arguments":"}"}}"#,
        r#"{"id":"b","function":{"arguments":"[]"}}"#,
    ];
    assert_eq!(
        calls(&pieces),
        json!([call("a", "f", "{1}"), call("b", "g", "[]")])
    );
    let nameless = [
        r#"{"function":{"name":"f","arguments":"1"}}"#,
        r#"{"function":{"name":"f","arguments":"2"}}"#,
    ];
    assert_eq!(calls(&nameless), json!([call("", "f", "1"), call("", "f", "2")]));
}

#[test]
fn calls_are_ordered_by_index_and_names_may_arrive_in_pieces_or_repeated() {
    let deltas = [
        r#"{"index":1,"id":"b","function":{"name":"se"}}"#,
        r#"{"index":0,"id":"a","function":{"name":"run","arguments":"1"}}"#,
        r#"{"index":1,"id":"","function":{"name":"ek","arguments":null}}"#,
        r#"{"index":0,"id":"a","function":{"name":"run","arguments":"2"}}"#,
    ];
    assert_eq!(
        calls(&deltas),
        json!([call("a", "run", "12"), call("b", "seek", "")])
    );
}

#[test]
fn object_arguments_become_text() {
    assert_eq!(
        calls(&[r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"b":1,"a":2}}}"#]),
        json!([call("a", "f", r#"{"b":1,"a":2}"#)])
    );
}

#[test]
fn a_refusal_is_visible_text_without_content() {
    let stream = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":"I "}}]}

data: {"choices":[{"index":0,"delta":{"refusal":"won't."},"finish_reason":"stop"}]}

"#;
    let outcome = streamed(OpenAi, stream);
    assert_eq!(outcome.text, "I won't.");
    let expected = json!({"role": "assistant", "content": null, "refusal": "I won't."});
    assert_eq!(message(&outcome), expected);
}

#[test]
fn only_the_first_choice_counts() {
    let stream = r#"data: {"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}

data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}

"#;
    let outcome = streamed(OpenAi, stream);
    assert_eq!(outcome.text, "yes");
    let body =
        r#"{"choices":[{"index":1,"message":{"content":"no"}},{"index":0,"message":{"content":"yes"}}]}"#;
    let outcome = whole(OpenAi, body);
    assert_eq!(outcome.text, "yes");
    assert_eq!(outcome.message.as_deref(), Some(r#"{"content":"yes"}"#));
}

#[test]
fn a_broken_stream_keeps_the_part_that_arrived() {
    let outcome = streamed(OpenAi, until(OPENAI, "Gott"));
    assert_eq!(
        outcome.message.as_deref(),
        Some(r#"{"role":"assistant","content":"Grüß "}"#)
    );
    assert!(!outcome.complete);
    let outcome = streamed(OpenAi, until(PARALLEL, r#".rs\"}"#));
    assert_eq!(
        message(&outcome)["tool_calls"][0]["function"]["arguments"],
        r#"{"path":  "a"#
    );
    let outcome = streamed(OpenAi, until(OPENAI, "data: [DONE]"));
    assert!(!outcome.complete);
}

#[test]
fn the_end_needs_no_empty_line() {
    assert!(streamed(OpenAi, OPENAI.trim_end()).complete);
}

#[test]
fn nothing_is_read_after_the_end() {
    let late = "data: {\"choices\":[{\"delta\":{\"content\":\"late\"}}]}\n\n";
    let outcome = streamed(OpenAi, &[OPENAI, late].concat());
    assert_eq!(outcome.text, "Grüß Gott 🦀");
}

#[test]
fn a_whole_body_keeps_its_message_byte_for_byte() {
    let message = r#"{ "role" : "assistant","content":"Gr\u00fc\u00df", "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{ }"}}],"n":1.50e3, "refusal":null}"#;
    let body = format!(
        r#"{{"id":"x","model":"gpt-5","choices":[ {{"index":0,"message": {message} ,"finish_reason":"tool_calls"}}],
        "usage":{{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{{"cached_tokens":4}}}}}}"#
    );
    let outcome = whole(OpenAi, &body);
    assert_eq!(outcome.message.as_deref(), Some(message));
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{ \"role\" : \"assistant\",\"content\":\"Gr\\u00fc\\u00df\", \"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{ }\"}}],\"n\":1.50e3, \"refusal\":null}",
            ),
            text: "Grüß",
            usage: Usage {
                prompt_tokens: Some(
                    9,
                ),
                cached_tokens: Some(
                    4,
                ),
                completion_tokens: Some(
                    2,
                ),
            },
            complete: true,
            id: Some(
                "x",
            ),
            conversation: None,
        }
    "#]].assert_debug_eq(&outcome);
}

#[test]
fn a_whole_body_with_parts_has_their_text() {
    let body = r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}"#;
    assert_eq!(whole(OpenAi, body).text, "ab");
}
