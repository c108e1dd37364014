//! After a purge no file of the repository holds what was forgotten, however git kept it.

use std::fs;
use std::path::Path;

use git2::{Oid, Repository, Signature, Time};
use ports::History as _;

use super::{FACTS, Folder, PROFILE, everything};

/// No object, and no other file's bytes, have the word.
pub(super) fn assert_forgotten(folder: &Folder, word: &str) {
    assert_eq!(found(folder, word), Vec::<String>::new());
    let git = folder.at(".git");
    let (mut packed, mut others) = (0, 0);
    walk(&git.join("objects"), &mut |path, _| match path.extension() {
        Some(end) if end == "pack" || end == "idx" => packed += 1,
        _ => others += 1,
    });
    assert_eq!(
        (packed, others),
        (2, 0),
        "one pack and nothing else that git could read"
    );
}

/// The objects, loose or packed, and the files in the repository that have the word.
fn found(folder: &Folder, word: &str) -> Vec<String> {
    let has = |bytes: &[u8]| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    let mut found = Vec::new();
    let repository = folder.repository();
    let odb = repository.odb().expect("opens");
    odb.foreach(|id| {
        if has(odb.read(*id).expect("inflates").data()) {
            found.push(id.to_string());
        }
        true
    })
    .expect("reads");
    walk(&folder.at(".git"), &mut |path, bytes| {
        if has(bytes) || has(path.as_os_str().as_encoded_bytes()) {
            found.push(path.display().to_string());
        }
    });
    found
}

fn walk(below: &Path, see: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(below).expect("lists") {
        let path = entry.expect("lists").path();
        if path.is_dir() {
            walk(&path, see);
        } else {
            see(&path, &fs::read(&path).expect("reads"));
        }
    }
}

/// Packs all there is beside the loose objects, as `git gc` does.
fn pack(repository: &Repository, tips: &[Oid]) {
    let mut builder = repository.packbuilder().expect("begins");
    for tip in tips {
        builder.insert_recursive(*tip, None).expect("inserts");
    }
    let folder = repository.path().join("objects/pack");
    builder.write(&folder, 0).expect("packs");
}

#[tokio::test]
async fn nothing_of_before_remains() {
    let folder = Folder::new();
    folder.configure("core.logAllRefUpdates", "true");
    folder.put(FACTS, "## A\n\nthe forgotten word\n");
    folder.put("default/default/users/forgotten/profile.md", "## A\n");
    let run = folder.by_run("r_1").await;
    folder.put(FACTS, "## A\n\nthe forgotten words, again\n");
    folder.by_hand().await;
    let mut repository = folder.repository();
    let ann = Signature::new("Ann", "ann@example.org", &Time::new(9, 0)).expect("a name");
    let tip = repository
        .head()
        .and_then(|head| head.peel_to_commit())
        .expect("is there")
        .id();
    {
        let tip = repository.find_commit(tip).expect("is there");
        repository
            .branch("forgotten/branch", &tip, false)
            .expect("branches");
        repository
            .tag("kept", tip.as_object(), &ann, "the forgotten tag", false)
            .expect("tags");
        repository
            .note(&ann, &ann, None, tip.id(), "a forgotten note", false)
            .expect("notes");
    }
    folder.put(PROFILE, "## P\n\nforgotten, but stashed\n");
    let all = git2::StashFlags::INCLUDE_UNTRACKED;
    let stash = repository
        .stash_save2(&ann, Some("forgotten stash"), Some(all))
        .expect("stashes");
    pack(&repository, &[tip, stash]);
    for left in [
        "COMMIT_EDITMSG",
        "ORIG_HEAD.txt",
        "packed-refs.new",
        "worktrees/w/index",
        "objects/ab/tmp_obj_1",
    ] {
        folder.put(&format!(".git/{left}"), "forgotten");
    }
    folder.put(".git/hooks/post-commit", "mine");
    assert!(found(&folder, "forgotten").len() > 10);

    folder.put(FACTS, "## A\n\nwhat stays\n");
    folder.by_hand().await;
    fs::remove_dir_all(folder.at("default/default/users/forgotten")).expect("removes");
    // As `git rm` does, which leaves the folder's name behind.
    let mut index = folder.repository().index().expect("opens");
    index
        .remove_dir("default/default/users/forgotten".as_ref(), 0)
        .expect("removes");
    index.write().expect("writes");
    folder.history.purge(&[everything(5)]).await.expect("purges");
    assert_forgotten(&folder, "forgotten");
    assert_eq!(found(&folder, &run.id), Vec::<String>::new());
    assert_eq!(
        folder.bytes(".git/hooks/post-commit").as_deref(),
        Some(&b"mine"[..])
    );
    assert_eq!(folder.log().await.len(), 1);
    assert_eq!(folder.by_hand().await, None);
    folder.put(FACTS, "## A\n\nwhat comes\n");
    folder.by_run("r_2").await;
    folder.undo("r_2").await.expect("undoes");
    assert_eq!(folder.bytes(FACTS).as_deref(), Some(&b"## A\n\nwhat stays\n"[..]));
}
