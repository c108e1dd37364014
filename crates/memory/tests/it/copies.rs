//! The daily copy of the ledger: when it is made, the effect of a deletion on it, and a full disk. Retention of
//! sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use memory::{Engine, Forget, Parts};
use model::{Date, SessionKey, Timestamp};
use ports::{Clock as _, JobId, JobKind, Jobs as _, LedgerError, NewJob, NoRoom, Retention};
use testkit::ledger::MemoryLedger;
use tokio::task::yield_now;

use crate::stage::{Stage, finds, say, session};

const LOOK: Duration = Duration::from_mins(5);

/// A ledger that has no room for copies while it is full.
#[derive(Debug)]
struct FullDisk {
    ledger: Arc<MemoryLedger>,
    is_full: AtomicBool,
}

#[async_trait]
impl Retention for FullDisk {
    async fn drop_finished(&self, before: Timestamp) -> Result<usize, LedgerError> {
        self.ledger.drop_finished(before).await
    }

    async fn quiet_sessions(&self, before: Timestamp) -> Result<Vec<SessionKey>, LedgerError> {
        self.ledger.quiet_sessions(before).await
    }

    async fn copies(&self) -> Result<Vec<Date>, LedgerError> {
        self.ledger.copies().await
    }

    async fn copy(&self, day: Date) -> Result<bool, LedgerError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(LedgerError::Store(Box::new(NoRoom::Full.because("planted"))));
        }
        self.ledger.copy(day).await
    }
}

/// Lets running work finish, advances the clock, and runs everything that is due.
async fn pass(stage: &Stage, time: Duration) {
    for time in [Duration::ZERO, time] {
        stage.clock.advance(time);
        for _ in 0..500 {
            yield_now().await;
        }
    }
}

async fn newest(engine: &Engine) -> Option<Date> {
    engine.status().await.expect("it answers").newest_copy
}

#[tokio::test]
async fn each_day_has_a_copy() {
    let stage = Stage::default();
    let engine = stage.open().await;
    pass(&stage, LOOK / 2).await;
    assert_eq!(newest(&engine).await, None, "a short command makes none");
    pass(&stage, LOOK).await;
    let first = newest(&engine).await.expect("made");
    pass(&stage, Duration::from_hours(24)).await;
    assert_eq!(newest(&engine).await, first.tomorrow().ok());
    stage.drive(engine.shutdown()).await;
}

#[tokio::test]
async fn a_copy_waits_an_hour_for_running_work() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let waiting = NewJob {
        id: JobId("later".to_owned()),
        kind: JobKind::MemoryFlush,
        session: session("one"),
        subject: "one".to_owned(),
        run_at: stage.clock.now().plus_millis(86_400_000),
    };
    let queued = stage.ledger.enqueue(vec![waiting], stage.clock.now());
    queued.await.expect("queued");
    for _ in 0..12 {
        pass(&stage, LOOK).await;
        assert_eq!(newest(&engine).await, None);
    }
    pass(&stage, LOOK).await;
    assert!(newest(&engine).await.is_some());
    stage.drive(engine.shutdown()).await;
}

#[tokio::test]
async fn a_deletion_removes_the_copies_and_counts_them() {
    let stage = Stage::default();
    let engine = stage.open().await;
    say(&engine, &session("one"), "ann", 0, "I live in Lisbon.").await;
    for _ in 0..2 {
        pass(&stage, Duration::from_hours(24)).await;
    }
    stage.rest(&engine).await;
    let forget = |name| engine.forget(Forget::Session(session(name)));
    let forgot = stage.drive(forget("another")).await.expect("done");
    assert_eq!(forgot.copies, 0);
    let forgot = stage.drive(forget("one")).await.expect("done");
    assert_eq!(forgot.copies, 2);
    assert_eq!(newest(&engine).await, None);
    pass(&stage, LOOK).await;
    assert!(newest(&engine).await.is_some(), "the next one has nothing of it");
    stage.drive(engine.shutdown()).await;
}

#[tokio::test]
async fn a_session_without_a_message_for_keep_days_is_forgotten() {
    for keep_days in [0, 30] {
        let mut stage = Stage::default();
        stage.settings.keep_days = keep_days;
        let engine = stage.open().await;
        for name in ["old", "kept"] {
            say(
                &engine,
                &session(name),
                "ann",
                0,
                &format!("The {name} boat lies in Lisbon."),
            )
            .await;
        }
        stage.rest(&engine).await;
        pass(&stage, Duration::from_hours(29 * 24)).await;
        assert!(finds(&engine, "ann", "boat", "old boat").await, "it is not time");
        say(&engine, &session("kept"), "ann", 1, "The kept boat has a sail.").await;
        for _ in 0..25 {
            pass(&stage, Duration::from_hours(1)).await;
        }
        stage.rest(&engine).await;
        let is_kept = keep_days == 0;
        assert_eq!(finds(&engine, "ann", "boat", "old boat").await, is_kept);
        let texts = format!("{:?}{:?}", stage.ledger.everything(), stage.vault.entries());
        assert_eq!(texts.contains("old boat"), is_kept, "{texts}");
        assert!(finds(&engine, "ann", "boat", "kept boat").await);
        stage.drive(engine.shutdown()).await;
    }
}

#[tokio::test]
async fn a_failed_copy_is_reported_in_the_status_and_fails_no_request() {
    let stage = Stage::default();
    let disk = Arc::new(FullDisk {
        ledger: stage.ledger.clone(),
        is_full: AtomicBool::new(true),
    });
    let parts = Parts {
        retention: disk.clone(),
        ..stage.parts()
    };
    let engine = Engine::start(parts, stage.settings.clone())
        .await
        .expect("starts");
    pass(&stage, LOOK).await;
    say(&engine, &session("one"), "ann", 0, "I live in Lisbon.").await;
    let problems = async || engine.status().await.expect("it answers").problems();
    let [problem] = &problems().await[..] else {
        panic!("one problem")
    };
    assert!(
        problem.starts_with("cannot make the daily copy of the ledger: ") && problem.contains("planted"),
        "{problem}"
    );
    disk.is_full.store(false, Ordering::Relaxed);
    pass(&stage, LOOK).await;
    assert_eq!(problems().await, [""; 0]);
    assert!(newest(&engine).await.is_some());
    stage.drive(engine.shutdown()).await;
}
