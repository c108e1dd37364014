//! Deleted memory is gone everywhere, and nothing else is.

use std::sync::Arc;

use memory::{Engine, EngineError, Forget};
use model::{EntryId, EntryKind, Scope, SessionKey};

use crate::held::{Call, Held};
use crate::slow::At;
use crate::stage::{Stage, add, finds, flush, new_message, say, session, turns, user};
use testkit::faults::Mode;

fn texts(stage: &Stage) -> Vec<String> {
    stage
        .ledger
        .everything()
        .iter()
        .map(|(message, _)| message.text())
        .collect()
}

/// Number of messages with the word that a search returns; neighbours without it are not counted.
async fn with_word(engine: &Engine, owner: &str, word: &str) -> usize {
    let found = turns(engine, owner, word).await;
    found.iter().filter(|text| text.contains(word)).count()
}

pub(crate) fn ids_of(stage: &Stage, owner: &str, kind: EntryKind) -> Vec<EntryId> {
    let entries = stage.vault.entries();
    let theirs = entries
        .iter()
        .filter(|(_, entry)| entry.owner == user(owner) && entry.kind == kind);
    theirs.map(|(_, entry)| entry.id.clone()).collect()
}

#[tokio::test]
async fn the_history_of_an_earlier_version_is_deleted_or_listed_as_left() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "I play the violin").await;
    stage.vault.begin_old_history();
    let nothing = engine
        .forget(Forget::Session(session("none")))
        .await
        .expect("it forgets");
    let names_it = |left: &[memory::Leftover]| left.iter().any(|left| left.what == "history.before.git");
    assert!(!nothing.old_history && names_it(&nothing.left), "{nothing:?}");
    assert!(stage.vault.has_old_history_now());
    let gone = engine.forget(Forget::Session(key)).await.expect("it forgets");
    assert!(gone.old_history && !names_it(&gone.left), "{gone:?}");
    assert!(!stage.vault.has_old_history_now());
}

#[tokio::test]
async fn a_session_is_forgotten_for_every_owner_buffered_or_written() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let (gone, kept) = (session("gone"), session("kept"));
    for key in [&gone, &kept] {
        let name = key.session.as_str();
        say(&engine, key, "ann", 0, &format!("I live in Lisbon, says {name}")).await;
        say(&engine, key, "bob", 1, &format!("The {name} violin")).await;
        engine.flush(flush(key)).await.expect("it cuts");
        say(&engine, key, "ann", 2, &format!("The {name} viola")).await;
    }
    stage.rest(&engine).await;
    assert_eq!(with_word(&engine, "bob", "violin").await, 2);
    assert_eq!(with_word(&engine, "bob", "viola").await, 2);
    let forgot = engine
        .forget(Forget::Session(gone.clone()))
        .await
        .expect("it forgets");
    assert_eq!(forgot.messages, 3);
    assert!(forgot.entries >= 2, "{forgot:?}");
    for owner in ["ann", "bob"] {
        assert!(!finds(&engine, owner, "gone violin viola Lisbon", "gone").await);
        assert_eq!(with_word(&engine, owner, "violin").await, 1);
        assert_eq!(with_word(&engine, owner, "viola").await, 1);
    }
    assert!(texts(&stage).iter().all(|text| text.contains("kept")));
    stage.rest(&engine).await;
    stage.check().await;
    let again = engine
        .forget(Forget::Session(gone))
        .await
        .expect("asking twice is no error");
    assert_eq!((again.entries, again.messages), (0, 0));
}

#[tokio::test]
async fn a_waiting_job_writes_no_deleted_segment() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The violin").await;
    stage.vault.refuse(Some("ep_"));
    engine.flush(flush(&key)).await.expect("it cuts");
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    engine.forget(Forget::Session(key)).await.expect("it forgets");
    stage.vault.refuse(None);
    assert_eq!(stage.rest(&engine).await, 0);
    assert!(stage.vault.entries().is_empty() && texts(&stage).is_empty());
    assert!(turns(&engine, "ann", "violin").await.is_empty());
}

#[tokio::test]
async fn forgetting_an_owner_keeps_the_memory_of_others_in_shared_sessions() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let (both, alone, open) = (session("both"), session("alone"), session("open"));
    say(&engine, &both, "ann", 0, "Our violin").await;
    say(&engine, &both, "bob", 1, "Our viola").await;
    say(&engine, &alone, "ann", 2, "My violin").await;
    engine.flush(flush(&both)).await.expect("it cuts");
    engine.flush(flush(&alone)).await.expect("it cuts");
    say(&engine, &open, "ann", 3, "A new violin").await;
    stage.rest(&engine).await;
    assert_eq!(with_word(&engine, "ann", "violin").await, 3);
    let forgot = engine
        .forget(Forget::Owner(Scope::default(), user("ann")))
        .await
        .expect("it forgets");
    assert_eq!(forgot.entries, 2);
    assert!(turns(&engine, "ann", "violin").await.is_empty());
    assert_eq!(
        turns(&engine, "bob", "violin viola").await.len(),
        2,
        "bob's memory is bob's"
    );
    assert_eq!(ids_of(&stage, "ann", EntryKind::Episode), []);
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn forgetting_an_owners_part_of_a_session_keeps_the_part_of_others() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let (both, other) = (session("both"), session("other"));
    say(&engine, &both, "ann", 0, "Our violin").await;
    say(&engine, &both, "bob", 1, "Our viola").await;
    say(&engine, &other, "ann", 2, "My violin at home").await;
    engine.flush(flush(&both)).await.expect("it cuts");
    engine.flush(flush(&other)).await.expect("it cuts");
    // The second segment is cut and not written; later messages stay in the buffer.
    stage.rest(&engine).await;
    stage.vault.refuse(Some("ep_"));
    say(&engine, &both, "ann", 60, "A second violin").await;
    engine.flush(flush(&both)).await.expect("it cuts");
    say(&engine, &both, "ann", 120, "A third violin").await;
    say(&engine, &both, "bob", 121, "A second viola").await;
    let what = || Forget::OwnerInSession(both.clone(), user("ann"));
    let forgot = engine.forget(what()).await.expect("it forgets");
    assert_eq!((forgot.entries, forgot.messages), (1, 3));
    stage.vault.refuse(None);
    assert_eq!(turns(&engine, "ann", "violin").await, ["My violin at home"]);
    assert_eq!(with_word(&engine, "bob", "viola").await, 2);
    assert_eq!(
        with_word(&engine, "bob", "Our violin").await,
        1,
        "he heard it, and it is written"
    );
    stage.rest(&engine).await;
    stage.check().await;
    engine.flush(flush(&both)).await.expect("it cuts");
    stage.rest(&engine).await;
    stage.check().await;
    assert_eq!(
        ids_of(&stage, "ann", EntryKind::Episode).len(),
        1,
        "nothing comes back"
    );
    let again = engine.forget(what()).await.expect("asking twice is no error");
    assert_eq!((again.entries, again.messages), (0, 0));
}

#[tokio::test]
async fn forgetting_an_episode_forgets_facts_without_another_source() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "I live in Lisbon").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    let other = session("t");
    say(&engine, &other, "ann", 10, "I live in Porto now").await;
    engine.flush(flush(&other)).await.expect("it cuts");
    stage.rest(&engine).await;
    let facts = ids_of(&stage, "ann", EntryKind::Fact);
    assert_eq!(facts.len(), 2);
    let newer = ids_of(&stage, "ann", EntryKind::Episode)[1].clone();
    let missing = EntryId::new("ep_none");
    let ids = vec![newer.clone(), missing.clone()];
    let forgot = engine
        .forget(Forget::Entries(Scope::default(), user("ann"), ids))
        .await
        .expect("it forgets");
    assert_eq!((forgot.entries, forgot.messages), (2, 1), "its fact goes with it");
    assert_eq!(forgot.missing, [missing]);
    assert_eq!(
        ids_of(&stage, "ann", EntryKind::Fact),
        facts[..1],
        "its fact goes, the other stays"
    );
    assert_eq!(texts(&stage), ["I live in Lisbon"]);
    let found = crate::stage::ask(&engine, "ann", "where does ann live Lisbon").await;
    assert!(!found.memories.is_empty());
    let hits = found
        .memories
        .iter()
        .flat_map(|hit| std::iter::once(hit).chain(&hit.facts));
    assert!(
        hits.into_iter().all(|hit| hit.superseded_by.is_none()),
        "the older fact is current again"
    );
    stage.rest(&engine).await;
    stage.check().await;
}

#[tokio::test]
async fn forgetting_a_shared_episode_keeps_its_messages() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "Our violin").await;
    say(&engine, &key, "bob", 1, "Our viola").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    let forget = |owner: &str| {
        let ids = ids_of(&stage, owner, EntryKind::Episode);
        Forget::Entries(Scope::default(), user(owner), ids)
    };
    assert_eq!(
        engine.forget(forget("ann")).await.expect("it forgets").messages,
        0
    );
    assert_eq!(texts(&stage).len(), 2);
    assert!(turns(&engine, "ann", "violin viola").await.is_empty());
    assert_eq!(turns(&engine, "bob", "violin viola").await.len(), 2);
    assert_eq!(
        engine.forget(forget("bob")).await.expect("it forgets").messages,
        2
    );
    assert!(texts(&stage).is_empty() && stage.vault.entries().is_empty());
}

#[tokio::test]
async fn an_episode_of_another_tenant_cannot_be_forgotten() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "My violin").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    let ids = ids_of(&stage, "ann", EntryKind::Episode);
    let other = Scope::new(crate::stage::name("other"), crate::stage::name("default"));
    for (scope, owner) in [(other, user("ann")), (Scope::default(), user("bob"))] {
        let forgot = engine
            .forget(Forget::Entries(scope, owner, ids.clone()))
            .await
            .expect("it answers");
        assert_eq!(forgot.missing, ids);
    }
    assert_eq!(turns(&engine, "ann", "violin").await.len(), 1);
}

/// The add is on disk and not yet in the cache when its session is deleted; a search comes in between.
#[tokio::test]
async fn a_message_that_was_forgotten_before_its_add_returned_stays_forgotten() {
    let stage = Stage::default();
    let key = session("s");
    let held = Held::new(stage.ledger.clone(), Call::Append, &key);
    let parts = memory::Parts {
        transcripts: held.clone(),
        ..stage.parts()
    };
    let engine = Engine::start(parts, stage.settings.clone())
        .await
        .expect("it starts");
    say(&engine, &session("other"), "ann", 0, "The viola").await;
    assert_eq!(with_word(&engine, "ann", "viola").await, 1);
    let adding = {
        let engine = engine.clone();
        // A deferred add does not lock the session.
        let add = memory::Add {
            title: None,
            defer_extraction: true,
            ..add(&key, vec![new_message(&key, "ann", 1, "The violin")])
        };
        tokio::spawn(async move { engine.add(add).await })
    };
    held.called().await;
    engine.forget(Forget::Session(key)).await.expect("it forgets");
    assert_eq!(
        with_word(&engine, "ann", "viola").await,
        1,
        "ann is at hand again"
    );
    held.let_go();
    adding.await.expect("no panic").expect("it is accepted");
    assert_eq!(with_word(&engine, "ann", "violin").await, 0, "it came back");
    assert_eq!(with_word(&engine, "ann", "viola").await, 1);
}

/// Deletes a session while another task works on its segment.
async fn is_forgotten_meanwhile(stage: Stage, engine: Engine, key: SessionKey, goes_on: impl FnOnce()) {
    let forgetting = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.forget(Forget::Session(key)).await })
    };
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
    goes_on();
    forgetting.await.expect("no panic").expect("it forgets");
    // The ledger no longer has the job, so only the end of the engine shows that it has ended.
    engine.shutdown().await;
    let engine = stage.open().await;
    assert_eq!(stage.rest(&engine).await, 0);
    assert!(stage.vault.entries().is_empty(), "it came back");
    assert!(turns(&engine, "ann", "violin").await.is_empty());
    stage.check().await;
}

#[tokio::test]
async fn a_segment_deleted_during_its_extraction_is_not_written() {
    let stage = Stage::default();
    let key = session("s");
    let held = Held::new(stage.ledger.clone(), Call::Cell, &key);
    let parts = memory::Parts {
        transcripts: held.clone(),
        ..stage.parts()
    };
    let engine = Engine::start(parts, stage.settings.clone())
        .await
        .expect("it starts");
    say(&engine, &key, "ann", 0, "The violin").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    held.called().await;
    is_forgotten_meanwhile(stage, engine, key, || held.let_go()).await;
}

#[tokio::test]
async fn a_deletion_waits_for_a_running_write() {
    let stage = Stage::default();
    let key = session("s");
    let (slow, engine) = stage.open_slow().await;
    say(&engine, &key, "ann", 0, "The violin").await;
    slow.arm(At::Apply);
    engine.flush(flush(&key)).await.expect("it cuts");
    slow.called().await;
    is_forgotten_meanwhile(stage, engine, key, || slow.let_go()).await;
}

#[tokio::test]
async fn an_episode_is_forgotten_after_its_job_ran_again() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "Our violin").await;
    say(&engine, &key, "bob", 1, "Our viola").await;
    stage.faults.plan_next("complete", Mode::Refuse);
    engine.flush(flush(&key)).await.expect("it cuts");
    while stage.vault.entries().len() < 2 {
        tokio::task::yield_now().await;
    }
    let ids = ids_of(&stage, "ann", EntryKind::Episode);
    let forget = engine.forget(Forget::Entries(Scope::default(), user("ann"), ids));
    assert_eq!(stage.drive(forget).await.expect("it forgets").entries, 1);
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(ids_of(&stage, "ann", EntryKind::Episode), [], "it came back");
    assert_eq!(ids_of(&stage, "bob", EntryKind::Episode).len(), 1);
    stage.check().await;
}

#[tokio::test]
async fn a_hand_written_entry_of_a_session_goes_with_it_before_any_sync() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "Our violin").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    stage
        .vault
        .by_hand("default/default/users/cid/episodes/a.md", false, |entries| {
            let mut entry = crate::stage::written("cid", EntryKind::Episode, "ep_cid", 0, "The cello");
            entry.session = Some(key.session.clone());
            entries.push(entry);
        });
    engine
        .forget(Forget::Session(key.clone()))
        .await
        .expect("it forgets");
    assert!(stage.vault.entries().is_empty());
}

/// Concurrent adds and deletions of one session: afterwards ledger and search have the same messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_concurrent_adds_and_deletions_ledger_and_search_agree() {
    let mut stage = Stage::default();
    stage.settings.messages_max = 3;
    let stage = Arc::new(stage);
    let engine = stage.open().await;
    let key = session("s");
    let adding = {
        let (engine, key) = (engine.clone(), key.clone());
        tokio::spawn(async move {
            for n in 0..60 {
                engine
                    .add(add(
                        &key,
                        vec![new_message(&key, "ann", n, &format!("Note number {n}"))],
                    ))
                    .await?;
                turns(&engine, "ann", "note number").await;
            }
            Ok::<_, EngineError>(())
        })
    };
    for _ in 0..12 {
        engine
            .forget(Forget::Session(key.clone()))
            .await
            .expect("it forgets");
    }
    adding.await.expect("no panic").expect("it is accepted");
    engine.flush(flush(&key)).await.expect("it cuts");
    engine.settle().await.expect("it settles");
    engine.sync().await.expect("it syncs");
    let mut in_ledger = texts(&stage);
    in_ledger.sort();
    let mut search = crate::stage::question("ann", "note number");
    search.messages_max = 100;
    let found = engine.search(search).await.expect("it answers");
    let mut found: Vec<String> = found.messages.iter().map(|hit| hit.doc.text.clone()).collect();
    found.sort();
    assert_eq!(found, in_ledger);
    stage.check().await;
}
