//! Anthropic's messages as the servers send them.

use expect_test::expect;
use serde_json::json;
use transcript::dialect::Dialect::Anthropic;

use super::{message, streamed, until, whole};

pub(crate) const TOOLS: &str = r#"event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-5-20250929","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Two "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"files."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{ "type":"redacted_thinking", "data":"Emw=" }}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I read "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"both."}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{},"caller":{"type":"direct"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\":  \"a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".rs\", \"n\": 1.50}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":3,"cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"output_tokens":91}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// A message of one block.
fn block(start: &str, deltas: &[&str]) -> prefix::stream::ReplyOutcome {
    let start =
        format!("data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{start}}}\n\n");
    let delta = |delta: &&str| {
        format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n")
    };
    let deltas: String = deltas.iter().map(delta).collect();
    streamed(Anthropic, &[start, deltas].concat())
}

#[test]
fn thoughts_text_and_tools() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Two files.\",\"signature\":\"EqQB==\"},{ \"type\":\"redacted_thinking\", \"data\":\"Emw=\" },{\"type\":\"text\",\"text\":\"I read both.\"},{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{\"path\":  \"a.rs\", \"n\": 1.50},\"caller\":{\"type\":\"direct\"}},{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"list\",\"input\":{}}]}",
            ),
            text: "I read both.",
            usage: Usage {
                prompt_tokens: Some(
                    1203,
                ),
                cached_tokens: Some(
                    1000,
                ),
                completion_tokens: Some(
                    91,
                ),
            },
            complete: true,
            id: Some(
                "msg_1",
            ),
            conversation: None,
        }
    "#]].assert_debug_eq(&streamed(Anthropic, TOOLS));
}

#[test]
fn a_block_without_deltas_stays_as_it_started() {
    let start = r#"{"type":"web_search_tool_result", "tool_use_id":"srv_1","content":[{"n":1.50e3}]}"#;
    let outcome = block(start, &[]);
    assert_eq!(
        outcome.message,
        Some(format!(r#"{{"role":"assistant","content":[{start}]}}"#))
    );
}

#[test]
fn a_call_of_the_servers_own_keeps_its_input() {
    let start = r#"{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}"#;
    let outcome = block(
        start,
        &[r#"{"type":"input_json_delta","partial_json":"{\"q\":1}"}"#],
    );
    assert_eq!(message(&outcome)["content"][0]["input"], json!({"q": 1}));
}

#[test]
fn citations_are_kept() {
    let cited = r#"{"type":"citations_delta","citation":{"type":"page","n":1}}"#;
    let outcome = block(
        r#"{"type":"text","text":"a","citations":[]}"#,
        &[cited, r#"{"type":"text_delta","text":"b"}"#],
    );
    let expected = json!({"type": "text", "text": "ab", "citations": [{"type": "page", "n": 1}]});
    assert_eq!(message(&outcome)["content"][0], expected);
}

#[test]
fn an_input_in_the_start_event_is_kept_and_a_missing_one_is_empty() {
    let outcome = block(r#"{"type":"tool_use","id":"a","name":"f","input":{"x":1}}"#, &[]);
    assert_eq!(message(&outcome)["content"][0]["input"], json!({"x": 1}));
    let outcome = block(r#"{"type":"tool_use","id":"a","name":"f"}"#, &[]);
    assert_eq!(message(&outcome)["content"][0]["input"], json!({}));
}

#[test]
fn a_broken_stream_keeps_the_part_that_arrived() {
    let outcome = streamed(Anthropic, until(TOOLS, r#".rs\", "#));
    assert!(!outcome.complete);
    assert_eq!(outcome.text, "I read both.");
    assert_eq!(message(&outcome)["content"][3]["input"], r#"{"path":  "a"#);
    assert_eq!(outcome.usage.prompt_tokens, Some(1203));
}

#[test]
fn deltas_without_a_block_are_ignored() {
    let outcome = block(
        r#"{"type":"text","text":""}"#,
        &[
            r#"{"type":"unheard_of_delta"}"#,
            r#"{"type":"text_delta","text":5}"#,
        ],
    );
    assert_eq!(message(&outcome)["content"][0]["text"], "");
    let lost = "data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n";
    assert_eq!(streamed(Anthropic, lost).message, None);
}

#[test]
fn a_whole_body_keeps_its_content_byte_for_byte() {
    let content = r#"[ {"type":"text","text":"Gr\u00fc\u00df"}, {"type":"tool_use","id":"t","name":"f","input":{"n":1.50}}]"#;
    let body = format!(
        r#"{{"type":"message","role":"assistant","model":"claude","content": {content},"stop_reason":"tool_use","usage":{{"input_tokens":5,"output_tokens":2}}}}"#
    );
    let outcome = whole(Anthropic, &body);
    assert_eq!(
        outcome.message,
        Some(format!(r#"{{"role":"assistant","content":{content}}}"#))
    );
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "{\"role\":\"assistant\",\"content\":[ {\"type\":\"text\",\"text\":\"Gr\\u00fc\\u00df\"}, {\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"n\":1.50}}]}",
            ),
            text: "Grüß",
            usage: Usage {
                prompt_tokens: Some(
                    5,
                ),
                cached_tokens: None,
                completion_tokens: Some(
                    2,
                ),
            },
            complete: true,
            id: None,
            conversation: None,
        }
    "#]].assert_debug_eq(&outcome);
}
