//! Any answer of a model server, cut anywhere: it means the same as in one piece, and its message is JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use prefix::stream::sse::{Decoder, SseEvent};
use prefix::stream::{Reply, ReplyOutcome};
use serde::de::IgnoredAny;
use transcript::dialect::Dialect;

/// Two bits of the first byte choose one.
const DIALECTS: [Dialect; 4] = [
    Dialect::OpenAi,
    Dialect::OpenAi,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let length = usize::from(first >> 2) + 1;
    let whole = events([bytes]);
    assert_eq!(events(bytes.chunks(length)), whole);
    assert_eq!(events(bytes.chunks(1)), whole);
    let dialect = DIALECTS[usize::from(first & 3)];
    let whole = outcome(dialect, [bytes]);
    assert_eq!(outcome(dialect, bytes.chunks(length)), whole);
    if let Some(message) = &whole.message {
        assert!(
            serde_json::from_str::<IgnoredAny>(message).is_ok(),
            "no JSON: {message}"
        );
    }
});

fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
    let mut decoder = Decoder::default();
    let mut events: Vec<SseEvent> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
    events.extend(decoder.finish());
    events
}

fn outcome<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> ReplyOutcome {
    let mut reply = Reply::new(dialect);
    pieces.into_iter().for_each(|piece| reply.push(piece));
    reply.finish()
}
