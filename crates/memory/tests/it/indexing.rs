//! The index can be lost, broken, of another model: no answer is.

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
    // The first question waits until there is something to answer from.
    assert_eq!(answers(&engine).await, before);
    stage.rest(&engine).await;
    stage.check().await;
    assert_eq!(
        engine.status().await.expect("it answers").index,
        IndexHealth::Ready
    );
}

#[tokio::test]
async fn a_rebuild_changes_no_answer_and_tells_how_far_it_is() {
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
async fn a_lost_ledger_of_files_is_made_good() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    // Deleted while nobody looked, and nobody knows that it was indexed.
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
async fn an_index_that_breaks_while_it_serves_is_built_anew() {
    let stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    let before = answers(&engine).await;
    stage.index.damage("a file is missing");
    // Owners at hand go on; a job, or an owner who is not at hand, finds out.
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
async fn another_embedder_takes_over_while_search_goes_on() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;

    stage.embedder = Arc::new(HashEmbedder::named("another", 32));
    stage.embedder.set_failing(true);
    let engine = stage.open().await;
    let found = ask(&engine, "ann", "violin").await;
    assert_eq!(
        found.method,
        Method::Keyword,
        "vectors of two models are never compared"
    );
    assert!(!found.messages.is_empty());
    // What is remembered meanwhile is found too.
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
async fn vectors_of_two_models_never_meet_while_the_index_is_built_anew() {
    let mut stage = Stage::default();
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    engine.shutdown().await;
    stage.embedder = Arc::new(HashEmbedder::named("another", 32));
    // The first try fails, and the clock stands until the second.
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
async fn what_is_written_while_the_index_is_built_is_in_it_when_it_is() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    remember(&stage, &engine).await;
    slow.arm(At::StageAdd);
    let building = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.rebuild().await })
    };
    slow.called().await;
    // Every file was read. What is written and forgotten now is so in the old index.
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
async fn a_slow_embedder_does_not_keep_a_new_index_from_answering() {
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
async fn how_a_models_cosines_lie_is_measured_once_and_again_only_after_a_failure() {
    let stage = Stage {
        embedder: Arc::new(HashEmbedder::new(64).slow()),
        ..Stage::default()
    };
    let engine = stage.open().await;
    remember(&stage, &engine).await;
    stage.rest(&engine).await;
    let own = engine.own_cosine(0.5);
    stage.embedder.set_failing(true);
    assert!((own.await - 0.5).abs() < 1e-6, "unknown: as the built-in table's");
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
    assert!(
        (engine.own_cosine(0.5).await - 0.5).abs() > 0.01,
        "it is another model"
    );
}

#[tokio::test]
async fn an_embedder_that_fails_delays_vectors_and_nothing_else() {
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
async fn one_id_in_two_files_is_built_once() {
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
async fn what_changed_while_no_engine_ran_is_looked_at_before_an_answer() {
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
async fn an_answer_during_the_first_scan_says_what_it_lacks() {
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
