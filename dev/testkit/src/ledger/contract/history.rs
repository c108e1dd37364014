//! The history: a chain of versions for each key, and its state after a crash.
//!
//! Owns: the meaning of `History`. Never: files.

use model::{EntryId, Owner, Scope, SessionId};
use ports::{
    By, ChangeQuery, ChangeTarget, FileStat, History, NewVersion, Run, Touching, Version, VersionKey,
    VersionQuery, VersionText,
};

use crate::ledger::samples::{at, name, scope};

fn key(entry: &str) -> VersionKey {
    VersionKey {
        path: "a/p/users/ann/facts/1.md".into(),
        entry: (!entry.is_empty()).then(|| EntryId::new(entry)),
    }
}

fn text(text: &str) -> VersionText {
    VersionText::new(
        text.len() as u64 * 7 + u64::from(text.as_bytes()[0]),
        text.to_owned(),
    )
}

fn version(entry: &str, before: &str, after: &str) -> NewVersion {
    let state = |of: &str| (!of.is_empty()).then(|| text(of));
    NewVersion {
        key: key(entry),
        owner: Some((scope("a"), Owner::user(name("ann")))),
        session: Some(SessionId::new("s")),
        before: state(before),
        after: state(after),
    }
}

fn run(id: &str) -> By {
    By::Run {
        run: Run {
            id: id.into(),
            strategy: "profile".to_owned(),
            reason: "nightly".to_owned(),
        },
        undoes: None,
    }
}

fn target(by: By) -> ChangeTarget {
    ChangeTarget {
        known: None,
        by,
        at: at(1),
    }
}

async fn of(ledger: &impl History, entry: &str) -> Vec<Version> {
    let query = VersionQuery::Keys(vec![key(entry)]);
    ledger.versions(&query).await.expect("reads")
}

/// Author, text before by its digest, and text of each version.
async fn chain(ledger: &impl History, entry: &str) -> Vec<(Option<String>, Option<u64>, Option<String>)> {
    let versions = of(ledger, entry).await.into_iter();
    let by = |by: &By| by.run().map_or("person".to_owned(), |run| run.id.to_string());
    versions
        .map(|one| {
            (
                one.change.map(|change| by(&change.by)),
                one.before,
                one.after.and_then(|after| after.text),
            )
        })
        .collect()
}

fn step(by: &str, before: &str, after: &str) -> (Option<String>, Option<u64>, Option<String>) {
    (
        (!by.is_empty()).then(|| by.to_owned()),
        (!before.is_empty()).then(|| text(before).digest),
        (!after.is_empty()).then(|| after.to_owned()),
    )
}

/// Lists show settled versions only. An announcement and a check of a file complete the chain.
pub async fn versions_make_a_chain(ledger: &impl History) {
    let made = ledger
        .announce(target(run("r_1")), vec![version("f", "", "one")], Vec::new())
        .await;
    let made = made.expect("announced");
    let newest = VersionQuery::Newest(Touching::All, None, 9);
    assert_eq!(ledger.versions(&newest).await.expect("reads"), []);
    assert_eq!(
        ledger
            .versions(&VersionQuery::Unsettled)
            .await
            .expect("reads")
            .len(),
        1
    );
    let again = ChangeTarget {
        known: Some(made.change),
        ..target(run("r_1"))
    };
    let next = ledger
        .announce(again, vec![version("f", "one", "second")], made.versions)
        .await;
    let next = next.expect("announced");
    assert_eq!(next.change, made.change);
    ledger.settle(next.versions).await.expect("settles");
    // A person edited the entry, and a run changes that text.
    let after = ledger
        .announce(
            target(run("r_2")),
            vec![version("f", "by hand", "fourth one")],
            Vec::new(),
        )
        .await;
    ledger
        .settle(after.expect("announced").versions)
        .await
        .expect("settles");
    // A person deletes the entry; a second check finds no change.
    for _ in 0..2 {
        ledger
            .find(vec![version("f", "fourth one", "")], at(5))
            .await
            .expect("found");
    }
    assert_eq!(
        chain(ledger, "f").await,
        [
            step("r_1", "", "one"),
            step("r_1", "one", "second"),
            step("person", "second", "by hand"),
            step("r_2", "by hand", "fourth one"),
            step("person", "fourth one", ""),
        ]
    );
}

/// The newest changes come without texts; a run's versions are found by its change and by its id.
pub async fn versions_are_found(ledger: &impl History) {
    let newest = VersionQuery::Newest(Touching::All, None, 9);
    let texts = ["one", "second", "third one"];
    let mut first = None;
    for (n, pair) in ["", "one", "second"].iter().zip(texts).enumerate() {
        let by = run(if n < 2 { "r_1" } else { "r_2" });
        let known = first.filter(|_| n < 2);
        let of_run = ChangeTarget { known, ..target(by) };
        let new = vec![version("f", pair.0, pair.1)];
        let made = ledger.announce(of_run, new, Vec::new()).await.expect("announced");
        ledger.settle(made.versions).await.expect("settles");
        first = first.or(Some(made.change));
    }
    let shown = ledger.versions(&newest).await.expect("reads");
    let order: Vec<u64> = shown
        .iter()
        .filter_map(|one| one.change.as_ref())
        .map(|one| one.id)
        .collect();
    assert!(order.is_sorted() && shown.len() == 3, "{order:?}");
    assert!(
        shown
            .iter()
            .all(|one| one.after.as_ref().is_none_or(|after| after.text.is_none()))
    );
    assert_eq!(
        ledger
            .versions(&VersionQuery::Newest(Touching::All, None, 1))
            .await
            .expect("reads")
            .len(),
        1
    );
    let runs = ledger
        .versions(&VersionQuery::Run("r_1".into()))
        .await
        .expect("reads");
    assert_eq!(runs.len(), 2);
    let change = ledger
        .versions(&VersionQuery::Change(first.expect("the first")))
        .await
        .expect("reads");
    assert_eq!(change, runs);
    let older = VersionQuery::Newest(Touching::All, order.last().copied(), 9);
    let older = ledger.versions(&older).await.expect("reads");
    assert!(older.iter().map(|one| one.id).eq(runs.iter().map(|one| one.id)));
    let of_file = VersionQuery::File(key("f").path);
    assert_eq!(
        ledger.versions(&of_file).await.expect("reads"),
        of(ledger, "f").await
    );
}

/// A state from before the history is recorded when it is first replaced, without an author.
pub async fn a_state_before_the_history_has_no_author(ledger: &impl History) {
    let made = ledger
        .announce(
            target(run("r_1")),
            vec![version("f", "old", "new one")],
            Vec::new(),
        )
        .await;
    ledger
        .settle(made.expect("announced").versions)
        .await
        .expect("settles");
    assert_eq!(
        chain(ledger, "f").await,
        [step("", "", "old"), step("r_1", "old", "new one")]
    );
    // A file in its known state has no history yet.
    assert_eq!(
        ledger
            .find(vec![version("g", "old", "old")], at(2))
            .await
            .expect("found"),
        None
    );
    assert_eq!(of(ledger, "g").await, []);
    // For a file that a person edited, the digest of the earlier state is known.
    assert!(
        ledger
            .find(vec![version("g", "old", "edited")], at(2))
            .await
            .expect("found")
            .is_some()
    );
    assert_eq!(chain(ledger, "g").await, [step("person", "old", "edited")]);
}

/// A process that dies between an announcement and its write leaves a version that its file may have or not.
pub async fn a_file_settles_its_versions(ledger: &impl History) {
    let steps = [
        ("written", "one", vec![step("r", "", "one")]),
        ("not", "", Vec::new()),
        (
            "over",
            "by hand",
            vec![step("r", "", "one"), step("person", "one", "by hand")],
        ),
    ];
    for (entry, found, expected) in steps {
        let announced = ledger
            .announce(target(run("r")), vec![version(entry, "", "one")], Vec::new())
            .await;
        announced.expect("announced");
        ledger
            .find(vec![version(entry, "", found)], at(2))
            .await
            .expect("found");
        assert_eq!(chain(ledger, entry).await, expected, "{entry}");
    }
    assert_eq!(
        ledger.versions(&VersionQuery::Unsettled).await.expect("reads"),
        []
    );
    // After two versions in a row, the file may have either.
    for (entry, found) in [("second", "second"), ("first", "one"), ("none", "")] {
        for (before, after) in [("", "one"), ("one", "second")] {
            let announced = ledger
                .announce(target(run("r")), vec![version(entry, before, after)], Vec::new())
                .await;
            announced.expect("announced");
        }
        ledger
            .find(vec![version(entry, "", found)], at(2))
            .await
            .expect("found");
        let last = chain(ledger, entry).await.pop().and_then(|(_, _, text)| text);
        assert_eq!(last.unwrap_or_default(), found, "{entry}");
    }
}

/// A failed write is announced again in the same change.
pub async fn a_write_is_tried_again(ledger: &impl History) {
    let mut known = None;
    for _ in 0..3 {
        let again = ChangeTarget {
            known,
            ..target(run("r"))
        };
        let new = vec![version("f", "", "one")];
        let made = ledger.announce(again, new, Vec::new()).await.expect("announced");
        assert_eq!(*known.get_or_insert(made.change), made.change);
    }
    assert_eq!(chain(ledger, "f").await, [step("r", "", "one")]);
}

/// A change with only one write, which failed, leaves nothing.
pub async fn a_write_that_failed_leaves_nothing(ledger: &impl History) {
    let By::Run { run, .. } = run("r_2") else { return };
    let undoes = Some("r_1".into());
    let made = ledger
        .announce(
            target(By::Run { run, undoes }),
            vec![version("f", "", "one")],
            Vec::new(),
        )
        .await;
    made.expect("announced");
    let made = async || {
        ledger
            .changes(&ChangeQuery::Undoing("r_1".into()))
            .await
            .expect("reads")
    };
    assert_eq!(made().await.len(), 1);
    ledger
        .find(vec![version("f", "", "")], at(2))
        .await
        .expect("found");
    assert_eq!(made().await, []);
}

/// Erased versions are gone, with changes that have no others; an undo is open until it is closed.
pub async fn erased_versions_are_gone(ledger: &impl History) {
    let versions = vec![version("f", "", "one"), version("g", "", "two")];
    let made = ledger
        .announce(target(run("r_1")), versions, Vec::new())
        .await
        .expect("announced");
    ledger.settle(made.versions.clone()).await.expect("settles");
    ledger.delete(vec![made.versions[0]]).await.expect("deletes");
    assert_eq!(of(ledger, "f").await, []);
    assert_eq!(of(ledger, "g").await.len(), 1);
    ledger.delete(made.versions).await.expect("deletes");
    ledger.erased().await.expect("erases");
    let left = ledger.versions(&VersionQuery::Run("r_1".into())).await;
    assert_eq!(left.expect("reads"), []);
    let undo = By::Run {
        run: Run {
            id: "r_2".into(),
            strategy: "undo".to_owned(),
            reason: String::new(),
        },
        undoes: Some("r_1".into()),
    };
    let id = ledger.begin_undo(undo, at(3)).await.expect("begins");
    let open = ledger.changes(&ChangeQuery::Open).await.expect("reads");
    assert_eq!(
        open,
        ledger
            .changes(&ChangeQuery::Undoing("r_1".into()))
            .await
            .expect("reads")
    );
    assert_eq!(open[0].id, id);
    ledger.close(id).await.expect("closes");
    assert_eq!(ledger.changes(&ChangeQuery::Open).await.expect("reads"), []);
}

/// Each owner's versions are separate.
pub async fn versions_belong_to_their_owners(ledger: &impl History) {
    let elsewhere = NewVersion {
        key: VersionKey {
            path: "README.md".into(),
            entry: None,
        },
        owner: None,
        session: None,
        ..version("", "", "words")
    };
    ledger
        .find(vec![version("f", "", "one"), elsewhere], at(1))
        .await
        .expect("found");
    let count = async |touching: Touching| {
        let newest = VersionQuery::Newest(touching.clone(), None, 9);
        let [texts, newest] = [VersionQuery::Texts(touching), newest];
        let texts = ledger.versions(&texts).await.expect("reads").len();
        (texts, ledger.versions(&newest).await.expect("reads").len())
    };
    let [ann, bob] = ["ann", "bob"].map(|one| Owner::user(name(one)));
    assert_eq!(count(Touching::All).await, (2, 2));
    assert_eq!(
        count(Touching::Scope(scope("a"))).await,
        (1, 2),
        "the change is one"
    );
    assert_eq!(count(Touching::Scope(Scope::default())).await, (0, 0));
    assert_eq!(count(Touching::Owner(scope("a"), ann)).await, (1, 2));
    assert_eq!(count(Touching::Owner(scope("a"), bob)).await, (0, 0));
    let stat = |path: &str| FileStat {
        path: path.into(),
        bytes: 3,
        modified_ns: 1_700_000_000_123_456_789,
    };
    for stats in [vec![stat("a"), stat("b")], vec![stat("b")]] {
        ledger.put_others(stats.clone()).await.expect("puts");
        assert_eq!(ledger.others().await.expect("reads"), stats);
    }
    for path in ["a", "b"] {
        ledger.drop_others(vec![path.into()]).await.expect("drops");
        let left = ledger.others().await.expect("reads");
        assert_eq!(left.len(), usize::from(path == "a"), "{path}");
    }
}
