//! Daily copies of the ledger.
//!
//! Owns: how many there are, and that none outlives a deletion. Never: their content, which only an adapter has.

use model::Date;
use ports::{COPIES_MAX, Sweep};

use super::Ledger;
use crate::ledger::samples::{at, new, says, session};

fn day(day: usize) -> Date {
    Date::constant(2026, 11, i8::try_from(day).expect("a day"))
}

/// The newest by day, in whatever order they were made; a day has one.
pub async fn the_newest_are_kept(ledger: &impl Ledger) {
    assert_eq!(ledger.copies().await.expect("reads"), []);
    for of in (1..=COPIES_MAX + 2).rev().chain([4, COPIES_MAX + 2]) {
        assert!(ledger.copy(day(of)).await.expect("made"));
    }
    let newest: Vec<Date> = (3..=COPIES_MAX + 2).map(day).collect();
    assert_eq!(ledger.copies().await.expect("reads"), newest);
}

/// A sweep that finds nothing leaves them.
pub async fn a_deletion_takes_them_along(ledger: &impl Ledger) {
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
