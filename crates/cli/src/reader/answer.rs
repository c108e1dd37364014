//! The input and the answer of the process that reads a document, as JSON.
//!
//! Owns: the format of both. Both ends are the same build. Never: a process.

use std::io::Write;

use documents::{Source, Topic, Unreadable, topics};
use ports::{BEGINNING_MAX_BYTES, ReadDocument, ReadError};
use serde::{Deserialize, Serialize};

/// Maximum bytes of a file's name; a longer name keeps its end, which shows its type.
const NAME_MAX_BYTES: usize = 1024;

/// A file's name and media type as one string without NUL.
pub(super) fn about(name: &str, media_type: &str) -> String {
    let name = &name[name.ceil_char_boundary(name.len().saturating_sub(NAME_MAX_BYTES))..];
    let media_type = &media_type[..media_type.floor_char_boundary(NAME_MAX_BYTES)];
    serde_json::to_string(&(name, media_type)).expect("two texts")
}

/// The document, or the reason why it cannot be read.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Read {
        title: String,
        summary: String,
        beginning: String,
        text_bytes: usize,
        topics: Vec<OneTopic>,
    },
    Unreadable(#[serde(with = "Reason")] Unreadable),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Unreadable")]
enum Reason {
    Empty,
    TooLarge { bytes: usize },
    TooMuchText,
    TooManyPages,
    TooComplex,
    NeedsMemory,
    NeedsTime,
    Unsupported,
    Encrypted,
    Scanned,
    Damaged,
}

#[derive(Debug, Serialize, Deserialize)]
struct OneTopic(#[serde(with = "TopicParts")] Topic);

#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Topic")]
struct TopicParts {
    number: usize,
    name: String,
    path: String,
    depth: usize,
    parent: Option<usize>,
    summary: String,
    content: String,
    labels: Vec<String>,
}

/// Writes the answer.
pub(super) fn send(read: Result<Source, Unreadable>, mut output: impl Write) -> serde_json::Result<()> {
    let source = match read {
        Ok(source) => source,
        Err(reason) => return serde_json::to_writer(output, &Answer::Unreadable(reason)),
    };
    let topics = topics(&source).into_iter().map(OneTopic).collect();
    let beginning = source.markdown.floor_char_boundary(BEGINNING_MAX_BYTES);
    let answer = Answer::Read {
        title: source.title,
        summary: source.summary,
        beginning: source.markdown[..beginning].to_owned(),
        text_bytes: source.markdown.len(),
        topics,
    };
    serde_json::to_writer(&mut output, &answer)?;
    output.flush().map_err(serde_json::Error::io)
}

/// Reads the answer that [`send`] wrote; an error if it ends too early.
pub(super) fn received(told: &[u8]) -> serde_json::Result<Result<ReadDocument, ReadError>> {
    let answer = serde_json::from_slice(told)?;
    Ok(match answer {
        Answer::Unreadable(reason) => Err(reason.into()),
        Answer::Read {
            title,
            summary,
            beginning,
            text_bytes,
            topics,
        } => Ok(ReadDocument {
            title,
            summary,
            beginning,
            text_bytes,
            topics: topics.into_iter().map(|topic| topic.0).collect(),
        }),
    })
}
