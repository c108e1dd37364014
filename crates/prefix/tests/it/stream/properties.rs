//! Properties for all bytes and all ways to split them.

use prefix::stream::ReplyOutcome;
use prefix::stream::sse::Decoder;
use proptest::prelude::*;
use serde::de::IgnoredAny;
use transcript::dialect::Dialect;

use super::{anthropic, chat, outcome, responses, streamed};

const STREAMS: [(Dialect, &str); 8] = [
    (Dialect::OpenAi, chat::OPENAI),
    (Dialect::OpenAi, chat::PARALLEL),
    (Dialect::OpenAi, chat::LLAMA_CPP),
    (Dialect::OpenAi, chat::VLLM),
    (Dialect::OpenAi, chat::OLLAMA),
    (Dialect::OpenAi, chat::OPENROUTER),
    (Dialect::Anthropic, anthropic::TOOLS),
    (Dialect::OpenAiResponses, responses::STREAM),
];

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop::sample::select(vec![
        Dialect::OpenAi,
        Dialect::OpenAiResponses,
        Dialect::Anthropic,
    ])
}

/// A stream with some bytes changed, lost or doubled, and the line ends of another system.
fn damaged() -> impl Strategy<Value = (Dialect, Vec<u8>)> {
    let damage = prop::collection::vec((any::<prop::sample::Index>(), 0_usize..3, any::<u8>()), 0..8);
    let ends = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    (prop::sample::select(STREAMS.to_vec()), ends, damage).prop_map(|((dialect, stream), end, damage)| {
        let mut bytes = stream.replace('\n', end).into_bytes();
        for (at, kind, byte) in damage {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        (dialect, bytes)
    })
}

fn cut<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        let (piece, rest) = bytes.split_at((*length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
        if bytes.is_empty() {
            break;
        }
    }
    pieces
}

/// The outcome of bytes in one piece; asserts that every other split gives the same.
fn however_cut(dialect: Dialect, bytes: &[u8], lengths: &[usize]) -> ReplyOutcome {
    let one = outcome(dialect, [bytes]);
    assert_eq!(outcome(dialect, cut(bytes, lengths)), one);
    assert_eq!(outcome(dialect, bytes.chunks(1)), one);
    if let Some(message) = &one.message {
        serde_json::from_str::<IgnoredAny>(message).expect("a message is JSON");
    }
    one
}

#[test]
fn realistic_streams_are_complete_with_any_line_ends() {
    for (dialect, stream) in STREAMS {
        let one = however_cut(dialect, stream.as_bytes(), &[7]);
        assert!(one.complete, "{one:?}");
        for end in ["\r\n", "\r"] {
            let other = stream.replace('\n', end);
            assert_eq!(however_cut(dialect, other.as_bytes(), &[7]), one);
        }
    }
}

#[test]
fn a_stream_broken_at_any_place_is_incomplete() {
    for (dialect, stream) in STREAMS {
        let whole = streamed(dialect, stream);
        let end = stream.trim_end().len();
        for at in (0..end).filter(|at| at % 3 == 0 && stream.is_char_boundary(*at)) {
            let part = streamed(dialect, &stream[..at]);
            assert!(!part.complete, "{at}");
            assert!(whole.text.starts_with(&part.text), "{at}");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn damaged_streams_never_panic_and_any_split_gives_the_same(
        (dialect, bytes) in damaged(),
        lengths in prop::collection::vec(1_usize..300, 1..20),
    ) {
        however_cut(dialect, &bytes, &lengths);
    }

    #[test]
    fn any_bytes_never_panic(
        dialect in dialects(),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        lengths in prop::collection::vec(1_usize..20, 1..9),
    ) {
        however_cut(dialect, &bytes, &lengths);
    }

    #[test]
    fn another_dialects_stream_never_panics(dialect in dialects(), (_, bytes) in damaged()) {
        however_cut(dialect, &bytes, &[50]);
    }

    #[test]
    fn any_split_gives_the_same_events(
        stream in "(data|event|id|:|[ :a\u{feff}\u{e9}]|\r|\n|\r\n){0,60}",
        lengths in prop::collection::vec(1_usize..9, 1..9),
    ) {
        let events = |pieces: Vec<&[u8]>| {
            let mut decoder = Decoder::default();
            let mut events: Vec<_> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
            events.extend(decoder.finish());
            events
        };
        let one = events(vec![stream.as_bytes()]);
        prop_assert_eq!(&events(cut(stream.as_bytes(), &lengths)), &one);
        prop_assert_eq!(&events(stream.as_bytes().chunks(1).collect()), &one);
    }
}
