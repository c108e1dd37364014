//! A file that the engine is writing is synced after the write, and never forgotten.

use std::collections::BTreeSet;

use futures::FutureExt;
use ports::{VaultChange, VaultPath};

use super::Dirty;

#[test]
fn a_file_that_is_being_written_is_synced_afterwards() {
    let dirty = Dirty::default();
    let (mine, other): (VaultPath, VaultPath) = ("mine.md".into(), "other.md".into());
    let writing = dirty.writing(BTreeSet::from([mine.clone()]));
    assert!(!dirty.defers(&other));
    assert!(dirty.defers(&mine));
    assert!(dirty.take().now_or_never().is_none(), "it is written still");
    drop(writing);
    let change = dirty.take().now_or_never().expect("somebody asked for it");
    assert_eq!(
        change,
        VaultChange {
            paths: BTreeSet::from([mine.clone()]),
            ..VaultChange::default()
        }
    );
    drop(dirty.writing(BTreeSet::from([mine.clone()])));
    assert!(dirty.take().now_or_never().is_none(), "nobody asked for it");
    assert!(!dirty.defers(&mine));
}

#[test]
fn a_folder_that_is_being_written_defers_the_files_in_it() {
    let dirty = Dirty::default();
    let (inside, beside): (VaultPath, VaultPath) = ("a/b/mine.md".into(), "a/bc/mine.md".into());
    let folder = dirty.writing(BTreeSet::from(["a/b/".into()]));
    let file = dirty.writing(BTreeSet::from([inside.clone()]));
    assert!(!dirty.defers(&beside));
    assert!(dirty.defers(&inside));
    drop(folder);
    assert!(dirty.defers(&inside), "it is written still");
    drop(file);
    let change = dirty.take().now_or_never().expect("somebody asked for it");
    assert_eq!(change.paths, BTreeSet::from([inside]));
}
