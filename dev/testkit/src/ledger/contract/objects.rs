//! The objects that a model server stores for an owner: their owner, their maximum number, and their sweeps.
//!
//! Owns: the meaning of the objects of `Conversations`. Never: logs.

use model::{Owner, Scope};
use ports::{Conversations, OBJECTS_MAX, Sweep, Transcripts};

use crate::ledger::samples::{name, scope, session};

fn ann() -> Owner {
    Owner::user(name("ann"))
}

async fn record(ledger: &impl Conversations, scope: &Scope, owner: &Owner, ids: &[&str]) {
    let ids = ids.iter().map(ToString::to_string).collect();
    ledger.record_objects(scope, owner, ids).await.expect("recorded");
}

async fn owned(ledger: &impl Conversations, scope: &Scope, owner: &Owner, ids: &[&str]) -> Vec<String> {
    let ids = ids.iter().map(ToString::to_string).collect();
    ledger.owned_objects(scope, owner, ids).await.expect("reads")
}

pub async fn an_object_is_known_as_its_owners(ledger: &impl Conversations) {
    let ids = ["r2", "r1", "r3", "R1", ""];
    assert!(owned(ledger, &scope("a"), &ann(), &ids).await.is_empty());
    record(ledger, &scope("a"), &ann(), &["r1", "r2", "r1"]).await;
    record(ledger, &scope("a"), &ann(), &["r2"]).await;
    assert_eq!(owned(ledger, &scope("a"), &ann(), &ids).await, ["r2", "r1"]);
    for (scope, owner) in [
        (scope("a"), Owner::user(name("bob"))),
        (scope("a"), Owner::agent(name("ann"))),
        (scope("b"), ann()),
    ] {
        assert!(owned(ledger, &scope, &owner, &ids).await.is_empty());
        record(ledger, &scope, &owner, &["r1"]).await;
        assert_eq!(owned(ledger, &scope, &owner, &ids).await, ["r1"]);
    }
}

pub async fn the_newest_objects_of_an_owner_are_known(ledger: &impl Conversations) {
    record(ledger, &scope("a"), &Owner::user(name("bob")), &["r0"]).await;
    let many = (0..OBJECTS_MAX).map(|n| format!("r{n}")).collect();
    ledger
        .record_objects(&scope("a"), &ann(), many)
        .await
        .expect("recorded");
    let ids = ["r0", "r1", "r2", "new"];
    assert_eq!(owned(ledger, &scope("a"), &ann(), &ids).await, ["r0", "r1", "r2"]);
    record(ledger, &scope("a"), &ann(), &["r5", "new"]).await;
    assert_eq!(
        owned(ledger, &scope("a"), &ann(), &ids).await,
        ["r1", "r2", "new"]
    );
    let bobs = owned(ledger, &scope("a"), &Owner::user(name("bob")), &ids).await;
    assert_eq!(bobs, ["r0"], "each owner's own");
}

/// Sweeps of the owner and of the scope delete them; sweeps of a session do not.
pub async fn sweeps_take_objects(ledger: &(impl Conversations + Transcripts)) {
    let bob = Owner::user(name("bob"));
    let all = [("a", ann()), ("a", bob), ("b", ann())];
    for (app, owner) in &all {
        record(ledger, &scope(app), owner, &["r1"]).await;
    }
    let (s, a) = (session("a", "s"), scope("a"));
    for (sweep, left) in [
        (Sweep::Session(s.clone()), [true, true, true]),
        (Sweep::OwnerInSession(s, ann()), [true, true, true]),
        (Sweep::Owner(a.clone(), ann()), [false, true, true]),
        (Sweep::Scope(a), [false, false, true]),
    ] {
        ledger.sweep(sweep.clone()).await.expect("swept");
        for ((app, owner), is_left) in all.iter().zip(left) {
            let known = owned(ledger, &scope(app), owner, &["r1"]).await;
            assert_eq!(!known.is_empty(), is_left, "{sweep:?}: {app} {owner:?}");
        }
    }
}
