//! The index can be lost, broken or of another model: no answer is lost.

use std::sync::Arc;

use memory::{Engine, EngineError, Found, Method, Parts};
use model::EntryKind;
use ports::{Embedder, IndexError, IndexHealth, Vault as _};
use testkit::index::MemoryIndex;
use testkit::models::HashEmbedder;

use crate::slow::{At, Slow};
use crate::stage::{Stage, ask, finds, flush, question, say, session, turns, written};
use testkit::faults::Mode;

async fn remember(stage: &Stage, engine: &Engine) {
    for n in 0..6 {
        let key = session(&format!("s{n}"));
        say(
            engine,
            &key,
            "ann",
            n * 60,
            &format!("Lesson {n} was about the violin"),
        )
        .await;
        say(
            engine,
            &key,
            "bob",
            n * 60 + 1,
            &format!("Lesson {n} was about the viola"),
        )
        .await;
        engine.flush(flush(&key)).await.expect("it cuts");
    }
    let open = session("open");
    say(engine, &open, "ann", 600, "The violin is still open").await;
    assert_eq!(stage.rest(engine).await, 0);
}

async fn answers(engine: &Engine) -> Vec<Found> {
    let mut answers = Vec::new();
    for owner in ["ann", "bob"] {
        for query in ["violin", "lesson 3", "viola lesson", "still open"] {
            for method in [Method::Keyword, Method::Vector, Method::Hybrid] {
                let search = memory::Search {
                    method,
                    ..question(owner, query)
                };
                answers.push(engine.search(search).await.expect("it answers"));
            }
        }
    }
    answers
}

#[tokio::test]
async fn a_deleted_index_loses_no_answer() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    let before = answers(&engine).await;
    engine.shutdown().await;
    stage.index.wipe();
    let engine = stage.open().await;
    // The first search waits until the index can answer.
    assert_eq!(answers(&engine).await, before);
    stage.rest(&engine).await;
    stage.check().await;
    assert_eq!(
        engine.status().await.expect("it answers").index,
        IndexHealth::Ready
    );
}

#[tokio::test]
async fn a_rebuild_changes_no_answer_and_reports_its_progress() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    remember(&stage, &engine).await;
    let before = answers(&engine).await;
    slow.arm(At::Publish);
    let own = engine.clone();
    let rebuilding = tokio::spawn(async move { own.rebuild().await });
    slow.called().await;
    let far = engine.status().await.expect("it answers").rebuilding;
    slow.let_go();
    let built = rebuilding.await.expect("no panic").expect("it builds");
    assert_eq!(built.entries_added, stage.vault.entries().len());
    assert_eq!(answers(&engine).await, before);
    let rows = stage.index.rows().len();
    assert_eq!(far, Some((rows, rows)));
    assert!(engine.status().await.expect("it answers").rebuilding.is_none());
    stage.check().await;
}

#[tokio::test]
async fn a_lost_file_change_ledger_is_restored_from_the_vault() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    // Deleted while no engine ran, and the new ledger does not know that it was indexed.
    let path = stage
        .vault
        .paths()
        .into_iter()
        .find(|path| path.contains("bob/episode"))
        .expect("bob has one");
    stage.vault.by_hand(&path, false, |entries| {
        entries.pop();
    });
    stage.ledger = Arc::default();
    let engine = stage.open().await;
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn after_a_lost_ledger_the_same_messages_are_stored_once() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    let files = stage.vault.entries().len();
    stage.ledger = Arc::default();
    let engine = stage.open().await;
    stage.rest(&engine).await;
    remember(&stage, &engine).await;
    assert_eq!(stage.vault.entries().len(), files);
    assert!(
        stage.vault.name().is_none(),
        "the ledger is the only one that writes"
    );
    stage.check().await;
}

#[tokio::test]
async fn an_index_that_breaks_while_it_serves_is_rebuilt() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    let before = answers(&engine).await;
    stage.index.damage("a file is missing");
    // Cached owners still get answers; a job or an uncached owner meets the error.
    assert!(finds(&engine, "ann", "violin", "violin").await);
    let stranger = engine.search(question("cid", "violin")).await;
    assert!(matches!(
        stranger,
        Err(EngineError::Index(IndexError::Unusable { .. }))
    ));
    let key = session("late");
    say(&engine, &key, "ann", 900, "A saxophone").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    assert!(
        turns(&engine, "ann", "saxophone")
            .await
            .contains(&"A saxophone".to_owned())
    );
    assert_eq!(answers(&engine).await.len(), before.len());
    stage.check().await;
}

#[tokio::test]
async fn search_continues_while_the_index_is_rebuilt_for_another_embedder() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;

    stage.embedder = Arc::new(HashEmbedder::with_name("another", 32));
    stage.embedder.set_failing(true);
    let engine = stage.open().await;
    let found = ask(&engine, "ann", "violin").await;
    assert_eq!(
        found.method,
        Method::Keyword,
        "vectors of two models are never compared"
    );
    assert!(!found.messages.is_empty());
    // Memories written meanwhile are found too.
    let key = session("late");
    say(&engine, &key, "ann", 900, "A saxophone").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    engine.settle().await.expect("it settles");
    assert!(
        turns(&engine, "ann", "saxophone")
            .await
            .contains(&"A saxophone".to_owned())
    );
    assert!(matches!(
        stage.index_health().await,
        IndexHealth::NeedsRebuild { .. }
    ));

    stage.embedder.set_failing(false);
    let ready = async {
        while stage.index_health().await != IndexHealth::Ready {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(ready).await;
    stage.rest(&engine).await;
    assert_eq!(ask(&engine, "ann", "violin").await.method, Method::Hybrid);
    stage.check().await;
}

#[tokio::test]
async fn vectors_of_two_models_are_never_mixed_during_a_rebuild() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    stage.embedder = Arc::new(HashEmbedder::with_name("another", 32));
    // The first attempt fails, and the clock does not move until the second.
    stage.faults.plan_next("publish", Mode::Refuse);
    let engine = stage.open().await;
    while stage.faults.hit().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask(&engine, "ann", "violin").await.method, Method::Keyword);
    let key = session("late");
    say(&engine, &key, "ann", 900, "A saxophone").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(engine.settle().await.expect("it settles"), 0);
    assert!(
        turns(&engine, "ann", "saxophone")
            .await
            .contains(&"A saxophone".to_owned())
    );
    let ready = async {
        while stage.index_health().await != IndexHealth::Ready {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(ready).await;
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn changes_during_a_rebuild_are_in_the_new_index() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    remember(&stage, &engine).await;
    slow.arm(At::StageAdd);
    let building = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.rebuild().await })
    };
    slow.called().await;
    // Every file was read. The old index gets the writes and deletions of now.
    let key = session("late");
    say(&engine, &key, "ann", 2, "A saxophone").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    engine.settle().await.expect("it settles");
    engine
        .forget(memory::Forget::Session(session("s3")))
        .await
        .expect("it forgets");
    slow.let_go();
    building.await.expect("no panic").expect("it builds");
    assert!(
        turns(&engine, "ann", "saxophone")
            .await
            .contains(&"A saxophone".to_owned())
    );
    assert!(
        !finds(&engine, "ann", "lesson 3", "Lesson 3").await,
        "it came back"
    );
    stage.check().await;
}

#[tokio::test]
async fn a_new_index_answers_by_keyword_before_a_slow_embedder_is_done() {
    let stage = Stage {
        embedder: Arc::new(HashEmbedder::new(64).slow()),
        ..Stage::default()
    };
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    stage.index.wipe();
    stage.embedder.set_failing(true);
    let engine = stage.open().await;
    assert!(
        turns(&engine, "ann", "violin").await.len() > 3,
        "its words are found at once"
    );
    stage.embedder.set_failing(false);
    let embedded = async {
        while stage.index.rows().iter().any(|row| row.vector.is_none()) {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(embedded).await;
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn the_distribution_of_cosines_is_measured_once_unless_it_fails() {
    let stage = Stage {
        embedder: Arc::new(HashEmbedder::new(64).slow()),
        ..Stage::default()
    };
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    stage.rest(&engine).await;
    stage.embedder.set_failing(true);
    ask(&engine, "ann", "violin").await;
    stage.embedder.set_failing(false);
    let mut calls = Vec::new();
    for _ in 0..2 {
        let before = stage.embedder.calls();
        ask(&engine, "ann", "violin").await;
        calls.push(stage.embedder.calls() - before);
    }
    assert_eq!(
        calls,
        [3, 1],
        "the query, and once the questions and the statements"
    );
}

#[tokio::test]
async fn a_failing_embedder_delays_only_vectors() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    stage.embedder.set_failing(true);
    let key = session("late");
    say(&engine, &key, "ann", 900, "A saxophone").await;
    assert_eq!(ask(&engine, "ann", "saxophone").await.method, Method::Keyword);
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.drive(engine.settle()).await.expect("it settles"), 0);
    assert!(
        turns(&engine, "ann", "saxophone")
            .await
            .contains(&"A saxophone".to_owned())
    );
    stage.embedder.set_failing(false);
    let embedded = async {
        while stage.index.rows().iter().any(|row| row.vector.is_none()) {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(embedded).await;
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn an_empty_root_is_ready_at_once() {
    let stage = Stage::default();
    let engine = stage.open().await;
    assert!(turns(&engine, "ann", "violin").await.is_empty());
    let status = engine.status().await.expect("it answers");
    assert_eq!(status.index, IndexHealth::Ready);
    assert!(status.problems().is_empty());
    assert_eq!(
        (status.files, status.open_sessions, status.buffered_messages),
        (0, 0, 0)
    );
    assert_eq!(status.embedder, Embedder::id(&*stage.embedder).model);
}

#[tokio::test]
async fn one_id_in_two_files_has_one_row() {
    let stage = Stage::default();
    for path in [
        "default/default/users/ann/episodes/a.md",
        "default/default/users/ann/episodes/b.md",
    ] {
        stage.vault.by_hand(path, false, |entries| {
            entries.push(written(
                "ann",
                EntryKind::Episode,
                "ep_same",
                0,
                "The violin is red",
            ));
        });
    }
    let engine = stage.open().await;
    assert!(finds(&engine, "ann", "violin", "violin").await);
    assert_eq!(stage.index.rows().len(), 1);
}

impl Stage {
    async fn index_health(&self) -> IndexHealth {
        let index: &MemoryIndex = &self.index;
        ports::Index::health(index, Embedder::id(&*self.embedder)).await
    }
}

#[tokio::test]
async fn changes_while_no_engine_ran_are_synced_before_the_first_answer() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    drop(engine);
    let is_episode = |(path, _): &(ports::VaultPath, _)| path.contains("ann/episodes");
    let (path, episode) = stage
        .vault
        .entries()
        .into_iter()
        .find(is_episode)
        .expect("a file");
    stage.vault.by_hand(&path, true, |entries| {
        "All about a glockenspiel".clone_into(&mut entries[0].subject);
    });
    let engine = stage.open().await;
    let hit = engine.entry(&episode.scope, &episode.owner, &episode.id).await;
    assert_eq!(hit.expect("it is there").doc.subject, "All about a glockenspiel");
    drop(engine);
    stage.vault.set_broken(&path, true);
    let engine = stage.open().await;
    let status = engine.status().await.expect("it answers");
    assert_eq!(status.broken_files.len(), 1);
}

#[tokio::test]
async fn an_answer_during_the_first_scan_warns_of_unread_files() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    let paths = stage.vault.paths();
    let path = paths.iter().find(|path| path.contains("ann/episodes"));
    stage.vault.by_hand(path.expect("a file"), true, |entries| {
        "All about a glockenspiel".clone_into(&mut entries[0].subject);
    });
    let slow = Slow::new(stage.index.clone());
    slow.arm(At::Apply);
    let parts = Parts {
        index: slow.clone(),
        ..stage.parts()
    };
    let engine = Engine::start(parts, stage.settings.clone())
        .await
        .expect("it starts");
    let found = stage.drive(engine.search(question("ann", "glockenspiel"))).await;
    let warnings = found.expect("it answers").warnings;
    assert!(
        warnings[0].starts_with("1 changed file is not read yet"),
        "{warnings:?}"
    );
    let status = stage.drive(engine.status()).await.expect("it answers");
    assert_eq!(status.unread_files, 1);
    slow.let_go();
    stage.rest(&engine).await;
    assert_eq!(engine.status().await.expect("it answers").unread_files, 0);
    let found = ask(&engine, "ann", "glockenspiel").await;
    assert!(found.warnings.is_empty() && !found.memories.is_empty());
}
