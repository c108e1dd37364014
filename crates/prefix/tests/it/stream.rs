//! One binary for all tests of the crate.
//!
//! Owns: the helpers that several tests share. Never: a rule of its own.

mod anthropic;
mod chat;
mod failing;
mod properties;
mod responses;
mod usage;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prefix::stream::{Reply, ReplyOutcome};
use serde_json::Value;
use transcript::dialect::Dialect;

/// The outcome of a stream that arrives in one piece.
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

/// The stream up to the first occurrence of `end`.
fn until<'a>(stream: &'a str, end: &str) -> &'a str {
    &stream[..stream.find(end).expect("the end")]
}

/// Planted: a content type or a request that decides how an answer is read; half an emoji that ends a body or an event.
#[test]
fn the_first_byte_decides_the_form_of_an_answer() {
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

/// Planted: an answer that a server compresses without a request for it, and that nothing is learnt from.
#[test]
fn a_compressed_answer_is_read_in_pieces_of_any_size() {
    let event = |text: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let events = [&event("lo"), &event("ft"), "data: [DONE]\n\n"].concat();
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"loft"}}]}"#;
    for answer in [events.as_str(), body] {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(answer.as_bytes()).expect("memory");
        let packed = packer.finish().expect("memory");
        for bytes in [1, 7, packed.len()] {
            assert_eq!(
                outcome(Dialect::OpenAi, packed.chunks(bytes)),
                streamed(Dialect::OpenAi, answer)
            );
        }
        let mut damaged = packed[..12].to_vec();
        damaged.extend_from_slice(b"not packed");
        let read = outcome(Dialect::OpenAi, [&*damaged]);
        assert!(!read.complete && read.text.is_empty(), "{read:?}");
        assert_eq!(outcome(Dialect::OpenAi, damaged.chunks(1)), read);
    }
}

/// Planted: a small packed answer that fills memory.
#[test]
fn a_compressed_answer_is_read_to_the_same_limit() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    let blank = vec![b' '; 1 << 20];
    packer.write_all(b"{").expect("memory");
    for _ in 0..100 {
        packer.write_all(&blank).expect("memory");
    }
    let packed = packer.finish().expect("memory");
    let read = outcome(Dialect::OpenAi, [packed.as_slice()]);
    assert!(!read.complete, "{read:?}");
    // An endlessly nested archive would never end, so only one layer is unpacked.
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&packed).expect("memory");
    let twice = packer.finish().expect("memory");
    let read = outcome(Dialect::OpenAi, [twice.as_slice()]);
    assert!(!read.complete && read.message.is_none(), "{read:?}");
}
