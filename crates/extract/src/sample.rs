//! A short talk for trials of a chat model.
//!
//! Owns: its messages. Never: asking, or a verdict.

use std::sync::Arc;

use model::{Content, Message, MessageId, Name, Role, Scope, SessionId, SessionKey, Timestamp};

use crate::visible::NAMELESS;

/// One plain statement a message.
const SAMPLE_SENTENCES: [&str; 6] = [
    "I moved from Leeds to Porto in March.",
    "My sister Lena teaches chemistry at a school in Braga.",
    "I am allergic to walnuts.",
    "We have an old dog, Bruno, who sleeps all day.",
    "I never learnt to drive, so I take the tram to the bakery.",
    "On Fridays I cook for Lena and her two boys.",
];

/// The messages of one person, who has no name.
pub fn sample_talk() -> Vec<Message> {
    let said = SAMPLE_SENTENCES.into_iter().enumerate();
    said.map(|(at, sentence)| Message {
        id: MessageId::new(format!("sample-{at}")),
        session: SessionKey::new(Scope::default(), SessionId::new("sample")),
        sender: Name::parse(NAMELESS).expect("it is a name"),
        sender_name: None,
        role: Role::User,
        time: Timestamp::from_millis(0),
        content: Arc::new(Content::Text(sentence.to_owned())),
        tool_calls: Vec::new(),
        tool_call_id: None,
    })
    .collect()
}
