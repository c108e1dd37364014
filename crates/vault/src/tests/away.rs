//! A folder with another vault's id, or with none, counts as missing.

use model::EntryId;
use testkit::vault::samples::fact;

use super::*;
use crate::{ID_FILE, VaultId};

#[tokio::test]
async fn a_folder_with_another_id_or_none_counts_as_missing_and_accepts_no_writes() {
    let place = TempDir::new().expect("a folder");
    let root = place.path().join("memory");
    let (id, other) = (VaultId::new(1, 2), VaultId::new(1, 3));
    let vault = MarkdownVault::open(&root, zone(), Arc::new(NoTime)).expect("it opens");
    vault
        .is_present()
        .await
        .expect("any folder, where no id is known");
    let vault = vault.known_as(Some(id.clone()));
    vault.is_present().await.expect_err("it has no id");
    id.write(&root.join(ID_FILE)).expect("written");
    vault.is_present().await.expect("it has the id");
    assert!(
        vault.scan().await.expect("scanned").is_empty(),
        "the id is no memory"
    );
    let entry = fact("ann", "af_1", "2024-05-08", "bees");
    assert_eq!(entry.id, EntryId::new("af_1"));
    let append = async || vault.append(std::slice::from_ref(&entry), true).await;
    append().await.expect("written");

    other.write(&root.join(ID_FILE)).expect("written");
    vault.is_present().await.expect_err("it is another one");
    std::fs::rename(&root, place.path().join("away")).expect("renamed");
    append().await.expect_err("the folder is gone");
    assert!(!root.exists());
    std::fs::create_dir(&root).expect("made");
    append().await.expect_err("an empty mount point");
    vault
        .edit(&vault.path_of(&entry), &[])
        .await
        .expect_err("the same");
    assert_eq!(std::fs::read_dir(&root).expect("a folder").count(), 0);
}

#[test]
fn an_id_file_has_a_version() {
    let place = TempDir::new().expect("a folder");
    let file = place.path().join(ID_FILE);
    assert_eq!(VaultId::read(&file).expect("no file"), None);
    VaultId::new(1, 0xab).write(&file).expect("written");
    let text = std::fs::read_to_string(&file).expect("read");
    assert_eq!(text, "quipu vault 1\n000000000000000100000000000000ab\n");
    assert_eq!(VaultId::read(&file).expect("read"), Some(VaultId::new(1, 0xab)));
    for text in ["", "quipu vault 2\nid\n", "quipu vault 1\n"] {
        std::fs::write(&file, text).expect("written");
        VaultId::read(&file).expect_err(text);
    }
}
