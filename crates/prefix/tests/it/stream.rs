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
    outcome(dialect, true, [stream.as_bytes()])
}

/// The outcome of a whole body.
fn whole(dialect: Dialect, body: &str) -> ReplyOutcome {
    outcome(dialect, false, [body.as_bytes()])
}

fn outcome<'a>(
    dialect: Dialect,
    is_stream: bool,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> ReplyOutcome {
    let mut reply = Reply::new(dialect, is_stream);
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
