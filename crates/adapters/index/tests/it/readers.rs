//! Maintenance and swaps beside readers: nobody misses a row or meets an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Doc;
use ports::Index;
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
        let done = index.maintain().await.expect("maintains");
        assert!(done.fragments_after < done.fragments_before, "{done:?}");
        assert!(done.fragments_after <= 3, "{done:?}");
        assert_eq!(index.stats().await.expect("has stats").unindexed_rows, 0);
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
    let done = index.maintain().await.expect("maintains");
    assert!(done.bytes_after < done.bytes_before, "{done:?}");
    for _ in 0..3 {
        index.maintain().await.expect("maintains");
    }
    let again = index.maintain().await.expect("maintains");
    assert_eq!(
        again.bytes_before, again.bytes_after,
        "with nothing new, nothing grows"
    );
    assert_eq!(index.stats().await.expect("has stats").rows, 1);
}
