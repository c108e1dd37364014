//! Only equal keys exclude each other, and unused keys are removed.

use futures::FutureExt;

use super::KeyedLocks;

#[test]
fn a_key_excludes_itself_and_nobody_else() {
    let locks = KeyedLocks::default();
    let held = locks.lock(&"a").now_or_never().expect("nobody holds it");
    assert!(locks.lock(&"a").now_or_never().is_none());
    assert!(locks.lock(&"b").now_or_never().is_some());
    drop(held);
    assert!(locks.lock(&"a").now_or_never().is_some());
}

#[test]
fn a_key_that_nobody_wants_takes_no_memory() {
    let locks = KeyedLocks::default();
    let held = locks.lock(&1).now_or_never().expect("nobody holds it");
    let mut waiting = Box::pin(locks.lock(&1));
    assert!((&mut waiting).now_or_never().is_none());
    drop(held);
    assert_eq!(locks.len(), 1, "somebody waits still");
    drop(waiting);
    assert_eq!(locks.len(), 0);
}
