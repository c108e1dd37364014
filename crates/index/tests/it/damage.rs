//! Files that are gone, cut or full of rubbish: an answer is right or it is an error, and a rebuild mends everything.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Doc, Scope};
use ports::{Index, IndexError, IndexHealth};
use testkit::index::samples::{embedder, turn, user, with_vector};

use crate::crash::copy_all;
use crate::{load, open, rebuild, sorted, words};

fn rows() -> Vec<Doc> {
    let row = |n: usize| {
        with_vector(
            turn("ann", &format!("{n:03}"), "green tea"),
            [1.0, n as f32 / 64.0, 0.0, 0.0],
        )
    };
    (0..300).map(row).collect()
}

#[tokio::test]
async fn any_file_missing_or_cut_is_noticed_and_mended() {
    let root = tempfile::tempdir().expect("a folder");
    let whole = root.path().join("whole");
    let index = open(&whole);
    rebuild(&index, &embedder(), &rows()[..200]).await;
    index.apply(&rows()[200..], &[]).await.expect("applies");
    each_file_harmed(root.path(), &whole).await;
    index.maintain().await.expect("maintains");
    each_file_harmed(root.path(), &whole).await;
}

async fn each_file_harmed(root: &Path, whole: &Path) {
    let files = files_below(whole);
    assert!(files.len() > 8, "{files:?}");
    let newest = files
        .iter()
        .find(|file| file.extension().is_some_and(|end| end == "manifest"));
    for (n, file) in files.iter().enumerate() {
        for harm in ["missing", "empty", "cut"] {
            if harm == "missing" && Some(file) == newest {
                continue; // Without it the table is one write behind, which nobody can see.
            }
            let dir = root.join(format!("{n}-{harm}"));
            copy_all(whole, &dir);
            let file = dir.join(file.strip_prefix(whole).expect("below"));
            match harm {
                "missing" => fs::remove_file(&file).expect("removes"),
                "empty" => fs::write(&file, "").expect("writes"),
                _ => {
                    let bytes = fs::read(&file).expect("reads");
                    fs::write(&file, &bytes[..bytes.len() / 2]).expect("writes");
                }
            }
            serves_right_or_not_at_all(&dir, &format!("{harm}: {}", file.display())).await;
            fs::remove_dir_all(&dir).expect("removes");
        }
    }
}

async fn serves_right_or_not_at_all(dir: &Path, what: &str) {
    let index = open(dir);
    let first = index.health(&embedder()).await;
    let loaded = index.load(&Scope::default(), &user("ann")).await;
    let found = index
        .candidates(&crate::CandidateQuery {
            limit: 1000,
            ..words("ann", "teas")
        })
        .await;
    let mut usable = first == IndexHealth::Ready;
    for rows_read in [loaded, found] {
        match rows_read {
            Ok(docs) if first == IndexHealth::Ready => assert!(sorted(docs) == rows(), "{what}"),
            Ok(_) => {}
            Err(IndexError::Unusable { .. }) => usable = false,
            Err(other) => panic!("{what}: {other:?}"),
        }
    }
    let health = index.health(&embedder()).await;
    assert_eq!(health == IndexHealth::Ready, usable, "{what}: {health:?}");
    if usable {
        return;
    }
    rebuild(&index, &embedder(), &rows()).await;
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready, "{what}");
    assert_eq!(load(&index, "ann").await, rows(), "{what}");
    assert_eq!(load(&open(dir), "ann").await, rows(), "{what}");
}

#[tokio::test]
async fn a_folder_deleted_under_an_open_index_is_noticed_and_mended() {
    let root = tempfile::tempdir().expect("a folder");
    let dir = root.path().join("index");
    let index = open(&dir);
    rebuild(&index, &embedder(), &rows()).await;
    fs::remove_dir_all(&dir).expect("removes");
    assert!(matches!(
        index.health(&embedder()).await,
        IndexHealth::NeedsRebuild { .. }
    ));
    rebuild(&index, &embedder(), &rows()).await;
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    assert_eq!(load(&index, "ann").await, rows());

    fs::remove_dir_all(&dir).expect("removes");
    assert_eq!(open(&dir).health(&embedder()).await, IndexHealth::Fresh);
}

#[tokio::test]
async fn a_current_file_that_is_rubbish_needs_a_rebuild() {
    let root = tempfile::tempdir().expect("a folder");
    for text in [
        "",
        "quipu-index 5\ngeneration 1\n",
        "\u{0}\u{0}\u{0}",
        "quipu-index 5\ngeneration x\n",
        // Its words were cut in another way.
        "quipu-index 4\ngeneration 1\ncomplete true\nfiles true\ndims 4\nmodel sample/1\n",
    ] {
        rebuild(&open(root.path()), &embedder(), &rows()).await;
        fs::write(root.path().join("CURRENT"), text).expect("writes");
        let index = open(root.path());
        assert!(
            matches!(index.health(&embedder()).await, IndexHealth::NeedsRebuild { .. }),
            "{text:?}"
        );
        let loaded = index.load(&Scope::default(), &user("ann")).await;
        assert!(
            matches!(loaded, Err(IndexError::Unusable { .. })),
            "{text:?}: {loaded:?}"
        );
        let applied = index.apply(&rows(), &[]).await;
        assert!(
            matches!(applied, Err(IndexError::Unusable { .. })),
            "{text:?}: {applied:?}"
        );
        rebuild(&index, &embedder(), &rows()).await;
        assert_eq!(load(&open(root.path()), "ann").await, rows(), "{text:?}");
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).expect("lists").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
