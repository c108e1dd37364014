//! Chat JSONL: one message a line.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;

use serde_json::Value;
use transcript::mended;

use super::Reading;
use super::shape::{self, ListShape};
use super::table::word;
use crate::error::Failure;

/// Maximum number of messages in one batch.
const BATCH_MESSAGES_MAX: usize = 500;

const SESSIONS: &str = "session_id|session|conversation_id";
const SHAPE: ListShape = ListShape {
    kind: "line",
    first: 1,
    senders: "sender_id|sender|user_id|speaker",
};

/// Reads line by line. A broken line ends the import with its number; the lines before it are imported.
pub(super) fn read(stream: &mut dyn BufRead, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let mut waiting: BTreeMap<String, Vec<(i64, Option<String>, Value)>> = BTreeMap::new();
    let mut ids = Ids::default();
    let mut count = 0;
    let mut broken = None;
    for (number, line) in (1i64..).zip(stream.lines()) {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                broken = Some(format!("line {number}: {error}"));
                break;
            }
        };
        let text = line.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        match mended::parse::<Value>(text) {
            Ok(line) if line["role"].is_string() => {
                let session = word(&line, SESSIONS).unwrap_or_else(|| reading.defaults.name.clone());
                let id = word(&line, "message_id|id").map(|id| ids.own(&session, id, &line["content"]));
                waiting.entry(session).or_default().push((number, id, line));
                count += 1;
            }
            Ok(_) => broken = Some(format!("line {number}: it has no `role`")),
            Err(error) => broken = Some(format!("line {number}: {error}")),
        }
        if broken.is_some() {
            break;
        }
        if count == BATCH_MESSAGES_MAX {
            hand_on(std::mem::take(&mut waiting), reading)?;
            count = 0;
        }
    }
    hand_on(waiting, reading)?;
    match broken {
        None => Ok(()),
        Some(reason) => Err(Failure::usage(reason).hint(
            "a line is one object with `role` and `content`; all lines before it were remembered, and importing the \
             file again adds only what is new",
        )),
    }
}

/// Some files call by one id what are several messages, as when it is the conversation's: all of them are kept.
#[derive(Debug, Default)]
struct Ids {
    /// By session and id, the contents that it was given to.
    contents: BTreeMap<(String, String), Vec<u64>>,
}

impl Ids {
    /// The id itself for the first content that has it, and one with a number for each other.
    fn own(&mut self, session: &str, id: String, content: &Value) -> String {
        let mut hasher = DefaultHasher::new();
        content.to_string().hash(&mut hasher);
        let content = hasher.finish();
        let contents = self.contents.entry((session.to_owned(), id.clone())).or_default();
        let place = contents
            .iter()
            .position(|known| *known == content)
            .unwrap_or_else(|| {
                contents.push(content);
                contents.len() - 1
            });
        if place == 0 {
            id
        } else {
            format!("{id}~{}", place + 1)
        }
    }
}

fn hand_on(
    waiting: BTreeMap<String, Vec<(i64, Option<String>, Value)>>,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    for (session, lines) in waiting {
        let session = reading.defaults.session(&session);
        let lines = lines.iter().map(|(number, id, line)| (*number, id.clone(), line));
        shape::list(&SHAPE, session, None, lines, reading)?;
    }
    Ok(())
}
