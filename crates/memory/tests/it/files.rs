//! Changes of files by people and programs, in long series on a real disk: a search finds exactly the contents of the
//! files.
//!
//! Each message and each statement has a word of its own. The words that are found must be the words that a reader of a
//! few lines sees in the files, and no sync may change a file.
//!
//! `PROPTEST_CASES=500 cargo nextest run -p memory files` does about 10,000 deeds.

mod deeds;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memory::{Engine, Parts};
use model::{Doc, Zone};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tempfile::TempDir;
use vault::MarkdownVault;

use crate::by_words::target;
use crate::stage::{Stage, ask, flush, say, session};
use deeds::{Deed, Kind, deed, other_name, page_after, words};

/// A page, and when it was saved.
type Page = (String, SystemTime);

struct World {
    folder: TempDir,
    stage: Stage,
    engine: Engine,
    /// The expected files.
    files: BTreeMap<String, Page>,
    deleted: Vec<(String, Page)>,
    n_words: usize,
    n_saves: u64,
    minutes: i64,
}

impl World {
    /// Two days of conversations.
    async fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let stage = Stage::default();
        let engine = open(&stage, folder.path()).await;
        let mut world = Self {
            folder,
            stage,
            engine,
            files: BTreeMap::new(),
            deleted: Vec::new(),
            n_words: 0,
            n_saves: 0,
            minutes: 0,
        };
        world.say().await;
        world.minutes += 24 * 60;
        world.say().await;
        world
    }

    fn word(&mut self) -> String {
        self.n_words += 1;
        format!("zq{}", self.n_words)
    }

    /// A conversation; Quipu must append it and keep every line.
    async fn say(&mut self) {
        self.minutes += 60;
        let key = session(&format!("s{}", self.minutes));
        let [house, garden, dog, food, nut] = [(); 5].map(|()| self.word());
        let said = [
            (
                "ann",
                format!("I live in a house by the river which is called {house}"),
            ),
            ("bot", format!("Noted, and the garden of it is {garden} then.")),
            (
                "ann",
                format!("My dog is called {dog} and he\nlikes {food} a lot"),
            ),
            ("ann", format!("I am allergic to {nut} since I was a child")),
        ];
        for (n, (sender, text)) in (0..).zip(said) {
            say(&self.engine, &key, sender, self.minutes + n, &text).await;
        }
        self.engine.flush(flush(&key)).await.expect("it cuts");
        assert_eq!(self.stage.rest(&self.engine).await, 0);
        let before = std::mem::replace(&mut self.files, read_all(self.folder.path()));
        for (path, (text, _)) in before {
            let mut now: Vec<&str> = self.files[&path].0.lines().collect();
            for line in text.lines() {
                let at = now.iter().position(|now| *now == line);
                now.remove(at.unwrap_or_else(|| panic!("`{line}` is lost from {path}")));
            }
        }
    }

    fn put(&mut self, path: &str, (text, at): Page) {
        let full = self.folder.path().join(path);
        std::fs::create_dir_all(full.parent().expect("a folder")).expect("a folder");
        std::fs::write(&full, &text).expect("it is written");
        let file = File::options().write(true).open(&full).expect("it opens");
        file.set_modified(at).expect("it has a time");
        self.files.insert(path.to_owned(), (text, at));
    }

    fn save(&mut self, path: &str, text: String) {
        self.n_saves += 1;
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + self.n_saves);
        self.put(path, (text, at));
    }

    async fn act(&mut self, deed: &Deed) {
        match deed.kind {
            Kind::Say => return self.say().await,
            Kind::Rebuild => {
                let rebuilt = self.engine.rebuild();
                self.stage.drive(rebuilt).await.expect("it is rebuilt");
                return;
            }
            Kind::Restart => {
                self.engine.shutdown().await;
                self.engine = open(&self.stage, self.folder.path()).await;
                return;
            }
            Kind::Restore if !self.deleted.is_empty() => {
                let (path, page) = self.deleted.swap_remove(deed.way.index(self.deleted.len()));
                if !self.files.contains_key(&path) {
                    self.put(&path, page);
                }
                return;
            }
            _ => {}
        }
        let n = deed.file.index(self.files.len().max(1));
        let chosen = self.files.iter().nth(n);
        let Some((path, page)) = chosen.map(|(path, page)| (path.clone(), page.clone())) else {
            return;
        };
        let to = other_name(&path, deed.way);
        if deed.kind == Kind::Delete || (deed.kind == Kind::Move && !self.files.contains_key(&to)) {
            std::fs::remove_file(self.folder.path().join(&path)).expect("it was there");
            self.files.remove(&path);
        }
        match deed.kind {
            Kind::Delete => self.deleted.push((path, page)),
            Kind::Copy | Kind::Move if self.files.contains_key(&to) => {}
            Kind::Copy => self.save(&to, page.0),
            Kind::Move => self.put(&to, page),
            _ => {
                let word = self.word();
                self.save(&path, page_after(deed, &path, &page.0, &word));
            }
        }
    }

    /// Syncs, and checks files, rows and a search.
    async fn check(&self, which: Index, after: &str) {
        self.engine.sync().await.expect("nothing fails");
        let now = read_all(self.folder.path());
        let paths = |files: &BTreeMap<String, Page>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&now), paths(&self.files), "{after}");
        for (path, (text, _)) in &now {
            assert_eq!(text, &self.files[path].0, "{path} after {after}");
        }
        let mut on_disk = BTreeSet::new();
        for (path, (text, _)) in &now {
            let owner = path.split('/').nth(3).expect("an owner");
            on_disk.extend(words(text).into_iter().map(|word| (owner.to_owned(), word)));
        }
        let rows = self.stage.index.rows();
        let of_row = |row: &Doc| {
            let owner = row.key.owner.id.to_string();
            words_of(row).into_iter().map(move |word| (owner.clone(), word))
        };
        let found: BTreeSet<(String, String)> = rows.iter().flat_map(of_row).collect();
        let lost: Vec<_> = on_disk.difference(&found).collect();
        let stale: Vec<_> = found.difference(&on_disk).collect();
        let shown = || -> String {
            let files = now.iter().map(|(path, (text, _))| format!("=== {path}\n{text}"));
            files.collect()
        };
        assert!(
            lost.is_empty() && stale.is_empty(),
            "not found {lost:?}, not on disk {stale:?}, after {after}\n{}",
            shown()
        );
        if let Some((owner, word)) = on_disk.iter().nth(which.index(on_disk.len().max(1))) {
            let is_found = self.finds(owner, word).await;
            assert!(is_found, "no search finds {word} after {after}\n{}", shown());
        }
    }

    async fn finds(&self, owner: &str, word: &str) -> bool {
        let found = ask(&self.engine, owner, word).await;
        let facts = found.memories.iter().flat_map(|hit| &hit.facts);
        let mut hits = found.memories.iter().chain(facts).chain(&found.messages);
        hits.any(|hit| words_of(&hit.doc).iter().any(|found| found == word))
    }
}

fn words_of(row: &Doc) -> Vec<String> {
    let text = [&row.subject, &row.summary, &row.text]
        .map(String::as_str)
        .join("\n");
    assert!(!text.contains("<!--") && !text.contains("-->"), "{text:?}");
    words(&text)
}

async fn open(stage: &Stage, folder: &Path) -> Engine {
    let vault = MarkdownVault::open(folder, Zone::utc(), stage.clock.clone()).expect("it opens");
    let vault = Arc::new(vault);
    let parts = Parts {
        vault_writer: vault.clone(),
        vault,
        ..stage.parts()
    };
    Engine::start(parts, stage.settings.clone())
        .await
        .expect("it starts")
}

/// The pages below a folder.
fn read_all(root: &Path) -> BTreeMap<String, Page> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let below = path.strip_prefix(root).expect("below").to_string_lossy();
                let at = path.metadata().and_then(|file| file.modified()).expect("a time");
                let text = std::fs::read_to_string(&path).expect("text");
                files.insert(below.into_owned(), (text, at));
            }
        }
    }
    files
}

/// The number of cases, unless `PROPTEST_CASES` sets another.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_asked { default.cases } else { cases },
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..default
    }
}

const BY_HAND: &str = "default/default/users/ann/facts/mine.md";

/// Writes a page by hand of these bytes, and syncs it.
async fn with_page(world: &World, bytes: Vec<u8>) {
    let path = world.folder.path().join(BY_HAND);
    std::fs::write(path, bytes).expect("it is written");
    world.engine.sync().await.expect("nothing fails");
}

/// A text as bytes of a file.
type Encode<'a> = &'a dyn Fn(&str) -> Vec<u8>;

#[tokio::test]
async fn a_faulty_file_keeps_a_removed_entry_only_if_it_may_hide_one() {
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16();
        [0xff, 0xfe]
            .into_iter()
            .chain(units.flat_map(u16::to_le_bytes))
            .collect()
    };
    let no_yaml = |text: &str| format!("---\na: [b\n---\n\n{text}").into_bytes();
    let damaged = |text: &str| [b"- \xff\n\n", text.as_bytes()].concat();
    let unclosed = |text: &str| format!("---\nquipu: 2\n\n{text}").into_bytes();
    let cases: [(Encode<'_>, bool); 4] = [
        (&utf_16, false),
        (&no_yaml, false),
        (&damaged, true),
        (&unclosed, true),
    ];
    for (n, (written, keeps)) in cases.into_iter().enumerate() {
        let world = World::new().await;
        with_page(&world, written("- I like zq99.\n")).await;
        assert!(world.finds("ann", "zq99").await, "{n}");
        with_page(&world, written("# Nothing\n")).await;
        assert_eq!(world.finds("ann", "zq99").await, keeps, "{n}");
        world.engine.shutdown().await;
    }
}

#[tokio::test]
async fn a_deletion_by_words_is_refused_only_if_an_unread_line_has_the_words() {
    let world = World::new().await;
    with_page(&world, b"- [ ] buy oars\n- I row.\n".to_vec()).await;
    let other = world
        .folder
        .path()
        .join("default/default/users/ann/facts/other.md");
    std::fs::write(&other, "- I like walnuts.\n- I row alone.\n").expect("it is written");
    world.engine.sync().await.expect("nothing fails");
    let refused = world.engine.forget(target("ann", "oars", &[])).await;
    let refused = refused.expect_err("an open task is no memory that can go");
    assert!(refused.to_string().contains("mine.md"), "{refused}");
    let forgot = world.engine.forget(target("ann", "walnuts", &[])).await;
    assert_eq!(forgot.expect("it forgets").entries, 1);
    assert_eq!(
        std::fs::read_to_string(&other).expect("text").trim(),
        "- I row alone."
    );
}

#[tokio::test]
async fn a_deletion_of_an_owner_forgets_the_paths_of_its_pages() {
    let world = World::new().await;
    let ann = world.folder.path().join("default/default/users/ann");
    for (name, text) in [("USER.md", "- I row.\n"), ("notes.txt", "I row.\n")] {
        std::fs::write(ann.join(name), text).expect("it is written");
    }
    world.engine.sync().await.expect("nothing fails");
    // Files beside memory are compared when the engine ends. The files are real ones, so the test does not move the
    // clock meanwhile.
    world.engine.shutdown().await;
    let paths = async || -> Vec<String> {
        let others = ports::History::others(&*world.stage.ledger).await;
        let of_ann = others.expect("it answers").into_iter();
        let of_ann = of_ann.filter(|other| other.path.contains("/ann/"));
        of_ann.map(|other| other.path.to_string()).collect()
    };
    let beside = |name: &str| format!("default/default/users/ann/{name}");
    assert_eq!(paths().await, [beside("USER.md"), beside("notes.txt")]);
    let stage = &world.stage;
    let vault = MarkdownVault::open(world.folder.path(), Zone::utc(), stage.clock.clone());
    let vault = Arc::new(vault.expect("it opens"));
    let parts = Parts {
        pages: vault.clone(),
        vault_writer: vault.clone(),
        vault,
        ..stage.parts()
    };
    let engine = Engine::start(parts, stage.settings.clone())
        .await
        .expect("it starts");
    let all = memory::Forget::Owner(model::Scope::default(), crate::stage::user("ann"));
    engine.forget(all).await.expect("it forgets");
    assert_eq!(paths().await, [beside("notes.txt")], "it stays, and is not new");
}

#[tokio::test]
async fn a_problem_names_the_unread_lines() {
    let world = World::new().await;
    let tasks = |count: usize| "- [ ] buy oars\n- I row.\n".repeat(count);
    with_page(&world, (tasks(2) + "> They row.\n").into_bytes()).await;
    let problem = || async {
        world.engine.status().await.expect("it answers").broken_files[0]
            .problem
            .clone()
    };
    let told = problem().await;
    assert!(
        told.starts_with("line 1: an open task ") && told.ends_with(" (also line 3, line 5)"),
        "{told}"
    );
    with_page(&world, tasks(22).into_bytes()).await;
    let told = problem().await;
    assert!(told.ends_with(" line 37, line 39, and 2 more)"), "{told}");
    world.engine.shutdown().await;
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn search_finds_exactly_the_words_in_the_files(deeds in vec((deed(), any::<Index>()), 3..=40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut world = World::new().await;
            for (n, (deed, which)) in deeds.iter().enumerate() {
                world.act(deed).await;
                world.check(*which, &format!("{n}: {deed:?}")).await;
            }
            let (first, which) = deeds[0];
            for kind in [Kind::Rebuild, Kind::Restart] {
                world.act(&Deed { kind, ..first }).await;
                world.check(which, &format!("the last {kind:?}")).await;
            }
            world.engine.shutdown().await;
        });
    }
}
