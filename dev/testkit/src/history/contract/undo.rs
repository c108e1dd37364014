//! Runs that are taken back.
//!
//! Owns: what an undo changes and what it refuses. Never: recording (`contract`).

use ports::{Author, By, CommitPart, HistoryError};

use super::{BOB, FACTS, Fixture, PROFILE, at, by_hand, by_run, entry, file, log, run};

/// What was appended before and after stays, in the same file too.
pub(super) async fn takes_back_one_run_and_nothing_else(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a"]));
    by_hand(fixture, 1).await;
    fixture.write(FACTS, &file(&["a", "b"]));
    fixture.write(PROFILE, &file(&["p"]));
    by_run(fixture, "r_1", 2).await;
    fixture.write(FACTS, &file(&["a", "b", "c"]));
    by_run(fixture, "r_2", 3).await;
    fixture.write(PROFILE, &file(&["p", "q"]));
    by_hand(fixture, 4).await;
    let undone = fixture.history().undo("r_1", &run("u_1"), at(5)).await;
    let undone = undone.expect("undoes").expect("something changed");
    assert_eq!(fixture.text(FACTS), Some(file(&["a", "c"])));
    assert_eq!(fixture.text(PROFILE), Some(file(&["q"])));
    assert_eq!(undone.subject, "memory of alice: 2 entries removed in 2 files");
    let by = By::Run {
        run: run("u_1"),
        undoes: Some("r_1".into()),
    };
    assert_eq!((undone.at, &undone.by), (at(5), &by));
    assert_eq!(log(fixture).await[0], undone);
    assert_eq!(fixture.history().diff(None).await.expect("reads"), "");
}

/// New files, deleted ones, changed entries; of several changes that one run made.
pub(super) async fn takes_back_every_kind_of_change(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a", "b"]));
    fixture.write(BOB, "mine\r\n");
    by_hand(fixture, 1).await;
    fixture.write(FACTS, &file(&["a", "b"]).replacen("as it was", "changed", 1));
    fixture.delete(BOB);
    by_run(fixture, "r_1", 2).await;
    fixture.write(PROFILE, &file(&["p"]));
    fixture.write(FACTS, &file(&["a"]).replacen("as it was", "twice", 1));
    by_run(fixture, "r_1", 3).await;
    let undone = fixture.history().undo("r_1", &run("u_1"), at(4)).await;
    undone.expect("undoes").expect("something changed");
    assert_eq!(fixture.text(FACTS), Some(file(&["a", "b"])));
    assert_eq!(fixture.text(BOB).as_deref(), Some("mine\r\n"));
    assert_eq!(fixture.text(PROFILE), None);
    assert_eq!(
        fixture
            .history()
            .commit(&Author::Person, &CommitPart::All, at(5))
            .await
            .expect("commits"),
        None
    );
}

/// However often.
pub(super) async fn takes_back_an_undo(fixture: &impl Fixture) {
    let history = fixture.history();
    fixture.write(FACTS, &file(&["a"]));
    by_hand(fixture, 1).await;
    fixture.write(FACTS, &file(&["a", "b"]));
    by_run(fixture, "r_1", 2).await;
    let undo = async |what: &str, by: &str| history.undo(what, &run(by), at(3)).await;
    undo("r_1", "u_1").await.expect("undoes");
    assert_eq!(fixture.text(FACTS), Some(file(&["a"])));
    let twice = undo("r_1", "u_2").await;
    assert!(matches!(twice, Err(HistoryError::Undone { by, .. }) if *by == *"u_1"));
    undo("u_1", "u_3").await.expect("undoes the undo");
    assert_eq!(fixture.text(FACTS), Some(file(&["a", "b"])));
    let twice = undo("u_1", "u_4").await;
    assert!(matches!(twice, Err(HistoryError::Undone { by, .. }) if *by == *"u_3"));
    undo("r_1", "u_5").await.expect("undoes again");
    assert_eq!(fixture.text(FACTS), Some(file(&["a"])));
    let by_hand = undo("u_3", "u_6").await;
    assert_eq!(by_hand.expect("nothing is left of it"), None);
}

/// Naming the files, and touching none.
pub(super) async fn refuses_what_was_changed_again(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a"]));
    by_hand(fixture, 1).await;
    fixture.write(FACTS, &file(&["a", "b"]));
    fixture.write(PROFILE, &file(&["p"]));
    fixture.write(BOB, &file(&["x"]));
    by_run(fixture, "r_1", 2).await;
    let corrected = file(&["a", "b"]).replace(
        "as it was\n\n<!-- end -->\n\n## About b",
        "x\n\n<!-- end -->\n\n## About b",
    );
    let again = [file(&["a"]), entry("b", "corrected")].concat();
    fixture.write(FACTS, &again);
    fixture.write(BOB, &file(&["x"]).replace("as it was", "corrected"));
    let before = log(fixture).await.len();
    let refused = fixture.history().undo("r_1", &run("u_1"), at(3)).await;
    let Err(HistoryError::Conflict { paths, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(paths, [FACTS.into(), BOB.into()]);
    assert_eq!(fixture.text(FACTS), Some(again));
    assert_eq!(fixture.text(PROFILE), Some(file(&["p"])));
    assert_eq!(log(fixture).await.len(), before + 1, "only what the person did");
    // An entry beside it is none of the run's.
    fixture.write(FACTS, &corrected);
    fixture.write(BOB, &file(&["x"]));
    fixture
        .history()
        .undo("r_1", &run("u_1"), at(4))
        .await
        .expect("undoes");
    assert_eq!(fixture.text(FACTS), Some(file(&["a"]).replace("as it was", "x")));
    assert_eq!(fixture.text(BOB), None);
}

/// So that it is not taken for the run's.
pub(super) async fn records_the_persons_changes_before_an_undo(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a"]));
    by_run(fixture, "r_1", 1).await;
    fixture.write(BOB, &file(&["b"]));
    fixture
        .history()
        .undo("r_1", &run("u_1"), at(2))
        .await
        .expect("undoes");
    let log = log(fixture).await;
    assert_eq!(log.len(), 3);
    assert!(matches!(&log[1].by, By::Person { .. }));
    assert_eq!(log[1].files, [BOB.into()]);
    assert_eq!(
        (fixture.text(FACTS), fixture.text(BOB)),
        (None, Some(file(&["b"])))
    );
}

/// Unknown ones, and what cannot be an id.
pub(super) async fn refuses_runs_that_are_none(fixture: &impl Fixture) {
    let history = fixture.history();
    fixture.write(FACTS, &file(&["a"]));
    by_run(fixture, "r_1", 1).await;
    fixture.write(FACTS, &file(&["a", "b"]));
    let refused = history.undo("r_2", &run("u_1"), at(2)).await;
    assert!(matches!(refused, Err(HistoryError::NoRun { .. })));
    for bad in ["", "r 1", "r\n1", "r_1\u{0}"] {
        let refused = history
            .commit(&Author::Run(run(bad)), &CommitPart::All, at(3))
            .await;
        assert!(matches!(refused, Err(HistoryError::BadRun { .. })), "{bad:?}");
        let refused = history.undo("r_1", &run(bad), at(3)).await;
        assert!(matches!(refused, Err(HistoryError::BadRun { .. })), "{bad:?}");
    }
}
