//! Every call of the stores may fail, and the result is the same in the end.

use model::EntryKind;
use testkit::ledger::Fault;

use crate::strategies::agents::stage::{Stage, deployment, writer};

/// An agent does two deployments; then this call of one of the stores fails while cases and a draft are made.
async fn learnt_with(fail: impl FnOnce(&Stage)) -> (Vec<String>, u64, usize) {
    let stage = Stage::open(Some(writer())).await;
    let mut events = stage.hear("s1", deployment("billing", 0)).await;
    events.extend(stage.hear("s2", deployment("search", 1)).await);
    let before = (stage.vault.calls(), stage.ledger.calls());
    fail(&stage);
    // The sender of events retries until they are accepted.
    while stage.offline.events().emit(events.clone()).await.is_err() {}
    stage.rest().await;
    let made = (stage.vault.calls() - before.0, stage.ledger.calls() - before.1);
    let kinds = (
        stage.learnt(EntryKind::Case).await.len(),
        stage.learnt(EntryKind::Skill).await.len(),
    );
    assert_eq!(kinds, (2, 1), "{:?}", stage.runs().await);
    let files = stage.files();
    stage.close().await;
    (files, made.0, made.1)
}

#[tokio::test]
async fn a_failure_of_any_call_makes_each_case_and_draft_once() {
    let (expected, vault_calls, ledger_calls) = learnt_with(|_| {}).await;
    assert!(
        vault_calls > 5 && ledger_calls > 5,
        "{vault_calls} {ledger_calls}"
    );
    for n in 1..=vault_calls {
        let (files, ..) = learnt_with(|stage| stage.vault.fail_call(n)).await;
        assert_eq!(files, expected, "call {n} of the vault failed");
    }
    for n in 1..=ledger_calls {
        for fault in [Fault::Refused, Fault::AnswerLost] {
            let (files, ..) = learnt_with(|stage| stage.ledger.fail_call(n, fault)).await;
            assert_eq!(files, expected, "call {n} of the ledger: {fault:?}");
        }
    }
}
