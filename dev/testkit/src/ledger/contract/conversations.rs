//! Logs of conversations: reading, conflicts, searching and deletion.
//!
//! Owns: the meaning of `Conversations`. Never: bytes in files; the adapter's own tests check those.

use model::{Owner, SessionId, SessionKey};
use ports::{Conversations, LedgerError, NewRecord, Record, Sweep, Transcripts};

use crate::ledger::samples::{name, scope, session};

const NOTHING: [u64; 0] = [];

fn ann() -> Owner {
    Owner::user(name("ann"))
}

/// A record with an item; the body names the item.
pub fn item(number: u64, text: &str) -> NewRecord {
    NewRecord {
        item: Some(number),
        text: text.to_owned(),
        body: format!("{{\"item\":{number},\"text\":\"{text}\"}}"),
    }
}

/// A record without an item.
pub fn note(body: &str) -> NewRecord {
    NewRecord {
        item: None,
        text: String::new(),
        body: body.to_owned(),
    }
}

async fn add(ledger: &impl Conversations, s: &SessionKey, at: u64, records: Vec<NewRecord>) -> u64 {
    ledger
        .append(s, &ann(), at, None, records)
        .await
        .expect("appended")
}

async fn log(ledger: &impl Conversations, s: &SessionKey) -> Vec<Record> {
    ledger.read(s, 0, usize::MAX).await.expect("reads")
}

async fn bodies(ledger: &impl Conversations, s: &SessionKey) -> Vec<String> {
    log(ledger, s)
        .await
        .into_iter()
        .map(|record| record.body)
        .collect()
}

async fn found(ledger: &impl Conversations, s: &SessionKey, words: &str) -> Vec<u64> {
    ledger.find(s, words, 9).await.expect("looks")
}

fn conflicts<T>(result: Result<T, LedgerError>) -> bool {
    result.is_err_and(|error| matches!(error, LedgerError::Conflict))
}

/// NUL, line ends, any script, an empty text, and a megabyte that shrinks and one that does not.
pub async fn a_log_comes_back_byte_for_byte(ledger: &impl Conversations) {
    let s = session("a", "s");
    assert_eq!(log(ledger, &s).await, []);
    let mut seed = 7_u64;
    let noise = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from_u32(u32::try_from(seed >> 44).expect("20 bits")).unwrap_or('\0')
    });
    let said = [
        "nul \0 crlf \r\n sep \u{2028} 🦙 \u{feff}".to_owned(),
        String::new(),
        "記憶と文脈 ".repeat(60_000),
        noise.take(300_000).collect(),
        "\0".repeat(999),
    ];
    let records = said.iter().map(|body| note(body)).collect();
    assert_eq!(add(ledger, &s, 0, records).await, 5);
    assert!(bodies(ledger, &s).await == said);
    let some = ledger.read(&s, 1, 2).await.expect("reads");
    let places: Vec<u64> = some.iter().map(|record| record.position).collect();
    assert_eq!(places, [1, 2]);
    assert_eq!(ledger.read(&s, 5, 9).await.expect("reads"), []);
    assert_eq!(ledger.read(&s, u64::MAX, 9).await.expect("reads"), []);
    assert_eq!(ledger.read(&s, 0, 0).await.expect("reads"), []);
}

/// Of two callers that read the same end, one gets a conflict; none of its records is stored.
pub async fn an_append_goes_where_its_caller_saw_the_end(ledger: &impl Conversations) {
    let s = session("a", "s");
    assert_eq!(add(ledger, &s, 0, vec![note("1"), note("2")]).await, 2);
    for at in [0, 1, 3, u64::MAX] {
        let late = ledger
            .append(&s, &ann(), at, None, vec![note("late"), note("later")])
            .await;
        assert!(conflicts(late), "at {at}");
    }
    let other = ledger
        .append(&s, &Owner::agent(name("ann")), 2, None, vec![note("not hers")])
        .await;
    assert!(matches!(other, Err(LedgerError::OtherOwner)), "{other:?}");
    assert_eq!(add(ledger, &s, 2, vec![note("3")]).await, 3);
    assert_eq!(add(ledger, &s, 3, Vec::new()).await, 3);
    assert_eq!(bodies(ledger, &s).await, ["1", "2", "3"]);
    let nowhere = session("a", "nowhere");
    let first = ledger
        .append(&nowhere, &ann(), 1, None, vec![note("no start")])
        .await;
    assert!(conflicts(first));
    let bot = Owner::agent(name("bot"));
    let other = ledger.append(&nowhere, &bot, 0, None, vec![note("1")]).await;
    assert_eq!(other.expect("the conflict made no conversation"), 1);
}

/// A retry gets the first answer and stores nothing, also after later appends.
pub async fn a_key_makes_a_retry_harmless(ledger: &impl Conversations) {
    let (s, other) = (session("a", "s"), session("a", "other"));
    let keyed =
        async |s: &SessionKey, at, key, body| ledger.append(s, &ann(), at, Some(key), vec![note(body)]).await;
    assert_eq!(keyed(&s, 0, "k1", "1").await.expect("appended"), 1);
    assert_eq!(keyed(&s, 0, "k1", "1").await.expect("seen"), 1);
    assert_eq!(keyed(&s, 1, "k2", "2").await.expect("appended"), 2);
    assert_eq!(keyed(&s, 0, "k1", "1").await.expect("seen"), 1);
    assert!(conflicts(keyed(&s, 0, "k3", "late").await));
    assert_eq!(
        keyed(&s, 2, "k3", "3")
            .await
            .expect("the conflict used no key up"),
        3
    );
    assert_eq!(keyed(&other, 0, "k1", "its own").await.expect("appended"), 1);
    let bot = Owner::agent(name("bot"));
    let other = ledger.append(&s, &bot, 0, Some("k1"), Vec::new()).await;
    assert!(matches!(other, Err(LedgerError::OtherOwner)));
    assert_eq!(bodies(ledger, &s).await, ["1", "2", "3"]);
}

/// The number of an item is unique in a conversation; in another one it is another item.
pub async fn an_item_is_there_once(ledger: &impl Conversations) {
    let (s, other) = (session("a", "s"), session("a", "other"));
    add(ledger, &s, 0, vec![item(1, "one")]).await;
    for twice in [vec![item(1, "again")], vec![item(2, "two"), item(2, "again")]] {
        assert!(conflicts(ledger.append(&s, &ann(), 1, None, twice).await));
    }
    let too_large = ledger
        .append(&s, &ann(), 1, None, vec![item(1 << 62, "large")])
        .await;
    assert!(matches!(too_large, Err(LedgerError::Store(_))), "{too_large:?}");
    assert_eq!(log(ledger, &s).await.len(), 1);
    assert_eq!(add(ledger, &other, 0, vec![item(1, "its own")]).await, 1);
}

/// By number and by range, whatever their order in the log.
pub async fn items_come_by_number(ledger: &impl Conversations) {
    let s = session("a", "s");
    let last = (1 << 62) - 1;
    let records = vec![
        item(5, "five"),
        note("between"),
        item(3, "three"),
        item(last, "last"),
    ];
    add(ledger, &s, 0, records).await;
    let three = ledger.item(&s, 3).await.expect("reads").expect("is there");
    assert_eq!(
        (three.position, three.item, three.body),
        (2, Some(3), item(3, "three").body)
    );
    assert!(ledger.item(&s, last).await.expect("reads").is_some());
    for none in [0, 4, u64::MAX] {
        assert_eq!(ledger.item(&s, none).await.expect("reads"), None);
    }
    let numbers = async |range| {
        let items = ledger.items(&s, range).await.expect("reads");
        items
            .into_iter()
            .filter_map(|record| record.item)
            .collect::<Vec<u64>>()
    };
    assert_eq!(numbers(0..u64::MAX).await, [3, 5, last]);
    assert_eq!(numbers(3..5).await, [3]);
    assert_eq!(numbers(4..4).await, NOTHING);
}

/// All words must occur, also inside other words, in any case; newest first; bodies are not searched.
pub async fn words_are_found_in_any_script(ledger: &impl Conversations) {
    let s = session("a", "s");
    let texts = [
        "The Deploy failed with E1234",
        "昨日は東京で会議がありました",
        "ΟΔΟΣ ΣΙΣΥΦΟΣ",
        "Äpfel für die STRASSE\0nul",
        "deploy again: ok",
        "مرحبا بالعالم 🦙",
    ];
    let mut records: Vec<NewRecord> = (0..).zip(texts).map(|(n, text)| item(n, text)).collect();
    records.push(NewRecord {
        text: "deploy without an item".to_owned(),
        ..note("deploy")
    });
    records.push(NewRecord {
        text: String::new(),
        ..item(99, "deploy")
    });
    records.push(item(
        6,
        &format!("{} needle", "a long text about nothing ".repeat(500)),
    ));
    add(ledger, &s, 0, records).await;
    let expected: [(&str, &[u64]); 12] = [
        ("deploy", &[4, 0]),
        ("DEPLOY failed", &[0]),
        ("failed\u{3000}e123", &[0]),
        ("東京", &[1]),
        ("議 昨", &[1]),
        ("οδος σίσυφος", &[]),
        ("οδος σισυφοσ", &[2]),
        ("straße ÄPFEL", &[3]),
        ("\0NUL", &[3]),
        ("🦙", &[5]),
        ("needle", &[6]),
        (" \n", &[]),
    ];
    for (words, items) in expected {
        assert_eq!(found(ledger, &s, words).await, items, "{words}");
    }
    assert_eq!(ledger.find(&s, "deploy", 1).await.expect("looks"), [4]);
    assert_eq!(ledger.find(&s, "deploy", 0).await.expect("looks"), NOTHING);
}

/// A replacement: the item's record and its announcement get other texts, and a new record says so.
pub async fn a_replaced_record_is_not_found(ledger: &impl Conversations) {
    let s = session("a", "s");
    let records = vec![item(0, "the needle"), note("about the needle"), item(1, "rest")];
    add(ledger, &s, 0, records).await;
    let replaced = vec![(0, note("forgotten")), (1, note("about nothing"))];
    let length = ledger.replace(&s, 3, replaced, vec![note("forget 0")]).await;
    assert_eq!(length.expect("replaced"), 4);
    assert_eq!(
        bodies(ledger, &s).await,
        ["forgotten", "about nothing", &item(1, "rest").body, "forget 0"]
    );
    assert_eq!(found(ledger, &s, "needle").await, NOTHING);
    assert_eq!(ledger.item(&s, 0).await.expect("reads"), None);
    let swapped = vec![(2, item(7, "rest of old")), (0, item(1, "first now"))];
    assert_eq!(
        ledger
            .replace(&s, 4, swapped, Vec::new())
            .await
            .expect("replaced"),
        4
    );
    assert_eq!(found(ledger, &s, "first").await, [1]);
    assert_eq!(found(ledger, &s, "rest").await, [7]);
}

/// A missing position, a longer log or a known item: nothing is replaced.
pub async fn a_replacement_is_all_or_none(ledger: &impl Conversations) {
    let s = session("a", "s");
    add(ledger, &s, 0, vec![item(0, "zero"), item(1, "one")]).await;
    let before = log(ledger, &s).await;
    let refused = [
        (1, vec![(0, note("x"))], Vec::new()),
        (2, vec![(0, note("x")), (2, note("x"))], Vec::new()),
        (2, vec![(u64::MAX, note("x"))], Vec::new()),
        (2, vec![(0, note("x")), (0, note("y"))], Vec::new()),
        (2, vec![(0, item(1, "taken"))], Vec::new()),
        (2, vec![(0, note("x"))], vec![item(1, "taken")]),
    ];
    for (i, (at, replaced, appended)) in refused.into_iter().enumerate() {
        let result = ledger.replace(&s, at, replaced, appended).await;
        assert!(conflicts(result), "case {i}");
    }
    assert!(conflicts(
        ledger
            .replace(&session("a", "none"), 0, Vec::new(), Vec::new())
            .await
    ));
    assert_eq!(log(ledger, &s).await, before);
    assert_eq!(found(ledger, &s, "zero").await, [0]);
}

/// A fork has the records so far and their owner; then each changes independently.
pub async fn forks_are_independent(ledger: &impl Conversations) {
    let (s, fork) = (session("a", "s"), session("a", "fork"));
    let records = vec![item(0, "shared"), note("between"), item(1, "left out")];
    let keyed = ledger.append(&s, &ann(), 0, Some("k"), records).await;
    assert_eq!(keyed.expect("appended"), 3);
    ledger.fork(&s, 2, &fork.session).await.expect("forked");
    assert_eq!(log(ledger, &fork).await, log(ledger, &s).await[..2]);
    assert_eq!(found(ledger, &fork, "shared").await, [0]);
    assert_eq!(found(ledger, &fork, "left").await, NOTHING);

    let own = ledger
        .append(&fork, &ann(), 2, Some("k"), vec![item(1, "its own")])
        .await;
    assert_eq!(own.expect("a key of the original is not one of the fork"), 3);
    ledger
        .replace(&s, 3, vec![(0, note("gone"))], Vec::new())
        .await
        .expect("replaced");
    assert_eq!(found(ledger, &fork, "shared").await, [0]);
    assert_eq!(found(ledger, &s, "own").await, NOTHING);
    let bot = Owner::agent(name("bot"));
    let stranger = ledger.append(&fork, &bot, 3, None, Vec::new()).await;
    assert!(matches!(stranger, Err(LedgerError::OtherOwner)));

    let new = SessionId::new("new");
    assert!(conflicts(ledger.fork(&s, 1, &fork.session).await), "it is there");
    assert!(conflicts(ledger.fork(&s, 1, &s.session).await), "it is itself");
    assert!(conflicts(ledger.fork(&s, 4, &new).await), "so many are not there");
    assert!(
        conflicts(ledger.fork(&session("b", "s"), 0, &new).await),
        "it is not there"
    );
    ledger.fork(&s, 0, &new).await.expect("an empty one");
    assert!(ledger.delete(&s).await.expect("deleted"));
    assert_eq!(log(ledger, &fork).await.len(), 3);
    assert!(!ledger.delete(&s).await.expect("nothing to delete"));
    assert_eq!(log(ledger, &s).await, []);
    assert_eq!(add(ledger, &s, 0, vec![item(0, "a new one")]).await, 1);
}

/// One name in two scopes is two conversations in every call.
pub async fn tenants_do_not_reach_each_other(ledger: &impl Conversations) {
    let (s, foreign) = (session("a", "s"), session("b", "s"));
    add(ledger, &s, 0, vec![item(0, "secret")]).await;
    assert_eq!(log(ledger, &foreign).await, []);
    assert_eq!(ledger.item(&foreign, 0).await.expect("reads"), None);
    assert_eq!(ledger.items(&foreign, 0..9).await.expect("reads"), []);
    assert_eq!(found(ledger, &foreign, "secret").await, NOTHING);
    assert!(conflicts(
        ledger
            .replace(&foreign, 1, vec![(0, note("x"))], Vec::new())
            .await
    ));
    assert!(!ledger.delete(&foreign).await.expect("nothing to delete"));
    add(ledger, &foreign, 0, vec![item(0, "theirs")]).await;
    assert!(ledger.delete(&foreign).await.expect("deleted"));
    assert_eq!(found(ledger, &s, "secret").await, [0]);
}

/// By session, by owner, by owner in a session, by scope; a sweep of messages leaves conversations.
pub async fn conversations_are_listed_by_the_beginning_of_their_names(ledger: &impl Conversations) {
    for (session_name, app) in [
        ("px-1", "a"),
        ("px-3", "a"),
        ("px-2", "a"),
        ("py-9", "a"),
        ("px-4", "b"),
    ] {
        let key = SessionKey {
            scope: scope(app),
            session: SessionId::new(session_name),
        };
        add(ledger, &key, 0, vec![note("n")]).await;
    }
    let named = |beginning: &'static str, limit| async move {
        let found = ledger
            .by_prefix(&scope("a"), beginning, limit)
            .await
            .expect("lists");
        assert!(found.iter().all(|(_, owner)| *owner == ann()));
        found
            .into_iter()
            .map(|(id, _)| id.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(named("px-", 9).await, ["px-3", "px-2", "px-1"]);
    assert_eq!(named("px-", 2).await, ["px-3", "px-2"]);
    assert_eq!(named("", 9).await.len(), 4);
    assert!(named("pz", 9).await.is_empty());
    let first = SessionKey {
        scope: scope("a"),
        session: SessionId::new("px-1"),
    };
    add(ledger, &first, 1, vec![note("n")]).await;
    let newest = ledger.newest(3).await.expect("lists");
    let newest: Vec<&str> = newest.iter().map(|(key, _)| key.session.as_str()).collect();
    assert_eq!(
        newest,
        ["px-1", "px-4", "py-9"],
        "of every scope, the newest first"
    );
}

pub async fn sweeps_take_conversations(ledger: &(impl Conversations + Transcripts)) {
    let (bot, bob) = (Owner::agent(name("ann")), Owner::user(name("bob")));
    let all = [
        ("a", "s1", ann()),
        ("a", "s2", ann()),
        ("a", "s3", bot),
        ("a", "s4", bob.clone()),
        ("b", "s1", ann()),
    ];
    for (app, s, owner) in &all {
        let s = session(app, s);
        let appended = Conversations::append(ledger, &s, owner, 0, None, vec![item(0, "there")]);
        appended.await.expect("appended");
    }
    let left = async || {
        let mut left = Vec::new();
        for (app, s, _) in &all {
            if ledger.item(&session(app, s), 0).await.expect("reads").is_some() {
                left.push(format!("{app}/{s}"));
            }
        }
        left.join(" ")
    };
    let (s1, s2) = (session("a", "s1"), session("a", "s2"));
    let all = "a/s1 a/s2 a/s3 a/s4 b/s1";
    let sweeps = [
        (Sweep::Messages(scope("a"), Vec::new()), 0, all),
        (Sweep::OwnerInSession(s1.clone(), bob), 0, all),
        (Sweep::OwnerInSession(s1, ann()), 1, "a/s2 a/s3 a/s4 b/s1"),
        (Sweep::Owner(scope("a"), ann()), 1, "a/s3 a/s4 b/s1"),
        (Sweep::Session(s2), 0, "a/s3 a/s4 b/s1"),
        (Sweep::Session(session("a", "s4")), 1, "a/s3 b/s1"),
        (Sweep::Scope(scope("a")), 0, "b/s1"),
    ];
    for (sweep, gone, expected) in sweeps {
        let swept = ledger.sweep(sweep.clone()).await.expect("swept");
        assert_eq!(swept.conversations, gone, "{sweep:?}");
        assert_eq!(left().await, expected, "{sweep:?}");
    }
}
