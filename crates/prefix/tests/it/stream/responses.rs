//! The Responses dialect as servers send it.

use expect_test::expect;
use transcript::dialect::Dialect::OpenAiResponses;

use super::{streamed, until, whole};

pub(crate) const STREAM: &str = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","conversation":{"id":"conv_1"},"status":"in_progress","error":null,"incomplete_details":null,"model":"gpt-5-2025-08-07","output":[],"usage":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":4,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"I "}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":6,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"look."}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":7,"output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"I look."}],"role":"assistant"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":8,"item_id":"fc_1","output_index":2,"delta":"{\"path\":  \"a\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":9,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\":  \"a\"}","call_id":"call_1","name":"read"}}

event: response.completed
data: {"type":"response.completed","sequence_number":10,"response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-5-2025-08-07","output":[ {"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"},{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"I look."}],"role":"assistant"},{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"path\":  \"a\"}","call_id":"call_1","name":"read"}],"usage":{"input_tokens":328,"input_tokens_details":{"cached_tokens":256},"output_tokens":52,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":380}}}

"#;

#[test]
fn a_complete_stream() {
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "[ {\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"gAAA\"},{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"text\":\"I look.\"}],\"role\":\"assistant\"},{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"path\\\":  \\\"a\\\"}\",\"call_id\":\"call_1\",\"name\":\"read\"}]",
            ),
            text: "I look.",
            usage: Usage {
                prompt_tokens: Some(
                    328,
                ),
                cached_tokens: Some(
                    256,
                ),
                completion_tokens: Some(
                    52,
                ),
            },
            complete: true,
            id: Some(
                "resp_1",
            ),
            conversation: Some(
                "conv_1",
            ),
        }
    "#]].assert_debug_eq(&streamed(OpenAiResponses, STREAM));
}

#[test]
fn an_empty_final_list_keeps_the_finished_items() {
    let (before, _) = STREAM.split_once("event: response.completed").expect("the end");
    let end =
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n";
    let outcome = streamed(OpenAiResponses, &[before, end].concat());
    let list = streamed(OpenAiResponses, STREAM).message.expect("a list");
    assert_eq!(outcome.message, Some(list.replace("[ {", "[{")));
    assert!(outcome.complete);
}

#[test]
fn items_without_an_index_keep_their_order_of_arrival() {
    let stream = STREAM.replace(r#","output_index":"#, r#","place":"#);
    let cut = streamed(OpenAiResponses, until(&stream, "event: response.completed"));
    let list = streamed(OpenAiResponses, STREAM).message.expect("a list");
    assert_eq!(cut.message, Some(list.replace("[ {", "[{")));
    assert_eq!(cut.text, "I look.");
}

#[test]
fn a_broken_stream_keeps_the_part_that_arrived() {
    let outcome = streamed(OpenAiResponses, until(STREAM, r#""delta":"look."#));
    assert_eq!(outcome.text, "I ");
    let done = r#"[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}]"#;
    assert_eq!(outcome.message.as_deref(), Some(done));
    assert!(!outcome.complete);
}

#[test]
fn an_answer_cut_at_the_length_limit_is_complete() {
    let end = "data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[]}}\n\n";
    let outcome = streamed(OpenAiResponses, end);
    assert!(outcome.complete);
    assert_eq!(outcome.message.as_deref(), Some("[]"));
}

#[test]
fn a_whole_body_keeps_its_items_byte_for_byte() {
    let body = r#"{"object":"response","status":"completed","error":null,"model":"gpt-5","output":[ {"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}, {"type":"web_search_call"},{"type":"custom_tool_call","input":"x"} ],"usage":{"input_tokens":3,"output_tokens":1}}"#;
    expect![[r#"
        ReplyOutcome {
            message: Some(
                "[ {\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"No.\"}]}, {\"type\":\"web_search_call\"},{\"type\":\"custom_tool_call\",\"input\":\"x\"} ]",
            ),
            text: "No.",
            usage: Usage {
                prompt_tokens: Some(
                    3,
                ),
                cached_tokens: None,
                completion_tokens: Some(
                    1,
                ),
            },
            complete: true,
            id: None,
            conversation: None,
        }
    "#]].assert_debug_eq(&whole(OpenAiResponses, body));
}
