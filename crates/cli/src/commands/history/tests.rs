//! Log, diff, undo and audit on a root with a real vault and its real ledger; the index is in memory.

use std::path::Path as FilePath;

use serde_json::Value;
use tempfile::TempDir;

use crate::commands::Desk;
use crate::commands::tests::{desk, typed};
use crate::error::Exit;

async fn changes(desk: &Desk) -> Vec<Value> {
    let log = typed(desk, &["--json log"]).await.expect("it is told").json();
    log["changes"].as_array().expect("a list").clone()
}

fn has(root: &FilePath, word: &str) -> bool {
    let mut folders = vec![root.join("memory")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it lists") {
            let path = entry.expect("it lists").path();
            if path.is_dir() && !path.ends_with(".git") {
                folders.push(path);
            } else if std::fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(word)) {
                return true;
            }
        }
    }
    false
}

#[tokio::test]
async fn a_batch_is_recorded_shown_and_taken_back() {
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
    let [shown, undo] = [format!("diff {id}"), format!("undo {run}")];
    let lines = ["log --owner me --limit 3", &shown, "diff", "audit", &undo];
    assert_eq!(typed(&desk, &lines).await.expect("they work").exit, Exit::Ok);
    assert!(!has(root.path(), "a-violin"));
    let again = typed(&desk, &[&undo])
        .await
        .expect_err("it is taken back already");
    assert!(again.error.to_string().contains("already undid"), "{again:?}");
    let unknown = typed(&desk, &["undo r_none"]).await.expect_err("there is none");
    assert_eq!(unknown.exit, Exit::NotFound);
}

#[tokio::test]
async fn a_history_that_is_off_tells_what_it_has_and_forgets_it() {
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
    let undo = format!("undo {}", made[0]["run_id"].as_str().expect("a run"));
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
async fn what_programs_read_of_a_history_is_json() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    typed(&desk, &["add --flush a-violin"])
        .await
        .expect("it is remembered");
    let log = typed(&desk, &["--json log"]).await.expect("it is told").json();
    let change = &log["changes"][0];
    assert_eq!(change["by"], "run", "{log}");
    let id = change["id"].as_str().expect("an id");
    let diff = typed(&desk, &[&format!("--json diff {id}")])
        .await
        .expect("it is shown");
    assert!(
        diff.json()["diff"].as_str().expect("text").contains("a-violin"),
        "{diff:?}"
    );
    let audit = typed(&desk, &["--json audit"]).await.expect("it looks").json();
    assert_eq!(audit["findings"], serde_json::json!([]));
    let run = change["run_id"].as_str().expect("a run");
    let undone = typed(&desk, &[&format!("--json undo {run}")])
        .await
        .expect("it is taken back");
    assert!(undone.json()["change"]["id"].is_string(), "{undone:?}");
    for unknown in ["--json diff 123456789", "--json undo r_none"] {
        let failure = typed(&desk, &[unknown]).await.expect_err("there is none");
        assert_eq!(failure.exit, Exit::NotFound, "{unknown}");
    }
}
