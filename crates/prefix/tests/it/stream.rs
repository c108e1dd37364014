//! One binary for all tests of the crate.
//!
//! Owns: what several tests share. Never: a rule of its own.

mod anthropic;
mod chat;
mod failing;
mod properties;
mod responses;
mod usage;

use prefix::stream::{Reply, ReplyOutcome};
use serde_json::Value;
use transcript::dialect::Dialect;

/// The outcome of a stream that comes in one piece.
fn streamed(dialect: Dialect, stream: &str) -> ReplyOutcome {
    outcome(dialect, [stream.as_bytes()])
}

/// The outcome of a whole body.
fn whole(dialect: Dialect, body: &str) -> ReplyOutcome {
    outcome(dialect, [body.as_bytes()])
}

fn outcome<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> ReplyOutcome {
    let mut reply = Reply::new(dialect);
    for piece in pieces {
        reply.push(piece);
    }
    reply.finish()
}

/// The message as JSON.
fn message(outcome: &ReplyOutcome) -> Value {
    serde_json::from_str(outcome.message.as_deref().expect("a message")).expect("JSON")
}

/// The stream up to the first place where `end` begins.
fn until<'a>(stream: &'a str, end: &str) -> &'a str {
    &stream[..stream.find(end).expect("the end")]
}

/// Planted: a label or a wish that decides how an answer is read; half an emoji that ends a body or an event.
#[test]
fn the_first_byte_says_what_an_answer_is() {
    let event = |text: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let events = [": hi\n\n", &event("loft "), &event(r"\ud83d"), "data: [DONE]\n\n"].concat();
    let body = r#" {"choices":[{"index":0,"message":{"role":"assistant","content":"loft \ud83d"}}]}"#;
    for answer in [events.as_str(), body] {
        let read = streamed(Dialect::OpenAi, answer);
        assert_eq!(
            (read.text.as_str(), read.complete),
            ("loft \u{fffd}", true),
            "{answer}"
        );
    }
}
