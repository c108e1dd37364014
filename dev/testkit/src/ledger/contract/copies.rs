//! Daily copies of the ledger, and sessions that are old.
//!
//! Owns: the number of copies, that none outlives a deletion, and which sessions are quiet. Never: the
//! content of copies, which only an adapter has.

use model::Date;
use ports::{COPIES_MAX, JobKind, Sweep};

use super::Ledger;
use crate::ledger::samples::{at, job, new, says, session};

fn day(day: usize) -> Date {
    Date::constant(2026, 11, i8::try_from(day).expect("a day"))
}

/// Runs the functions of this file.
pub async fn check_all<L: Ledger>(fresh: &impl Fn() -> L) {
    the_newest_are_kept(&fresh()).await;
    a_deletion_takes_them_along(&fresh()).await;
    a_session_is_quiet_from_its_last_append_on(&fresh()).await;
}

/// The newest by day are kept, whatever the order in which they were made; a day has one.
async fn the_newest_are_kept(ledger: &impl Ledger) {
    assert_eq!(ledger.copies().await.expect("reads"), []);
    for of in (1..=COPIES_MAX + 2).rev().chain([4, COPIES_MAX + 2]) {
        assert!(ledger.copy(day(of)).await.expect("made"));
    }
    let newest: Vec<Date> = (3..=COPIES_MAX + 2).map(day).collect();
    assert_eq!(ledger.copies().await.expect("reads"), newest);
}

/// A sweep without matches leaves them.
async fn a_deletion_takes_them_along(ledger: &impl Ledger) {
    let (kept, gone) = (session("a", "kept"), session("a", "gone"));
    for s in [&kept, &gone] {
        let message = new(says(s, "ann", s.session.as_str(), 1));
        ledger.append(s, vec![message], at(1)).await.expect("accepted");
    }
    ledger.copy(day(1)).await.expect("made");
    ledger
        .sweep(Sweep::Session(session("a", "unknown")))
        .await
        .expect("swept");
    assert_eq!(ledger.copies().await.expect("reads"), [day(1)]);
    ledger.sweep(Sweep::Session(gone)).await.expect("swept");
    assert_eq!(ledger.copies().await.expect("reads"), []);
    ledger.copy(day(1)).await.expect("made");
    assert_eq!(ledger.copies().await.expect("reads"), [day(1)]);
    assert_eq!(ledger.buffer(&kept).await.expect("reads").len(), 1);
}

/// A session without messages is not listed, nor is a deleted one.
async fn a_session_is_quiet_from_its_last_append_on(ledger: &impl Ledger) {
    let [old, new_again, empty] = ["old", "new", "empty"].map(|name| session("a", name));
    for (s, id, now) in [(&new_again, "m1", 10), (&old, "m2", 20), (&new_again, "m3", 30)] {
        let message = new(says(s, "ann", id, 1));
        ledger.append(s, vec![message], at(now)).await.expect("accepted");
    }
    let waiting = job("j", JobKind::MemoryAdd, &empty);
    ledger.enqueue(vec![waiting], at(1)).await.expect("queued");
    let quiet = async |before| ledger.quiet_sessions(at(before)).await.expect("reads");
    assert_eq!(quiet(20).await, []);
    assert_eq!(quiet(31).await, [old.clone(), new_again.clone()]);
    assert_eq!(quiet(21).await.pop().as_ref(), Some(&old));
    ledger.sweep(Sweep::Session(old)).await.expect("swept");
    assert_eq!(quiet(31).await, [new_again]);
}
