//! Every acknowledged message is found, at every moment.

use futures::future::join_all;
use memory::{Engine, List, Method};
use model::{Comparison, EntryKind, Field, Filter, Scope, Value};

use crate::held::{Call, Held};
use crate::slow::At;
use crate::stage::{Stage, add, ask, finds, flush, minute, new_message, question, say, session, turns, user};

async fn says_and_finds(engine: Engine, key: model::SessionKey, who: String, count: i64) {
    for n in 0..count {
        let text = format!("{who} counts gate{n}of{}", key.session.as_str());
        say(&engine, &key, &who, n * 7, &text).await;
        let mut search = question(&who, &format!("gate{n}of{}", key.session.as_str()));
        search.method = Method::Keyword;
        search.memories_max = 1;
        let found = engine.search(search).await.expect("it answers");
        assert!(
            found.messages.iter().any(|hit| hit.doc.text == text),
            "`{text}` is acknowledged and not found"
        );
        if n % 11 == 10 {
            engine.flush(flush(&key)).await.expect("it cuts");
        }
    }
}

async fn under_load(hot_bytes_max: usize, hot_rows_max: usize) {
    let mut stage = Stage::default();
    stage.settings.hot_bytes_max = hot_bytes_max;
    stage.settings.hot_rows_max = hot_rows_max;
    stage.settings.messages_max = 4;
    let engine = stage.open().await;
    let speakers = (0..6).map(|n| {
        // Two speakers share each session, and each speaker has two sessions.
        let work = says_and_finds(
            engine.clone(),
            session(&format!("s{}", n / 2)),
            format!("u{n}"),
            60,
        );
        let more = says_and_finds(
            engine.clone(),
            session(&format!("t{}", n % 3)),
            format!("u{n}"),
            60,
        );
        [tokio::spawn(work), tokio::spawn(more)]
    });
    for done in join_all(speakers.flatten()).await {
        done.expect("it was found every time");
    }
    engine.settle().await.expect("it settles");
    for n in 0..6 {
        for key in [format!("s{}", n / 2), format!("t{}", n % 3)] {
            let found = turns(&engine, &format!("u{n}"), &format!("gate59of{key}")).await;
            assert!(found.iter().any(|text| text.contains(&format!("gate59of{key}"))));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_message_is_found_while_owners_are_cached() {
    under_load(64 << 20, 50_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_message_is_found_while_owners_enter_and_leave_the_cache() {
    under_load(1, 50_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_message_is_found_for_uncached_large_owners() {
    under_load(64 << 20, 0).await;
}

/// An owner that is too large for the cache is known as such until something is deleted.
#[tokio::test]
async fn an_owner_that_is_too_large_is_read_once_for_it() {
    let mut stage = Stage::default();
    stage.settings.hot_rows_max = 3;
    let (slow, engine) = stage.open_slow().await;
    let (kept, gone) = (session("kept"), session("gone"));
    for (key, text) in [(&kept, "It was a banjo"), (&gone, "It was a bagpipe")] {
        say(&engine, key, "ann", 0, text).await;
        engine.flush(flush(key)).await.expect("it cuts");
    }
    engine.settle().await.expect("it settles");
    assert_eq!(turns(&engine, "ann", "It was a").await.len(), 2);

    slow.arm(At::Load);
    let found = tokio::select! {
        biased;
        () = slow.called() => panic!("all rows are read again"),
        found = turns(&engine, "ann", "It was a") => found,
    };
    assert_eq!(found.len(), 2);

    // The deletion reads the rows itself; then a search tries again.
    slow.let_go();
    let forgot = engine.forget(memory::Forget::Session(gone)).await;
    forgot.expect("it forgets");
    slow.called().await;
    slow.arm(At::Load);
    let found = tokio::select! {
        biased;
        () = slow.called() => "read again",
        _ = turns(&engine, "ann", "It was a") => "still too large",
    };
    assert_eq!(found, "read again");
}

/// Changes an owner's memory while its rows are loading, and checks the searches during and after that.
async fn during_a_load(at: At) {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    let (old, new, gone) = (session("old"), session("new"), session("gone"));
    say(&engine, &old, "ann", 0, "It was a banjo").await;
    say(&engine, &gone, "ann", 3, "It was a bagpipe").await;
    engine.flush(flush(&gone)).await.expect("it cuts");
    engine.settle().await.expect("it settles");

    slow.arm(at);
    let searching = {
        let engine = engine.clone();
        tokio::spawn(async move { ask(&engine, "ann", "It was a").await })
    };
    slow.called().await;
    // While Ann's rows load, one message is written to the vault, one is added, and one is deleted.
    engine.flush(flush(&old)).await.expect("it cuts");
    engine.settle().await.expect("it settles");
    say(&engine, &new, "ann", 5, "It was a bassoon").await;
    engine
        .forget(memory::Forget::Session(gone))
        .await
        .expect("it forgets");
    slow.let_go();
    let found = searching.await.expect("no panic");
    let texts: Vec<&str> = found.messages.iter().map(|hit| hit.doc.text.as_str()).collect();
    assert!(texts.contains(&"It was a banjo"), "{texts:?}");
    assert!(
        !texts.contains(&"It was a bagpipe"),
        "it was forgotten before the answer"
    );

    let texts = turns(&engine, "ann", "It was a").await;
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.contains(&"It was a banjo".to_owned()) && texts.contains(&"It was a bassoon".to_owned()));
    let found = ask(&engine, "ann", "banjo").await;
    assert!(
        found
            .memories
            .iter()
            .any(|hit| hit.doc.kind == model::DocKind::Entry(EntryKind::Episode))
    );
    stage.check().await;
}

#[tokio::test]
async fn changes_before_the_read_of_a_load_are_found() {
    during_a_load(At::Load).await;
}

#[tokio::test]
async fn changes_after_the_read_of_a_load_are_found() {
    during_a_load(At::Loaded).await;
}

#[tokio::test]
async fn an_owner_loaded_while_a_segment_is_indexed_finds_its_episode() {
    let stage = Stage::default();
    let (slow, engine) = stage.open_slow().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "It was a banjo").await;
    slow.arm(At::Apply);
    engine.flush(flush(&key)).await.expect("it cuts");
    slow.called().await;
    assert_eq!(turns(&engine, "ann", "banjo").await, ["It was a banjo"]);
    slow.let_go();
    engine.settle().await.expect("it settles");
    let found = ask(&engine, "ann", "banjo").await;
    assert!(!found.memories.is_empty(), "the episode never reached ann");
    assert!(found.messages[0].doc.parent.is_some());
}

#[tokio::test]
async fn a_cached_owner_has_the_same_rows_as_a_fresh_load() {
    let mut stage = Stage::default();
    stage.settings.messages_max = 5;
    let engine = stage.open().await;
    let key = session("s");
    let mut at_hand = Vec::new();
    ask(&engine, "ann", "anything").await;
    ask(&engine, "bob", "anything").await;
    for n in 0..30 {
        let who = if n % 7 == 3 { "bob" } else { "ann" };
        say(&engine, &key, who, n * 9, &format!("word{n} and a common part")).await;
    }
    stage.rest(&engine).await;
    for who in ["ann", "bob"] {
        at_hand.push(ask(&engine, who, "common part").await);
    }
    engine.shutdown().await;
    let engine = stage.open().await;
    for (who, before) in ["ann", "bob"].into_iter().zip(at_hand) {
        assert_eq!(ask(&engine, who, "common part").await, before, "{who}");
    }
}

#[tokio::test]
async fn a_user_who_joins_a_session_finds_earlier_messages_of_others() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    assert!(turns(&engine, "bob", "violin").await.is_empty());
    say(&engine, &key, "ann", 0, "The violin is out of tune").await;
    assert!(
        turns(&engine, "bob", "violin").await.is_empty(),
        "bob is not there yet"
    );
    say(&engine, &key, "bob", 1, "I can tune it").await;
    assert_eq!(turns(&engine, "bob", "violin tune").await.len(), 2);
    assert_eq!(turns(&engine, "ann", "violin tune").await.len(), 2);
    assert!(turns(&engine, "cid", "violin tune").await.is_empty());
}

#[tokio::test]
async fn a_session_filter_returns_messages_that_are_in_no_episode() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let (one, two) = (session("one"), session("two"));
    say(&engine, &one, "ann", 0, "The violin").await;
    say(&engine, &two, "ann", 1, "The viola").await;
    let mut search = question("ann", "anything");
    search.filter = Some(Filter::Compare(
        Field::SessionId,
        Comparison::Eq,
        Value::Text("one".to_owned()),
    ));
    let found = engine.search(search.clone()).await.expect("it answers");
    assert_eq!(
        found
            .unprocessed
            .iter()
            .map(model::Message::text)
            .collect::<Vec<_>>(),
        ["The violin"]
    );
    engine.flush(flush(&one)).await.expect("it cuts");
    stage.rest(&engine).await;
    assert!(
        engine
            .search(search)
            .await
            .expect("it answers")
            .unprocessed
            .is_empty()
    );
    assert!(ask(&engine, "ann", "anything").await.unprocessed.is_empty());
}

#[tokio::test]
async fn settled_waits_until_the_add_is_written() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "The violin").await;
    let late = add(&key, vec![new_message(&key, "ann", 60, "The viola")]);
    let added = engine.add(late).await.expect("it is accepted");
    let added = engine.settled(&key, added).await.expect("it is written");
    assert_eq!(added.status, memory::MemorizeStatus::Extracted);
    stage.check_written(&["The violin".to_owned()], &["ann"]);
}

#[tokio::test]
async fn a_listing_has_pages_an_order_and_a_filter() {
    let stage = Stage::default();
    let engine = stage.open().await;
    for n in 0..5 {
        let key = session(&format!("s{n}"));
        say(&engine, &key, "ann", n, &format!("Tune number {n}")).await;
        engine.flush(flush(&key)).await.expect("it cuts");
    }
    stage.rest(&engine).await;
    let list = List {
        page: 2,
        page_size: 2,
        ..List::all(Scope::default(), user("ann"), EntryKind::Episode)
    };
    let listed = engine.list(list.clone()).await.expect("it lists");
    assert_eq!(listed.total, 5);
    assert_eq!(
        listed.hits.iter().map(|hit| hit.doc.time).collect::<Vec<_>>(),
        [minute(2), minute(1)]
    );
    let since = Filter::Compare(Field::Timestamp, Comparison::Gte, Value::Time(minute(3)));
    let listed = engine
        .list(List {
            filter: Some(since),
            page: 1,
            ..list.clone()
        })
        .await
        .expect("it lists");
    assert_eq!(listed.total, 2);
    let others = engine
        .list(List {
            owner: user("bob"),
            ..list
        })
        .await
        .expect("it lists");
    assert_eq!(others.total, 0);
}

#[tokio::test]
async fn tenants_share_nothing() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let mut theirs = session("s");
    theirs.scope = Scope::new(crate::stage::name("other"), crate::stage::name("default"));
    say(&engine, &session("s"), "ann", 0, "My violin").await;
    say(&engine, &theirs, "ann", 0, "Their violin").await;
    for _ in 0..2 {
        assert_eq!(turns(&engine, "ann", "violin").await, ["My violin"]);
        assert!(!finds(&engine, "ann", "violin", "Their").await);
        engine.flush(flush(&session("s"))).await.expect("it cuts");
        engine.flush(flush(&theirs)).await.expect("it cuts");
        stage.rest(&engine).await;
    }
    engine
        .forget(memory::Forget::Owner(theirs.scope.clone(), user("ann")))
        .await
        .expect("it forgets");
    assert_eq!(turns(&engine, "ann", "violin").await, ["My violin"]);
    stage.check().await;
}

#[tokio::test]
async fn a_message_written_before_its_add_returns_is_not_taken_for_buffered() {
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
    assert!(turns(&engine, "ann", "violin").await.is_empty());
    let adding = {
        let engine = engine.clone();
        // A deferred add does not lock the session.
        let add = memory::Add {
            title: None,
            defer_extraction: true,
            ..add(&key, vec![new_message(&key, "ann", 0, "The violin")])
        };
        tokio::spawn(async move { engine.add(add).await })
    };
    held.called().await;
    engine.flush(flush(&key)).await.expect("it cuts");
    engine.settle().await.expect("it settles");
    held.let_go();
    adding.await.expect("no panic").expect("it is accepted");
    let found = ask(&engine, "ann", "violin").await;
    assert_eq!(found.messages.len(), 1);
    assert!(found.messages[0].doc.parent.is_some(), "its episode is forgotten");
}
