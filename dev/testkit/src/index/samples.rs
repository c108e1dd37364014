//! Rows to test an index with.
//!
//! Owns: small readable rows and one that has everything. Never: random data.

use std::sync::Arc;

use model::{
    Doc, DocKey, DocKind, EmbedderId, EntryId, EntryKind, MessageId, Name, Origin, Owner, Parent, ParentKind,
    Role, Scope, SessionId, Timestamp,
};
use ports::kept_vector;

/// The model whose vectors the sample rows have.
pub fn embedder() -> EmbedderId {
    EmbedderId {
        model: "sample/1".to_owned(),
        dims: 4,
    }
}

/// The user of that name.
pub fn user(name: &str) -> Owner {
    Owner::user(Name::parse(name).expect("tests name users properly"))
}

/// A user's row in the default scope.
pub fn key(owner: &str, id: &str) -> DocKey {
    DocKey {
        scope: Scope::default(),
        owner: user(owner),
        id: id.into(),
    }
}

/// A turn with this text and no vector.
pub fn turn(owner: &str, id: &str, text: &str) -> Doc {
    Doc {
        key: key(owner, id),
        kind: DocKind::Turn,
        session: Some(SessionId::new("s1")),
        parent: None,
        seq: 0,
        time: Timestamp::from_millis(1_700_000_000_000),
        valid_from: None,
        valid_until: None,
        supersedes: Vec::new(),
        superseded_by: None,
        origin: Origin::User,
        role: Some(Role::User),
        speaker: None,
        senders: Vec::new(),
        labels: Vec::new(),
        confidence_percent: None,
        sources: Vec::new(),
        subject: String::new(),
        summary: String::new(),
        text: text.to_owned(),
        path: Arc::from(""),
        vector: None,
    }
}

/// The row with that vector, as an index keeps it.
pub fn with_vector(doc: Doc, vector: [f32; 4]) -> Doc {
    Doc {
        vector: Some(kept_vector(&vector)),
        ..doc
    }
}

/// A row with no empty field and the hardest texts.
pub fn full(owner: &str, id: &str) -> Doc {
    let name = |text: &str| Name::parse(text).expect("a proper name");
    Doc {
        kind: DocKind::Entry(EntryKind::Fact),
        session: Some(SessionId::new("sitzung 'eins' \"β\"")),
        parent: Some(Parent {
            kind: ParentKind::Memcell,
            id: "mc_1".to_owned(),
        }),
        seq: u32::MAX,
        time: Timestamp::from_millis(i64::MIN),
        valid_from: Some(Timestamp::from_millis(-1)),
        valid_until: Some(Timestamp::from_millis(i64::MAX)),
        supersedes: vec![EntryId::new("af_1"), EntryId::new("af_2")],
        superseded_by: Some(EntryId::new("")),
        origin: Origin::Hand,
        role: Some(Role::Tool),
        speaker: Some("Zoë \u{0} 👩‍👩‍👧".to_owned()),
        senders: vec![name("ann"), name("bob@x")],
        sources: vec![MessageId::new("m 1"), MessageId::new("")],
        subject: "a\r\nb".to_owned(),
        summary: "\u{0}\u{feff}\u{202e}".to_owned(),
        text: format!("NUL \u{0} CRLF \r\n 🎻 {}", "long ".repeat(200_000)),
        path: Arc::from("default/default/users/ann/2024-05.md"),
        ..with_vector(turn(owner, id, ""), [0.5, -0.5, 0.125, 0.0])
    }
}
