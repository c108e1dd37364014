//! Whatever a crash left, the next process finishes, and only what was Quipu's own.

use std::fs;

use git2::{ErrorCode, Oid, Signature, Time};
use ports::{Author, By, CommitPart, History as _, HistoryError};

use super::{FACTS, Folder, PROFILE, at, everything};

const LOCKS: [&str; 3] = [".git/index.lock", ".git/HEAD.lock", ".git/refs/heads/main.lock"];

#[tokio::test]
async fn git_locks_that_a_crash_left_are_taken_away() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    for lock in LOCKS {
        folder.put(lock, "torn");
    }
    folder.put(".git/quipu.note", "commit");
    let history = folder.reopen().expect("heals");
    let made = history.commit(&Author::Person, &CommitPart::All, at(1)).await;
    assert!(made.expect("commits").is_some());
    assert!(LOCKS.iter().all(|lock| folder.bytes(lock).is_none()));
    assert_eq!(folder.bytes(".git/quipu.note"), None);
}

#[tokio::test]
async fn the_lock_of_a_persons_git_is_respected() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    folder.put(LOCKS[0], "theirs");
    let history = folder.reopen().expect("opens");
    for _ in 0..2 {
        let busy = history.commit(&Author::Person, &CommitPart::All, at(1)).await;
        assert!(
            matches!(&busy, Err(HistoryError::Busy { what }) if what.contains("remove")),
            "{busy:?}"
        );
        let busy = history.purge(&[everything(1)]).await;
        assert!(matches!(busy, Err(HistoryError::Busy { .. })), "{busy:?}");
    }
    assert_eq!(folder.bytes(LOCKS[0]).as_deref(), Some(&b"theirs"[..]));
    fs::remove_file(folder.at(LOCKS[0])).expect("removes");
    // A lock that comes after the look.
    folder.put(LOCKS[2], "theirs");
    let busy = history.commit(&Author::Person, &CommitPart::All, at(1)).await;
    assert!(matches!(busy, Err(HistoryError::Busy { .. })), "{busy:?}");
    fs::remove_file(folder.at(LOCKS[2])).expect("removes");
    let owed = history.owed().await.expect("reads");
    assert_eq!(owed, [everything(1)]);
    history.purge(&owed).await.expect("purges");
    let nothing = history.commit(&Author::Person, &CommitPart::All, at(1)).await;
    assert_eq!(nothing.expect("commits"), None);
    assert_eq!(folder.log().await[0].by, By::Purge);
}

#[tokio::test]
async fn a_repository_that_was_not_made_to_its_end_is_made_again() {
    let folder = Folder::new();
    fs::rename(folder.at(".git"), folder.at(".git.new")).expect("renames");
    folder.put(".git.new/config", "torn");
    folder.reopen().expect("makes it");
    assert!(folder.bytes(".git.new/config").is_none());
    assert_eq!(folder.log().await, []);
}

/// However many files were written, whether or not the newest commit was changed.
#[tokio::test]
async fn an_undo_is_finished_from_any_step() {
    let [before, after] = ["## A {#a}\n", "## A {#a}\n\n## B {#b}\n"];
    for done in 0..=3 {
        let folder = Folder::new();
        folder.put(FACTS, before);
        folder.by_hand().await;
        folder.put(FACTS, after);
        folder.put(PROFILE, after);
        let made = folder.by_run("r_1").await;
        let undone = folder
            .undo("r_1")
            .await
            .expect("undoes")
            .expect("something changed");
        if done < 3 {
            let repository = folder.repository();
            let parent = Oid::from_str(&made.id).expect("an id");
            repository
                .reference("refs/heads/main", parent, true, "")
                .expect("sets");
        }
        if done < 2 {
            folder.put(PROFILE, after);
        }
        if done < 1 {
            folder.put(FACTS, after);
        }
        folder.put(".git/quipu.note", format!("undo {}", undone.id));
        folder.reopen().expect("heals");
        assert_eq!(folder.bytes(FACTS).as_deref(), Some(before.as_bytes()), "{done}");
        assert_eq!(folder.bytes(PROFILE), None, "{done}");
        assert_eq!(folder.by_hand().await, None, "{done}");
        assert_eq!(folder.log().await[0], undone, "{done}");
    }
}

/// What they saved, and where they went.
#[tokio::test]
async fn finishing_an_undo_leaves_what_a_person_did_meanwhile() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n");
    let made = folder.by_run("r_1").await;
    folder.put(FACTS, "## B\n");
    folder.put(PROFILE, "## P\n");
    folder.by_run("r_2").await;
    let undone = folder
        .undo("r_2")
        .await
        .expect("undoes")
        .expect("something changed");
    folder.put(FACTS, "## Mine\n");
    folder.put(".git/quipu.note", format!("undo {}", undone.id));
    folder.reopen().expect("heals");
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"## Mine\n"[..]));
    let mine = folder.by_hand().await.expect("something changed");
    assert!(matches!(mine.by, By::Person { .. }));
    // They are on an older commit now, which the undo has no place on.
    let oid = Oid::from_str(&made.id).expect("an id");
    folder.repository().set_head_detached(oid).expect("sets");
    folder.put(".git/quipu.note", format!("undo {}", undone.id));
    folder.reopen().expect("heals");
    assert_eq!(folder.log().await, [made]);
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"## Mine\n"[..]));
}

/// As after a power cut.
#[tokio::test]
async fn a_note_of_what_is_lost_is_thrown_away() {
    let folder = Folder::new();
    for note in [
        "",
        "undo",
        "undo 12",
        "purge 0123456789012345678901234567890123456789",
    ] {
        folder.put(".git/quipu.note", note);
        folder.reopen().expect("heals");
        assert_eq!(folder.bytes(".git/quipu.note"), None, "{note}");
    }
}

#[tokio::test]
async fn a_purge_is_finished_from_its_first_step() {
    let folder = Folder::new();
    folder.put(FACTS, "## A\n\nsecret\n");
    let old = folder.by_hand().await.expect("something changed");
    folder.put(FACTS, "## A\n");
    folder.by_hand().await;
    let root = {
        let repository = folder.repository();
        let head = repository
            .head()
            .and_then(|head| head.peel_to_commit())
            .expect("is there");
        let quipu = Signature::new("Quipu", "quipu@localhost", &Time::new(5, 0)).expect("a name");
        let tree = head.tree().expect("is there");
        repository
            .commit(None, &quipu, &quipu, "anew", &tree, &[])
            .expect("commits")
    };
    folder.put(".git/quipu.note", format!("purge {root}"));
    folder.reopen().expect("heals");
    let log = folder.log().await;
    assert_eq!((log.len(), &log[0].by), (1, &By::Purge));
    let gone = folder
        .repository()
        .find_commit(Oid::from_str(&old.id).expect("an id"))
        .err();
    assert_eq!(gone.map(|error| error.code()), Some(ErrorCode::NotFound));
    super::purge::assert_forgotten(&folder, "secret");
}
