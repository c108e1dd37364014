//! Two engines, each with its own ledger, on two folders that a program syncs both ways.
//!
//! Each message has a word of its own. A file that changed on both sides since the last sync is a conflict: the newer
//! one wins, and the older one stays as a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory::{Curate, EditEntry, Engine, Forget, Parts, ReplacePage};
use model::{EntryId, EntryKind, Page, Scope, Zone};
use ports::{Ids as _, Run, Vault as _};
use tempfile::TempDir;
use vault::MarkdownVault;

use crate::stage::{Stage, ask, flush, say, session, user, written};

/// One of the two.
struct Side {
    folder: TempDir,
    stage: Stage,
    engine: Engine,
    vault: Arc<MarkdownVault>,
}

impl Side {
    /// The ids of one side begin far from those of the other.
    async fn new(ids_before: u64) -> Self {
        let folder = TempDir::new().expect("a folder");
        let stage = Stage::default();
        for _ in 0..ids_before {
            stage.ids.next();
        }
        Self::open(folder, stage).await
    }

    async fn open(folder: TempDir, mut stage: Stage) -> Self {
        stage.settings.records_history = true;
        let vault = MarkdownVault::open(folder.path().join("memory"), Zone::utc(), stage.clock.clone())
            .and_then(|vault| vault.with_name_file(folder.path().join("memory.name")));
        let vault = Arc::new(vault.expect("it opens"));
        let parts = Parts {
            vault: vault.clone(),
            vault_writer: vault.clone(),
            pages: vault.clone(),
            ..stage.parts()
        };
        let engine = Engine::start(parts, stage.settings.clone()).await;
        Self {
            engine: engine.expect("it starts"),
            folder,
            stage,
            vault,
        }
    }

    async fn opened_again(self) -> Self {
        self.stage.drive(self.engine.shutdown()).await;
        Self::open(self.folder, self.stage).await
    }

    fn memory(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    async fn say(&self, at: i64, word: &str) {
        let key = session(&format!("s-{word}"));
        say(
            &self.engine,
            &key,
            "ann",
            at,
            &format!("I own a boat called {word}."),
        )
        .await;
        let flushed = self.stage.drive(self.engine.flush(flush(&key))).await;
        flushed.expect("it is flushed");
        let settled = self.stage.drive(self.engine.settle()).await;
        assert_eq!(settled.expect("it is written"), 0);
    }

    /// The ids of the memories with a word.
    async fn ids(&self, word: &str) -> Vec<EntryId> {
        let found = ask(&self.engine, "ann", word).await;
        let facts = found.memories.iter().flat_map(|hit| &hit.facts);
        let hits = found.memories.iter().chain(facts);
        let having = hits.filter(|hit| hit.doc.text.contains(word) || hit.doc.subject.contains(word));
        having.map(|hit| EntryId::new(hit.doc.key.id.clone())).collect()
    }

    async fn finds(&self, word: &str) -> bool {
        let found = ask(&self.engine, "ann", word).await;
        let is_said = found.messages.iter().any(|hit| hit.doc.text.contains(word));
        is_said || !self.ids(word).await.is_empty()
    }

    async fn edit(&self, word: &str, new: &str) {
        let ids = self.ids(word).await;
        let id = ids.into_iter().find(|id| id.as_str().starts_with("af_"));
        let edit = EditEntry {
            scope: Scope::default(),
            owner: user("ann"),
            id: id.expect("a fact"),
            subject: None,
            summary: None,
            body: Some(format!("Ann owns a boat called {word} and {new}.")),
            project_only: None,
        };
        self.stage
            .drive(self.engine.edit(edit))
            .await
            .expect("it is edited");
    }

    async fn forget(&self, word: &str) {
        let forget = Forget::Entries(Scope::default(), user("ann"), self.ids(word).await);
        let forgot = self.stage.drive(self.engine.forget(forget)).await;
        forgot.expect("it is forgotten");
    }
}

/// The program that syncs the folders.
#[derive(Default)]
struct Sync {
    last: BTreeMap<String, Vec<u8>>,
    conflicts: Vec<String>,
}

fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let below = path.strip_prefix(root).expect("below").display().to_string();
            // Names that Quipu uses in this one folder only.
            if below.starts_with(".locks") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(below, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

fn put(root: &Path, path: &str, bytes: Option<&Vec<u8>>) {
    let full = root.join(path);
    match bytes {
        Some(bytes) => {
            fs::create_dir_all(full.parent().expect("a folder")).expect("folders");
            fs::write(full, bytes).expect("written");
        }
        None => drop(fs::remove_file(full)),
    }
}

impl Sync {
    async fn run(&mut self, sides: [&Side; 2]) {
        let roots = sides.map(Side::memory);
        let [a, b] = [files(&roots[0]), files(&roots[1])];
        let last = std::mem::take(&mut self.last);
        let paths: BTreeSet<&String> = a.keys().chain(b.keys()).chain(last.keys()).collect();
        for path in paths {
            let (of_a, of_b, before) = (a.get(path), b.get(path), last.get(path));
            let wins = match () {
                () if of_a == of_b || of_b == before => of_a,
                () if of_a == before => of_b,
                () => {
                    self.conflicts.push(path.clone());
                    let time = |root: &Path| {
                        fs::metadata(root.join(path))
                            .and_then(|file| file.modified())
                            .ok()
                    };
                    let is_newer = time(&roots[0]) >= time(&roots[1]);
                    let (new, old) = if is_newer { (of_a, of_b) } else { (of_b, of_a) };
                    let copy = path.replace(".md", &format!(".sync-conflict-{}.md", self.conflicts.len()));
                    for root in &roots {
                        put(root, &copy, old);
                    }
                    self.last.extend(old.map(|old| (copy, old.clone())));
                    new
                }
            };
            for (root, has) in roots.iter().zip([of_a, of_b]) {
                if has != wins {
                    put(root, path, wins);
                }
            }
            self.last.extend(wins.map(|wins| (path.clone(), wins.clone())));
        }
        for side in sides {
            side.stage.rest(&side.engine).await;
        }
    }
}

/// Pseudo-random numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// Both sides write in each round. Before that, one of them may edit or forget a memory of either.
async fn rounds(a: &Side, b: &Side, count: i64, sync: &mut Sync) -> [BTreeSet<String>; 2] {
    let mut random = Numbers(5);
    let (mut there, mut gone) = (Vec::new(), BTreeSet::new());
    for round in 0..count {
        let sides = if random.below(2) == 0 { [a, b] } else { [b, a] };
        for side in sides {
            let word = format!("zz{}{round}zz", if std::ptr::eq(side, a) { "a" } else { "b" });
            side.say(round * 7, &word).await;
            there.push(word);
        }
        if random.below(3) == 0 {
            continue;
        }
        sync.run([a, b]).await;
        let at = usize::try_from(random.below(there.len() as u64)).expect("small");
        match random.below(4) {
            0 => {
                let new = format!("zznew{round}zz");
                sides[0].edit(&there[at].clone(), &new).await;
                there.push(new);
            }
            1 if !there[at].contains("new") => {
                let word = there.swap_remove(at);
                sides[0].forget(&word).await;
                gone.insert(word);
            }
            _ => continue,
        }
        sync.run([a, b]).await;
        // An edit of a memory that is deleted later is deleted with it.
        there.retain(|word| files(&a.memory()).values().any(|text| contains(text, word)));
    }
    sync.run([a, b]).await;
    [there.into_iter().collect(), gone]
}

fn contains(text: &[u8], word: &str) -> bool {
    String::from_utf8_lossy(text).contains(word)
}

async fn assert_same(sides: [&Side; 2], [there, gone]: [BTreeSet<String>; 2]) {
    for side in sides {
        for word in &there {
            assert!(side.finds(word).await, "`{word}` is lost");
        }
        for word in &gone {
            assert!(!side.finds(word).await, "`{word}` is back");
            let has = |text: &Vec<u8>| contains(text, word);
            assert!(!files(&side.memory()).values().any(has), "`{word}` is in a file");
        }
    }
}

#[tokio::test]
async fn a_second_ledger_on_a_vault_makes_no_conflict_copy_and_nothing_is_lost() {
    let (a, b, mut sync) = (Side::new(0).await, Side::new(1 << 16).await, Sync::default());
    a.say(0, "zzfirstzz").await;
    sync.run([&a, &b]).await;
    let mut words = rounds(&a, &b, 200, &mut sync).await;
    words[0].insert("zzfirstzz".to_owned());
    assert_eq!(sync.conflicts, Vec::<String>::new());
    assert_same([&a, &b], words).await;
}

#[tokio::test]
async fn two_ledgers_that_both_wrote_before_conflict_once_and_never_again() {
    let (a, b, mut sync) = (Side::new(0).await, Side::new(1 << 16).await, Sync::default());
    a.say(0, "zzonezz").await;
    b.say(0, "zztwozz").await;
    sync.run([&a, &b]).await;
    let first = sync.conflicts.len();
    assert_eq!(first, 2, "{:?}", sync.conflicts);
    let mut words = rounds(&a, &b, 20, &mut sync).await;
    words[0].extend(["zzonezz".to_owned(), "zztwozz".to_owned()]);
    assert_eq!(sync.conflicts.len(), first, "{:?}", sync.conflicts);
    assert_same([&a, &b], words).await;
}

#[tokio::test]
async fn ledgers_of_one_name_conflict_once_and_take_other_names() {
    // The random numbers of both names end in the same bits.
    let (a, b, mut sync) = (Side::new(0).await, Side::new(1 << 20).await, Sync::default());
    a.say(0, "zzonezz").await;
    b.say(0, "zztwozz").await;
    sync.run([&a, &b]).await;
    assert_eq!(a.vault.name(), b.vault.name());
    a.say(1, "zzthreezz").await;
    b.say(1, "zzfourzz").await;
    sync.run([&a, &b]).await;
    let first = sync.conflicts.len();
    assert_eq!(first, 4, "{:?}", sync.conflicts);
    assert_ne!(a.vault.name(), b.vault.name());
    let words = rounds(&a, &b, 5, &mut sync).await;
    assert_eq!(sync.conflicts.len(), first, "{:?}", sync.conflicts);
    let began = ["zzonezz", "zztwozz", "zzthreezz", "zzfourzz"].map(str::to_owned);
    let there = words[0].iter().cloned().chain(began).collect();
    assert_same([&a, &b], [there, words[1].clone()]).await;
}

#[tokio::test]
async fn one_ledger_keeps_plain_names_and_a_name_survives_a_restart() {
    let (a, b, mut sync) = (Side::new(0).await, Side::new(1 << 16).await, Sync::default());
    a.say(0, "zzonezz").await;
    assert_eq!(a.vault.name(), None);
    let a = a.opened_again().await;
    a.say(1, "zztwozz").await;
    assert_eq!(a.vault.name(), None);
    sync.run([&a, &b]).await;
    assert_eq!(a.vault.name(), None, "its files are its own");
    let name = b.vault.name().expect("the vault has another ledger's memories");
    let b = b.opened_again().await;
    assert_eq!(b.vault.name(), Some(name.clone()));
    b.say(2, "zzthreezz").await;
    let has_name = |path: &String| path.ends_with(&format!(".{name}.md"));
    assert_eq!(files(&b.memory()).keys().filter(|path| has_name(path)).count(), 2);
}

#[tokio::test]
async fn a_ledger_does_not_append_to_a_file_that_just_arrived() {
    let (a, b) = (Side::new(0).await, Side::new(1 << 16).await);
    a.say(0, "zzonezz").await;
    let of_a = files(&a.memory());
    for (path, bytes) in &of_a {
        put(&b.memory(), path, Some(bytes));
    }
    b.say(0, "zztwozz").await;
    let mut there = files(&b.memory());
    there.retain(|path, _| of_a.contains_key(path));
    assert_eq!(there, of_a);
}

#[tokio::test]
async fn a_run_does_not_change_the_page_or_memories_of_the_other_ledger() {
    let (a, b, mut sync) = (Side::new(0).await, Side::new(1 << 16).await, Sync::default());
    a.say(0, "zzonezz").await;
    let run = || Run {
        id: "r_1".into(),
        strategy: "dream".to_owned(),
        reason: "a test".to_owned(),
    };
    let replace = |before: Option<&str>, text: &str| ReplacePage {
        scope: Scope::default(),
        owner: user("ann"),
        page: Page::User,
        before: before.map(str::to_owned),
        text: text.to_owned(),
    };
    let curate = |text: &str| {
        let entry = written("ann", EntryKind::Profile, "pf_1", 0, text);
        Curate::new(&Scope::default(), &user("ann"), vec![entry], Vec::new())
    };
    let (done, _) = a
        .engine
        .recorded(run(), a.engine.replace_page(replace(None, "Of A.\n")))
        .await;
    assert!(done.expect("it is written"));
    let (done, _) = a.engine.recorded(run(), a.engine.curate(curate("Of A."))).await;
    done.expect("it is written");
    sync.run([&a, &b]).await;
    let before = files(&b.memory());
    let (done, _) = b
        .engine
        .recorded(run(), b.engine.replace_page(replace(Some("Of A.\n"), "Of B.\n")))
        .await;
    assert!(!done.expect("it is answered"), "the page is A's");
    let (done, _) = b.engine.recorded(run(), b.engine.curate(curate("Of B."))).await;
    done.expect("it is answered");
    assert_eq!(files(&b.memory()), before);
    // A's own run may still change the page, and so may a person.
    b.say(1, "zztwozz").await;
    sync.run([&a, &b]).await;
    assert!(a.vault.name().is_some());
    let (done, _) = a
        .engine
        .recorded(
            run(),
            a.engine.replace_page(replace(Some("Of A.\n"), "Still of A.\n")),
        )
        .await;
    assert!(done.expect("it is written"));
    let replaced = b
        .engine
        .replace_page(replace(Some("Of A.\n"), "By hand.\n"))
        .await;
    assert!(replaced.expect("it is written"));
}
