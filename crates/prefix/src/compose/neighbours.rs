//! Our messages between the client's: they create no two neighbours of the person's role that the client did not send
//! so. The templates of many models refuse such neighbours.
//!
//! Owns: joining a summary to the person's message next to it, the placeholder for an answer that left the view without
//! a summary. Invariant: the same shadow gives the same bytes. Never: choosing the items that leave a view (`context`).

use serde_json::Value;
use transcript::Role;

use super::Sent;
use crate::splice;

/// Between two messages of a person, if a summary elsewhere contains the model's answer.
const GONE: &str = r#"{"role":"assistant","content":"[The summary tells what was said here.]"}"#;
const BETWEEN: &str = "\n\n";

/// The messages of a request, with each summary joined to the person's message next to it.
pub(super) fn settled(messages: Vec<Sent>) -> Vec<Sent> {
    let mut settled: Vec<Sent> = Vec::with_capacity(messages.len());
    for next in messages {
        let is_persons = |sent: &Sent| sent.role == Some(Role::User);
        let Some(last) = settled
            .last_mut()
            .filter(|last| is_persons(last) && is_persons(&next))
        else {
            settled.push(next);
            continue;
        };
        let joined = match (last.index, next.index) {
            (Some(at), Some(index)) => {
                if index > at + 1 {
                    settled.push(gone());
                }
                None
            }
            (_, None) => summary_after(last, &next),
            (None, Some(_)) => summary_before(last, &next),
        };
        match (joined, settled.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => settled.push(next),
        }
    }
    settled
}

fn gone() -> Sent {
    Sent {
        bytes: GONE.to_owned(),
        role: Some(Role::Assistant),
        index: None,
        injected: None,
    }
}

/// A message with a summary at its end.
fn summary_after(message: &Sent, summary: &Sent) -> Option<Sent> {
    let text = [BETWEEN, &only_text(&summary.bytes)?].concat();
    let splice = splice::into_message(&message.bytes, &text)?;
    Some(Sent {
        bytes: splice.apply(&message.bytes),
        ..message.clone()
    })
}

/// A message with a summary at its beginning.
fn summary_before(summary: &Sent, message: &Sent) -> Option<Sent> {
    let text = [&*only_text(&summary.bytes)?, BETWEEN].concat();
    let splice = splice::before_message(&message.bytes, &text)?;
    let injected = message.injected.clone();
    let by = splice.bytes.len();
    Some(Sent {
        bytes: splice.apply(&message.bytes),
        injected: injected.map(|range| range.start + by..range.end + by),
        ..message.clone()
    })
}

/// The text of a message that contains only text.
fn only_text(message: &str) -> Option<String> {
    let (_, content) = splice::content(message)?;
    match serde_json::from_str(content).ok()? {
        Value::String(text) => Some(text),
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
            Some(texts?.join(BETWEEN))
        }
        _ => None,
    }
}
