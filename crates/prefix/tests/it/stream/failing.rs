//! Errors in every form, and bytes that are no answer.

use transcript::dialect::Dialect::{self, Anthropic, OpenAi, OpenAiResponses};

use super::{message, streamed, whole};

const DIALECTS: [Dialect; 3] = [OpenAi, OpenAiResponses, Anthropic];

#[test]
fn error_bodies_are_no_message() {
    for body in [
        r#"{"error":{"message":"Bad key","type":"auth","code":null}}"#,
        r#"{"error":"model 'x' not found"}"#,
        r#"{"object":"error","message":"too long","code":400}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        r#"{"type":"error","message":"flat"}"#,
        r#"{"detail":"Not Found"}"#,
    ] {
        for dialect in DIALECTS {
            // A server that fails early answers with a body, even to a request for a stream.
            for outcome in [whole(dialect, body), streamed(dialect, &["\r\n ", body].concat())] {
                assert!(outcome.complete);
                assert_eq!(outcome.message, None);
            }
        }
    }
}

#[test]
fn an_error_in_a_stream_keeps_the_text_before_it() {
    let stream = r#"data: {"choices":[{"index":0,"delta":{"content":"So f"}}]}

data: {"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":"ar"},"finish_reason":"error"}]}

"#;
    let outcome = streamed(OpenAi, stream);
    assert_eq!((outcome.text.as_str(), outcome.complete), ("So far", false));
}

#[test]
fn garbage_between_events_is_ignored() {
    let stream = r#"data: {"choices":[{"delta":{"content":"a"}}]}

data: {"choices":

data: 5

data: {"choices":[{"delta":"x"}]}

data: {"choices":[{"delta":{"content":7,"tool_calls":[null]}}]}

data: {"unrelated":1}

data: {"choices":[{"delta":{"content":"b"}}]}

"#;
    let outcome = streamed(OpenAi, stream);
    assert_eq!(message(&outcome)["content"], "ab");
}

#[test]
fn a_body_that_is_no_json_is_no_answer() {
    for dialect in DIALECTS {
        for body in [r#"{"choices":[{"message":{"#, "[]"] {
            let outcome = whole(dialect, body);
            assert_eq!((outcome.complete, outcome.message), (false, None));
        }
        for outcome in [
            whole(dialect, "Internal Server Error"),
            whole(dialect, ""),
            streamed(dialect, ""),
            streamed(dialect, " \n"),
        ] {
            assert_eq!(outcome, prefix::stream::ReplyOutcome::default());
        }
    }
}
