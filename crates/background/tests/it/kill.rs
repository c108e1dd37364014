//! A process dies while runs are running: the next process resumes them at once, on the real ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use background::{BackgroundParts, BackgroundSettings, Offline};
use ledger::SqliteLedger;
use ports::runs::{RunQuery, RunState, Runs};
use testkit::clock::{CountingIds, ManualClock};

use crate::stage::{Puppet, at_once, written};

async fn until(runs: &SqliteLedger, state: RunState, count: usize) {
    let query = RunQuery {
        state: Some(state),
        page: 1,
        page_size: 9,
        ..RunQuery::default()
    };
    while runs.page(&query).await.expect("reads").total != count {
        tokio::task::yield_now().await;
    }
}

fn open(runs: &Arc<SqliteLedger>, clock: &Arc<ManualClock>, puppet: &Arc<Puppet>) -> Offline {
    let parts = BackgroundParts {
        runs: runs.clone(),
        chat: None,
        models: BTreeMap::default(),
        clock: clock.clone(),
        ids: Arc::new(CountingIds::new()),
    };
    let offline = Offline::new(parts, BackgroundSettings::default());
    offline.register(vec![puppet.clone()]);
    offline
}

#[tokio::test]
async fn a_run_of_a_killed_process_is_resumed_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let clock = Arc::new(ManualClock::new());
    let puppet = at_once("look");
    puppet.held.send_replace(true);
    for life in 1..=3 {
        let runs = Arc::new(SqliteLedger::open(&path).expect("opens"));
        let offline = open(&runs, &clock, &puppet);
        offline.start().await.expect("starts");
        if life == 1 {
            let event = written("ann", "mc1");
            offline.events().emit(vec![event]).await.expect("on disk");
        }
        if life == 3 {
            puppet.held.send_replace(false);
            until(&runs, RunState::Success, 1).await;
        } else {
            while puppet.begun().len() < life {
                tokio::task::yield_now().await;
            }
        }
        // Dropping the handle aborts every task at its current await.
        drop(offline);
        while Arc::strong_count(&runs) > 1 {
            tokio::task::yield_now().await;
        }
    }
    let attempts: Vec<u32> = puppet
        .begun
        .lock()
        .expect("no panic")
        .iter()
        .map(|run| run.attempt)
        .collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert_eq!(
        ports::Clock::elapsed(&*clock),
        Duration::ZERO,
        "nobody waited for a lease"
    );
}
