//! Packing changes no answer, keeps what a person's git reaches, and is finished after a crash.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use git2::{ObjectType, Oid, Signature, Time};
use model::Timestamp;
use ports::{Author, CommitPart, History as _};

use super::{FACTS, Folder, PROFILE, at};
use crate::pack::files_of;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

impl Folder {
    async fn pack(&self, now: Timestamp) {
        let packed = self.history.in_turn(move |turn| turn.pack(now)).await;
        packed.expect("packs");
    }

    /// A file that grows by an entry a change.
    async fn grow(&self, path: &str, changes: std::ops::Range<usize>) {
        for n in changes {
            let mut text = self.bytes(path).unwrap_or_default();
            let words: Vec<String> = (0..200)
                .map(|word| format!("{:x}", (n * 977 + word) * 7919))
                .collect();
            text.extend(format!("\n## About {n} {{#e_{n}}}\n\n{}\n", words.join(" ")).bytes());
            self.put(path, text);
            self.by_run(&format!("{path}_{n}").replace('/', "_")).await;
        }
    }

    fn files_below(&self, folder: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut next = vec![self.at(folder)];
        while let Some(folder) = next.pop() {
            for entry in fs::read_dir(folder).expect("lists") {
                let path = entry.expect("lists").path();
                if path.is_dir() {
                    next.push(path);
                } else {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn loose(&self) -> usize {
        let files = self.files_below(".git/objects");
        files.iter().filter(|path| path.extension().is_none()).count()
    }

    fn packs(&self) -> Vec<PathBuf> {
        let mut files = self.files_below(".git/objects/pack");
        files.retain(|path| path.extension().is_some_and(|end| end == "pack"));
        files
    }

    fn blob(&self, text: &str) -> Oid {
        self.repository().blob(text.as_bytes()).expect("writes")
    }

    fn has(&self, id: Oid) -> bool {
        self.repository().find_object(id, None).is_ok()
    }

    async fn answers(&self) -> (Vec<ports::RecordedChange>, Vec<String>) {
        let log = self.log().await;
        let mut diffs = Vec::new();
        for change in &log {
            diffs.push(self.history.diff(Some(&change.id)).await.expect("reads"));
        }
        (log, diffs)
    }
}

#[tokio::test]
async fn packing_changes_no_answer_and_takes_little_space() {
    let folder = Folder::new();
    folder.grow(FACTS, 0..40).await;
    let before = folder.answers().await;
    let bytes = |folder: &Folder| -> u64 {
        let files = folder.files_below(".git/objects");
        files
            .iter()
            .map(|file| fs::metadata(file).expect("is there").len())
            .sum()
    };
    let (loose_bytes, text_bytes) = (
        bytes(&folder),
        folder.bytes(FACTS).expect("is there").len() as u64,
    );
    folder.pack(at(50)).await;
    assert_eq!((folder.loose(), folder.packs().len()), (0, 1));
    // Forty states of the file, and each but one is told by its difference.
    assert!(
        bytes(&folder) < text_bytes * 2 && bytes(&folder) * 4 < loose_bytes,
        "{} of {loose_bytes}, {text_bytes}",
        bytes(&folder)
    );
    assert_eq!(folder.answers().await, before);
    let undone = folder.undo(&format!("{FACTS}_39").replace('/', "_")).await;
    assert!(undone.expect("undoes").is_some());
    // Few packs are left, and no object in two.
    folder.grow(PROFILE, 100..150).await;
    folder.pack(at(51)).await;
    assert_eq!((folder.loose(), folder.packs().len()), (0, 1));
    folder.grow(PROFILE, 150..152).await;
    folder.pack(at(52)).await;
    assert_eq!((folder.loose(), folder.packs().len()), (0, 2));
    folder
        .repository()
        .odb()
        .and_then(|odb| odb.foreach(|id| odb.read(*id).is_ok()))
        .expect("all is whole");
    folder
        .history
        .purge(&[super::everything(53)])
        .await
        .expect("purges");
    assert_eq!((folder.log().await.len(), folder.packs().len()), (1, 1));
}

#[tokio::test]
async fn few_objects_are_not_packed_and_many_are() {
    let folder = Folder::new();
    folder.grow(FACTS, 0..4).await;
    let loose = folder.loose();
    folder.history.tidy(at(9)).await.expect("tidies");
    assert_eq!((folder.loose(), folder.packs().len()), (loose, 0));
    folder.grow(FACTS, 4..140).await;
    folder.history.tidy(at(10)).await.expect("tidies");
    assert_eq!((folder.loose(), folder.packs().len()), (0, 1));
    // While a person's git is at work, it is left for later.
    folder.grow(FACTS, 140..240).await;
    folder.put(".git/index.lock", "theirs");
    folder.history.tidy(at(11)).await.expect("leaves it");
    assert_eq!(folder.packs().len(), 1);
}

#[tokio::test]
async fn what_a_persons_git_reaches_stays_and_what_nothing_reaches_goes_when_it_is_old() {
    let folder = Folder::new();
    folder.grow(FACTS, 0..3).await;
    let ann = Signature::new("Ann", "ann@example.org", &Time::new(1_700_000_002, 0)).expect("a name");
    let (tagged, staged, lost) = (folder.blob("tagged"), folder.blob("staged"), folder.blob("lost"));
    {
        let repository = folder.repository();
        let object = repository
            .find_object(tagged, Some(ObjectType::Blob))
            .expect("is there");
        repository
            .tag("kept", &object, &ann, "a tag", false)
            .expect("tags");
        let head = repository
            .head()
            .and_then(|head| head.peel_to_commit())
            .expect("is there");
        let theirs = repository.commit(
            None,
            &ann,
            &ann,
            "theirs",
            &head.tree().expect("is there"),
            &[&head],
        );
        let theirs = repository
            .find_commit(theirs.expect("commits"))
            .expect("is there");
        repository.branch("side", &theirs, false).expect("makes it");
        let mut index = repository.index().expect("opens");
        folder.put("staged.md", "staged");
        index.add_path("staged.md".as_ref()).expect("stages");
        index.write().expect("writes");
    }
    let side = folder
        .repository()
        .refname_to_id("refs/heads/side")
        .expect("is there");
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("after it").as_millis();
    let now = Timestamp::from_millis(i64::try_from(now).expect("soon"));
    folder.pack(now).await;
    // It may be about to be reached.
    assert!([tagged, staged, lost, side].iter().all(|id| folder.has(*id)));
    folder
        .pack(Timestamp::from_millis(now.millis() + 15 * DAY_MILLIS))
        .await;
    assert!([tagged, staged, side].iter().all(|id| folder.has(*id)));
    assert!(!folder.has(lost));
}

/// However many files of the new pack stand in their place, and of the old ones are gone.
#[tokio::test]
async fn packing_is_finished_from_any_step() {
    for done in 0..=4 {
        let folder = Folder::new();
        folder.grow(FACTS, 0..20).await;
        folder.pack(at(30)).await;
        let name = |pack: &PathBuf| pack.file_stem().expect("it has one").to_string_lossy()[5..].to_owned();
        let old = name(&folder.packs()[0]);
        let packs = folder.at(".git/objects/pack");
        let old_files: Vec<(PathBuf, Vec<u8>)> = files_of(&packs, &old)
            .into_iter()
            .filter_map(|file| Some((file.clone(), fs::read(file).ok()?)))
            .collect();
        folder.grow(FACTS, 20..40).await;
        let before = folder.answers().await;
        folder.pack(at(60)).await;
        let new = files_of(&packs, &name(&folder.packs()[0]));
        let aside = folder.at(".git/objects/quipu.pack");
        fs::create_dir(&aside).expect("creates");
        // As it stood `done` steps after the note: the pack moved, its index, an old index removed, an old pack.
        let [index, pack, ..] = &new;
        for (step, file) in [pack, index].into_iter().enumerate() {
            if done <= step {
                fs::rename(file, aside.join(file.file_name().expect("it has one"))).expect("renames");
            }
        }
        for (n, (file, bytes)) in old_files.iter().enumerate() {
            if done < n + 3 {
                fs::write(file, bytes).expect("writes");
            }
        }
        folder.put(".git/quipu.note", format!("pack {old}"));
        folder.reopen().expect("heals");
        assert_eq!(folder.packs(), std::slice::from_ref(pack), "{done}");
        assert_eq!(folder.answers().await, before, "{done}");
        assert!(!aside.exists(), "{done}");
    }
}

/// The next packing begins with an empty folder.
#[tokio::test]
async fn a_pack_that_was_not_written_to_its_end_is_thrown_away() {
    let folder = Folder::new();
    folder.grow(FACTS, 0..5).await;
    folder.put(".git/objects/quipu.pack/pack-torn.pack", "torn");
    folder.pack(at(9)).await;
    assert!(
        folder
            .files_below(".git/objects")
            .iter()
            .all(|file| !file.ends_with("pack-torn.pack"))
    );
    assert_eq!((folder.loose(), folder.packs().len()), (0, 1));
    let nothing = folder
        .history
        .commit(&Author::Person, &CommitPart::All, at(10))
        .await;
    assert_eq!(nothing.expect("commits"), None);
}

impl Folder {
    /// A hundred files change at once.
    async fn change_many(&self, state: usize) -> ports::RecordedChange {
        for n in 0..100 {
            let text = format!("## About {n} {{#e_{n}}}\n\nThe {state}. state of {n}.\n");
            self.put(&format!("default/default/users/u{n}/facts/2026-11-23.md"), text);
        }
        self.by_run(&format!("r_{state}")).await
    }
}

#[tokio::test]
async fn many_files_at_once_stand_in_one_pack_from_the_beginning() {
    let folder = Folder::new();
    folder.change_many(1).await;
    let only_the_commit = 1;
    assert_eq!((folder.loose(), folder.packs().len()), (only_the_commit, 1));
    let before = folder.answers().await;
    assert!(before.1[0].contains("+The 1. state of 99."), "{}", before.1[0]);
    assert_eq!(folder.by_hand().await, None, "all of it is recorded");
    // A process that ended before its list of staged files was written: the next one begins again, and nothing is there twice.
    for lost in [".git/index", ".git/refs/heads/main"] {
        fs::remove_file(folder.at(lost)).expect("removes");
    }
    folder.reopen().expect("opens");
    folder.change_many(1).await;
    assert_eq!(folder.packs().len(), 1);
    assert_eq!(folder.answers().await.1, before.1);
}

#[tokio::test]
async fn many_packs_become_one() {
    let folder = Folder::new();
    for state in 0..19 {
        folder.change_many(state).await;
    }
    folder.history.tidy(at(50)).await.expect("tidies");
    assert_eq!(folder.packs().len(), 19);
    folder.change_many(19).await;
    let before = folder.answers().await;
    folder.history.tidy(at(51)).await.expect("tidies");
    assert_eq!((folder.loose(), folder.packs().len()), (0, 1));
    assert_eq!(folder.answers().await, before);
}
