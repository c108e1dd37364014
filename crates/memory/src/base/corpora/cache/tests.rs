//! Cached owners: which are dropped, and when.

use std::sync::Arc;

use model::{
    Content, Message, MessageId, Name, Owner, Role, Scope, SessionId, SessionKey, TURN_BYTES_MAX, Timestamp,
};

use super::super::hot::RowsChange;
use super::{AcceptedMessages, CorpusCache};

fn owner(n: usize) -> Owner {
    Owner::user(Name::parse(&format!("u{n}")).expect("a proper name"))
}

#[test]
fn the_least_recently_used_go_first_and_never_the_one_in_use() {
    let corpora = CorpusCache::new(250);
    let scope = Scope::default();
    for n in 0..4 {
        corpora.slot(&scope, &owner(n)).set_bytes(100);
    }
    // It is used again, so the second is now the oldest.
    let in_use = corpora.slot(&scope, &owner(0));
    corpora.shrink(&in_use);
    let hot: Vec<bool> = (0..4).map(|n| corpora.is_hot(&scope, &owner(n))).collect();
    assert_eq!(hot, [true, false, false, true]);
    in_use.set_bytes(1_000);
    corpora.shrink(&in_use);
    assert!(corpora.is_hot(&scope, &owner(0)) && !corpora.is_hot(&scope, &owner(3)));
}

#[test]
fn an_owner_that_is_loading_stays() {
    let corpora = CorpusCache::new(1);
    let scope = Scope::default();
    let loading = corpora.slot(&scope, &owner(1));
    let in_use = corpora.slot(&scope, &owner(2));
    in_use.set_bytes(500);
    corpora.shrink(&in_use);
    assert!(corpora.is_current(&scope, &loading));
}

#[test]
fn dropping_owners_invalidates_earlier_tickets() {
    let corpora = CorpusCache::new(1);
    let scope = Scope::default();
    let ticket = corpora.ticket();
    let slot = corpora.slot(&scope, &owner(1));
    assert_eq!(corpora.ticket(), ticket, "being used is no reason");
    corpora.let_go(&scope);
    assert_ne!(corpora.ticket(), ticket);
    assert!(!corpora.is_current(&scope, &slot));
    let again = corpora.slot(&scope, &owner(1));
    assert!(!Arc::ptr_eq(&slot, &again));
}

#[test]
fn accepted_messages_count_by_their_text() {
    let session = SessionKey {
        scope: Scope::default(),
        session: SessionId::new("s"),
    };
    let bytes = |text: &str| {
        let message = Message {
            id: MessageId::new("m"),
            session: session.clone(),
            sender: Name::parse("ann").expect("a name"),
            sender_name: None,
            role: Role::User,
            time: Timestamp::default(),
            content: Content::Text(text.to_owned()).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        let added = AcceptedMessages {
            session: session.clone(),
            speakers: [Owner::user(message.sender.clone())].into(),
            has_backlog: false,
            messages: vec![message],
            vectors: None,
        };
        RowsChange::Buffered(Arc::new(added)).bytes()
    };
    let (short, long) = (bytes("tea"), bytes(&"tea ".repeat(TURN_BYTES_MAX)));
    assert!(short < 4_096, "{short}");
    assert_eq!(long, 1_024 + 2 * TURN_BYTES_MAX, "no row has more of it");
}
