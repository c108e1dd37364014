//! Log, diff, undo and audit on a root with a real vault and a real ledger; the index is in memory.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path as FilePath, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::Desk;
use crate::commands::tests::{desk, typed};
use crate::error::Exit;

async fn changes(desk: &Desk) -> Vec<Value> {
    let log = typed(desk, &["--json history log"])
        .await
        .expect("it is told")
        .json();
    log["changes"].as_array().expect("a list").clone()
}

/// Every plain file below a folder, except the files that a vault keeps for itself.
fn files(root: &FilePath) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![root.join("memory")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it lists") {
            let path = entry.expect("it lists").path();
            if path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes()[0] == b'.')
            {
                continue;
            }
            let list = if path.is_dir() { &mut folders } else { &mut files };
            list.push(path);
        }
    }
    files
}

fn has(root: &FilePath, word: &str) -> bool {
    let text = |path: &PathBuf| String::from_utf8(std::fs::read(path).expect("read")).expect("text");
    files(root).iter().any(|path| text(path).contains(word))
}

/// Replaces a word by another in every file that has it, as a person would.
fn by_hand(root: &FilePath, from: &str, to: &str) {
    for path in files(root) {
        let text = std::fs::read_to_string(&path).expect("text");
        if text.contains(from) {
            std::fs::write(&path, text.replace(from, to)).expect("written");
        }
    }
}

/// The output of `git` in a repository.
fn git(repository: &FilePath, args: &[&str], input: &str) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository).args(args);
    git.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut git = git.spawn().expect("it starts");
    let mut stdin = git.stdin.take().expect("it reads");
    stdin.write_all(input.as_bytes()).expect("it takes it");
    drop(stdin);
    let done = git.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{args:?}");
    String::from_utf8(done.stdout).expect("text")
}

/// For each line, the times it was added less the times it was removed; without the heads of files.
fn net(diff: &str) -> BTreeMap<String, i32> {
    let mut net = BTreeMap::new();
    for line in diff
        .lines()
        .filter(|line| !line.starts_with("+++") && !line.starts_with("---"))
    {
        let (sign, rest) = line.split_at(line.len().min(1));
        let is_beginning =
            ["", "---", "quipu: 2"].contains(&rest) || rest.starts_with("date: ") || rest.starts_with("# ");
        let n = i32::from(sign == "+") - i32::from(sign == "-");
        if n != 0 && !is_beginning {
            *net.entry(rest.to_owned()).or_default() += n;
        }
    }
    net.retain(|_, n| *n != 0);
    net
}

#[tokio::test]
async fn a_batch_is_recorded_shown_and_undone() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &["add --flush a-violin"])
        .await
        .expect("it is remembered");
    let made = changes(&desk).await;
    let [change] = &made[..] else {
        panic!("{made:?}");
    };
    let [id, run] = ["id", "run_id"].map(|key| change[key].as_str().expect("text"));
    assert!(has(root.path(), "a-violin"));
    let [shown, undo] = [format!("history diff {id}"), format!("history undo {run}")];
    let lines = [
        "history log --owner me --limit 3",
        &shown,
        "history diff",
        "audit",
        &undo,
    ];
    assert_eq!(typed(&desk, &lines).await.expect("they work").exit, Exit::Ok);
    assert!(!has(root.path(), "a-violin"));
    let again = typed(&desk, &[&undo])
        .await
        .expect_err("it is taken back already");
    assert!(again.error.to_string().contains("already undid"), "{again:?}");
    let unknown = typed(&desk, &["history undo r_none"])
        .await
        .expect_err("there is none");
    assert_eq!(unknown.exit, Exit::NotFound);
}

#[tokio::test]
async fn a_disabled_history_shows_old_changes_and_forgets_deleted_memories() {
    let root = TempDir::new().expect("a folder");
    typed(&desk(root.path(), &[]), &["add --flush a-violin"])
        .await
        .expect("it is remembered");
    let desk = desk(root.path(), &[("QUIPU_HISTORY__ENABLED", "false")]);
    typed(&desk, &["add --flush --session b a-lute"])
        .await
        .expect("it is remembered");
    let made = changes(&desk).await;
    assert_eq!(made.len(), 1, "it is not written");
    let undo = format!("history undo {}", made[0]["run_id"].as_str().expect("a run"));
    let refused = typed(&desk, &[&undo]).await.expect_err("it could not be undone");
    assert!(
        refused.error.to_string().contains("history.enabled"),
        "{refused:?}"
    );
    typed(&desk, &["forget --yes --session notes"])
        .await
        .expect("it is forgotten");
    assert_eq!(changes(&desk).await, [] as [Value; 0]);
}

#[tokio::test]
async fn history_commands_print_json_for_programs() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &["add --flush a-violin"])
        .await
        .expect("it is remembered");
    let log = typed(&desk, &["--json history log"])
        .await
        .expect("it is told")
        .json();
    let change = &log["changes"][0];
    assert_eq!(change["by"], "run", "{log}");
    let id = change["id"].as_str().expect("an id");
    let diff = typed(&desk, &[&format!("--json history diff {id}")])
        .await
        .expect("it is shown");
    assert!(
        diff.json()["diff"].as_str().expect("text").contains("a-violin"),
        "{diff:?}"
    );
    let audit = typed(&desk, &["--json audit"]).await.expect("it looks").json();
    assert_eq!(audit["findings"], serde_json::json!([]));
    let run = change["run_id"].as_str().expect("a run");
    let undone = typed(&desk, &[&format!("--json history undo {run}")])
        .await
        .expect("it is taken back");
    assert!(undone.json()["change"]["id"].is_string(), "{undone:?}");
    for unknown in ["--json history diff 123456789", "--json history undo r_none"] {
        let failure = typed(&desk, &[unknown]).await.expect_err("there is none");
        assert_eq!(failure.exit, Exit::NotFound, "{unknown}");
    }
}

/// Random changes by Quipu, by hand and by undo, and deleted text.
async fn change_at_random(desk: &Desk, seed: usize) {
    let root = desk.root.as_path();
    let words = ["amber", "basil", "cedar", "dahlia", "elder", "fennel"];
    let mut random = seed;
    for n in 0..10 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let [one, other] = [33, 43].map(|bits| words[(random >> bits) % words.len()]);
        let step = if n < 2 { 0 } else { (random >> 53) % 6 };
        match step {
            0 | 1 => {
                let add = format!("add --flush --session s{n} I-like-{one}");
                typed(desk, &[&add]).await.expect("added");
            }
            2 | 3 => by_hand(root, one, other),
            4 => {
                let made = changes(desk).await;
                if let Some(run) = made.iter().find_map(|change| change["run_id"].as_str()) {
                    // A run that was undone, or whose entries somebody changed, is refused.
                    drop(typed(desk, &[&format!("history undo {run}")]).await);
                }
            }
            _ => std::fs::write(root.join("memory/default/default/users/me/SOUL.md"), one).expect("written"),
        }
        typed(desk, &["sync"]).await.expect("synced");
    }
    drop(typed(desk, &["forget --yes --user me --words amber"]).await);
    by_hand(root, "I-like", "I-love");
    typed(desk, &["sync"]).await.expect("synced");
}

/// Compares a commit in git with the history's change.
async fn check_commit(desk: &Desk, there: &FilePath, commit: &str, change: &Value) {
    let text = |key: &str| change[key].as_str().unwrap_or_default();
    let [hash, author, at, told] = commit.splitn(4, '\t').collect::<Vec<_>>()[..] else {
        panic!("{commit}");
    };
    assert_eq!(author == "Quipu", text("by") == "run", "{commit}");
    assert_eq!(at[..19], text("at")[..19]);
    assert_eq!(told.lines().next(), Some(text("subject")));
    assert!(
        told.contains(text("reason")) && told.contains(text("run_id")),
        "{told}"
    );
    let diff = typed(desk, &[&format!("history diff {}", text("id"))])
        .await
        .expect("shown")
        .said;
    let theirs = git(there, &["show", "--format=", hash], "");
    assert_eq!(net(&theirs), net(&diff), "{theirs}\n{diff}");
    let at = format!("history show --at {}", text("at"));
    let list = git(there, &["ls-tree", "-r", "--name-only", hash], "");
    let listed = typed(desk, &[&at]).await;
    assert_eq!(listed.map_or(String::new(), |listed| listed.said), list);
    for path in list.lines() {
        let file = git(there, &["show", &format!("{hash}:{path}")], "");
        let then = typed(desk, &[&format!("{at} {path}")]).await.expect("shown").said;
        assert_eq!(file.trim_end(), then.trim_end(), "{path}");
    }
}

/// Random changes, piped into the real git, arrive unchanged: author, time, reason, lines, files.
#[tokio::test]
async fn git_has_the_same_changes_as_the_history() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: there is no git");
        return;
    }
    for seed in 1..4_usize {
        let root = TempDir::new().expect("a folder");
        let desk = desk(root.path(), &[]);
        change_at_random(&desk, seed).await;
        let log = typed(&desk, &["--json history log --limit 1000"])
            .await
            .expect("told")
            .json();
        let log: Vec<&Value> = log["changes"].as_array().expect("a list").iter().rev().collect();
        let stream = typed(&desk, &["history log --as git"]).await.expect("told").said;
        assert!(log.len() > 4 && !stream.contains("amber"), "{stream}");
        let there = TempDir::new().expect("a folder");
        git(there.path(), &["init", "--quiet"], "");
        git(there.path(), &["fast-import", "--quiet"], &stream);
        let shown = git(
            there.path(),
            &["log", "--reverse", "--format=%H%x09%an%x09%aI%x09%B%x00"],
            "",
        );
        let commits: Vec<&str> = shown.split_terminator("\0\n").collect();
        assert_eq!(commits.len(), log.len(), "{shown}");
        for (commit, change) in commits.iter().zip(&log) {
            check_commit(&desk, there.path(), commit, change).await;
        }
        for path in files(root.path()) {
            let path = path
                .strip_prefix(root.path().join("memory"))
                .expect("below")
                .to_str()
                .expect("text");
            let now = std::fs::read_to_string(root.path().join("memory").join(path)).expect("text");
            let shown = git(there.path(), &["show", &format!("HEAD:{path}")], "");
            // A removed entry leaves its blank line in the file.
            let [shown, now] = [&shown, &now].map(|text| text.lines().filter(|line| !line.is_empty()));
            assert!(shown.eq(now), "{path}");
        }
        let unknown = typed(&desk, &["history show --at 2000-01-01 default/none.md"])
            .await
            .expect_err("there is none");
        assert_eq!(unknown.exit, Exit::NotFound);
    }
}
