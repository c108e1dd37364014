//! Sweeps of background runs.
//!
//! Owns: that runs are forgotten with their owners. Never: the life of a run (`runs`).

use model::{Owner, SessionKey, Timestamp};
use ports::runs::{Cause, NewRun, Runs, Verdict, Work};
use ports::{Sweep, Transcripts};

use super::runs::{all, claimed, end, listed, new, queue, work};
use crate::ledger::samples::{at, name, scope, session};

/// Sweeps delete the runs of the swept owners; then the next run of a lane can be claimed.
pub(super) async fn sweeps_take_runs(ledger: &(impl Runs + Transcripts)) {
    let talk = session("a", "talk");
    let of = |id: &str, user: &str, talk: Option<&SessionKey>, due| NewRun {
        session: talk.map(|key| key.session.clone()),
        ..new(
            id,
            Work {
                owner: Some(Owner::user(name(user))),
                ..work(id)
            },
            Cause::Event,
            due,
        )
    };
    let other = session("a", "other");
    let elsewhere = Work {
        scope: scope("b"),
        ..work("z")
    };
    let all_runs = vec![
        of("r1", "ann", Some(&talk), 1),
        of("r2", "ann", Some(&other), 2),
        of("r3", "bob", Some(&talk), 1),
        of("r4", "bob", None, 2),
        NewRun {
            session: Some(talk.session.clone()),
            ..new("r5", elsewhere, Cause::Event, 1)
        },
    ];
    let left = async |sweep| {
        ledger.sweep(sweep).await.expect("swept");
        let left = listed(&ledger.page(&all()).await.expect("reads").runs);
        let next = claimed(ledger, 5).await;
        for id in next.split_whitespace() {
            end(ledger, id, Verdict::HandBack, 5).await;
        }
        ledger.release_all(at(1), at(1)).await.expect("nothing is leased");
        (left, next)
    };
    let words = |left: &str, next: &str| (left.to_owned(), next.to_owned());
    let queued = ledger.enqueue(all_runs, Timestamp::from_millis(1)).await;
    queued.expect("queued");
    let ann = || Owner::user(name("ann"));
    assert_eq!(
        left(Sweep::OwnerInSession(talk.clone(), ann())).await,
        words("r5 r4 r3 r2", "r3 r5 r2")
    );
    assert_eq!(left(Sweep::Session(talk)).await, words("r5 r4 r2", "r2 r4 r5"));
    assert_eq!(
        left(Sweep::Owner(scope("a"), ann())).await,
        words("r5 r4", "r4 r5")
    );
    assert_eq!(left(Sweep::Scope(scope("b"))).await, words("r4", "r4"));
    // Work that two sessions asked for belongs to neither.
    let (a, b) = (session("a", "one"), session("a", "two"));
    let shared = |id: &str, key| NewRun {
        session: Some(SessionKey::clone(key).session),
        ..new(id, work("w"), Cause::Event, 1)
    };
    queue(ledger, shared("r6", &a)).await;
    queue(ledger, shared("r7", &b)).await;
    assert_eq!(left(Sweep::Session(a)).await.0, "r6 r4");
}
