//! No id, name or link leads out of the folder, and only plain files are touched.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use model::EntryId;
use ports::{Edit, Vault as _, VaultError, VaultPath, VaultWriter as _};
use testkit::vault::samples::{fact, user};

use super::{Folder, write};

const ANN: &str = "default/default/users/ann/facts/2023-05-08.md";

/// Checks that every call refuses a path that leads through a link to files outside the vault.
async fn is_refused(folder: &Folder) {
    let vault = &folder.vault;
    let path = VaultPath::from(ANN);
    let is_outside =
        |refused: Option<VaultError>| assert!(matches!(refused, Some(VaultError::Outside { .. })));
    let new = fact("ann", "af_2", "2023-05-08", "new");
    for fresh in [true, false] {
        is_outside(vault.append(std::slice::from_ref(&new), fresh).await.err());
    }
    is_outside(vault.read(&path).await.err());
    is_outside(vault.stat(&path).await.err());
    is_outside(
        vault
            .edit(&path, &[Edit::Remove(EntryId::new("af_1"))])
            .await
            .err(),
    );
    assert_eq!(vault.scan().await.expect("scans"), []);
    let strangers = vault.strangers();
    assert!(
        strangers.len() == 1 && ANN.starts_with(&*strangers[0]),
        "it is told: {strangers:?}"
    );
}

#[tokio::test]
async fn a_link_anywhere_in_a_path_is_refused() {
    let text = b"## A {#af_1}\nx\n<!-- end -->\n";
    for linked in [
        "default",
        "default/default",
        "default/default/users/ann",
        "default/default/users/ann/facts",
        ANN,
    ] {
        let folder = Folder::new();
        let elsewhere = folder.folder.path().join("elsewhere");
        let rest = ANN
            .strip_prefix(linked)
            .expect("a part of it")
            .trim_start_matches('/');
        let target = if rest.is_empty() {
            elsewhere.clone()
        } else {
            elsewhere.join(rest)
        };
        write(&target, text);
        let link = folder.at(linked);
        std::fs::create_dir_all(link.parent().expect("it has one")).expect("creates folders");
        symlink(&elsewhere, &link).expect("links");
        is_refused(&folder).await;
        let removed = folder
            .vault
            .remove(&model::Scope::default(), Some(&user("ann")))
            .await;
        assert!(!matches!(removed, Ok(paths) if !paths.is_empty()));
        assert_eq!(std::fs::read(&target).expect("reads"), text);
    }
}

#[tokio::test]
async fn a_link_to_nothing_and_one_within_the_vault_are_refused_too() {
    for target in ["/nonexistent/file.md", "other.md"] {
        let folder = Folder::new();
        let link = folder.at(ANN);
        write(&link.with_file_name("other.md"), b"");
        std::fs::remove_file(link.with_file_name("other.md")).expect("removes");
        symlink(target, &link).expect("links");
        is_refused(&folder).await;
        assert!(!link.with_file_name("other.md").exists());
    }
}

#[tokio::test]
async fn a_link_in_place_of_a_temporary_file_is_not_followed() {
    let folder = Folder::new();
    let victim = folder.folder.path().join("victim");
    std::fs::write(&victim, "precious").expect("writes");
    let beside = folder.at("default/default/users/ann/facts/.2023-05-08.md.tmp");
    std::fs::create_dir_all(beside.parent().expect("it has one")).expect("creates folders");
    symlink(&victim, &beside).expect("links");
    folder
        .vault
        .append(&[fact("ann", "af_1", "2023-05-08", "new")], true)
        .await
        .expect("appends");
    assert_eq!(std::fs::read(&victim).expect("reads"), b"precious");
    assert!(!folder.at(ANN).is_symlink());
}

#[tokio::test]
async fn the_vaults_own_folder_may_be_a_link() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let real = folder.path().join("real");
    std::fs::create_dir(&real).expect("creates");
    symlink(&real, folder.path().join("memory")).expect("links");
    let root = folder.path().join("memory");
    let vault = crate::MarkdownVault::open(root, model::Zone::utc(), std::sync::Arc::new(super::NoTime));
    let vault = vault.expect("opens");
    vault
        .append(&[fact("ann", "af_1", "2023-05-08", "new")], true)
        .await
        .expect("appends");
    assert!(real.join(ANN).is_file());
}

#[tokio::test]
async fn a_folder_in_place_of_a_file_is_broken_and_stops_nothing() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.at(ANN)).expect("creates");
    let file = folder
        .vault
        .read(&ANN.into())
        .await
        .expect("reads")
        .expect("is there");
    assert!(file.broken.is_some());
    let refused = folder
        .vault
        .append(&[fact("ann", "af_1", "2023-05-08", "new")], true)
        .await;
    assert!(matches!(refused, Err(VaultError::Outside { .. })));
    let other = fact("ann", "af_1", "2023-05-09", "new");
    folder
        .vault
        .append(&[other], true)
        .await
        .expect("another file is not concerned");
}

#[tokio::test]
async fn an_edit_keeps_the_files_permissions() {
    let folder = Folder::new();
    let both = ["af_1", "af_2"].map(|id| fact("ann", id, "2023-05-08", "x"));
    folder.vault.append(&both, true).await.expect("appends");
    let mode = || {
        std::fs::metadata(folder.at(ANN))
            .expect("stats")
            .permissions()
            .mode()
            & 0o777
    };
    std::fs::set_permissions(folder.at(ANN), std::fs::Permissions::from_mode(0o640)).expect("sets");
    folder
        .vault
        .edit(&ANN.into(), &[Edit::Remove(EntryId::new("af_1"))])
        .await
        .expect("edits");
    assert_eq!(mode(), 0o640);
    let root = std::fs::metadata(folder.at(""))
        .expect("stats")
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(root, 0o700, "nobody else may enter");
}
