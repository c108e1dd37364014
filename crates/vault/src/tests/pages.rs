//! Pages under faults of the disk: the old page or the new one is there, and a retry completes the change.

use model::{Page, Scope};
use ports::{Pages as _, VaultWriter as _};
use tempfile::TempDir;
use testkit::vault::samples::user;

use super::crashes::{FAULTS, FaultyDisk};
use super::{FastDisk, on_disk, root};

async fn put(vault: &crate::MarkdownVault, before: &str) -> Result<bool, ports::VaultError> {
    let owner = user("ann");
    vault
        .replace_page(&Scope::default(), &owner, Page::Memory, Some(before), "new")
        .await
}

#[tokio::test]
async fn a_page_is_the_old_or_the_new_one_after_every_fault() {
    let (scope, owner) = (Scope::default(), user("ann"));
    for fault in FAULTS {
        for at in 0.. {
            let folder = TempDir::new().expect("a folder");
            let sound = on_disk(&folder, std::sync::Arc::new(FastDisk));
            let first = sound
                .replace_page(&scope, &owner, Page::Memory, None, "old")
                .await;
            assert!(first.expect("writes"));
            let disk = FaultyDisk::new(fault, at);
            let failed = put(&on_disk(&folder, disk.clone()), "old").await;
            if disk.changes().len() <= at {
                assert!(failed.expect("no fault was met"));
                break;
            }
            let page = sound.page(&scope, &owner, Page::Memory).await.expect("reads");
            let page = page.expect("it is never gone");
            assert!(
                ["old", "new"].contains(&page.as_str()),
                "{fault:?} at {at}: {page}"
            );
            assert!(failed.is_err() || page == "new");
            assert!(put(&sound, &page).await.expect("writes"));
            let previous = root(&folder).join("default/default/users/ann/.previous/MEMORY.md");
            let previous = std::fs::read_to_string(previous).expect("is kept");
            assert_eq!(previous, page, "{fault:?} at {at}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn no_link_leads_out_of_the_folder() {
    let folder = TempDir::new().expect("a folder");
    let vault = on_disk(&folder, std::sync::Arc::new(FastDisk));
    let outside = folder.path().join("outside.md");
    std::fs::write(&outside, "old").expect("writes");
    let theirs = root(&folder).join("default/default/users/ann");
    std::fs::create_dir_all(&theirs).expect("creates");
    std::os::unix::fs::symlink(&outside, theirs.join("MEMORY.md")).expect("links");
    let refused = put(&vault, "old").await;
    assert!(
        matches!(refused, Err(ports::VaultError::Outside { .. })),
        "{refused:?}"
    );
    assert_eq!(std::fs::read_to_string(&outside).expect("reads"), "old");
}
