//! The contract of the history port: what every history does, run against the fake and the real one.
//!
//! Owns: the port's promises as assertions. Never: speed, git, or what only a disk can do.

mod undo;

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{EntryId, Scope, Timestamp};
use ports::{Author, By, CommitPart, Debt, History, HistoryError, RecordedChange, Run, Touching};

use crate::vault::samples::user;

/// The history of an empty vault of its own for one clause, and hands that edit files.
pub trait Fixture {
    /// The history; a person told git no name.
    fn history(&self) -> Arc<dyn History>;
    /// Writes a file, its folders too.
    fn write(&self, path: &str, text: &str);
    /// Deletes a file.
    fn delete(&self, path: &str);
    /// A file's text, none when there is no file.
    fn text(&self, path: &str) -> Option<String>;
}

const FACTS: &str = "default/default/users/alice/facts/2023-05-08.md";
const PROFILE: &str = "default/default/users/alice/profile.md";
const BOB: &str = "default/default/users/bob/facts/2023-05-08.md";

/// Runs every clause, each on an empty vault that `open` makes.
pub async fn holds<F: Fixture>(open: impl AsyncFn() -> F) {
    records_only_what_changed(&open().await).await;
    records_some_files(&open().await).await;
    tells_entries_from_what_a_person_changed_beside_them(&open().await).await;
    brings_new_files_and_leaves_what_is_gone(&open().await).await;
    tells_who_when_what_and_why(&open().await).await;
    counts_entries(&open().await).await;
    shows_the_newest_and_what_touches(&open().await).await;
    shows_differences(&open().await).await;
    leaves_out_what_is_no_memory(&open().await).await;
    undo::takes_back_one_run_and_nothing_else(&open().await).await;
    undo::takes_back_every_kind_of_change(&open().await).await;
    undo::takes_back_an_undo(&open().await).await;
    undo::refuses_what_was_changed_again(&open().await).await;
    undo::records_the_persons_changes_before_an_undo(&open().await).await;
    undo::refuses_runs_that_are_none(&open().await).await;
    does_a_purge_that_is_owed(&open().await).await;
    begins_anew_after_a_purge(&open().await).await;
    purges_one_folder_and_leaves_the_others(&open().await).await;
    takes_concurrent_calls(&open().await).await;
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + seconds * 1000)
}

fn run(id: &str) -> Run {
    Run {
        id: id.into(),
        strategy: "profile".to_owned(),
        reason: "asked for".to_owned(),
    }
}

fn entry(id: &str, text: &str) -> String {
    format!("\n## About {id} {{#{id}}}\n- author: rules/1\n\n{text}\n\n<!-- end -->\n")
}

fn file(entries: &[&str]) -> String {
    let entries: Vec<String> = entries.iter().map(|id| entry(id, "as it was")).collect();
    format!("---\nquipu: 1\n---\n{}", entries.concat())
}

async fn by_hand(fixture: &impl Fixture, seconds: i64) -> RecordedChange {
    let made = fixture
        .history()
        .commit(&Author::Person, &CommitPart::All, at(seconds))
        .await;
    made.expect("commits").expect("something changed")
}

async fn by_run(fixture: &impl Fixture, id: &str, seconds: i64) -> RecordedChange {
    let made = fixture
        .history()
        .commit(&Author::Run(run(id)), &CommitPart::All, at(seconds))
        .await;
    made.expect("commits").expect("something changed")
}

async fn log(fixture: &impl Fixture) -> Vec<RecordedChange> {
    let log = fixture.history().log(&Touching::All, 100).await;
    log.expect("reads")
}

/// And one change for all of it.
pub async fn records_only_what_changed(fixture: &impl Fixture) {
    let history = fixture.history();
    assert_eq!(
        history
            .commit(&Author::Person, &CommitPart::All, at(0))
            .await
            .expect("commits"),
        None
    );
    assert_eq!(log(fixture).await, []);
    fixture.write(FACTS, &file(&["a"]));
    fixture.write(PROFILE, &file(&["b"]));
    let made = by_hand(fixture, 1).await;
    assert_eq!(made.files, [FACTS.into(), PROFILE.into()]);
    assert_eq!(
        history
            .commit(&Author::Person, &CommitPart::All, at(2))
            .await
            .expect("commits"),
        None
    );
    fixture.write(FACTS, &file(&["a"]));
    let nothing = history
        .commit(&Author::Run(run("r_1")), &CommitPart::All, at(3))
        .await;
    assert_eq!(nothing.expect("commits"), None);
    assert_eq!(log(fixture).await, [made]);
}

/// And leaves the others to the next change.
pub async fn records_some_files(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a"]));
    fixture.write(PROFILE, &file(&["b"]));
    let part = CommitPart::Files([PROFILE.into(), BOB.into()].into());
    let history = fixture.history();
    let made = history.commit(&Author::Run(run("r_1")), &part, at(1)).await;
    assert_eq!(made.expect("commits").expect("changed").files, [PROFILE.into()]);
    assert_eq!(by_hand(fixture, 2).await.files, [FACTS.into()]);
    fixture.delete(PROFILE);
    fixture.delete(FACTS);
    let made = history.commit(&Author::Run(run("r_2")), &part, at(3)).await;
    assert_eq!(made.expect("commits").expect("changed").files, [PROFILE.into()]);
}

/// So that taking back the one leaves the other.
pub async fn tells_entries_from_what_a_person_changed_beside_them(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a", "b"]));
    by_hand(fixture, 1).await;
    let edited = file(&["a", "b"]).replacen("as it was", "as a person has it", 1);
    fixture.write(FACTS, &format!("{edited}{}", entry("c", "as it was")));
    let part = CommitPart::Entries([(FACTS.into(), [EntryId::new("c")].into())].into());
    let history = fixture.history();
    let made = history.commit(&Author::Run(run("r_1")), &part, at(2)).await;
    let made = made.expect("commits").expect("changed");
    let diff = history.diff(Some(&made.id)).await.expect("reads");
    assert!(
        diff.contains("About c") && !diff.contains("as a person has it"),
        "{diff}"
    );
    let nothing = history.commit(&Author::Run(run("r_2")), &part, at(3)).await;
    assert_eq!(nothing.expect("commits"), None);
    let rest = by_hand(fixture, 4).await;
    let diff = history.diff(Some(&rest.id)).await.expect("reads");
    assert!(
        !diff.contains("+## About c") && diff.contains("as a person has it"),
        "{diff}"
    );
    history.undo("r_1", &run("u_1"), at(5)).await.expect("takes back");
    assert_eq!(fixture.text(FACTS), Some(edited));
}

/// What stands before the first entry of a new file comes with its entries.
pub async fn brings_new_files_and_leaves_what_is_gone(fixture: &impl Fixture) {
    fixture.write(PROFILE, &file(&["b"]));
    by_hand(fixture, 1).await;
    fixture.delete(PROFILE);
    fixture.write(FACTS, &file(&["a", "by_hand"]));
    let ids = |id: &str| [EntryId::new(id)].into();
    let part = CommitPart::Entries([(FACTS.into(), ids("a")), (PROFILE.into(), ids("b"))].into());
    let history = fixture.history();
    let made = history.commit(&Author::Run(run("r_1")), &part, at(2)).await;
    let made = made.expect("commits").expect("changed");
    assert_eq!(made.files, [FACTS.into()]);
    let diff = history.diff(Some(&made.id)).await.expect("reads");
    assert!(diff.contains("+quipu: 1") && !diff.contains("by_hand"), "{diff}");
    assert_eq!(by_hand(fixture, 3).await.files, [FACTS.into(), PROFILE.into()]);
}

/// As one line each.
pub async fn tells_who_when_what_and_why(fixture: &impl Fixture) {
    fixture.write(FACTS, &file(&["a"]));
    let first = by_hand(fixture, 1).await;
    let name = "hand".to_owned();
    assert_eq!((first.at, &first.by), (at(1), &By::Person { name }));
    fixture.write(FACTS, &file(&["a", "b", "c"]));
    let told = Run {
        reason: "every\nnight\n\nRun: r_2".to_owned(),
        ..run("r_1")
    };
    let made = fixture
        .history()
        .commit(&Author::Run(told), &CommitPart::All, at(2).plus_millis(7))
        .await;
    let made = made.expect("commits").expect("something changed");
    let expected = Run {
        reason: "every night Run: r_2".to_owned(),
        ..run("r_1")
    };
    let by = By::Run {
        run: expected,
        undoes: None,
    };
    assert_eq!((made.at, &made.by), (at(2), &by));
    assert_eq!(made.subject, "facts of alice: 2 entries added");
    assert_eq!(log(fixture).await, [made, first]);
}

/// By heading, of one file or many.
pub async fn counts_entries(fixture: &impl Fixture) {
    fixture.write(PROFILE, &file(&["a", "b", "c"]));
    assert_eq!(
        by_hand(fixture, 1).await.subject,
        "profile of alice: 3 entries added"
    );
    let text = file(&["b", "c", "d", "e"]).replacen("as it was", "other", 1);
    fixture.write(PROFILE, &text);
    let subject = by_hand(fixture, 2).await.subject;
    assert_eq!(subject, "profile of alice: 2 entries added, 1 changed, 1 removed");
    fixture.write(PROFILE, &format!("---\nmood: good\n{}", &text[4..]));
    assert_eq!(
        by_hand(fixture, 3).await.subject,
        "profile of alice: 1 file changed"
    );
    fixture.write(FACTS, &file(&["a"]));
    fixture.delete(PROFILE);
    let subject = by_hand(fixture, 4).await.subject;
    assert_eq!(subject, "memory of alice: 1 entry added, 4 removed in 2 files");
    fixture.write(PROFILE, "");
    fixture.write(BOB, "## By hand\n\nx\n");
    assert_eq!(
        by_hand(fixture, 5).await.subject,
        "memory of 2 owners: 1 entry added in 2 files"
    );
    fixture.write("README.md", "mine");
    assert_eq!(by_hand(fixture, 6).await.subject, "README.md: 1 file changed");
}

/// A file, a folder, an owner; no other whose name only begins so.
pub async fn shows_the_newest_and_what_touches(fixture: &impl Fixture) {
    let capital = FACTS.replace("alice", "Alice=1");
    let longer = FACTS.replace("alice", "alicea");
    let mut all = Vec::new();
    for (n, path) in (1..).zip([FACTS, BOB, PROFILE, &capital, &longer]) {
        fixture.write(path, &file(&["a"]));
        all.insert(0, by_hand(fixture, n).await);
    }
    let history = fixture.history();
    let shown = async |touching: Touching, limit| history.log(&touching, limit).await.expect("reads");
    assert_eq!(shown(Touching::All, 2).await, all[..2]);
    assert_eq!(shown(Touching::All, 0).await, []);
    let alices = [all[2].clone(), all[4].clone()];
    let owner = |name: &str| Touching::Owner(Scope::default(), user(name));
    assert_eq!(shown(owner("alice"), 9).await, alices);
    assert_eq!(shown(owner("alice"), 1).await, alices[..1]);
    assert_eq!(shown(owner("Alice"), 9).await, all[1..2]);
    assert_eq!(shown(Touching::Path(BOB.into()), 9).await, all[3..4]);
    for folder in ["default/default/users/alice", "default/default/users/alice/"] {
        assert_eq!(shown(Touching::Path(folder.into()), 9).await, alices);
    }
    assert_eq!(shown(Touching::Path("default".into()), 9).await, all);
    assert_eq!(shown(Touching::Path("elsewhere".into()), 9).await, []);
}

/// Of a change, and of what is not recorded.
pub async fn shows_differences(fixture: &impl Fixture) {
    let history = fixture.history();
    assert_eq!(history.diff(None).await.expect("reads"), "");
    fixture.write(FACTS, "## A\n\nold\n");
    let unrecorded = history.diff(None).await.expect("reads");
    assert!(unrecorded.contains("\n+old\n"), "{unrecorded}");
    let first = by_hand(fixture, 1).await;
    assert_eq!(history.diff(None).await.expect("reads"), "");
    fixture.write(FACTS, "## A\n\nnew\n");
    fixture.write(BOB, "his\n");
    let second = by_hand(fixture, 2).await;
    let text = history.diff(Some(&second.id)).await.expect("reads");
    for line in ["\n-old\n", "\n+new\n", "\n+his\n", &format!("+++ b/{BOB}\n")] {
        assert!(text.contains(line), "{text}");
    }
    let text = history.diff(Some(&first.id)).await.expect("reads");
    assert!(text.contains("\n+old\n") && !text.contains("+new"), "{text}");
    for unknown in [
        "",
        "x",
        "HEAD",
        "../x",
        "0123456789012345678901234567890123456789",
    ] {
        let refused = history.diff(Some(unknown)).await;
        assert!(matches!(refused, Err(HistoryError::NoChange { .. })), "{unknown}");
    }
}

/// By its name, wherever it stands.
pub async fn leaves_out_what_is_no_memory(fixture: &impl Fixture) {
    for path in [
        ".torn/a.md",
        "default/.obsidian/x.json",
        "default/default/users/alice/facts/.a.md.tmp",
    ] {
        fixture.write(path, "x");
    }
    for path in ["default/default/users/alice/facts/#a.md", "~a.md"] {
        fixture.write(path, "x");
    }
    let made = fixture
        .history()
        .commit(&Author::Person, &CommitPart::All, at(1))
        .await;
    assert_eq!(made.expect("commits"), None);
    assert_eq!(fixture.history().diff(None).await.expect("reads"), "");
}

fn debt(id: u64, below: &str, seconds: i64) -> Debt {
    Debt {
        id,
        below: below.into(),
        at: at(seconds),
    }
}

/// It is written down until it is done or struck out, and is not done before it is asked for.
pub async fn does_a_purge_that_is_owed(fixture: &impl Fixture) {
    let history = fixture.history();
    fixture.write(FACTS, &file(&["secret"]));
    by_run(fixture, "r_1", 1).await;
    let (owed, struck) = (debt(7, "default/default", 2), debt(8, "default/other", 3));
    history.owe_purge(&owed).await.expect("is written down");
    history.owe_purge(&struck).await.expect("is written down");
    let mut written = history.owed().await.expect("reads");
    written.sort_by_key(|debt| debt.id);
    assert_eq!(written, [owed.clone(), struck.clone()]);
    history.forgive(&struck).await.expect("strikes it out");
    assert_eq!(log(fixture).await.len(), 1);
    fixture.write(FACTS, &file(&["a"]));
    history.purge(&[owed]).await.expect("purges");
    assert_eq!(history.owed().await.expect("reads"), []);
    let anew = log(fixture).await;
    assert_eq!((anew.len(), &anew[0].by), (1, &By::Purge), "{anew:?}");
    let diff = history.diff(Some(&anew[0].id)).await.expect("reads");
    assert!(!diff.contains("secret"), "{diff}");
}

/// Neither their changes, nor what can be taken back; a change of both keeps its id and loses the one.
pub async fn purges_one_folder_and_leaves_the_others(fixture: &impl Fixture) {
    const OTHER: &str = "b/p/users/secret/facts/2023-05-08.md";
    let history = fixture.history();
    fixture.write(FACTS, &file(&["a"]));
    by_run(fixture, "r_1", 1).await;
    fixture.write(OTHER, &file(&["secret"]));
    by_run(fixture, "r_2", 2).await;
    fixture.write(FACTS, &file(&["a", "b"]));
    fixture.write(OTHER, &file(&["secret", "c"]));
    by_run(fixture, "r_3", 3).await;
    fixture.write(PROFILE, &file(&["p"]));
    by_run(fixture, "r_4", 4).await;
    // Not recorded yet, and nobody's business here.
    fixture.write(BOB, &file(&["x"]));
    let before = log(fixture).await;
    let profile = history.diff(Some(&before[0].id)).await.expect("reads");
    fixture.write(OTHER, &file(&["c"]));
    for (seconds, kept) in [(5, ["r_4", "r_3", "r_1"]), (6, ["r_4", "r_3", "r_1"])] {
        history.purge(&[debt(9, "b/p", seconds)]).await.expect("purges");
        let after = log(fixture).await;
        assert_eq!(
            (&after[0].by, &*after[0].files),
            (&By::Purge, &[OTHER.into()][..]),
            "{after:?}"
        );
        let runs: Vec<&str> = after[1..].iter().map(run_of).collect();
        assert_eq!(runs, kept);
        assert_eq!([&after[1], &after[3]], [&before[0], &before[3]]);
        assert_eq!(
            (&after[2].id, &*after[2].files),
            (&before[1].id, &[FACTS.into()][..])
        );
        assert_eq!(history.diff(Some(&before[0].id)).await.expect("reads"), profile);
        for change in &after {
            let diff = history.diff(Some(&change.id)).await.expect("reads");
            assert!(!change.subject.contains("secret"), "{}", change.subject);
            assert!(!diff.contains("{#secret}"), "{diff}");
        }
        let gone = history.diff(Some(&before[2].id)).await;
        assert!(matches!(gone, Err(HistoryError::NoChange { .. })), "{gone:?}");
    }
    let left = history.diff(None).await.expect("reads");
    assert!(left.contains(BOB), "{left}");
    history.undo("r_3", &run("u_1"), at(7)).await.expect("undoes");
    assert_eq!(fixture.text(FACTS), Some(file(&["a"])));
    assert_eq!(fixture.text(OTHER), Some(file(&["c"])));
    history
        .purge(&[debt(10, "c/q", 8)])
        .await
        .expect("purges what never was");
    assert_eq!(log(fixture).await.len(), 6);
    fixture.delete(OTHER);
    history.purge(&[debt(11, "b/p", 9)]).await.expect("purges");
    let after = log(fixture).await;
    assert!(after.iter().all(|change| change.by != By::Purge), "{after:?}");
}

fn run_of(change: &RecordedChange) -> &str {
    match &change.by {
        By::Run { run, .. } => &run.id,
        _ => "",
    }
}

/// And knows nothing of before.
pub async fn begins_anew_after_a_purge(fixture: &impl Fixture) {
    let history = fixture.history();
    fixture.write(FACTS, &file(&["secret"]));
    let first = by_run(fixture, "r_1", 1).await;
    fixture.write(FACTS, &file(&["a"]));
    history.purge(&[debt(1, "", 2)]).await.expect("purges");
    let anew = log(fixture).await;
    assert_eq!(anew.len(), 1);
    assert_eq!((anew[0].at, &anew[0].by), (at(2), &By::Purge));
    assert_eq!(anew[0].files, [FACTS.into()]);
    assert!(
        !history
            .diff(Some(&anew[0].id))
            .await
            .expect("reads")
            .contains("secret")
    );
    let gone = history.diff(Some(&first.id)).await;
    assert!(matches!(gone, Err(HistoryError::NoChange { .. })));
    let gone = history.undo("r_1", &run("u_1"), at(3)).await;
    assert!(matches!(gone, Err(HistoryError::NoRun { .. })));
    assert_eq!(
        history
            .commit(&Author::Person, &CommitPart::All, at(4))
            .await
            .expect("commits"),
        None
    );
    fixture.write(FACTS, &file(&["a", "b"]));
    by_run(fixture, "r_2", 5).await;
    history.undo("r_2", &run("u_1"), at(6)).await.expect("undoes");
    assert_eq!(fixture.text(FACTS), Some(file(&["a"])));
    history.purge(&[debt(2, "", 7)]).await.expect("purges again");
    fixture.delete(FACTS);
    history
        .purge(&[debt(3, "", 8)])
        .await
        .expect("purges an empty vault");
    assert_eq!(log(fixture).await.len(), 1);
}

/// One after the other.
pub async fn takes_concurrent_calls(fixture: &impl Fixture) {
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        fixture.write(&format!("default/default/users/u{n}/profile.md"), &file(&["a"]));
        let history = fixture.history();
        tasks.spawn(async move { history.commit(&Author::Person, &CommitPart::All, at(n)).await });
    }
    let mut recorded = Vec::new();
    while let Some(done) = tasks.join_next().await {
        recorded.extend(done.expect("no panic").expect("commits"));
    }
    recorded.extend(
        fixture
            .history()
            .commit(&Author::Person, &CommitPart::All, at(9))
            .await
            .expect("commits"),
    );
    // A file that was being written may be in two.
    let files: BTreeSet<_> = recorded.iter().flat_map(|change| &change.files).collect();
    assert_eq!(files.len(), 8);
    assert_eq!(log(fixture).await.len(), recorded.len());
}
