//! Files of other programs in the vault: found by their text, and never touched.

use std::ffi::OsStr;
use std::fs;
use std::sync::Arc;

use model::{Name, Owner, Scope};
use ports::Vault as _;

use super::*;

const FOLDER: &str = "default/default/users/ann";

async fn reported(vault: &MarkdownVault, word: &'static str) -> Vec<(String, bool)> {
    let found = vault
        .foreign(FOLDER, Arc::new(move |text| text.contains(word)))
        .await;
    let found = found.expect("is searched");
    let short = |path: String| path.replace(&format!("{FOLDER}/"), "");
    found
        .into_iter()
        .map(|file| (short(file.path), file.is_read))
        .collect()
}

#[tokio::test]
async fn a_file_with_the_text_or_an_unreadable_one_is_reported() {
    let folder = Folder::new();
    let vault = &folder.vault;
    let own = folder.at(FOLDER);
    fs::create_dir_all(own.join("facts")).expect("is made");
    for (name, text) in [
        ("facts/2026-01-01.md~", "She likes Zebra."),
        ("facts/#2026-01-01.md#", "Zebra"),
        ("facts/.2026-01-01.md.swp", "\0Zebra"),
        ("notes.txt", "my Zebra"),
        ("other.txt", "nothing of it"),
        (".made", "Zebra"),
        ("facts/broken.md", "<!--entry \n Zebra <!--af_"),
    ] {
        fs::write(own.join(name), text).expect("is written");
    }
    fs::write(own.join("large.bin"), vec![b' '; (1 << 20) + 1]).expect("is written");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        fs::write(own.join(OsStr::from_bytes(b"caf\xe9.txt")), "Zebra").expect("is written");
    }
    let found = reported(vault, "Zebra").await;
    let expected = [
        ("caf\u{fffd}.txt", true),
        ("facts/#2026-01-01.md#", true),
        ("facts/.2026-01-01.md.swp", true),
        ("facts/2026-01-01.md~", true),
        ("large.bin", false),
        ("notes.txt", true),
    ];
    let expected = expected
        .iter()
        .filter(|(name, _)| cfg!(target_os = "linux") || !name.starts_with("caf"));
    let expected: Vec<_> = expected
        .map(|(name, is_read)| ((*name).to_owned(), *is_read))
        .collect();
    let found: Vec<_> = found
        .into_iter()
        .filter(|(name, _)| name != "facts/broken.md")
        .collect();
    assert_eq!(found, expected);
    assert_eq!(
        reported(vault, "nowhere").await,
        [("large.bin".to_owned(), false)]
    );
    fs::create_dir(folder.at(".git")).expect("is made");
    assert!(
        reported(vault, "nowhere")
            .await
            .contains(&(".git".to_owned(), false))
    );
}

/// No system call accepts a path of more than 4,095 bytes, even if its folder can be listed: the other files
/// are removed, and this one is reported.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_path_that_is_too_long_is_reported_and_the_rest_is_removed() {
    let folder = Folder::new();
    let vault = &folder.vault;
    let facts = folder.at(FOLDER).join("facts");
    fs::create_dir_all(&facts).expect("is made");
    fs::write(facts.join("2026-01-01.md"), "").expect("is written");
    // Built from the inside out: no call uses the whole path.
    let (name, spare) = ("d".repeat(200), folder.folder.path().join("spare"));
    fs::create_dir(&spare).expect("is made");
    fs::write(spare.join(format!("{}.md", "n".repeat(240))), "deep").expect("is written");
    for _ in 0..(4_080 - facts.as_os_str().len()) / 201 {
        let above = folder.folder.path().join("above");
        fs::create_dir(&above).expect("is made");
        fs::rename(&spare, above.join(&name)).expect("is moved");
        fs::rename(&above, &spare).expect("is moved");
    }
    fs::rename(spare.join(&name), facts.join(&name)).expect("is moved");
    let listed = vault.scan().await.expect("is listed");
    assert_eq!(listed.len(), 1, "{listed:?}");
    let owner = Owner::user(Name::parse("ann").expect("a name"));
    let removed = vault.remove(&Scope::default(), Some(&owner)).await;
    assert_eq!(removed.expect("the rest is removed").len(), 1);
    assert!(!facts.join("2026-01-01.md").exists());
    let left = vault
        .foreign(FOLDER, Arc::new(|_| true))
        .await
        .expect("is searched");
    assert!(
        left.len() == 1 && !left[0].is_read && left[0].path.ends_with("nn.md"),
        "{left:?}"
    );
}

#[tokio::test]
async fn the_list_of_unfinished_deletions_survives_a_reopening() {
    let folder = Folder::new();
    let lines = ["session\ta\tb\tc".to_owned(), "owner\ta\tb\tuser\tann".to_owned()];
    let vault = &folder.vault;
    assert_eq!(vault.going().await.expect("is read"), [] as [String; 0]);
    vault.set_going(&lines).await.expect("is noted");
    let again = MarkdownVault::open(root(&folder.folder), zone(), Arc::new(NoTime)).expect("opens");
    assert_eq!(again.going().await.expect("is read"), lines);
    again.set_going(&[]).await.expect("is noted");
    assert_eq!(vault.going().await.expect("is read"), [] as [String; 0]);
    assert!(!folder.at(".forgetting").exists());
}
