//! A process that dies while it rebuilds: the files of every step open as the old or the new generation.

use std::fs;
use std::path::Path;

use model::Doc;
use ports::{Index, IndexHealth};
use testkit::index::samples::{embedder, turn};

use crate::{load, open};

#[tokio::test]
async fn every_step_of_a_swap_opens_as_the_old_or_the_new() {
    let root = tempfile::tempdir().expect("a folder");
    let dir = root.path().join("index");
    let old = [turn("ann", "old", "tea")];
    let new: Vec<Doc> = (0..5_000)
        .map(|n| turn("ann", &format!("{n:04}"), "coffee"))
        .collect();
    let index = open(&dir);
    crate::rebuild(&index, &embedder(), &old).await;

    let died = |step: &str| {
        let copy = root.path().join(step);
        copy_all(&dir, &copy);
        copy
    };
    let mut stage = index.stage(&embedder()).await.expect("stages");
    let begun = died("begun");
    stage.add(&new).await.expect("adds");
    let written = died("written");
    stage.publish().await.expect("publishes");
    let published = died("published");

    let half_named = root.path().join("half-named");
    copy_all(&written, &half_named);
    fs::write(half_named.join("CURRENT.new"), "quipu-in").expect("writes");
    let named = root.path().join("named");
    copy_all(&written, &named);
    copy_all(&published, &named);

    for (step, rows) in [
        (begun, &old[..]),
        (written, &old),
        (half_named, &old),
        (named, &new),
        (published, &new),
    ] {
        let index = open(&step);
        assert_eq!(
            index.health(&embedder()).await,
            IndexHealth::Ready,
            "{}",
            step.display()
        );
        assert_eq!(load(&index, "ann").await, rows, "{}", step.display());
        let folders = fs::read_dir(&step)
            .expect("lists")
            .flatten()
            .filter(|entry| entry.path().is_dir());
        assert_eq!(folders.count(), 1, "{} has one generation", step.display());
        crate::rebuild(&index, &embedder(), &new).await;
        assert_eq!(load(&open(&step), "ann").await, new, "{}", step.display());
    }
}

#[tokio::test]
async fn a_first_write_that_dies_before_its_generation_is_named_is_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    open(root.path())
        .apply(&[turn("ann", "a", "tea")], &[])
        .await
        .expect("applies");
    fs::remove_file(root.path().join("CURRENT")).expect("removes");
    let index = open(root.path());
    assert_eq!(index.health(&embedder()).await, IndexHealth::Fresh);
    assert_eq!(load(&index, "ann").await, []);
    index
        .apply(&[turn("ann", "b", "tea")], &[])
        .await
        .expect("applies");
    assert_eq!(load(&open(root.path()), "ann").await, [turn("ann", "b", "tea")]);
}

#[tokio::test]
async fn an_overtaken_stage_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    let slow = index.stage(&embedder()).await.expect("stages");
    crate::rebuild(&index, &embedder(), &[turn("ann", "a", "tea")]).await;
    assert!(slow.publish().await.is_err());
    assert_eq!(load(&index, "ann").await, [turn("ann", "a", "tea")]);
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
}

#[tokio::test]
async fn a_first_write_does_not_overtake_a_stage_that_began_before_it() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    let mut stage = index.stage(&embedder()).await.expect("stages");
    index
        .apply(&[turn("ann", "early", "tea")], &[])
        .await
        .expect("applies");
    stage.add(&[turn("ann", "whole", "coffee")]).await.expect("adds");
    stage.publish().await.expect("publishes");
    assert_eq!(load(&index, "ann").await, [turn("ann", "whole", "coffee")]);
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
}

#[tokio::test]
async fn a_swap_that_fails_leaves_the_old_generation_and_no_files() {
    let root = tempfile::tempdir().expect("a folder");
    let index = open(root.path());
    let old = [turn("ann", "old", "tea")];
    crate::rebuild(&index, &embedder(), &old).await;
    let in_the_way = root.path().join("CURRENT.new");
    fs::create_dir(&in_the_way).expect("creates");
    let mut stage = index.stage(&embedder()).await.expect("stages");
    stage.add(&[turn("ann", "new", "coffee")]).await.expect("adds");
    assert!(stage.publish().await.is_err());
    fs::remove_dir(&in_the_way).expect("removes");
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    assert_eq!(load(&index, "ann").await, old);
    assert_eq!(
        fs::read_dir(root.path()).expect("lists").count(),
        2,
        "`CURRENT` and one generation"
    );
    crate::rebuild(&index, &embedder(), &[turn("ann", "new", "coffee")]).await;
    assert_eq!(
        load(&open(root.path()), "ann").await,
        [turn("ann", "new", "coffee")]
    );
}

pub(crate) fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("creates");
    for entry in fs::read_dir(from).expect("lists").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copies");
        }
    }
}
