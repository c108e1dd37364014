//! Errors in every shape, and bytes that are no answer.

use transcript::dialect::Dialect::{self, Anthropic, OpenAi, OpenAiResponses};

use super::{message, streamed, whole};

const DIALECTS: [Dialect; 3] = [OpenAi, OpenAiResponses, Anthropic];

#[test]
fn bodies_of_errors() {
    for (body, expected) in [
        (
            r#"{"error":{"message":"Bad key","type":"auth","code":null}}"#,
            "Bad key",
        ),
        (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
        (
            r#"{"object":"error","message":"too long","code":400}"#,
            "too long",
        ),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "Overloaded",
        ),
        (r#"{"type":"error","message":"flat"}"#, "flat"),
        (r#"{"detail":"Not Found"}"#, "Not Found"),
        (r#"{"error":{"code":500}}"#, r#"{"code":500}"#),
    ] {
        for dialect in DIALECTS {
            // A server that fails early answers with a body, also where a stream was asked for.
            for outcome in [whole(dialect, body), streamed(dialect, &["\r\n ", body].concat())] {
                assert_eq!(outcome.error.as_deref(), Some(expected));
                assert!(outcome.complete);
                assert_eq!((outcome.message, outcome.skipped), (None, 0));
            }
        }
    }
}

#[test]
fn an_error_in_a_stream_leaves_what_was_said() {
    let stream = r#"data: {"choices":[{"index":0,"delta":{"content":"So f"}}]}

data: {"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":"ar"},"finish_reason":"error"}]}

"#;
    let outcome = streamed(OpenAi, stream);
    assert_eq!(outcome.error.as_deref(), Some("Provider disconnected"));
    assert_eq!(
        (outcome.text.as_str(), outcome.finish.as_deref()),
        ("So far", Some("error"))
    );
    assert_eq!((outcome.complete, outcome.skipped), (false, 0));
}

#[test]
fn error_events_of_each_dialect() {
    for (dialect, stream, expected) in [
        (
            Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
            "Overloaded",
        ),
        (
            OpenAiResponses,
            "event: error\ndata: {\"type\":\"error\",\"code\":\"x\",\"message\":\"Went wrong\",\"param\":null}\n\n",
            "Went wrong",
        ),
        (
            OpenAiResponses,
            "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"x\",\"message\":\"Failed\"}}}\n\n",
            "Failed",
        ),
        (
            OpenAi,
            "event: error\ndata: {\"code\":500,\"message\":\"Slot lost\"}\n\n",
            "Slot lost",
        ),
    ] {
        let outcome = streamed(dialect, stream);
        assert_eq!(outcome.error.as_deref(), Some(expected));
        assert_eq!(outcome.skipped, 0);
    }
}

#[test]
fn the_first_error_is_the_one() {
    let stream = "data: {\"error\":\"first\"}\n\ndata: {\"error\":\"second\"}\n\n";
    assert_eq!(streamed(OpenAi, stream).error.as_deref(), Some("first"));
}

#[test]
fn garbage_between_events_is_counted_and_passed_over() {
    let stream = r#"data: {"choices":[{"delta":{"content":"a"}}]}

data: {"choices":

data: 5

data: {"choices":[{"delta":"x"}]}

data: {"choices":[{"delta":{"content":7,"tool_calls":[null]}}]}

data: {"unrelated":1}

data: {"choices":[{"delta":{"content":"b"}}]}

"#;
    let outcome = streamed(OpenAi, stream);
    assert_eq!(outcome.skipped, 5);
    assert_eq!(message(&outcome)["content"], "ab");
}

#[test]
fn a_body_that_is_no_json_is_counted() {
    for dialect in DIALECTS {
        for body in [r#"{"choices":[{"message":{"#, "[]"] {
            let outcome = whole(dialect, body);
            assert_eq!(
                (outcome.skipped, outcome.complete, outcome.message),
                (1, false, None)
            );
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
