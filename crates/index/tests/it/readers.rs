//! Maintenance and swaps beside readers: nobody misses a row or meets an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Doc;
use ports::{Index, IndexHealth};
use testkit::index::samples::{embedder, turn, with_vector};

use crate::{load, open, rebuild, sorted, words};

fn rows() -> Vec<Doc> {
    let row = |n: usize| {
        with_vector(
            turn("ann", &format!("{n:03}"), "green tea"),
            [1.0, n as f32 / 64.0, 0.0, 0.0],
        )
    };
    (0..120).map(row).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn readers_miss_nothing_while_files_are_rewritten_and_swapped() {
    let root = tempfile::tempdir().expect("a folder");
    let index = Arc::new(open(root.path()));
    index.apply(&rows(), &[]).await.expect("applies");
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = tokio::task::JoinSet::new();
    for reader in 0..3 {
        let (index, done) = (index.clone(), done.clone());
        readers.spawn(async move {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) {
                let found = match reader {
                    0 => load(&index, "ann").await,
                    _ => index
                        .candidates(&crate::CandidateQuery {
                            limit: 1000,
                            ..words("ann", "teas")
                        })
                        .await
                        .expect("searches"),
                };
                assert_eq!(sorted(found), rows());
                rounds += 1;
            }
            rounds
        });
    }
    for round in 0..4 {
        for n in 0..10 {
            let docs = [turn("bob", &format!("{round}-{n}"), "black tea")];
            index.apply(&docs, &[]).await.expect("applies");
        }
        let before = index.stats().await.expect("has stats");
        assert!(before.unindexed_rows > 0);
        index.maintain().await.expect("maintains");
        let after = index.stats().await.expect("has stats");
        assert!(after.fragments < before.fragments, "{before:?} {after:?}");
        assert!(after.fragments <= 3, "{after:?}");
        assert_eq!(after.unindexed_rows, 0);
        if round == 1 {
            rebuild(&index, &embedder(), &rows()).await;
        }
    }
    done.store(true, Ordering::Relaxed);
    while let Some(rounds) = readers.join_next().await {
        assert!(rounds.expect("the reader met no error") > 0);
    }
}

#[tokio::test]
async fn maintenance_gives_space_back() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    for n in 0..30 {
        index
            .apply(&[turn("ann", &format!("{n}"), &"green tea ".repeat(500))], &[])
            .await
            .expect("applies");
    }
    let keys: Vec<_> = (1..30).map(|n| turn("ann", &format!("{n}"), "").key).collect();
    index.apply(&[], &keys).await.expect("removes");
    let bytes = async || index.stats().await.expect("has stats").bytes_on_disk;
    let before = bytes().await;
    index.maintain().await.expect("maintains");
    assert!(bytes().await < before);
    for _ in 0..3 {
        index.maintain().await.expect("maintains");
    }
    let before = bytes().await;
    index.maintain().await.expect("maintains");
    assert_eq!(before, bytes().await, "with nothing new, nothing grows");
    assert_eq!(index.stats().await.expect("has stats").rows, 1);
}

/// One of a hundred rows, which no compaction would rewrite; and whole fragments, of which only the indexes keep words.
#[tokio::test]
async fn erased_rows_are_in_no_file() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    let mut rows: Vec<_> = (0..100)
        .map(|n| turn("ann", &format!("{n}"), "green tea"))
        .collect();
    rows[7] = turn("ann", "7", "canary4f1c9e zaffre5b2d");
    index.apply(&rows, &[]).await.expect("applies");
    index.maintain().await.expect("maintains");
    let alone = turn("bob", "1", "canary4f1c9e zaffre5b2d");
    index
        .apply(std::slice::from_ref(&alone), &[])
        .await
        .expect("applies");
    index.maintain().await.expect("maintains");
    let holding = || {
        let (mut holding, mut folders) = (Vec::new(), vec![root.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("lists") {
                let path = entry.expect("lists").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let bytes = std::fs::read(&path).expect("reads");
                let has = |word: &&str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
                if ["canary4f1c9e", "zaffre5b2d"].iter().any(has) {
                    holding.push(path);
                }
            }
        }
        holding
    };
    assert!(!holding().is_empty(), "the words stand there as they are");
    index.owe_erasing(true).await.expect("notes");
    index
        .apply(&[], &[rows[7].key.clone(), alone.key])
        .await
        .expect("removes");
    drop(index);
    let index = open(root.path());
    assert!(index.owes_erasing().await, "another process knows");
    index.erase().await.expect("erases");
    assert_eq!(holding(), Vec::<std::path::PathBuf>::new());
    index.owe_erasing(false).await.expect("notes");
    assert!(!index.owes_erasing().await);
    assert_eq!(load(&index, "ann").await.len(), 99);
    let stats = index.stats().await.expect("has stats");
    assert_eq!((stats.rows, stats.unindexed_rows), (99, 0));
    let found = index.candidates(&words("ann", "tea")).await.expect("searches");
    assert!(!found.is_empty());
    assert_eq!(open(root.path()).health(&embedder()).await, IndexHealth::Fresh);
}
