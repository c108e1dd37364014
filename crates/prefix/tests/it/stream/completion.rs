//! Completions: a text and no message.

use expect_test::expect;
use prefix::stream::Dialect::OpenAiCompletion;

use super::{streamed, whole};

pub(crate) const STREAM: &str = r#"data: {"id":"cmpl-1","object":"text_completion","model":"qwen3.gguf","choices":[{"text":"fn ","index":0,"logprobs":null,"finish_reason":null}]}

data: {"id":"cmpl-1","object":"text_completion","model":"qwen3.gguf","choices":[{"text":"other","index":1,"logprobs":null,"finish_reason":null}]}

data: {"id":"cmpl-1","object":"text_completion","model":"qwen3.gguf","choices":[{"text":"main","index":0,"logprobs":null,"finish_reason":"length"}]}

data: {"id":"cmpl-1","object":"text_completion","model":"qwen3.gguf","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}

data: [DONE]

"#;

#[test]
fn a_stream() {
    expect![[r#"
        ReplyOutcome {
            message: None,
            text: "fn main",
            calls: 0,
            finish: Some(
                "length",
            ),
            usage: Usage {
                prompt_tokens: Some(
                    3,
                ),
                cached_tokens: None,
                completion_tokens: Some(
                    2,
                ),
            },
            complete: true,
            error: None,
            model: Some(
                "qwen3.gguf",
            ),
            id: Some(
                "cmpl-1",
            ),
            skipped: 0,
        }
    "#]]
    .assert_debug_eq(&streamed(OpenAiCompletion, STREAM));
}

#[test]
fn a_whole_body() {
    let body = r#"{"model":"m","choices":[{"text":"fn main","index":0,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    expect![[r#"
        ReplyOutcome {
            message: None,
            text: "fn main",
            calls: 0,
            finish: Some(
                "stop",
            ),
            usage: Usage {
                prompt_tokens: Some(
                    3,
                ),
                cached_tokens: None,
                completion_tokens: Some(
                    2,
                ),
            },
            complete: true,
            error: None,
            model: Some(
                "m",
            ),
            id: None,
            skipped: 0,
        }
    "#]]
    .assert_debug_eq(&whole(OpenAiCompletion, body));
}
