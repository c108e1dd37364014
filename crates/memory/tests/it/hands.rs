//! Changes of files by a person reach search, and lose nothing else.

use memory::{EditEntry, Engine, EngineError, Forget, Search};
use model::{Comparison, Field, Value};
use model::{Entry, EntryId, EntryKind, Filter, Origin, Scope, SessionId};
use ports::VaultError;

use crate::stage::{Stage, finds, flush, question, say, session, turns, user, written};
use testkit::faults::Mode;

const FACTS: &str = "default/default/users/ann/facts/2024-05-08.md";
const EPISODES: &str = "default/default/users/ann/episodes/2024-05-08.md";

/// One episode of Ann's with its fact, written and indexed; Ann is cached.
pub(crate) async fn remembered() -> (Stage, Engine) {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "I live in Lisbon").await;
    say(&engine, &key, "ann", 1, "The violin is out of tune").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    assert!(finds(&engine, "ann", "violin", "violin").await);
    assert_eq!(stage.vault.paths(), [EPISODES, FACTS]);
    (stage, engine)
}

/// Waits until the watcher's changes are synced.
pub(crate) async fn carried_over(stage: &Stage, engine: &Engine) {
    stage.rest(engine).await;
    stage.check().await;
}

#[tokio::test]
async fn an_added_entry_is_found() {
    let (stage, engine) = remembered().await;
    stage.vault.by_hand(FACTS, true, |entries| {
        entries.push(written(
            "ann",
            EntryKind::Fact,
            "af_hand",
            5,
            "Ann owns a theremin",
        ));
    });
    carried_over(&stage, &engine).await;
    assert!(finds(&engine, "ann", "theremin", "theremin").await);
}

#[tokio::test]
async fn the_watcher_alone_brings_an_edit_into_search() {
    let (stage, engine) = remembered().await;
    stage.vault.by_hand(FACTS, true, |entries| {
        entries.push(written(
            "ann",
            EntryKind::Fact,
            "af_hand",
            5,
            "Ann owns a theremin",
        ));
    });
    let seen = async {
        while !finds(&engine, "ann", "theremin", "theremin").await {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(seen).await;
}

#[tokio::test]
async fn a_changed_text_replaces_the_old_one_in_search() {
    let (stage, engine) = remembered().await;
    stage.vault.by_hand(EPISODES, true, |entries| {
        "All about a glockenspiel".clone_into(&mut entries[0].subject);
    });
    carried_over(&stage, &engine).await;
    assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
}

#[tokio::test]
async fn a_changed_inline_key_is_synced_like_a_text() {
    let (stage, engine) = remembered().await;
    let in_session = |name: &str| Search {
        filter: Some(Filter::Compare(
            Field::SessionId,
            Comparison::Eq,
            Value::Text(name.to_owned()),
        )),
        messages_max: 0,
        ..question("ann", "violin Lisbon")
    };
    let count = |found: memory::Found| found.memories.len();
    assert!(count(engine.search(in_session("s")).await.expect("it answers")) > 0);
    stage.vault.by_hand(EPISODES, true, |entries| {
        entries[0].session = Some(SessionId::new("renamed"));
    });
    stage.vault.by_hand(FACTS, true, |entries| {
        entries[0].session = Some(SessionId::new("renamed"));
    });
    carried_over(&stage, &engine).await;
    assert_eq!(
        count(engine.search(in_session("s")).await.expect("it answers")),
        0
    );
    assert!(count(engine.search(in_session("renamed")).await.expect("it answers")) > 0);
}

#[tokio::test]
async fn a_deleted_episode_leaves_its_facts() {
    let (stage, engine) = remembered().await;
    stage.vault.by_hand(EPISODES, true, Vec::clear);
    carried_over(&stage, &engine).await;
    assert_eq!(stage.vault.entries().len(), 1, "the file of facts is as it was");
    assert!(finds(&engine, "ann", "Lisbon", "Lisbon").await);
    assert!(turns(&engine, "ann", "violin").await.is_empty());
}

#[tokio::test]
async fn a_deleted_fact_leaves_its_episode() {
    let (stage, engine) = remembered().await;
    stage.vault.delete(FACTS);
    carried_over(&stage, &engine).await;
    assert_eq!(stage.vault.entries().len(), 1);
    assert!(
        turns(&engine, "ann", "Lisbon")
            .await
            .contains(&"I live in Lisbon".to_owned())
    );
}

#[tokio::test]
async fn a_moved_file_loses_nothing() {
    let (stage, engine) = remembered().await;
    stage
        .vault
        .rename(EPISODES, "default/default/users/ann/episodes/a.md");
    stage.vault.rename(FACTS, "default/default/users/ann/facts/z.md");
    carried_over(&stage, &engine).await;
    assert_eq!(stage.vault.entries().len(), 2);
    assert!(turns(&engine, "ann", "violin").await.len() == 2);
}

#[tokio::test]
async fn an_entry_moved_between_files_keeps_its_facts() {
    let (stage, engine) = remembered().await;
    // The new place is synced first, the old one later.
    let mut moved = Vec::new();
    stage
        .vault
        .by_hand(EPISODES, false, |entries| moved.clone_from(entries));
    stage
        .vault
        .by_hand("default/default/users/ann/episodes/z.md", true, |entries| {
            *entries = moved;
        });
    stage
        .drive(async {
            engine.sync().await.expect("it syncs");
        })
        .await;
    stage.vault.by_hand(EPISODES, true, Vec::clear);
    stage.rest(&engine).await;
    assert_eq!(stage.vault.entries().len(), 2, "the fact is gone");
    assert_eq!(turns(&engine, "ann", "violin").await.len(), 2);
}

#[tokio::test]
async fn a_broken_file_is_reported_and_blocks_nothing_else() {
    let (stage, engine) = remembered().await;
    stage.vault.set_broken(EPISODES, true);
    stage.drive(engine.sync()).await.expect("it syncs");
    let broken = engine.status().await.expect("it answers").broken_files;
    assert_eq!(broken.len(), 1);
    assert_eq!(&*broken[0].path, EPISODES);
    assert!(
        turns(&engine, "ann", "violin")
            .await
            .contains(&"The violin is out of tune".to_owned())
    );
    assert_eq!(stage.vault.entries().len(), 2, "a fact was taken for an orphan");

    // An append to the broken file waits, its message is found, and it is written once the file is repaired.
    let (mine, other) = (session("mine"), session("other"));
    say(&engine, &mine, "ann", 20, "A kazoo concert").await;
    say(&engine, &other, "bob", 20, "Bob plays the lute").await;
    engine.flush(flush(&mine)).await.expect("it cuts");
    engine.flush(flush(&other)).await.expect("it cuts");
    let failed = stage.drive(engine.settle()).await.expect("it settles");
    assert_eq!(failed, 1);
    assert!(
        turns(&engine, "ann", "kazoo")
            .await
            .contains(&"A kazoo concert".to_owned())
    );
    stage.check_written(&["Bob plays the lute".to_owned()], &["bob"]);

    stage.vault.set_broken(EPISODES, false);
    let written = async {
        while engine.settle().await.expect("it settles") > 0 {
            tokio::task::yield_now().await;
        }
    };
    stage.drive(written).await;
    carried_over(&stage, &engine).await;
    stage.check_written(&["A kazoo concert".to_owned()], &["ann"]);
    assert!(engine.status().await.expect("it answers").problems().is_empty());
}

#[tokio::test]
async fn an_unreadable_entry_is_not_taken_for_deleted() {
    let (stage, engine) = remembered().await;
    let id = stage.vault.entries()[0].1.id.clone();
    stage.vault.set_problem(EPISODES, Some(id.as_str()));
    stage.drive(engine.sync()).await.expect("it syncs");
    assert_eq!(stage.vault.entries().len(), 2, "its fact is gone");
    assert_eq!(turns(&engine, "ann", "violin").await.len(), 2);
    assert_eq!(engine.status().await.expect("it answers").broken_files.len(), 1);
    stage.vault.set_problem(EPISODES, None);
    carried_over(&stage, &engine).await;
    assert!(engine.status().await.expect("it answers").broken_files.is_empty());
}

#[tokio::test]
async fn the_engine_does_not_read_back_its_own_writes() {
    let (stage, engine) = remembered().await;
    let reads = stage.vault.reads();
    let key = session("more");
    say(&engine, &key, "ann", 10, "I play the accordion").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    assert_eq!(stage.vault.reads(), reads, "its own writes were parsed");
}

#[tokio::test]
async fn an_unsynced_edit_survives_an_append() {
    let (stage, engine) = remembered().await;
    stage.vault.by_hand(EPISODES, false, |entries| {
        "All about a glockenspiel".clone_into(&mut entries[0].subject);
    });
    let key = session("more");
    say(&engine, &key, "ann", 10, "I play the accordion").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    carried_over(&stage, &engine).await;
    assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
    assert!(finds(&engine, "ann", "accordion", "accordion").await);
}

#[tokio::test]
async fn an_edit_through_the_engine_changes_the_file() {
    let (stage, engine) = remembered().await;
    let entries = stage.vault.entries();
    let (_, episode) = entries
        .iter()
        .find(|(_, entry)| entry.kind == EntryKind::Episode)
        .expect("there is one");
    let edit = EditEntry {
        scope: Scope::default(),
        owner: user("ann"),
        id: episode.id.clone(),
        subject: Some("All about a glockenspiel".to_owned()),
        summary: None,
        body: None,
        project_only: None,
    };
    engine.edit(edit.clone()).await.expect("it edits");
    assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
    let (_, edited) = stage
        .vault
        .entries()
        .into_iter()
        .find(|(_, e)| e.id == episode.id)
        .expect("it stays");
    assert_eq!((edited.origin, edited.author.as_deref()), (Origin::Hand, None));
    assert_eq!(edited.turns, episode.turns, "what was said stays as it was said");
    carried_over(&stage, &engine).await;

    let missing = EditEntry {
        id: model::EntryId::new("ep_none"),
        ..edit.clone()
    };
    assert!(matches!(
        engine.edit(missing).await,
        Err(memory::EngineError::NotFound { .. })
    ));
    let stranger = EditEntry {
        owner: user("bob"),
        ..edit
    };
    assert!(matches!(
        engine.edit(stranger).await,
        Err(memory::EngineError::NotFound { .. })
    ));
}

#[tokio::test]
async fn a_file_without_read_permission_is_reported_and_blocks_nothing_else() {
    let (stage, engine) = remembered().await;
    stage.vault.by_hand(EPISODES, false, |entries| {
        "All about a glockenspiel".clone_into(&mut entries[0].subject);
    });
    stage.vault.set_unreadable(EPISODES, true);
    stage.vault.by_hand(FACTS, false, |entries| {
        entries.push(written(
            "ann",
            EntryKind::Fact,
            "af_hand",
            5,
            "Ann owns a theremin",
        ));
    });
    engine.sync().await.expect_err("it says so");
    assert!(
        finds(&engine, "ann", "theremin", "theremin").await,
        "the other file was not read"
    );
    assert_eq!(
        turns(&engine, "ann", "violin").await.len(),
        2,
        "what was read before is still there"
    );
    assert_eq!(engine.status().await.expect("it answers").broken_files.len(), 1);

    // An index built meanwhile lacks the file, and gets it later.
    engine.rebuild().await.expect("it builds");
    assert!(finds(&engine, "ann", "theremin", "theremin").await);
    stage.vault.set_unreadable(EPISODES, false);
    carried_over(&stage, &engine).await;
    assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
    assert!(engine.status().await.expect("it answers").problems().is_empty());
}

#[tokio::test]
async fn an_index_built_without_a_broken_file_gets_it_after_the_repair() {
    let (stage, engine) = remembered().await;
    stage.vault.set_broken(EPISODES, true);
    stage.drive(engine.sync()).await.expect("it syncs");
    engine.rebuild().await.expect("it builds");
    assert_eq!(engine.status().await.expect("it answers").broken_files.len(), 1);
    stage.vault.set_broken(EPISODES, false);
    carried_over(&stage, &engine).await;
    assert_eq!(turns(&engine, "ann", "violin").await.len(), 2);
}

#[tokio::test]
async fn a_file_deleted_between_two_attempts_is_not_written_again() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "I live in Lisbon").await;
    stage.faults.plan_next("complete", Mode::Refuse);
    engine.flush(flush(&key)).await.expect("it cuts");
    while stage.faults.hit().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.vault.paths(), [EPISODES, FACTS]);
    stage.vault.delete(FACTS);
    carried_over(&stage, &engine).await;
    assert_eq!(stage.vault.paths(), [EPISODES], "it came back");
}

/// A link in a file's place, reported by the watcher or found by a full scan.
#[tokio::test]
async fn a_link_in_a_files_place_is_reported_and_blocks_nothing_else() {
    for watched in [true, false] {
        let (stage, engine) = remembered().await;
        stage.vault.set_link(EPISODES, true, watched);
        stage.vault.by_hand(FACTS, false, |entries| {
            entries.push(written(
                "ann",
                EntryKind::Fact,
                "af_hand",
                5,
                "Ann owns a theremin",
            ));
        });
        stage.rest(&engine).await;
        engine.sync().await.expect("the others are carried over");
        assert!(finds(&engine, "ann", "theremin", "theremin").await);
        assert!(
            finds(&engine, "ann", "violin", "violin").await,
            "what is known of the file is not taken for deleted"
        );
        let status = engine.status().await.expect("it answers");
        let broken: Vec<&str> = status.broken_files.iter().map(|file| &*file.path).collect();
        assert_eq!(broken, [EPISODES], "watched: {watched}");
        assert!(status.problems()[0].contains("link"), "{:?}", status.problems());

        // An append to that file waits, is reported, and is not given up.
        let key = session("t");
        say(&engine, &key, "ann", 90, "The cello too").await;
        engine.flush(flush(&key)).await.expect("it cuts");
        assert_eq!(stage.drive(engine.settle()).await.expect("it settles"), 1);
        let status = engine.status().await.expect("it answers");
        assert_eq!((status.stuck, status.jobs.failed), (1, 0));
        assert!(
            turns(&engine, "ann", "cello")
                .await
                .contains(&"The cello too".to_owned())
        );

        stage.vault.set_link(EPISODES, false, true);
        let written = async {
            while engine.settle().await.expect("it settles") > 0 {
                tokio::task::yield_now().await;
            }
        };
        stage.drive(written).await;
        carried_over(&stage, &engine).await;
        let status = engine.status().await.expect("it answers");
        assert!(status.problems().is_empty(), "{:?}", status.problems());
        stage.check_written(&["The cello too".to_owned()], &["ann"]);
    }
}

#[tokio::test]
async fn a_deletion_reports_a_link_in_the_place_of_a_file() {
    let (stage, engine) = remembered().await;
    stage.vault.set_link(FACTS, true, true);
    let forget = || engine.forget(Forget::Session(session("s")));
    assert!(matches!(
        forget().await,
        Err(EngineError::Vault(VaultError::Outside { .. }))
    ));
    stage.vault.set_link(FACTS, false, true);
    forget().await.expect("nothing is in the way");
    carried_over(&stage, &engine).await;
    assert!(stage.vault.entries().is_empty() && stage.ledger.everything().is_empty());
}

const COPY: &str = "default/default/users/ann/episodes/2024-05-08 2.md";

/// The copy is synced after the original, and deleted after an edit of the original.
#[tokio::test]
async fn deleting_a_copy_of_a_file_loses_nothing() {
    for copy in [COPY, "default/default/users/ann/episodes/a copy.md"] {
        let (stage, engine) = remembered().await;
        copies(&stage, &engine, &[copy]).await;
        assert_eq!(
            turns(&engine, "ann", "violin").await.len(),
            2,
            "each message once"
        );
        let status = engine.status().await.expect("it answers");
        assert!(status.broken_files.is_empty(), "a copy is no problem: {status:?}");
        stage.vault.by_hand(EPISODES, true, |entries| {
            "All about a glockenspiel".clone_into(&mut entries[0].subject);
        });
        stage.rest(&engine).await;
        stage.drive(engine.sync()).await.expect("it syncs");
        assert!(
            finds(&engine, "ann", "glockenspiel", "glockenspiel").await,
            "the edit counts"
        );
        let status = engine.status().await.expect("it answers");
        assert!(
            status.broken_files[0].problem.contains("another text"),
            "{status:?}"
        );
        stage.vault.delete(copy);
        carried_over(&stage, &engine).await;
        assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
        assert_eq!(turns(&engine, "ann", "violin").await.len(), 2);
        assert_eq!(stage.vault.entries().len(), 2, "the facts stay");
    }
}

#[tokio::test]
async fn a_copy_holds_the_row_after_the_original_is_deleted() {
    let (stage, engine) = remembered().await;
    let standing = copies(&stage, &engine, &[COPY]).await;
    stage.drive(engine.rebuild()).await.expect("it builds");
    let row = |id: &str| stage.index.rows().into_iter().find(|row| *row.key.id == *id);
    let id = standing[0].id.as_str().to_owned();
    assert_eq!(
        &*row(&id).expect("it is there").path,
        EPISODES,
        "the holder stays"
    );
    stage.vault.delete(EPISODES);
    carried_over(&stage, &engine).await;
    assert_eq!(&*row(&id).expect("it is there").path, COPY);
    assert_eq!(turns(&engine, "ann", "violin").await.len(), 2);
}

#[tokio::test]
async fn a_deleted_memory_does_not_come_back_from_a_copy() {
    let (stage, engine) = remembered().await;
    let standing = copies(&stage, &engine, &[COPY]).await;
    let ids = vec![standing[0].id.clone()];
    let forget = Forget::Entries(Scope::default(), user("ann"), ids);
    stage.drive(engine.forget(forget)).await.expect("it forgets");
    carried_over(&stage, &engine).await;
    assert!(turns(&engine, "ann", "violin").await.is_empty());
    assert!(!finds(&engine, "ann", "violin", "violin").await);
}

/// A part of an episode is cut out and put into another file under its own heading.
#[tokio::test]
async fn a_split_episode_loses_no_message() {
    for part in [COPY, "default/default/users/ann/episodes/a part.md"] {
        let (stage, engine) = remembered().await;
        let mut moved = Vec::new();
        stage.vault.by_hand(EPISODES, true, |entries| {
            moved = entries[0].turns.split_off(1);
        });
        stage.vault.by_hand(part, true, |entries| {
            let mut half = written("ann", EntryKind::Episode, "ep_hand_half", 1, "");
            half.turns.clone_from(&moved);
            entries.push(half);
        });
        carried_over(&stage, &engine).await;
        assert_eq!(turns(&engine, "ann", "violin").await.len(), 2);
    }
}

/// Copies of a file, each synced before the next one is made.
async fn copies(stage: &Stage, engine: &Engine, paths: &[&str]) -> Vec<Entry> {
    let mut standing = Vec::new();
    stage
        .vault
        .by_hand(EPISODES, false, |entries| standing.clone_from(entries));
    for path in paths {
        stage
            .vault
            .by_hand(path, true, |entries| entries.clone_from(&standing));
        stage.rest(engine).await;
        stage.drive(engine.sync()).await.expect("it syncs");
    }
    standing
}

#[tokio::test]
async fn the_first_recorded_copy_takes_over() {
    let (stage, engine) = remembered().await;
    let last = "default/default/users/ann/episodes/z.md";
    let standing = copies(&stage, &engine, &[last, COPY]).await;
    stage.vault.delete(EPISODES);
    stage.rest(&engine).await;
    let rows = stage.index.rows();
    let row = rows.iter().find(|row| *row.key.id == *standing[0].id.as_str());
    assert_eq!(&*row.expect("it is there").path, last);
}

#[tokio::test]
async fn a_version_is_edited_and_forgotten_by_its_own_id() {
    let (stage, engine) = remembered().await;
    copies(&stage, &engine, &[COPY]).await;
    stage.vault.by_hand(COPY, true, |entries| {
        "All about a glockenspiel".clone_into(&mut entries[0].subject);
    });
    stage.rest(&engine).await;
    let version = |rows: Vec<model::Doc>| rows.into_iter().find(model::Doc::is_version);
    let row = version(stage.index.rows()).expect("it is there");
    let id = EntryId::new(row.key.id.clone());
    let edit = EditEntry {
        scope: Scope::default(),
        owner: user("ann"),
        id: id.clone(),
        subject: Some("All about a theremin".to_owned()),
        summary: None,
        body: None,
        project_only: None,
    };
    stage.drive(engine.edit(edit)).await.expect("it is changed");
    assert!(finds(&engine, "ann", "theremin", "theremin").await);
    let forget = Forget::Entries(Scope::default(), user("ann"), vec![id]);
    stage.drive(engine.forget(forget)).await.expect("it forgets");
    carried_over(&stage, &engine).await;
    assert!(version(stage.index.rows()).is_none());
    assert_eq!(turns(&engine, "ann", "violin").await.len(), 2, "the holder stays");
}
