//! Cached owners: which are dropped, and when.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use extract::KnownFacts;
use model::{
    Content, Doc, DocKey, DocKind, EntryKind, Message, MessageId, Name, Owner, Role, Scope, SessionId,
    SessionKey, TURN_BYTES_MAX, Timestamp,
};

use recall::Corpus;

use super::super::hot::{CachedPart, Hot, RowsChange};
use super::{AcceptedMessages, CorpusCache};

fn owner(n: usize) -> Owner {
    Owner::user(Name::parse(&format!("u{n}")).expect("a proper name"))
}

fn slot_of(corpora: &CorpusCache, n: usize) -> Arc<Hot> {
    let slot = corpora.slot(&Scope::default(), &owner(n), CachedPart::Rows);
    slot.expect("it was never too large")
}

fn session(id: &str) -> SessionKey {
    SessionKey {
        scope: Scope::default(),
        session: SessionId::new(id),
    }
}

fn said(text: &str, by: &Owner) -> Message {
    Message {
        id: MessageId::new("m"),
        session: session("s"),
        sender: by.id.clone(),
        sender_name: None,
        role: Role::User,
        time: Timestamp::default(),
        content: Content::Text(text.to_owned()).into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}

#[test]
fn the_least_recently_used_go_first_and_never_the_one_in_use() {
    let corpora = CorpusCache::new(250);
    let scope = Scope::default();
    for n in 0..4 {
        slot_of(&corpora, n).set_bytes(100);
    }
    // It is used again, so the second is now the oldest.
    let in_use = slot_of(&corpora, 0);
    corpora.shrink(&in_use);
    let hot: Vec<bool> = (0..4)
        .map(|n| corpora.at_hand(&scope, &owner(n)).is_some())
        .collect();
    assert_eq!(hot, [true, false, false, true]);
    in_use.set_bytes(1_000);
    corpora.shrink(&in_use);
    assert!(corpora.at_hand(&scope, &owner(0)).is_some() && corpora.at_hand(&scope, &owner(3)).is_none());
}

#[test]
fn what_is_dropped_is_counted_no_more() {
    let corpora = CorpusCache::new(300);
    let in_use = slot_of(&corpora, 0);
    for n in 1..200 {
        let next = slot_of(&corpora, n);
        next.set_bytes(100);
        next.set_bytes(50);
        corpora.shrink(&in_use);
    }
    let hot = (0..200).filter(|n| corpora.at_hand(&Scope::default(), &owner(*n)).is_some());
    let bytes = corpora.bytes.load(Ordering::Relaxed);
    assert!((200..=300).contains(&bytes), "{bytes}");
    assert_eq!(
        hot.count(),
        1 + bytes / 50,
        "those of 50 bytes, and the one in use without any"
    );
    corpora.let_all_go();
    drop(in_use);
    assert_eq!(corpora.bytes.load(Ordering::Relaxed), 0);
}

#[test]
fn callers_that_shrink_at_the_same_time_drop_one_part() {
    let corpora = CorpusCache::new(1_000);
    let in_use = slot_of(&corpora, 0);
    // Each is still in the hands of a caller, so that its bytes are not freed.
    let held: Vec<Arc<Hot>> = (1..=11).map(|n| slot_of(&corpora, n)).collect();
    for hot in &held {
        hot.set_bytes(100);
    }
    for _ in 0..4 {
        corpora.shrink(&in_use);
    }
    let scope = Scope::default();
    let left = held.iter().filter(|hot| corpora.is_current(&scope, hot));
    assert_eq!(left.count(), 8);
}

#[test]
fn an_owner_that_is_loading_stays() {
    let corpora = CorpusCache::new(1);
    let scope = Scope::default();
    let loading = slot_of(&corpora, 1);
    let in_use = slot_of(&corpora, 2);
    in_use.set_bytes(500);
    corpora.shrink(&in_use);
    assert!(corpora.is_current(&scope, &loading));
}

#[test]
fn dropping_owners_invalidates_earlier_tickets() {
    let corpora = CorpusCache::new(1);
    let scope = Scope::default();
    let ticket = corpora.ticket();
    let slot = slot_of(&corpora, 1);
    assert_eq!(corpora.ticket(), ticket, "being used is no reason");
    corpora.let_go(&scope);
    assert_ne!(corpora.ticket(), ticket);
    assert!(!corpora.is_current(&scope, &slot));
    let again = slot_of(&corpora, 1);
    assert!(!Arc::ptr_eq(&slot, &again));
}

#[tokio::test]
async fn a_message_concerns_those_who_speak_in_its_session_and_those_who_load() {
    let corpora = CorpusCache::new(usize::MAX);
    let session = session("s");
    let [speaker, other, loading] = [0, 1, 2].map(|n| slot_of(&corpora, n));
    let own = Doc::of_message(&said("tea", speaker.owner()), speaker.owner());
    assert!(speaker.fill(vec![own], Vec::new()).await.expect("fills"));
    assert!(other.fill(Vec::new(), Vec::new()).await.expect("fills"));
    let concerned = |speakers: &[usize]| {
        let speakers = speakers.iter().map(|n| owner(*n)).collect();
        let hot = corpora.concerned(&session, &speakers);
        hot.iter().map(|hot| hot.owner().clone()).collect::<Vec<_>>()
    };
    assert_eq!(concerned(&[]), [owner(0), owner(2)]);
    assert_eq!(concerned(&[1, 7]), [owner(0), owner(1), owner(2)]);
    assert!(loading.fill(Vec::new(), Vec::new()).await.expect("fills"));
    assert_eq!(concerned(&[]), [owner(0)]);
}

/// A fact of an owner.
fn fact(text: &str, of: &Owner) -> Doc {
    Doc {
        kind: DocKind::Entry(EntryKind::Fact),
        ..Doc::of_message(&said(text, of), of)
    }
}

#[tokio::test]
async fn facts_alone_follow_changes_and_give_way_to_all_rows() {
    let (corpora, scope, ann) = (CorpusCache::new(1), Scope::default(), owner(1));
    assert!(!corpora.has_room());
    let cached = |part| corpora.slot(&scope, &ann, part).expect("it is not too large");
    let facts = cached(CachedPart::Facts);
    let message = Doc::of_message(&said("tea", &ann), &ann);
    let new = [fact("I drink tea.", &ann), message];
    corpora.rows(&scope, &ann, &new, &[]);
    let filled = facts.fill(
        vec![Doc {
            key: DocKey::new(&scope, &ann, "f"),
            ..fact("I eat figs.", &ann)
        }],
        Vec::new(),
    );
    assert!(filled.await.expect("fills"));
    let known = facts.clone().with_facts(KnownFacts::len).await;
    assert_eq!(
        known.expect("compares"),
        2,
        "one from the index, one that came meanwhile"
    );
    assert_eq!(facts.read(Corpus::len), 0, "no row");
    let speakers = BTreeSet::from([ann.clone()]);
    assert!(corpora.concerned(&session("s"), &speakers).is_empty());

    let rows = cached(CachedPart::Rows);
    assert!(!corpora.is_current(&scope, &facts) && corpora.is_current(&scope, &rows));
    assert!(
        Arc::ptr_eq(&rows, &cached(CachedPart::Facts)),
        "all rows have the facts too"
    );
    corpora.drop_slot(&scope, &rows, true);
    assert!(corpora.slot(&scope, &ann, CachedPart::Rows).is_none());
    assert!(
        !cached(CachedPart::Facts).has_rows(),
        "however many rows there are"
    );
}

#[test]
fn a_write_finds_room_until_the_cache_is_nearly_full() {
    let corpora = CorpusCache::new(1_000);
    let slot = slot_of(&corpora, 0);
    for (bytes, has_room) in [(0, true), (740, true), (760, false), (1_500, false)] {
        slot.set_bytes(bytes);
        assert_eq!(corpora.has_room(), has_room, "{bytes}");
    }
}

#[test]
fn accepted_messages_count_by_their_text() {
    let session = session("s");
    let bytes = |text: &str| {
        let message = said(text, &owner(0));
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
