//! The n-th call of the store fails, for every n: no work is lost, and every started run ends.

use std::time::Duration;

use testkit::ledger::Fault;

use crate::stage::{IDLE, Stage, at_once, when_idle, written};

#[tokio::test]
async fn a_failure_of_any_store_call_loses_no_work() {
    for fault in [Fault::Refused, Fault::AnswerLost] {
        let mut n = 1;
        loop {
            let stage = Stage::default();
            let (now, idle) = (at_once("now"), when_idle("idle"));
            stage.ledger.fail_call(n, fault);
            let calls_before = stage.ledger.calls();
            let offline = stage.build(&[&now, &idle]);
            while offline.start().await.is_err() {}
            stage.pass(Duration::ZERO).await;
            // The sender retries, as the job that writes a segment does.
            while offline.events().emit(vec![written("ann", "mc1")]).await.is_err() {}
            stage.pass(Duration::ZERO).await;
            for _ in 0..20 {
                stage.pass(IDLE / 10).await;
            }
            let made = stage.ledger.calls() - calls_before;
            stage.ledger.repair();
            let states = stage.states().await;
            assert!(
                states.split(' ').all(|state| state == "success"),
                "{fault:?} {n}: {states}"
            );
            assert!(
                !now.begun().is_empty() && !idle.begun().is_empty(),
                "{fault:?} {n}"
            );
            offline.stop().await;
            if n > made {
                break;
            }
            n += 1;
        }
        assert!(n > 6, "the fault met every call");
    }
}
