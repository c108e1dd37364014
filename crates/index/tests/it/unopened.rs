//! An unopened index: its counts are right without opening the table, or they are not reported.

use std::fs;
use std::path::{Path, PathBuf};

use index::LanceIndex;
use model::{Doc, Scope};
use ports::{Index, IndexError, IndexHealth, IndexStats};
use testkit::index::samples::{embedder, turn, user};

use crate::{load, open, rebuild};

fn rows(count: usize) -> Vec<Doc> {
    (0..count)
        .map(|n| turn("ann", &format!("{n:03}"), "tea"))
        .collect()
}

/// The only file with that ending.
fn the_file(dir: &Path, ending: &str) -> PathBuf {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("lists").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), 1, "{ending}: {found:?}");
    found.remove(0)
}

#[tokio::test]
async fn a_maintained_index_is_known_without_opening_its_table() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    rebuild(&index, &embedder(), &rows(300)).await;
    let known = index.stats().await.expect("stats");
    drop(index);
    // A table with this list of files cannot be opened: whoever opens it says so.
    let manifest = the_file(root.path(), ".manifest");
    let bytes = fs::metadata(&manifest).expect("is there").len();
    let rubbish = vec![0xa5; usize::try_from(bytes).expect("a small file")];
    fs::write(&manifest, rubbish).expect("writes");

    let index = open(root.path());
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    assert_eq!(index.stats().await.expect("stats"), known);
    assert_eq!((known.rows, known.unindexed_rows), (300, 0));
    let loaded = index.load(&Scope::default(), &user("ann")).await;
    assert!(matches!(loaded, Err(IndexError::Unusable { .. })), "{loaded:?}");
    let health = index.health(&embedder()).await;
    assert!(matches!(health, IndexHealth::NeedsRebuild { .. }), "{health:?}");
}

#[tokio::test]
async fn later_writes_are_counted() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    rebuild(&index, &embedder(), &rows(300)).await;
    let file = the_file(root.path(), "SUMMARY");
    let old = fs::read_to_string(&file).expect("reads");
    index
        .apply(&[turn("ann", "new", "tea")], &[rows(1).remove(0).key])
        .await
        .expect("applies");
    index.apply(&rows(1), &[]).await.expect("applies");
    assert_eq!(open(root.path()).stats().await.expect("stats").rows, 301);
    index.maintain().await.expect("maintains");
    let new = fs::read_to_string(&file).expect("reads");
    for text in [&new, &old, &old[..old.len() - 2], "", "quipu-index-summary 2\n"] {
        fs::write(&file, text).expect("writes");
        let index = open(root.path());
        assert_eq!(index.health(&embedder()).await, IndexHealth::Ready, "{text}");
        let stats = index.stats().await.expect("stats");
        assert_eq!((stats.rows, stats.unindexed_rows), (301, 0), "{text}");
    }
}

#[tokio::test]
async fn an_index_built_of_nothing_is_whole_and_has_no_files() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    rebuild(&index, &embedder(), &rows(1)).await;
    rebuild(&index, &embedder(), &[]).await;
    let names = fs::read_dir(root.path()).expect("lists").flatten();
    assert_eq!(
        names.map(|entry| entry.file_name()).collect::<Vec<_>>(),
        ["CURRENT"]
    );
    for index in [&index, &open(root.path())] {
        assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
        assert_eq!(load(index, "ann").await, []);
        let nothing = IndexStats {
            generation: 2,
            ..IndexStats::default()
        };
        assert_eq!(index.stats().await.expect("stats"), nothing);
    }
    let mut other = embedder();
    other.model = "another/1".to_owned();
    let opened = LanceIndex::open(root.path(), other.clone()).expect("opens");
    assert_eq!(
        opened.health(&other).await,
        IndexHealth::Ready,
        "it has no vectors"
    );

    // A first write that died left this.
    fs::create_dir_all(root.path().join("gen-000002/rows.lance/_versions")).expect("creates");
    let mut early = index.stage(&embedder()).await.expect("stages");
    index.apply(&rows(2), &[]).await.expect("applies");
    for index in [&index, &open(root.path())] {
        assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
        assert_eq!(load(index, "ann").await, rows(2));
    }
    early.add(&rows(3)).await.expect("adds");
    early.publish().await.expect("the first write is no rival");
    assert_eq!(load(&open(root.path()), "ann").await, rows(3));
}
