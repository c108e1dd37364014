//! Tests of consolidation: properties of any input, and the cases of the rules.

mod dreams;
mod foresights;
mod pages;
mod profiles;

use model::{Content, Message, MessageId, Name, Role, Scope, SessionId, SessionKey, Timestamp, Zone};

fn at(text: &str) -> Timestamp {
    Zone::utc().parse(text).expect("a date of the test")
}

fn day(days: i64) -> Timestamp {
    at("2024-05-01T10:00:00Z").plus_millis(days * 86_400_000)
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name of the test")
}

/// A message of `Ann` on Wednesday, 8 May 2024.
fn message(text: &str) -> Message {
    Message {
        id: MessageId::new("m1"),
        session: SessionKey::new(Scope::default(), SessionId::new("s1")),
        sender: name("ann"),
        sender_name: Some("Ann".to_owned()),
        role: Role::User,
        time: at("2024-05-08T10:00:00Z"),
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}
