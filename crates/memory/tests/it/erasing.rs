//! Deleted text leaves the files of the index too, and takes along only memories that depend on it.

use memory::Forget;
use model::{EntryKind, Scope};
use testkit::faults::Mode;

use crate::by_words::target;
use crate::forgetting::ids_of;
use crate::stage::{Stage, flush, say, session, user};

/// Also if others delete at the same time.
#[tokio::test]
async fn deleted_text_is_in_no_file_of_the_index_when_the_deletion_returns() {
    for way in 0..5 {
        let stage = Stage::default();
        let engine = stage.open().await;
        let key = session("one");
        say(&engine, &key, "ann", 0, "The harpsichord is out of tune").await;
        engine.flush(flush(&key)).await.expect("it cuts");
        stage.rest(&engine).await;
        assert!(stage.index.holds("harpsichord"));
        let forget = match way {
            0 => Forget::Session(key.clone()),
            1 => Forget::Owner(Scope::default(), user("ann")),
            2 => Forget::OwnerInSession(key.clone(), user("ann")),
            3 => target("ann", "harpsichord", &[]),
            _ => {
                let of_kind = |kind| ids_of(&stage, "ann", kind);
                let ids = [EntryKind::Episode, EntryKind::Fact]
                    .into_iter()
                    .flat_map(of_kind);
                Forget::Entries(Scope::default(), user("ann"), ids.collect())
            }
        };
        let none = Forget::Session(session("none"));
        let (forgot, nothing) = tokio::join!(engine.forget(forget), engine.forget(none));
        assert!(forgot.expect("it forgets").entries > 0, "{way}");
        assert_eq!(nothing.expect("it answers").entries, 0);
        assert!(!stage.index.holds("harpsichord"), "{way}");
        assert!(!ports::Index::owes_erasing(&stage.index).await, "{way}");
    }
}

#[tokio::test]
async fn concurrent_deletions_share_a_purge_of_the_files() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let keys: Vec<_> = (0..20).map(|n| session(&format!("s{n}"))).collect();
    for key in &keys {
        say(&engine, key, "ann", 0, "The harpsichord is out of tune").await;
        engine.flush(flush(key)).await.expect("it cuts");
    }
    stage.rest(&engine).await;
    let before = stage.index.erasures();
    let forgetting = keys.iter().map(|key| engine.forget(Forget::Session(key.clone())));
    for forgot in stage.drive(futures::future::join_all(forgetting)).await {
        assert!(forgot.expect("it forgets").entries > 0);
    }
    assert!(!stage.index.holds("harpsichord"));
    let passes = stage.index.erasures() - before;
    assert!(passes <= 3, "{passes}");
}

#[tokio::test]
async fn the_next_process_purges_text_that_a_crash_left_in_the_index() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("one");
    say(&engine, &key, "ann", 0, "The harpsichord is out of tune").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    stage.faults.plan_next("erase", Mode::DieBefore);
    tokio::select! {
        biased;
        forgot = engine.forget(Forget::Session(key.clone())) => panic!("it died: {forgot:?}"),
        () = stage.faults.death() => {}
    }
    drop(engine);
    stage.faults.lift();
    assert!(stage.index.holds("harpsichord"));
    let engine = stage.open().await;
    stage
        .drive(async {
            while stage.index.holds("harpsichord") || ports::Index::owes_erasing(&stage.index).await {
                tokio::task::yield_now().await;
            }
        })
        .await;
    engine.shutdown().await;
}

/// As in a folder that was copied from elsewhere without its ledger.
#[tokio::test]
async fn a_case_goes_with_its_sender_and_with_no_other_deletion() {
    let stage = Stage::default();
    let engine = stage.open().await;
    for (name, sender) in [("one", "ann"), ("two", "bob")] {
        say(
            &engine,
            &session(name),
            sender,
            0,
            "The harpsichord is out of tune",
        )
        .await;
    }
    let bot = model::Owner::agent(crate::stage::name("bot"));
    let case = |id: &str, sender: &str| model::Entry {
        owner: bot.clone(),
        session: Some(session("elsewhere").session),
        sources: vec![model::MessageId::new("m_of_another_ledger")],
        senders: vec![crate::stage::name(sender)],
        ..crate::stage::written("bot", EntryKind::Case, id, 0, "It was tuned")
    };
    let put = vec![case("cs_ann", "ann"), case("cs_cid", "cid")];
    let curate = memory::Curate::new(&Scope::default(), &bot, put, Vec::new());
    engine.curate(curate).await.expect("it is put");
    let cases = || {
        let entries = stage.vault.entries();
        let cases = entries.iter().filter(|(_, entry)| entry.kind == EntryKind::Case);
        cases.map(|(_, entry)| entry.id.to_string()).collect::<Vec<_>>()
    };
    let part = Forget::OwnerInSession(session("two"), user("bob"));
    engine.forget(part).await.expect("it forgets");
    engine
        .forget(Forget::Owner(Scope::default(), user("bob")))
        .await
        .expect("it forgets");
    assert_eq!(cases().len(), 2);
    engine
        .forget(Forget::Owner(Scope::default(), user("ann")))
        .await
        .expect("it forgets");
    assert_eq!(cases(), ["cs_cid"]);
}
