//! The crate's tests, one file a subject; here their helpers: messages and segments made from short
//! texts.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "expect-test writes its texts so"
)]

mod answers;
mod cuts;
mod episodes;
mod guards;
pub(crate) mod prompts;
mod properties;
mod reading;
mod trials;

use model::{
    Cell, CellId, Content, CutReason, Message, MessageId, Name, Role, Scope, SessionId, SessionKey,
    Timestamp, ToolCall, Zone,
};

use crate::owners;

pub(crate) const MINUTE_MILLIS: i64 = 60_000;

pub(crate) fn at(text: &str) -> Timestamp {
    Zone::utc().parse(text).expect("a date of the test")
}

pub(crate) fn session() -> SessionKey {
    SessionKey::new(Scope::default(), SessionId::new("s1"))
}

/// A message of `alice`, `bob` (users), `bot` (assistant) or `tool`.
pub(crate) fn message(number: usize, who: &str, text: &str, time: Timestamp) -> Message {
    let mut letters = who.chars();
    let shown = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect());
    Message {
        id: MessageId::new(format!("m{number}")),
        session: session(),
        sender: Name::parse(who).expect("a name of the test"),
        sender_name: shown,
        role: match who {
            "bot" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::User,
        },
        time,
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}

pub(crate) fn calling(mut message: Message, id: &str) -> Message {
    message.tool_calls.push(ToolCall {
        id: id.to_owned(),
        name: "search".to_owned(),
        arguments: "{}".to_owned(),
    });
    message
}

/// `who: text` lines, one minute apart, from 8 May 2023, 13:56 UTC.
pub(crate) fn talk(lines: &str) -> Vec<Message> {
    let start = at("2023-05-08T13:56:00Z");
    let lines = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate();
    lines
        .map(|(i, line)| {
            let (who, text) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
            let minutes = i64::try_from(i).expect("few lines");
            message(i + 1, who, text, start.plus_millis(minutes * MINUTE_MILLIS))
        })
        .collect()
}

pub(crate) fn cell(messages: Vec<Message>) -> Cell {
    Cell {
        id: CellId::new("mc_1"),
        session: session(),
        owners: owners(&messages),
        messages,
        reason: CutReason::Flush,
    }
}
