//! Chat JSONL: one message a line.

use std::collections::BTreeMap;
use std::io::BufRead;

use model::text::Fnv;
use serde_json::Value;
use transcript::mended;

use super::table::{FormatRow, word};
use super::{Reading, shape};
use crate::error::Failure;

/// Maximum number of messages in one batch.
const BATCH_MESSAGES_MAX: usize = 500;

/// Reads line by line. A broken line ends the import with its line number; the lines before it are imported.
pub(super) fn read(
    row: &FormatRow,
    stream: &mut dyn BufRead,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    let mut waiting: BTreeMap<String, Vec<(i64, Option<String>, Value)>> = BTreeMap::new();
    let mut ids = Ids::default();
    let mut count = 0;
    let mut broken = None;
    for (number, line) in (1i64..).zip(stream.lines()) {
        let line = match line
            .map_err(|error| error.to_string())
            .and_then(|line| record(&line))
        {
            Ok(Some(line)) => line,
            Ok(None) => continue,
            Err(why) => {
                broken = Some(format!("line {number}: {why}"));
                break;
            }
        };
        let session = word(&line, row.key("id")).unwrap_or_else(|| reading.defaults.name.clone());
        let id = word(&line, "message_id|id").map(|id| ids.own(&session, id, &line["content"]));
        waiting.entry(session).or_default().push((number, id, line));
        count += 1;
        if count == BATCH_MESSAGES_MAX {
            hand_on(row, std::mem::take(&mut waiting), reading)?;
            count = 0;
        }
    }
    hand_on(row, waiting, reading)?;
    match broken {
        None => Ok(()),
        Some(reason) => Err(Failure::usage(reason).hint(
            "a line is one object with `role` and `content`; all lines before it were remembered, and importing the \
             file again adds only what is new",
        )),
    }
}

/// The message of a line; `None` for an empty line.
fn record(line: &str) -> Result<Option<Value>, String> {
    let text = line.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    let line: Value = mended::parse(text).map_err(|error| error.to_string())?;
    let is_message = line["role"].is_string();
    is_message
        .then_some(Some(line))
        .ok_or_else(|| "it has no `role`".to_owned())
}

/// Makes message ids unique: some files give several messages one id, such as the conversation's. No message is lost.
#[derive(Debug, Default)]
struct Ids {
    /// By session and id: hashes of the contents with that id.
    contents: BTreeMap<(String, String), Vec<u64>>,
}

impl Ids {
    /// The id itself for its first content; the id with a number for each further content.
    fn own(&mut self, session: &str, id: String, content: &Value) -> String {
        let content = Fnv::of(content.to_string().as_bytes());
        let contents = self.contents.entry((session.to_owned(), id.clone())).or_default();
        let known = contents.iter().position(|known| *known == content);
        let place = known.unwrap_or(contents.len());
        if known.is_none() {
            contents.push(content);
        }
        match place {
            0 => id,
            _ => format!("{id}~{}", place + 1),
        }
    }
}

fn hand_on(
    row: &FormatRow,
    waiting: BTreeMap<String, Vec<(i64, Option<String>, Value)>>,
    reading: &mut Reading<'_>,
) -> Result<(), Failure> {
    for (session, lines) in waiting {
        let session = reading.defaults.session(&session);
        let lines = lines.iter().map(|(number, id, line)| (*number, id.clone(), line));
        shape::list(row, session, None, lines, reading)?;
    }
    Ok(())
}
