//! The answer of `quipu ask`: one line with its source and the statement that it replaced.
//!
//! Owns: choosing the line among the server's sure answers, and its format. Never: deciding which answers are sure; the server
//! does.

use std::fmt;

use gateway::wire::{FactItem, SearchData, SureItem};
use serde::Serialize;

use super::layout::date;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Reply {
    text: String,
    /// The speaker; None: the owner wrote the fact.
    speaker: Option<String>,
    timestamp: String,
    id: String,
    /// Time from which it no longer holds.
    until: Option<String>,
    replaced: Option<Replaced>,
}

/// The earlier statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Replaced {
    text: String,
    timestamp: String,
}

/// The answer; `None` if the server is sure of none.
pub(crate) fn reply(found: &SearchData) -> Option<Reply> {
    found.sure.iter().flatten().find_map(|sure| told(found, sure))
}

fn told(found: &SearchData, sure: &SureItem) -> Option<Reply> {
    let id = &sure.id;
    let message = found.messages.iter().find(|message| message.id == *id);
    let fact = found.facts.iter().find(|fact| fact.id == *id);
    let (speaker, timestamp) = match (message, fact) {
        (Some(message), _) => {
            let speaker = message.sender_name.as_ref().or(message.sender_id.as_ref());
            (speaker.cloned(), &message.timestamp)
        }
        (None, Some(fact)) => (None, &fact.timestamp),
        (None, None) => return None,
    };
    let is_own = |fact: &&FactItem| fact.id == *id || fact.message_ids.contains(id);
    let replaced = found.facts.iter().filter(is_own).flat_map(|newer| {
        let older = found.facts.iter();
        older.filter(|fact| fact.superseded_by.as_ref() == Some(&newer.id))
    });
    let newest = replaced.max_by(|a, b| a.timestamp.cmp(&b.timestamp));
    Some(Reply {
        text: sure.text.clone(),
        speaker,
        timestamp: timestamp.clone(),
        id: id.clone(),
        until: sure.until.clone(),
        replaced: newest.map(|older| Replaced {
            text: older.content.clone(),
            timestamp: older.timestamp.clone(),
        }),
    })
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (", model::one_line(&self.text))?;
        if let Some(speaker) = &self.speaker {
            write!(f, "{speaker}, ")?;
        }
        write!(f, "{}, {}", date(&self.timestamp), self.id)?;
        if let Some(until) = &self.until {
            write!(f, "; ended by {}", date(until))?;
        }
        if let Some(older) = &self.replaced {
            let (text, day) = (model::one_line(&older.text), date(&older.timestamp));
            write!(f, "; before, on {day}: {text}")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use gateway::wire::SearchData;
    use serde_json::{Value, json};

    use super::reply;

    fn data(sure: &Value) -> SearchData {
        let fact = |id: &str, time: &str, of: &str, content: &str, newer: Option<&str>| {
            json!({"id": id, "content": content, "timestamp": time, "message_ids": [of],
                "superseded_by": newer})
        };
        let data = json!({
            "episodes": [], "profiles": [], "agent_cases": [], "agent_skills": [], "unprocessed_messages": [],
            "messages": [{
                "id": "m2", "session_id": "s", "sender_id": "ana", "sender_name": null, "role": "user",
                "content": "My new home\nis in Lisbon.", "timestamp": "2025-01-15T18:00:00Z", "score": 0.6,
                "episode_id": null,
            }],
            "facts": [
                fact("f1", "2024-06-10T18:00:00Z", "m1", "My home is in Berlin.", Some("f2")),
                fact("f0", "2023-06-10T18:00:00Z", "m0", "My home is in Bonn.", Some("f1")),
                fact("f2", "2025-01-15T18:00:00Z", "m2", "My new home is in Lisbon.", None),
                fact("f3", "2025-02-01T18:00:00Z", "m9", "I like tea.", None),
            ],
            "sure": sure,
        });
        serde_json::from_value(data).expect("an answer")
    }

    fn line(sure: &Value) -> Option<String> {
        reply(&data(sure)).map(|reply| reply.to_string())
    }

    #[test]
    fn the_reply_is_one_line_with_its_source_and_the_replaced_statement() {
        let message =
            json!([{"id": "m2", "text": "My new home\nis in Lisbon."}, {"id": "f3", "text": "I like tea."}]);
        let expected = "My new home is in Lisbon. (ana, 15 January 2025, m2; before, on 10 June 2024: My home is in Berlin.)";
        assert_eq!(line(&message).as_deref(), Some(expected));
        let fact = json!([{"id": "f3", "text": "I like tea."}]);
        assert_eq!(line(&fact).as_deref(), Some("I like tea. (1 February 2025, f3)"));
        let ended = json!([{"id": "f3", "text": "I like tea.", "until": "2025-03-02T18:00:00Z"}]);
        let expected = "I like tea. (1 February 2025, f3; ended by 2 March 2025)";
        assert_eq!(line(&ended).as_deref(), Some(expected));
    }

    #[test]
    fn without_a_sure_answer_there_is_no_reply() {
        assert_eq!(line(&json!([])), None);
        assert_eq!(line(&Value::Null), None);
        assert_eq!(
            line(&json!([{"id": "m7", "text": "It is not in the answer."}])),
            None
        );
    }
}
