//! The commands on a root with a real vault and its real git history; the index is in memory.

use std::path::Path as FilePath;
use std::sync::Arc;

use clap::Parser;
use model::{EmbedderId, Zone};
use ports::{By, History, Index, IndexError, Touching};
use tempfile::TempDir;
use testkit::index::MemoryIndex;

use super::*;
use crate::args::{Cli, Command};
use crate::commands::memory;
use crate::config::load;
use crate::world::World;

#[expect(clippy::unnecessary_wraps, reason = "the form that the binary's has")]
fn open_index(_: &FilePath, embedder: EmbedderId) -> Result<Arc<dyn Index>, IndexError> {
    Ok(Arc::new(MemoryIndex::new(embedder)))
}

fn desk(root: &FilePath, variables: &[(&str, &str)]) -> Desk {
    let variables = variables
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Desk {
        root: root.to_owned(),
        loaded: load(root, variables).expect("it is configured"),
        json: false,
        watched: false,
        open_index,
    }
}

/// Runs commands one after the other in one process; the exit code of the last.
async fn typed(desk: &Desk, lines: &[&str]) -> Result<Exit, Failure> {
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index).await?;
    let api = Api::here(world);
    let mut exit = Ok(Exit::Ok);
    for line in lines {
        let words = std::iter::once("quipu").chain(line.split_whitespace());
        exit = match Cli::parse_from(words).command {
            Command::Add(args) => memory::add(desk, &api, args).await,
            Command::Forget(args) => memory::forget(desk, &api, args).await,
            Command::Log(args) => log(desk, &api, args).await,
            Command::Diff(args) => diff(desk, &api, args).await,
            Command::Undo(args) => undo(desk, &api, args).await,
            Command::Audit(args) => audit(desk, &api, args).await,
            other => panic!("{other:?}"),
        };
    }
    api.close().await;
    exit
}

async fn changes(root: &FilePath) -> Vec<ports::RecordedChange> {
    let history = history::GitHistory::new(&root.join("memory"), Zone::utc()).expect("it is there");
    history.log(&Touching::All, 100).await.expect("it reads")
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
    let made = changes(root.path()).await;
    let [change] = &made[..] else {
        panic!("{made:?}");
    };
    let By::Run { run, .. } = &change.by else {
        panic!("{change:?}");
    };
    assert!(has(root.path(), "a-violin"));
    let [shown, undo] = [format!("diff {}", &change.id[..8]), format!("undo {}", run.id)];
    let lines = ["log --owner me --limit 3", &shown, "diff", "audit", &undo];
    assert_eq!(typed(&desk, &lines).await.expect("they work"), Exit::Ok);
    assert!(!has(root.path(), "a-violin"));
    let again = typed(&desk, &[&undo])
        .await
        .expect_err("it is taken back already");
    assert!(
        again.error.to_string().contains("taken back already"),
        "{again:?}"
    );
    let unknown = typed(&desk, &["undo r_none"]).await.expect_err("there is none");
    assert_eq!(unknown.exit, Exit::NotFound);
}

#[tokio::test]
async fn without_a_history_there_is_no_repository_and_the_error_says_what_to_do() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[("QUIPU_HISTORY__ENABLED", "false")]);
    let refused = typed(&desk, &["add --flush a-violin", "log"])
        .await
        .expect_err("there is none");
    assert!(
        refused.error.to_string().contains("history.enabled"),
        "{refused:?}"
    );
    assert!(!root.path().join("memory/.git").exists());
}

#[tokio::test]
async fn what_is_forgotten_leaves_a_history_that_is_no_longer_written() {
    let root = TempDir::new().expect("a folder");
    typed(&desk(root.path(), &[]), &["add --flush a-violin"])
        .await
        .expect("it is remembered");
    let desk = desk(root.path(), &[("QUIPU_HISTORY__ENABLED", "false")]);
    typed(&desk, &["add --flush --session b a-lute"])
        .await
        .expect("it is remembered");
    assert_eq!(changes(root.path()).await.len(), 1, "it is not written");
    typed(&desk, &["forget --yes --session notes"])
        .await
        .expect("it is forgotten");
    let made = changes(root.path()).await;
    assert_eq!((made.len(), &made[0].by), (1, &By::Purge));
}
