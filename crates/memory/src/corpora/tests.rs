//! Owners at hand: who is let go, and when.

use std::sync::Arc;

use model::{Name, Owner, Scope};

use super::Corpora;

fn owner(n: usize) -> Owner {
    Owner::user(Name::parse(&format!("u{n}")).expect("a proper name"))
}

#[test]
fn the_least_recently_used_go_first_and_never_the_one_in_use() {
    let corpora = Corpora::new(250);
    let scope = Scope::default();
    for n in 0..4 {
        corpora.slot(&scope, &owner(n)).set_bytes(100);
    }
    // Used again: now the second is the oldest.
    let in_use = corpora.slot(&scope, &owner(0));
    corpora.shrink(&in_use);
    let hot: Vec<bool> = (0..4).map(|n| corpora.is_hot(&scope, &owner(n))).collect();
    assert_eq!(hot, [true, false, false, true]);
    in_use.set_bytes(1_000);
    corpora.shrink(&in_use);
    assert!(corpora.is_hot(&scope, &owner(0)) && !corpora.is_hot(&scope, &owner(3)));
}

#[test]
fn who_is_being_loaded_stays() {
    let corpora = Corpora::new(1);
    let scope = Scope::default();
    let loading = corpora.slot(&scope, &owner(1));
    let in_use = corpora.slot(&scope, &owner(2));
    in_use.set_bytes(500);
    corpora.shrink(&in_use);
    assert!(corpora.is_current(&scope, &loading));
}

#[test]
fn letting_go_makes_earlier_tickets_void() {
    let corpora = Corpora::new(1);
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
