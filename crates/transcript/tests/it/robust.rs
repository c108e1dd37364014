//! Reading any text without a panic, and round trips of readable texts.
use proptest::prelude::*;
use serde_json::value::RawValue;
use transcript::dialect::{Dialect, read, system, write};
use transcript::{Block, Item, Outcome};

use crate::dialect::{ANTHROPIC, CLAUDE, CODEX, OPENAI};
use crate::hostile::text;

const ALL: [Dialect; 5] = [
    Dialect::OpenAi,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::ClaudeCode,
    Dialect::Codex,
];

/// A valid transcript with some bytes replaced, removed, or duplicated.
fn mutated() -> impl Strategy<Value = String> {
    let change = (
        any::<prop::sample::Index>(),
        0_usize..40,
        0_usize..4,
        prop::sample::select(b"\"\\{}[],:u0\n\0e\xff ".as_slice()),
    );
    let sample = prop::sample::select(&[OPENAI, ANTHROPIC, CLAUDE, CODEX][..]);
    (sample, prop::collection::vec(change, 1..6)).prop_map(|(sample, changes)| {
        let mut bytes = sample.as_bytes().to_vec();
        for (at, length, kind, byte) in changes {
            let at = at.index(bytes.len().max(1));
            let end = (at + length).min(bytes.len());
            match kind {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => bytes.extend_from_within(at..end),
                _ => bytes.insert(at, byte),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn everything(text: &str) {
    let Ok(transcript) = read(text) else { return };
    for message in write(transcript.dialect, &transcript.items) {
        assert!(
            serde_json::from_str::<&RawValue>(&message).is_ok(),
            "no JSON: {message}"
        );
    }
    let unedited = |item: &&Item| item.raw.is_some();
    for item in transcript.items.iter().filter(unedited) {
        let edited = Item {
            edited: true,
            ..item.clone()
        };
        let raw = item.raw.as_deref().unwrap_or_default().to_owned();
        if write(transcript.dialect, std::slice::from_ref(item)) == [raw.clone()] {
            assert_eq!(
                write(transcript.dialect, &[edited]),
                [raw],
                "an edit that changes nothing"
            );
        }
    }
    let made: Vec<Item> = transcript
        .items
        .iter()
        .map(|item| Item::made(item.role, item.blocks.clone()))
        .collect();
    for to in ALL {
        for message in write(to, &made).iter().chain(&system(to, &made)) {
            assert!(
                serde_json::from_str::<&RawValue>(message).is_ok(),
                "no JSON: {message}"
            );
        }
    }
}

fn edited(items: &[Item], words: &[String], picks: &[u8]) -> Vec<Item> {
    let mut picks = picks.iter().cycle();
    let mut words = words.iter().cycle();
    let mut edited = items.to_vec();
    for item in edited
        .iter_mut()
        .filter(|item| item.raw.as_deref().is_some_and(|raw| raw.starts_with('{')))
    {
        let more_than_one = item.blocks.len() > 1;
        item.blocks
            .retain(|_| !more_than_one || picks.next().is_none_or(|pick| pick % 4 != 0));
        for block in &mut item.blocks {
            let change = picks.next().is_none_or(|pick| pick % 2 == 0);
            match block {
                Block::Text(text) | Block::Outcome(Outcome { text, .. }) if change => {
                    *text = words.next().cloned().unwrap_or_default();
                }
                _ => {}
            }
        }
        item.edited = true;
    }
    edited
}

fn visible(items: &[Item]) -> Vec<String> {
    // `failed` is left out: in Codex it is read from the text, so an edit of the text changes it.
    let text = |block: &Block| match block {
        Block::Text(text) => text.clone(),
        Block::Outcome(outcome) => format!("{} {}", outcome.call_id, outcome.text),
        Block::Call(call) => format!("{} {} {}", call.id, call.name, call.arguments),
        Block::Thinking(thinking) => thinking.text.clone(),
        Block::Image(image) => image.raw.clone(),
        Block::Other(raw) => raw.clone(),
    };
    items
        .iter()
        .flat_map(|item| &item.blocks)
        .map(text)
        .filter(|text| !text.is_empty())
        .collect()
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        everything(&text);
    }

    #[test]
    fn a_mutated_transcript_is_read_or_refused(text in mutated()) {
        everything(&text);
    }

    #[test]
    fn nested_json_of_any_shape_is_read_or_refused(
        json in "(\\{\"(role|type|content|messages|input|message|payload|text)\":|\\[|\\]|\\}|,|\"(user|assistant|tool|text|response_item|reasoning)\"|null|7){0,24}"
    ) {
        everything(&json);
    }

    #[test]
    fn an_edited_item_reads_back_with_its_edits(
        words in prop::collection::vec(text(), 1..8),
        picks in prop::collection::vec(any::<u8>(), 1..40),
        sample in prop::sample::select(&[OPENAI, ANTHROPIC, CLAUDE, CODEX][..]),
    ) {
        let transcript = read(sample).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let items = edited(&transcript.items, &words, &picks);
        let messages = write(transcript.dialect, &items).join(",");
        let text = match (transcript.dialect, system(transcript.dialect, &items)) {
            (_, Some(system)) => format!("{{\"system\":{system},\"messages\":[{messages}]}}"),
            _ => format!("[{messages}]"),
        };
        let again = read(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
        prop_assert_eq!(visible(&again.items), visible(&items));
    }
}
