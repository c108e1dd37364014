//! Sample entries.

use model::{
    Content, Entry, EntryId, EntryKind, Message, MessageId, Name, Origin, Owner, Role, Scope, SessionId,
    SessionKey, Timestamp, Zone,
};

/// The zone of the samples' dates.
pub fn zone() -> Zone {
    Zone::named("Europe/Berlin").expect("it is in the table")
}

/// The user with that name.
pub fn user(name: &str) -> Owner {
    Owner::user(Name::parse(name).expect("a sample's name"))
}

/// A fact of a user of the default scope, at noon of that date.
pub fn fact(owner: &str, id: &str, date: &str, subject: &str) -> Entry {
    Entry {
        id: EntryId::new(id),
        kind: EntryKind::Fact,
        scope: Scope::default(),
        owner: user(owner),
        session: None,
        time: noon(date),
        valid_from: None,
        valid_until: None,
        supersedes: Vec::new(),
        superseded_by: None,
        origin: Origin::User,
        author: Some("rules/1".to_owned()),
        parent: None,
        sources: Vec::new(),
        labels: Vec::new(),
        confidence_percent: None,
        senders: Vec::new(),
        subject: subject.to_owned(),
        summary: String::new(),
        body: format!("{subject}."),
        turns: Vec::new(),
    }
}

/// An episode of one turn for each text, all of one session.
pub fn episode(owner: &str, id: &str, date: &str, texts: &[&str]) -> Entry {
    let session = SessionId::new("s1");
    let turn = |(n, text): (i64, &&str)| Message {
        id: MessageId::new(format!("{id}-m{n}")),
        session: SessionKey {
            scope: Scope::default(),
            session: session.clone(),
        },
        sender: user(owner).id,
        sender_name: None,
        role: Role::User,
        time: noon(date).plus_millis(n * 1000),
        content: Content::Text((*text).to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    };
    let turns: Vec<Message> = (0..).zip(texts).map(turn).collect();
    Entry {
        kind: EntryKind::Episode,
        session: Some(session),
        sources: turns.iter().map(|turn| turn.id.clone()).collect(),
        turns,
        ..fact(owner, id, date, "What was said")
    }
}

fn noon(date: &str) -> Timestamp {
    zone().parse(&format!("{date}T12:00")).expect("a sample's date")
}
