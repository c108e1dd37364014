//! The contract, which the fake fulfils too.

use std::sync::atomic::{AtomicUsize, Ordering};

use ledger::SqliteLedger;
use testkit::ledger::contract;

#[tokio::test]
async fn the_ledger_keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = AtomicUsize::new(0);
    contract::check_all(|| {
        let name = format!("{}.db", count.fetch_add(1, Ordering::Relaxed));
        SqliteLedger::open(&folder.path().join(name)).expect("opens")
    })
    .await;
}
