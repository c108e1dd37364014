//! The data that an export carries from one ledger to another, and the owners with messages that no file has.
//!
//! Owns: the meaning of `Transcripts::carried`, `adopt` and `waiting`. Never: the lines of an export.

use std::collections::{BTreeMap, BTreeSet};

use model::{CellId, Message, MessageId, Owner, SessionKey};
use ports::{Carried, Sweep, WrittenCell};

use super::Ledger;
use super::transcripts::{finish_all, ids};
use crate::ledger::samples::{at, cell, cut, name, new, replies, says, scope, session, with_client_id};

fn user(id: &str) -> Owner {
    Owner::user(name(id))
}

fn message_ids(ids: &[&str]) -> Vec<MessageId> {
    ids.iter().map(|id| MessageId::new(*id)).collect()
}

async fn carried(ledger: &impl Ledger, app: &str) -> Carried {
    let asked = message_ids(&["m1", "m2", "m3", "none"]);
    ledger.carried(&scope(app), &asked).await.expect("reads")
}

/// The segment `id` of `session` as Ann's ledger wrote it.
fn written(id: &str, session: &SessionKey, owner: &str, told: &[(&str, Option<&str>)]) -> WrittenCell {
    let message = |(at, (id, client_id)): (usize, &(&str, Option<&str>))| {
        let said = says(session, "ann", id, i64::try_from(at).expect("few"));
        client_id.map_or_else(
            || new(said.clone()),
            |client_id| with_client_id(said.clone(), client_id),
        )
    };
    WrittenCell {
        id: CellId::new(id),
        session: session.clone(),
        owner: user(owner),
        messages: told.iter().enumerate().map(message).collect(),
    }
}

async fn adopt(ledger: &impl Ledger, cell: WrittenCell, forgotten: &BTreeSet<String>) {
    let scope = cell.session.scope.clone();
    let adopted = ledger.adopt(&scope, vec![cell], forgotten.clone()).await;
    adopted.expect("takes it in");
}

/// For a message with this client id: its id, whether it is a duplicate, and whether it was deleted.
async fn sent(ledger: &impl Ledger, session: &SessionKey, client_id: &str) -> (String, bool, bool) {
    let anew = with_client_id(says(session, "ann", "anew", 9), client_id);
    let outcome = ledger.append(session, vec![anew], at(9)).await.expect("answered");
    let accepted = &outcome.accepted[0];
    (accepted.id.to_string(), accepted.duplicate, accepted.forgotten)
}

/// A ledger that adopts another's data knows the same messages, and the deleted ones.
pub async fn carried_messages_are_known_elsewhere(ledger: &impl Ledger) {
    let (here, there) = (session("a", "s"), session("b", "s"));
    let messages = vec![
        with_client_id(says(&here, "ann", "m1", 0), "c1"),
        new(says(&here, "ann", "m2", 1)),
        with_client_id(says(&here, "ann", "m3", 2), "c3"),
    ];
    ledger.append(&here, messages, at(1)).await.expect("accepted");
    let gone = Sweep::Messages(scope("a"), message_ids(&["m3"]));
    ledger.sweep(gone).await.expect("swept");
    let brought = carried(ledger, "a").await;
    assert_eq!(
        brought.client_ids,
        BTreeMap::from([(MessageId::new("m1"), "c1".to_owned())])
    );
    assert_eq!(brought.forgotten.len(), 1);
    let is_digest = |mark: &String| mark.len() == 64 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(brought.forgotten.iter().all(is_digest), "{brought:?}");
    assert_eq!(carried(ledger, "b").await, Carried::default());

    let told = [("m1", Some("c1")), ("m2", None)];
    adopt(ledger, written("t1", &there, "ann", &told), &brought.forgotten).await;
    assert_eq!(carried(ledger, "b").await, brought, "it goes on as it came");
    assert_eq!(sent(ledger, &there, "c1").await, ("m1".to_owned(), true, false));
    assert_eq!(sent(ledger, &there, "c3").await, ("anew".to_owned(), true, true));
    assert!(ledger.buffer(&there).await.expect("reads").is_empty());
    let tail = ledger.tail(&there.scope, &user("ann")).await.expect("reads");
    assert!(tail.is_empty(), "it is written: {tail:?}");
    assert_eq!(ledger.buffered().await.expect("reads").sessions, 1);
}

/// A message adopted without its client id is recognised by its content.
pub async fn a_message_without_its_client_id_is_recognised(ledger: &impl Ledger) {
    let s = session("b", "s");
    adopt(
        ledger,
        written("t1", &s, "ann", &[("m1", None), ("m2", None)]),
        &BTreeSet::new(),
    )
    .await;
    let again = async |id: &str, second: i64| {
        let mut said = says(&s, "ann", "m1", second);
        said.id = MessageId::new(id);
        let new = vec![with_client_id(said, &format!("client-{id}"))];
        let outcome = ledger.append(&s, new, at(9)).await.expect("answered");
        (outcome.accepted[0].id.to_string(), outcome.accepted[0].duplicate)
    };
    assert_eq!(again("anew", 0).await, ("m1".to_owned(), true));
    assert_eq!(
        again("later", 7).await,
        ("later".to_owned(), false),
        "said at another time"
    );
}

/// Existing data stays as it is; another owner of a segment is added.
pub async fn an_adopted_segment_is_there_once(ledger: &impl Ledger) {
    let (s, other) = (session("b", "s"), session("b", "other"));
    let none = BTreeSet::new();
    let told = [("m1", Some("c1")), ("m2", None)];
    for owner in ["ann", "bob", "ann"] {
        adopt(ledger, written("t1", &s, owner, &told), &none).await;
    }
    let of = async |id: &str| ledger.cell(&CellId::new(id)).await.expect("reads");
    let t1 = of("t1").await.expect("is there");
    assert_eq!(ids(&t1.messages), ["m1", "m2"]);
    assert_eq!(t1.owners, [user("ann"), user("bob")]);
    // Refused: messages that another segment has, a known client id, and a segment id of another session.
    adopt(ledger, written("t2", &s, "ann", &told), &none).await;
    adopt(ledger, written("t3", &s, "ann", &[("m5", Some("c1"))]), &none).await;
    adopt(ledger, written("t1", &other, "ann", &[("m6", None)]), &none).await;
    assert_eq!((of("t2").await, of("t3").await), (None, None));
    let asked = message_ids(&["m5", "m6"]);
    let found: Vec<Message> = ledger.messages(&s.scope, &asked).await.expect("reads");
    assert!(found.is_empty(), "{found:?}");
    // The buffer stays a buffer, and the segment can be deleted like any other.
    let more = vec![new(says(&s, "ann", "m7", 7))];
    ledger.append(&s, more, at(7)).await.expect("accepted");
    adopt(ledger, written("t4", &s, "ann", &[("m8", None)]), &none).await;
    let tail = ledger.tail(&s.scope, &user("ann")).await.expect("reads");
    assert_eq!(ids(&tail), ["m7"]);
    let gone = Sweep::Messages(s.scope.clone(), message_ids(&["m1"]));
    ledger.sweep(gone).await.expect("swept");
    assert!(sent(ledger, &s, "c1").await.2, "its client id was deleted");
    let swept = ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    assert_eq!((swept.messages, swept.cells), (3, 2));
}

/// A user's buffered and unwritten messages are counted, separately for each scope.
pub async fn waiting_messages_are_counted_by_user(ledger: &impl Ledger) {
    let (s, foreign) = (session("a", "s"), session("b", "s"));
    let said = vec![
        new(says(&s, "ann", "m1", 1)),
        new(replies(&s, "bot", "m2", 2)),
        new(says(&s, "bob", "m3", 3)),
    ];
    ledger.append(&s, said, at(1)).await.expect("accepted");
    let said = vec![new(says(&foreign, "ann", "f1", 1))];
    ledger.append(&foreign, said, at(1)).await.expect("accepted");
    let waiting = async || -> Vec<(String, String, usize)> {
        let waiting = ledger.waiting().await.expect("reads").into_iter();
        let row = |((scope, owner), count): ((model::Scope, Owner), usize)| {
            (scope.app.to_string(), owner.id.to_string(), count)
        };
        waiting.map(row).collect()
    };
    let row = |app: &str, id: &str, count| (app.to_owned(), id.to_owned(), count);
    let all = [row("a", "ann", 3), row("a", "bob", 3), row("b", "ann", 1)];
    assert_eq!(waiting().await, all);
    let buffer = ledger.buffer(&s).await.expect("reads");
    let cells = vec![cell("c1", &buffer, &["ann"])];
    ledger.cut(cut(cells)).await.expect("cut");
    assert_eq!(waiting().await, [row("a", "ann", 3), row("b", "ann", 1)]);
    finish_all(ledger).await;
    assert_eq!(waiting().await, [row("b", "ann", 1)]);
}
