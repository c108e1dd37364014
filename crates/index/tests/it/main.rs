//! The real index: the port's contract, restarts, crashes, damage, other models, and readers beside writers.

mod crash;
mod damage;
mod model_based;
mod readers;
mod record;
mod unopened;

use std::path::Path;

use index::LanceIndex;
use model::{Doc, EmbedderId, Scope};
use ports::{CandidateQuery, Index, IndexError, IndexHealth};
use testkit::index::contract;
use testkit::index::samples::{embedder, full, turn, user, with_vector};

fn open(dir: &Path) -> LanceIndex {
    LanceIndex::open(dir, embedder()).expect("opens")
}

/// A user's rows in order of key.
async fn load(index: &LanceIndex, owner: &str) -> Vec<Doc> {
    sorted(index.load(&Scope::default(), &user(owner)).await.expect("loads"))
}

fn sorted(mut docs: Vec<Doc>) -> Vec<Doc> {
    docs.sort_by(|a, b| a.key.cmp(&b.key));
    docs
}

fn words(owner: &str, text: &str) -> CandidateQuery {
    CandidateQuery {
        scope: Scope::default(),
        owner: user(owner),
        text: text.to_owned(),
        vector: None,
        limit: 100,
    }
}

async fn rebuild(index: &LanceIndex, embedder: &EmbedderId, docs: &[Doc]) {
    let mut stage = index.stage(embedder).await.expect("stages");
    stage.add(docs).await.expect("adds");
    stage.publish().await.expect("publishes");
}

#[tokio::test]
async fn keeps_the_contract() {
    let root = tempfile::tempdir().expect("a folder");
    contract::holds(async || {
        let dir = tempfile::tempdir_in(root.path()).expect("a folder").keep();
        open(&dir)
    })
    .await;
}

#[tokio::test]
async fn a_restart_changes_nothing_and_opening_writes_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let dir = root.path().join("index");
    let index = open(&dir);
    assert_eq!(index.health(&embedder()).await, IndexHealth::Fresh);
    assert_eq!(load(&index, "ann").await, []);
    index
        .apply(&[], &[turn("ann", "a", "").key])
        .await
        .expect("nothing to remove");
    assert!(!dir.exists());

    index
        .apply(&[turn("ann", "a", "tea")], &[])
        .await
        .expect("applies");
    let index = open(&dir);
    assert_eq!(
        index.health(&embedder()).await,
        IndexHealth::Fresh,
        "it may not be all there is"
    );
    assert_eq!(load(&index, "ann").await, [turn("ann", "a", "tea")]);

    rebuild(
        &index,
        &embedder(),
        &[full("ann", "full"), turn("ann", "b", "coffee")],
    )
    .await;
    index
        .apply(&[turn("ann", "c", "tea")], &[turn("ann", "b", "").key])
        .await
        .expect("applies");
    let index = open(&dir);
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    assert_eq!(
        load(&index, "ann").await,
        [turn("ann", "c", "tea"), full("ann", "full")]
    );
    let found = index.candidates(&words("ann", "teas")).await.expect("searches");
    assert_eq!(found, [turn("ann", "c", "tea")]);
}

#[tokio::test]
async fn any_folder_name_will_do() {
    let root = tempfile::tempdir().expect("a folder");
    for name in ["db", "with space", "100%41", "a#b?c", "ünï-名", "'quoted'"] {
        let dir = root.path().join(name).join("index");
        open(&dir)
            .apply(&[turn("ann", "a", "tea")], &[])
            .await
            .expect(name);
        let index = open(&dir);
        index.maintain().await.expect(name);
        assert_eq!(load(&index, "ann").await, [turn("ann", "a", "tea")], "{name}");
        assert_eq!(index.health(&embedder()).await, IndexHealth::Fresh, "{name}");
        rebuild(&index, &embedder(), &[]).await;
        assert_eq!(open(&dir).health(&embedder()).await, IndexHealth::Ready, "{name}");
    }
}

#[tokio::test]
async fn another_model_still_searches_words_and_never_mixes_vectors() {
    let root = tempfile::tempdir().expect("a folder");
    let old = with_vector(turn("ann", "a", "tea"), [1.0, 0.0, 0.0, 0.0]);
    rebuild(&open(root.path()), &embedder(), std::slice::from_ref(&old)).await;

    let mut other = embedder();
    other.model = "of the same size/2".to_owned();
    let index = LanceIndex::open(root.path(), other.clone()).expect("opens");
    assert!(matches!(
        index.health(&other).await,
        IndexHealth::NeedsRebuild { .. }
    ));
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    let bare = Doc {
        vector: None,
        ..old.clone()
    };
    assert_eq!(load(&index, "ann").await, std::slice::from_ref(&bare));
    let both = CandidateQuery {
        vector: old.vector.clone(),
        ..words("ann", "tea")
    };
    assert_eq!(index.candidates(&both).await.expect("searches"), [bare]);
    let only_vector = CandidateQuery {
        text: String::new(),
        ..both
    };
    assert_eq!(index.candidates(&only_vector).await.expect("searches"), []);

    let new = with_vector(turn("ann", "b", "tea"), [0.0, 1.0, 0.0, 0.0]);
    let refused = index.apply(std::slice::from_ref(&new), &[]).await;
    assert!(
        matches!(refused, Err(IndexError::OtherEmbedder { .. })),
        "{refused:?}"
    );
    let bare = Doc {
        vector: None,
        ..new.clone()
    };
    index
        .apply(std::slice::from_ref(&bare), &[])
        .await
        .expect("takes rows without vectors");
    assert_eq!(
        index
            .candidates(&words("ann", "tea"))
            .await
            .expect("searches")
            .len(),
        2
    );

    rebuild(&index, &other, std::slice::from_ref(&new)).await;
    assert_eq!(index.health(&other).await, IndexHealth::Ready);
    index.apply(&[], &[]).await.expect("applies");
    assert_eq!(load(&index, "ann").await, [new]);
}
