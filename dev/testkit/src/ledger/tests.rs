//! The fake keeps the contract, fails at planned calls, and refuses callers that break the ports' promises.

use std::panic::AssertUnwindSafe;

use model::MessageId;
use ports::{Cut, JobId, JobKind, Jobs, LedgerError, NewMessage, Transcripts};

use super::samples::{at, cell, cut, job, new, says, session};
use super::{Fault, MemoryLedger, contract};

#[tokio::test]
async fn the_fake_keeps_the_contract() {
    contract::check_all(MemoryLedger::new).await;
}

fn message(id: &str) -> Vec<NewMessage> {
    vec![new(says(&session("a", "s"), "ann", id, 1))]
}

#[tokio::test]
async fn the_nth_call_fails_as_planned() {
    let ledger = MemoryLedger::new();
    let s = session("a", "s");
    let append = async |id: &str| ledger.append(&s, message(id), at(1)).await.map(|a| a.buffered);
    let buffered = || ledger.everything().len();

    ledger.fail_call(2, Fault::Refused);
    assert!(append("m1").await.is_ok());
    assert!(matches!(append("m2").await, Err(LedgerError::Store(_))));
    assert_eq!((append("m3").await.ok(), buffered()), (Some(2), 2));

    ledger.fail_call(1, Fault::AnswerLost);
    assert!(append("m4").await.is_err());
    assert_eq!(buffered(), 3, "it happened all the same");

    ledger.fail_call(1, Fault::Down);
    assert!(append("m5").await.is_err());
    assert!(append("m6").await.is_err(), "down stays down");
    assert_eq!(buffered(), 3);
    ledger.repair();
    assert!(append("m7").await.is_ok());
    assert_eq!(ledger.calls(), 7);
}

fn panics(call: impl Future<Output = ()>) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    std::panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(call))).is_err()
}

#[test]
fn a_caller_that_breaks_the_protocol_panics() {
    let ledger = MemoryLedger::new();
    let s = session("a", "s");
    let other = session("a", "other");
    assert!(panics(async {
        drop(ledger.append(&other, message("m1"), at(1)).await);
    }));
    assert!(!panics(async {
        drop(ledger.append(&s, message("m1"), at(1)).await);
    }));
    let whole = cut(vec![cell("c1", &[says(&s, "ann", "m1", 1)], &["ann"])]);
    let without_job = Cut {
        jobs: Vec::new(),
        ..whole.clone()
    };
    assert!(panics(async { drop(ledger.cut(without_job).await) }));
    let mut unordered = whole.clone();
    unordered.cells[0].messages.push(says(&s, "ann", "m0", 0));
    assert!(panics(async { drop(ledger.cut(unordered).await) }));
    let mut empty = whole;
    empty.cells[0].messages.clear();
    assert!(panics(async { drop(ledger.cut(empty).await) }));
    assert!(panics(async { drop(ledger.claim(1, 0, at(5), at(5)).await) }));
    let everything = ledger.everything();
    assert_eq!(
        (everything.len(), &everything[0].0.id),
        (1, &MessageId::new("m1"))
    );
    assert!(panics(async {
        let queued = ledger
            .enqueue(vec![job("j", JobKind::MemoryAdd, &s)], at(1))
            .await;
        queued.expect("queued");
        drop(ledger.complete(&[JobId("j".to_owned())], at(2)).await);
    }));
}
