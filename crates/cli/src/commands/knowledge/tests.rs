//! The commands on a root with a real vault; the index is in memory.

use clap::Parser;
use gateway::wire::knowledge::DocumentItem;
use tempfile::TempDir;

use super::*;
use crate::args::{Cli, Command};
use crate::commands::{asked, tests::desk};
use crate::world::World;

const GUIDE: &str = "# Guide\n\nHow the samovar is used.\n\n## Clean\n\nVinegar takes the limescale off. Rinse the kettle three times \
    with cold water afterwards and let it dry upside down over night, or it will taste of salad for a week.\n";

struct Shop {
    root: TempDir,
    desk: Desk,
    api: Api,
}

impl Shop {
    async fn open(root: TempDir, variables: &[(&str, &str)]) -> Self {
        let desk = desk(root.path(), variables);
        let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
        let api = Api::here(world.expect("it opens"));
        Self { root, desk, api }
    }

    async fn new() -> Self {
        Self::open(TempDir::new().expect("a folder"), &[]).await
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.root.path().join(name);
        std::fs::write(&path, bytes).expect("it is written");
        path.to_str().expect("text").to_owned()
    }

    async fn typed(&self, words: &[&str]) -> Result<Exit, Failure> {
        let words = ["quipu", "knowledge"].iter().chain(words);
        let Command::Asking(command) = Cli::try_parse_from(words).expect("it is understood").command else {
            panic!("it is another command");
        };
        asked(&self.desk, &self.api, command).await
    }

    /// The error text of a refused command.
    async fn refused(&self, words: &[&str]) -> String {
        let failure = self.typed(words).await.expect_err("it is refused");
        assert_eq!(failure.exit, Exit::Usage, "{failure:?}");
        format!("{:#}", failure.error)
    }

    async fn listed(&self, app: &str) -> Vec<DocumentItem> {
        let path = Path::new("/knowledge/documents", "").with("app_id", app);
        let data: DocumentListData = self.api.get(path.text()).await.expect("it lists");
        data.documents
    }
}

#[tokio::test]
async fn documents_are_stored_shown_found_and_deleted() {
    let shop = Shop::new().await;
    let (guide, note) = (
        shop.file("guide.md", GUIDE),
        shop.file("note.txt", "Buy charcoal."),
    );
    assert_eq!(shop.typed(&["add", &guide, &note]).await.expect("kept"), Exit::Ok);
    let named = [
        "add",
        &shop.file("a.md", "# A\n\nb"),
        "--title",
        "Named",
        "--category",
        "Food",
    ];
    shop.typed(&named).await.expect("kept");
    let listed = shop.listed("default").await;
    let mut told: Vec<_> = listed
        .iter()
        .map(|document| (document.title.as_str(), document.topic_count))
        .collect();
    told.sort_unstable();
    assert_eq!(told, [("Guide", 2), ("Named", 1), ("note", 1)]);
    let id = &listed
        .iter()
        .find(|document| document.title == "Guide")
        .expect("kept")
        .doc_id;
    let topic = format!("{id}_2");
    for words in [
        &["list"][..],
        &["list", "--category", "Food", "--page", "1"],
        &["show", id],
        &["show", &topic],
        &[
            "search",
            "vinegar and limescale",
            "--method",
            "keyword",
            "-n",
            "1",
        ],
        &["delete", id],
    ] {
        assert_eq!(shop.typed(words).await.expect("it works"), Exit::Ok, "{words:?}");
    }
    assert_eq!(
        shop.typed(&["delete", id]).await.expect("it is told"),
        Exit::NotFound
    );
    for gone in [id, &topic] {
        let failure = shop.typed(&["show", gone]).await.expect_err("it is gone");
        assert_eq!(failure.exit, Exit::NotFound, "{failure:?}");
    }
    assert_eq!(shop.listed("default").await.len(), 2);
    let unasked = shop.refused(&["delete", "--all"]).await;
    assert!(
        unasked.contains("every document of `default/default`"),
        "{unasked}"
    );
    assert_eq!(shop.listed("default").await.len(), 2);
    for _ in 0..2 {
        assert_eq!(
            shop.typed(&["delete", "--all", "--yes"]).await.expect("gone"),
            Exit::Ok
        );
    }
    let library = shop.root.path().join("memory/default/default/libraries/default");
    assert_eq!(shop.listed("default").await.len(), 0);
    assert!(!library.join(".taxonomy.md").exists() && !library.join("originals").exists());
}

#[tokio::test]
async fn the_tenant_options_go_before_or_after_the_command() {
    let shop = Shop::new().await;
    let guide = shop.file("guide.md", GUIDE);
    shop.typed(&["add", &guide, "--app", "tea"]).await.expect("kept");
    shop.typed(&["--app", "pots", "add", &guide]).await.expect("kept");
    assert_eq!(shop.listed("default").await.len(), 0);
    let [tea, pots] = [shop.listed("tea").await, shop.listed("pots").await];
    assert_eq!((tea.len(), pots.len()), (1, 1));
    // An id of another tenant gives no access.
    let ids = ["--app", "pots", "delete", &tea[0].doc_id];
    assert_eq!(shop.typed(&ids).await.expect("it is told"), Exit::NotFound);
    for app in ["pots", "pans"] {
        let all = shop.typed(&["--app", app, "delete", "--all", "--yes"]).await;
        assert_eq!(all.expect("gone"), Exit::Ok);
    }
    assert_eq!(
        (shop.listed("tea").await.len(), shop.listed("pots").await.len()),
        (1, 0)
    );
}

#[tokio::test]
async fn a_refusal_names_the_file_and_the_remedy() {
    let small = [("QUIPU_KNOWLEDGE__UPLOAD_MEBIBYTES_MAX", "1")];
    let shop = Shop::open(TempDir::new().expect("a folder"), &small).await;
    let encrypted = "%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer\n<</Root 1 0 R/Encrypt 2 0 R>>";
    let scanned = "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Type/Page>>endobj";
    let large = "x".repeat((1 << 20) + 1);
    let cases: [(&str, &[u8], &str); 7] = [
        ("empty.md", b"", "upload a file with text"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "export it"),
        ("secret.pdf", encrypted.as_bytes(), "without password"),
        ("scan.pdf", scanned.as_bytes(), "OCR"),
        ("half.pdf", b"%PDF-1.7 and no more", "export it again"),
        ("large.txt", large.as_bytes(), "more than 1 MiB: split it"),
        ("zeros.txt", &[0; 100], "export it"),
    ];
    for (name, bytes, hint) in cases {
        let told = shop.refused(&["add", &shop.file(name, bytes)]).await;
        assert!(told.contains(name) && told.contains(hint), "{told}");
    }
    let missing = shop.refused(&["add", "no-such-file.md"]).await;
    assert!(missing.contains("no-such-file.md"), "{missing}");
    let guide = shop.file("guide.md", GUIDE);
    let told = shop.refused(&["add", &guide, "--category", "Nonsense"]).await;
    assert!(told.contains("use one of") && told.contains("Food"), "{told}");
    shop.refused(&["add", &guide, &guide, "--title", "Two"]).await;
    assert_eq!(shop.listed("default").await.len(), 0);
    shop.typed(&["add", &guide]).await.expect("kept");
    let again = shop
        .typed(&["add", &guide])
        .await
        .expect_err("it is there already");
    let told = format!("{:#}", again.error);
    assert!(told.contains("guide.md") && told.contains("already"), "{told}");
}

/// The process ended after the original was written.
#[tokio::test]
async fn remains_of_a_killed_upload_are_removed_when_the_root_opens() {
    let root = TempDir::new().expect("a folder");
    let originals = root
        .path()
        .join("memory/default/default/libraries/default/originals");
    let [orphan, own] = ["d_0123456789ab", "my scans"].map(|folder| originals.join(folder));
    for folder in [&orphan, &own] {
        std::fs::create_dir_all(folder).expect("it is made");
        std::fs::write(folder.join("0a1b2c3d-a.md"), GUIDE).expect("it is written");
    }
    let shop = Shop::open(root, &[]).await;
    assert!(!orphan.exists() && own.exists());
    assert_eq!(shop.listed("default").await.len(), 0);
}
