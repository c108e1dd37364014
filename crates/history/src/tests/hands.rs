//! A person may use the repository too, and one that is theirs alone is not touched.

use std::fs;

use git2::{Repository, Signature};
use ports::{Author, By, CommitPart, History as _, HistoryError};
use tempfile::TempDir;

use super::{FACTS, Folder, PROFILE, at, berlin, everything};
use crate::GitHistory;

/// Commits all there is, as a person's git does.
fn commit_as_ann(repository: &Repository, message: &str) {
    let mut index = repository.index().expect("opens");
    index
        .add_all(["."], git2::IndexAddOption::DEFAULT, None)
        .expect("stages");
    index.write().expect("writes");
    let tree = index
        .write_tree()
        .and_then(|tree| repository.find_tree(tree))
        .expect("writes");
    let ann = Signature::new("Ann", "ann@example.org", &git2::Time::new(1_700_000_002, 0)).expect("a name");
    let parent = repository
        .head()
        .and_then(|head| head.peel_to_commit())
        .expect("is there");
    repository
        .commit(Some("HEAD"), &ann, &ann, message, &tree, &[&parent])
        .expect("commits");
}

#[tokio::test]
async fn another_repository_is_not_touched() {
    let folder = TempDir::new().expect("a folder");
    Repository::init(folder.path()).expect("makes it");
    let config = fs::read(folder.path().join(".git/config")).expect("reads");
    let refused = GitHistory::open(folder.path(), berlin()).expect_err("refuses");
    assert!(matches!(refused, HistoryError::NotOurs { .. }));
    assert_eq!(
        fs::read(folder.path().join(".git/config")).expect("reads"),
        config
    );
    // The link to a repository elsewhere, as in a worktree.
    fs::remove_dir_all(folder.path().join(".git")).expect("removes");
    fs::write(folder.path().join(".git"), "gitdir: ../elsewhere").expect("writes");
    let refused = GitHistory::open(folder.path(), berlin()).expect_err("refuses");
    assert!(matches!(refused, HistoryError::NotOurs { .. }));
}

#[tokio::test]
async fn a_repository_that_took_the_place_of_ours_is_not_touched() {
    let folder = Folder::new();
    fs::remove_dir_all(folder.at(".git")).expect("removes");
    Repository::init(folder.folder.path()).expect("makes it");
    folder.put(FACTS, "## A\n");
    let refused = folder
        .history
        .commit(&Author::Person, &CommitPart::All, at(1))
        .await;
    assert!(matches!(refused, Err(HistoryError::NotOurs { .. })));
    let refused = folder.history.purge(&[everything(1)]).await;
    assert!(matches!(refused, Err(HistoryError::NotOurs { .. })));
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_one_of_ours_is_not_followed() {
    let ours = Folder::new();
    let folder = TempDir::new().expect("a folder");
    std::os::unix::fs::symlink(ours.at(".git"), folder.path().join(".git")).expect("links");
    let refused = GitHistory::open(folder.path(), berlin()).expect_err("refuses");
    assert!(matches!(refused, HistoryError::NotOurs { .. }));
}

#[tokio::test]
async fn a_persons_own_commits_are_shown_as_theirs() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    folder.by_run("r_1").await;
    folder.put(PROFILE, "## P\n");
    commit_as_ann(&folder.repository(), "mine\n\nRun: r_7\n");
    assert_eq!(folder.by_hand().await, None);
    folder.put(FACTS, "## A\n## B\n");
    folder.by_run("r_2").await;
    let log = folder.log().await;
    let name = "Ann".to_owned();
    assert_eq!(log.len(), 3);
    assert_eq!(
        (&log[1].by, log[1].subject.as_str()),
        (&By::Person { name }, "mine")
    );
    assert!(matches!(
        folder.undo("r_7").await,
        Err(HistoryError::NoRun { .. })
    ));
    folder.undo("r_2").await.expect("undoes");
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"## A\n"[..]));
    assert_eq!(folder.bytes(PROFILE).as_deref(), Some(&b"## P\n"[..]));
}

#[tokio::test]
async fn a_person_is_called_as_git_is_told() {
    let folder = Folder::new();
    for (told, shown) in [
        ("Ann <the> \u{7}Lee", "Ann  the   Lee"),
        (" <> ", "hand"),
        ("Ännchen", "Ännchen"),
    ] {
        folder.configure("user.name", told);
        folder.put(FACTS, told);
        let name = shown.to_owned();
        assert_eq!(
            folder.by_hand().await.expect("something changed").by,
            By::Person { name }
        );
    }
}

#[tokio::test]
async fn times_are_the_callers_in_the_configured_zone() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    folder.by_run("r_1").await;
    let repository = folder.repository();
    let head = repository
        .head()
        .and_then(|head| head.peel_to_commit())
        .expect("is there");
    for time in [head.author().when(), head.committer().when()] {
        assert_eq!((time.seconds(), time.offset_minutes()), (1_700_000_002, 60));
    }
    assert!(
        !folder.at(".git/logs").exists(),
        "a reflog has the machine's time"
    );
}

#[tokio::test]
async fn commits_go_to_what_is_checked_out() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    let first = folder.by_run("r_1").await;
    let repository = folder.repository();
    let head = || {
        repository
            .head()
            .and_then(|head| head.peel_to_commit())
            .expect("is there")
    };
    repository.branch("other", &head(), false).expect("branches");
    repository.set_head("refs/heads/other").expect("sets");
    folder.put(FACTS, "## A\n## B\n");
    let second = folder.by_run("r_2").await;
    assert_eq!(folder.log().await, [second, first.clone()]);
    let at_main = repository.revparse_single("main").expect("is there").id();
    assert_eq!(at_main.to_string(), *first.id);
    repository.set_head_detached(head().id()).expect("sets");
    folder
        .undo("r_2")
        .await
        .expect("undoes")
        .expect("something changed");
    assert!(repository.head_detached().expect("reads"));
    assert_eq!(folder.log().await.len(), 3);
    folder.history.purge(&[everything(5)]).await.expect("purges");
    assert_eq!(folder.log().await.len(), 1);
    assert!(folder.repository().revparse_single("main").is_err());
}

#[tokio::test]
async fn nothing_is_recorded_in_the_middle_of_a_merge() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    let made = folder.by_run("r_1").await;
    folder.put(".git/MERGE_HEAD", format!("{}\n", made.id));
    folder.put(FACTS, "<<<<<<<\n");
    let busy = folder
        .history
        .commit(&Author::Person, &CommitPart::All, at(1))
        .await;
    assert!(matches!(busy, Err(HistoryError::Busy { .. })), "{busy:?}");
    let busy = folder.undo("r_1").await;
    assert!(matches!(busy, Err(HistoryError::Busy { .. })), "{busy:?}");
    assert_eq!(folder.log().await, [made]);
}

/// Whatever their git does with the ends of lines.
#[tokio::test]
async fn every_byte_comes_back() {
    let folder = Folder::new();
    folder.configure("core.autocrlf", "true");
    folder.put(".gitattributes", "* text=auto eol=crlf ident\n");
    let bytes = b"## A {#a}\r\n$Id: mine$\nx\r\n\xff\0\n";
    folder.put(FACTS, bytes);
    folder.put("notes/mine.txt", bytes);
    folder.by_hand().await;
    fs::remove_file(folder.at(FACTS)).expect("removes");
    folder.put("notes/mine.txt", "run\n");
    folder.by_run("r_1").await;
    folder.undo("r_1").await.expect("undoes");
    for path in [FACTS, "notes/mine.txt"] {
        assert_eq!(folder.bytes(path).as_deref(), Some(&bytes[..]), "{path}");
    }
    let repository = folder.repository();
    let recorded = repository
        .revparse_single(&format!("HEAD:{FACTS}"))
        .expect("is there");
    assert_eq!(recorded.as_blob().expect("a file").content(), bytes);
}

#[tokio::test]
async fn a_merge_of_theirs_does_not_hide_a_run() {
    let folder = Folder::new();
    folder.put(FACTS, "## A {#a}\n");
    folder.by_hand().await;
    let repository = folder.repository();
    let base = repository
        .head()
        .and_then(|head| head.peel_to_commit())
        .expect("is there");
    folder.put(FACTS, "## A {#a}\n## B {#b}\n");
    folder.by_run("r_1").await;
    let run = repository
        .head()
        .and_then(|head| head.peel_to_commit())
        .expect("is there");
    let ann = Signature::new("Ann", "ann@example.org", &git2::Time::new(1_700_000_009, 0)).expect("a name");
    let side = repository.commit(
        None,
        &ann,
        &ann,
        "side",
        &base.tree().expect("is there"),
        &[&base],
    );
    let side = repository.find_commit(side.expect("commits")).expect("is there");
    let tree = run.tree().expect("is there");
    let merge = repository
        .commit(None, &ann, &ann, "merge", &tree, &[&side, &run])
        .expect("commits");
    repository
        .reference("refs/heads/main", merge, true, "")
        .expect("sets");
    folder
        .undo("r_1")
        .await
        .expect("undoes")
        .expect("something changed");
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"## A {#a}\n"[..]));
}
