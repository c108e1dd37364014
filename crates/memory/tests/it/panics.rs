//! A background loop that panics restarts, and the status reports it.

use memory::Engine;
use model::EntryKind;
use tokio::task::yield_now;

use crate::stage::{Stage, flush, say, session, written};
use testkit::faults::Mode;

const BY_HAND: &str = "default/default/users/ann/episodes/a.md";

impl Stage {
    fn writes_by_hand(&self) {
        self.vault.by_hand(BY_HAND, true, |entries| {
            entries.push(written(
                "ann",
                EntryKind::Episode,
                "ep_hand",
                0,
                "The violin is red",
            ));
        });
    }

    /// Waits for the planned panic, and then until all work is done.
    async fn survives(&self, engine: &Engine) {
        let hit = async {
            while self.faults.hit().is_none() {
                yield_now().await;
            }
        };
        self.drive(hit).await;
        self.rest(engine).await;
        self.check().await;
        let status = engine.status().await.expect("it answers");
        assert_eq!(status.loop_panics, 1, "{:?}", self.faults.hit());
        assert!(status.last_loop_panic.is_some());
    }
}

/// `apply` and `maintain` end the index writer, `claim` the dispatcher.
#[tokio::test]
async fn a_panic_on_the_way_to_the_index_loses_nothing() {
    for call in ["apply", "maintain", "claim"] {
        let stage = Stage::default();
        let engine = stage.open().await;
        let key = session("s");
        say(&engine, &key, "ann", 0, "I live in Lisbon").await;
        stage.faults.plan_next(call, Mode::Panic);
        engine.flush(flush(&key)).await.expect("it cuts");
        stage.survives(&engine).await;
        stage.check_written(&["I live in Lisbon".to_owned()], &["ann"]);
        assert!(!stage.index.rows().is_empty(), "{call}");
    }
}

#[tokio::test]
async fn a_panic_while_following_the_vault_loses_no_edit() {
    let stage = Stage::default();
    let engine = stage.open().await;
    stage.rest(&engine).await;
    stage.faults.plan_next("stat", Mode::Panic);
    stage.writes_by_hand();
    let shown = async {
        while stage.index.rows().is_empty() {
            yield_now().await;
        }
    };
    stage.drive(shown).await;
    stage.survives(&engine).await;
}

#[tokio::test]
async fn a_rebuild_that_panics_is_repeated() {
    let stage = Stage::default();
    stage.writes_by_hand();
    stage.faults.plan_next("stage", Mode::Panic);
    let engine = stage.open().await;
    stage.survives(&engine).await;
    assert_eq!(stage.index.rows().len(), 1);
}
