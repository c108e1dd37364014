//! Records of the vault's history: their authors and times; and their state after a crash.

mod along;
mod other_files;
mod random;

use std::sync::Arc;

use memory::{EditEntry, Engine, EngineError, Forget, HistoryError, Parts, RecordedChange};
use model::{EntryId, Scope};
use ports::{By, Index, Run, Vault, VaultWriter};
use testkit::faults::{Faulty, Mode};
use testkit::vault::MemoryVault;
use tokio::task::yield_now;

use crate::slow::{At, Slow};
use crate::stage::{Stage, add, finds, flush, new_message, persist, say, session, user};

struct Recorded {
    stage: Stage,
    vault: MemoryVault,
}

impl Recorded {
    fn new() -> Self {
        let stage = Stage::default();
        let vault = MemoryVault::new(stage.settings.zone.clone());
        Self { stage, vault }
    }

    async fn open(&self) -> Engine {
        self.open_with(Arc::new(self.stage.index.clone())).await
    }

    async fn open_with(&self, index: Arc<dyn Index>) -> Engine {
        let faults = &self.stage.faults;
        let parts = Parts {
            vault: Faulty::<dyn Vault>::new(Arc::new(self.vault.clone()), faults),
            vault_writer: Faulty::<dyn VaultWriter>::new(Arc::new(self.vault.clone()), faults),
            pages: Arc::new(self.vault.clone()),
            index,
            ..self.stage.parts()
        };
        let engine = Engine::start(parts, self.stage.settings.clone()).await;
        engine.expect("it starts")
    }

    /// One memory of ann's, in the vault and in the index.
    async fn remember(&self, engine: &Engine, name: &str, text: &str) {
        let key = session(name);
        say(engine, &key, "ann", 0, text).await;
        engine.flush(flush(&key)).await.expect("it cuts");
        assert_eq!(self.stage.rest(engine).await, 0);
    }

    async fn until_logged(&self, engine: &Engine, count: usize) -> Vec<RecordedChange> {
        let logged = async {
            while log(engine).await.len() < count {
                yield_now().await;
            }
        };
        self.stage.drive(logged).await;
        log(engine).await
    }

    /// A person replaces a word in every file that contains it.
    fn by_hand(&self, from: &str, to: &str) {
        for path in self.vault.paths() {
            let text = String::from_utf8(self.vault.bytes(&path).expect("it is there")).expect("text");
            if text.contains(from) {
                self.vault.write(&path, text.replace(from, to));
            }
        }
    }

    /// Ann's entry with this text.
    async fn entry(&self, engine: &Engine, text: &str) -> EntryId {
        let listed = engine
            .list(memory::List {
                descending: false,
                ..memory::List::all(Scope::default(), user("ann"), model::EntryKind::Episode)
            })
            .await
            .expect("it lists");
        let found = listed.hits.iter().find(|hit| hit.doc.text.contains(text));
        EntryId::new(found.expect("it is there").doc.key.id.clone())
    }
}

async fn log(engine: &Engine) -> Vec<RecordedChange> {
    engine.history(None, None, (None, 100)).await.expect("it reads")
}

async fn diff(engine: &Engine, change: &RecordedChange) -> String {
    engine.diff(None, &change.id.to_string()).await.expect("it reads")
}

/// The diffs of all changes.
async fn all(engine: &Engine) -> String {
    let mut all = String::new();
    for change in log(engine).await {
        all.push_str(&diff(engine, &change).await);
    }
    all
}

fn run(id: &str) -> Run {
    Run {
        id: id.into(),
        strategy: "profile".to_owned(),
        reason: "nightly".to_owned(),
    }
}

fn edit(id: &EntryId, body: &str) -> EditEntry {
    EditEntry {
        scope: Scope::default(),
        owner: user("ann"),
        id: id.clone(),
        subject: None,
        summary: None,
        body: Some(body.to_owned()),
        project_only: None,
    }
}

fn is_by(change: &RecordedChange, strategy: &str) -> bool {
    change.by.run().is_some_and(|run| run.strategy == strategy)
}

fn is_added(diff: &str, word: &str) -> bool {
    diff.lines()
        .any(|line| line.starts_with('+') && line.contains(word))
}

#[tokio::test]
async fn the_history_distinguishes_segments_from_a_persons_edit() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    world.remember(&engine, "two", "The theremin needs a cable").await;
    world.by_hand("violin", "glockenspiel");
    world.stage.rest(&engine).await;
    let log = world.until_logged(&engine, 3).await;
    assert_eq!(log[0].by, By::Person, "{log:?}");
    assert!(
        is_by(&log[1], "remember") && is_by(&log[2], "remember"),
        "{log:?}"
    );
    let [hand, second, first] = [&log[0], &log[1], &log[2]].map(|change| diff(&engine, change));
    let (hand, second, first) = (hand.await, second.await, first.await);
    assert!(is_added(&hand, "glockenspiel") && hand.contains("\n-"), "{hand}");
    assert!(
        is_added(&second, "theremin") && !second.contains("violin"),
        "{second}"
    );
    assert!(
        is_added(&first, "violin") && !first.contains("glockenspiel"),
        "{first}"
    );
    assert_eq!(log[1].subject, "episodes of ann: 1 entry added", "{log:?}");
    // A rebuild and a restart find nothing new.
    engine.rebuild().await.expect("it builds");
    world.stage.rest(&engine).await;
    engine.shutdown().await;
    let engine = world.open().await;
    world.stage.rest(&engine).await;
    assert_eq!(self::log(&engine).await, log);
}

#[tokio::test]
async fn the_history_distinguishes_edits_during_a_rebuild() {
    let world = Recorded::new();
    let slow = Slow::new(world.stage.index.clone());
    let engine = world.open_with(slow.clone()).await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    slow.arm(At::StageAdd);
    let rebuilding = tokio::spawn({
        let engine = engine.clone();
        async move { engine.rebuild().await }
    });
    slow.called().await;
    world.remember(&engine, "two", "The theremin needs a cable").await;
    world
        .remember(&engine, "three", "The oboe is at the workshop")
        .await;
    world.by_hand("oboe", "clarinet");
    slow.let_go();
    rebuilding.await.expect("no panic").expect("it builds");
    world.stage.rest(&engine).await;
    let [mut ours, mut theirs] = [String::new(), String::new()];
    for change in log(&engine).await {
        let diff = diff(&engine, &change).await;
        match change.by.run() {
            Some(_) => ours.push_str(&diff),
            None => theirs.push_str(&diff),
        }
    }
    assert!(
        is_added(&ours, "theremin") && !is_added(&ours, "clarinet"),
        "{ours}"
    );
    assert!(
        is_added(&theirs, "clarinet") && !is_added(&theirs, "theremin"),
        "{theirs}"
    );
}

#[tokio::test]
async fn a_run_is_one_change_and_can_be_undone() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let id = world.entry(&engine, "violin").await;
    // A person's edit that no sync has seen yet.
    world.by_hand("out of tune", "in perfect tune");
    let work = async {
        engine.edit(edit(&id, "A trumpet stands there")).await?;
        engine.edit(edit(&id, "A harpsichord stands there")).await
    };
    let (done, change) = engine.recorded(run("r_1"), work).await;
    done.expect("it edits");
    let change = change.expect("it changed something");
    assert_eq!(change.by.run().map(|run| &*run.id), Some("r_1"));
    let told = diff(&engine, &change).await;
    assert!(
        told.contains("+A harpsichord stands there") && !told.contains("trumpet"),
        "{told}"
    );
    let log = log(&engine).await;
    let person = log
        .iter()
        .find(|change| change.by == By::Person)
        .expect("is there");
    assert!(diff(&engine, person).await.contains("perfect tune"));

    assert!(finds(&engine, "ann", "harpsichord", "harpsichord").await);
    let undone = engine.undo(None, "r_1").await.expect("it takes back");
    assert!(undone.is_some_and(|change| is_by(&change, "undo")));
    assert!(!finds(&engine, "ann", "harpsichord", "harpsichord").await);
    assert!(finds(&engine, "ann", "perfect tune", "perfect tune").await);
    let again = engine.undo(None, "r_1").await;
    let Err(EngineError::History(HistoryError::Undone { by, .. })) = again else {
        panic!("{again:?}");
    };
    // It can be undone and redone again and again.
    engine.undo(None, &by).await.expect("it takes back");
    assert!(finds(&engine, "ann", "harpsichord", "harpsichord").await);
    engine.undo(None, "r_1").await.expect("it takes back");
    assert!(!finds(&engine, "ann", "harpsichord", "harpsichord").await);
    let nothing = engine.recorded(run("r_2"), async { 7 }).await;
    assert_eq!(nothing, (7, None));
    let none = engine.undo(None, "r_2").await;
    assert!(
        matches!(none, Err(EngineError::History(HistoryError::NoRun { .. }))),
        "{none:?}"
    );
}

#[tokio::test]
async fn later_changes_of_the_same_entry_are_a_conflict() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let id = world.entry(&engine, "violin").await;
    let (done, _) = engine
        .recorded(run("r_1"), engine.edit(edit(&id, "A harpsichord stands there")))
        .await;
    done.expect("it edits");
    world.by_hand("harpsichord", "glockenspiel");
    let refused = engine.undo(None, "r_1").await;
    let Err(EngineError::History(HistoryError::Conflict { paths, .. })) = refused else {
        panic!("{refused:?}");
    };
    assert!(paths.len() == 1 && paths[0].contains("/episodes/"), "{paths:?}");
    assert!(finds(&engine, "ann", "glockenspiel", "glockenspiel").await);
}

#[tokio::test]
async fn memories_written_during_a_run_are_not_recorded_as_the_runs() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let id = world.entry(&engine, "violin").await;
    let work = async {
        world.remember(&engine, "two", "The theremin needs a cable").await;
        engine.edit(edit(&id, "A harpsichord stands there")).await
    };
    let (done, change) = Box::pin(engine.recorded(run("r_1"), work)).await;
    done.expect("it edits");
    let diff = diff(&engine, &change.expect("it changed something")).await;
    assert!(
        diff.contains("+A harpsichord") && !diff.contains("+The theremin"),
        "{diff}"
    );
    engine.undo(None, "r_1").await.expect("it takes back");
    assert!(finds(&engine, "ann", "theremin", "theremin").await);
}

#[tokio::test]
async fn runs_do_not_overlap() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let id = world.entry(&engine, "violin").await;
    let slow = async {
        for _ in 0..50 {
            yield_now().await;
        }
        engine.edit(edit(&id, "First")).await
    };
    let (first, second) = tokio::join!(
        engine.recorded(run("r_1"), slow),
        engine.recorded(run("r_2"), engine.edit(edit(&id, "Second"))),
    );
    let [first, second] = [first.1.expect("changed"), second.1.expect("changed")];
    assert!(diff(&engine, &first).await.contains("+First"));
    assert!(diff(&engine, &second).await.contains("-First"));
}

#[tokio::test]
async fn a_scope_sees_its_part_of_a_change() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let fact = "- 2024-05-08 Bob plays the zither\n";
    world.vault.write("b/p/users/bob/facts/2024-05-08.md", fact);
    world.by_hand("violin", "glockenspiel");
    world.stage.rest(&engine).await;
    let elsewhere = Scope::new(crate::stage::name("b"), crate::stage::name("p"));
    for (scope, theirs, other) in [
        (Scope::default(), "glockenspiel", "zither"),
        (elsewhere, "zither", "violin"),
    ] {
        let mut told = String::new();
        for change in engine
            .history(Some(&scope), None, (None, 100))
            .await
            .expect("it reads")
        {
            told += &engine
                .diff(Some(&scope), &change.id.to_string())
                .await
                .expect("it reads");
            told += &change.subject;
            told.extend(change.files.iter().map(|file| &**file));
        }
        assert!(told.contains(theirs) && !told.contains(other), "{told}");
        let now = memory::Moment::After(u64::MAX);
        let then = async |path: Option<&str>| {
            engine
                .files_then(Some(&scope), now, path)
                .await
                .expect("it reads")
        };
        let folder = world.vault.folder_of(&scope);
        let listed = then(None).await;
        assert!(
            !listed.is_empty() && listed.iter().all(|file| file.path.starts_with(&folder)),
            "{listed:?}"
        );
        for path in world.vault.paths() {
            let there = then(Some(&path)).await;
            assert_eq!(
                there.is_empty(),
                !listed.iter().any(|file| file.path == path),
                "{there:?}"
            );
        }
        let run = log(&engine)
            .await
            .into_iter()
            .find_map(|change| change.by.run().cloned());
        let undone = engine.undo(Some(&scope), &run.expect("one remembered").id).await;
        let is_hidden = matches!(undone, Err(EngineError::History(HistoryError::NoRun { .. })));
        assert_eq!(is_hidden, scope != Scope::default(), "{undone:?}");
    }
}

#[tokio::test]
async fn a_deletion_removes_exactly_its_text_from_the_history_before_it_returns() {
    for what in 0..4 {
        let world = Recorded::new();
        let engine = world.open().await;
        world.remember(&engine, "one", "The violin is out of tune").await;
        world.remember(&engine, "two", "The theremin needs a cable").await;
        world
            .vault
            .write("default/default/users/bob/SOUL.md", "Bob likes jazz\n");
        let before = world.until_logged(&engine, 3).await;
        world.by_hand("violin", "violin, an old violin,");
        world.stage.rest(&engine).await;
        world.by_hand("violin, an old violin,", "violin");
        world.stage.rest(&engine).await;
        assert_eq!(log(&engine).await.len(), 5);
        let forget = match what {
            0 => Forget::Session(session("one")),
            1 => Forget::OwnerInSession(session("one"), user("ann")),
            2 => crate::by_words::target("ann", "Violin", &[]),
            _ => {
                let id = world.entry(&engine, "violin").await;
                Forget::Entries(Scope::default(), user("ann"), vec![id])
            }
        };
        engine.forget(forget).await.expect("it forgets");
        let log = log(&engine).await;
        let kept: Vec<_> = before.iter().filter(|change| log.contains(change)).collect();
        assert_eq!(kept.len(), 2, "{what}: {log:?}");
        let all = all(&engine).await;
        assert!(
            !all.contains("violin") && all.contains("theremin") && all.contains("jazz"),
            "{what}: {all}"
        );
        engine
            .forget(Forget::Owner(Scope::default(), user("ann")))
            .await
            .expect("it forgets");
        world.stage.rest(&engine).await;
        let all = self::all(&engine).await;
        assert!(!all.contains("ann") && all.contains("jazz"), "{all}");
    }
}

#[tokio::test]
async fn a_deletion_without_a_match_keeps_the_history() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let log = world.until_logged(&engine, 1).await;
    let entries = Forget::Entries(Scope::default(), user("ann"), vec![EntryId::new("ep_none")]);
    let [owner, part] = ["bob", "ann"].map(user);
    let elsewhere = Scope::new(crate::stage::name("b"), crate::stage::name("p"));
    for forget in [
        entries,
        Forget::Session(session("none")),
        Forget::Owner(Scope::default(), owner),
        Forget::Owner(elsewhere, part.clone()),
        Forget::OwnerInSession(session("none"), part),
    ] {
        engine.forget(forget).await.expect("it answers");
        assert_eq!(self::log(&engine).await, log);
    }
}

/// For each call, kills the process at it during a deletion: the next request finishes the deletion.
#[tokio::test]
async fn a_repeated_request_finishes_a_deletion_after_a_crash_at_any_call() {
    for n in 1.. {
        let world = Recorded::new();
        let faults = &world.stage.faults;
        let engine = world.open().await;
        world.remember(&engine, "one", "The violin is out of tune").await;
        let forget = Forget::Session(session("one"));
        faults.plan(n, Mode::DieBefore);
        let has_died = tokio::select! {
            biased;
            () = faults.death() => true,
            forgot = engine.forget(forget.clone()) => {
                forgot.expect("no call failed");
                false
            }
        };
        drop(engine);
        faults.lift();
        let engine = world.open().await;
        world.stage.rest(&engine).await;
        world.stage.drive(persist(|| engine.forget(forget.clone()))).await;
        let all = all(&engine).await;
        assert!(!all.contains("violin"), "call {n}: {all}");
        if !has_died {
            assert!(n > 10, "{n}");
            return;
        }
    }
}

/// For each call, kills the process at it during a write: the next process records the right author.
#[tokio::test]
async fn after_a_crash_at_any_call_a_write_has_the_right_author() {
    for n in 1.. {
        let world = Recorded::new();
        let faults = &world.stage.faults;
        let engine = world.open().await;
        let key = session("one");
        say(&engine, &key, "ann", 0, "The violin is out of tune").await;
        faults.plan(n, Mode::DieBefore);
        let has_died = tokio::select! {
            biased;
            () = faults.death() => true,
            () = async {
                engine.flush(flush(&key)).await.expect("it cuts");
                world.stage.rest(&engine).await;
            } => false,
        };
        drop(engine);
        faults.lift();
        let engine = world.open().await;
        persist(|| engine.flush(flush(&key))).await;
        world.stage.rest(&engine).await;
        let log = log(&engine).await;
        assert!(
            !log.is_empty() && log.iter().all(|change| is_by(change, "remember")),
            "call {n}: {log:?}"
        );
        assert_eq!(all(&engine).await.matches("@@ ep_").count(), 1, "call {n}");
        if !has_died {
            assert!(n > 10, "{n}");
            return;
        }
    }
}

/// For each call, kills the process at it during an undo: the next process finishes the undo.
#[tokio::test]
async fn an_interrupted_undo_is_finished() {
    for n in 1.. {
        let world = Recorded::new();
        let faults = &world.stage.faults;
        let engine = world.open().await;
        world.remember(&engine, "one", "The violin is out of tune").await;
        let remembered = log(&engine).await[0].by.run().expect("a run").id.clone();
        along::look_ahead(&engine, "The violin will be tuned").await;
        faults.plan(n, Mode::DieBefore);
        let has_died = tokio::select! {
            biased;
            () = faults.death() => true,
            undone = engine.undo(None, &remembered) => {
                undone.expect("no call failed");
                false
            }
        };
        drop(engine);
        faults.lift();
        let engine = world.open().await;
        world.stage.rest(&engine).await;
        world
            .stage
            .drive(async {
                while engine.status().await.is_err() {
                    yield_now().await;
                }
            })
            .await;
        let undone = world
            .stage
            .drive(persist(|| async {
                match engine.undo(None, &remembered).await {
                    Err(EngineError::History(HistoryError::Undone { .. })) => Ok(None),
                    undone => undone,
                }
            }))
            .await;
        let paths = world.vault.paths();
        let memories: Vec<_> = paths.iter().filter(|path| !path.contains("/.")).collect();
        assert_eq!(memories, [] as [&ports::VaultPath; 0], "call {n}: {undone:?}");
        assert!(!finds(&engine, "ann", "violin", "violin").await, "call {n}");
        let all = log(&engine).await;
        assert!(
            all.iter().all(|change| change.by.run().is_some()),
            "call {n}: {all:?}"
        );
        if !has_died {
            assert!(n > 10, "{n}");
            return;
        }
    }
}

#[tokio::test]
async fn an_edit_while_no_engine_ran_is_recorded_as_a_persons() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    // Dropped without a shutdown, like a killed process.
    drop(engine);
    world.by_hand("violin", "glockenspiel");
    let engine = world.open().await;
    world.stage.rest(&engine).await;
    let log = log(&engine).await;
    assert_eq!((log.len(), &log[0].by), (2, &By::Person), "{log:?}");
    assert!(is_by(&log[1], "remember"), "{log:?}");
}

#[tokio::test]
async fn secrets_are_removed_before_anything_is_written() {
    let world = Recorded::new();
    let engine = world.open().await;
    let key = session("one");
    let message = new_message(
        &key,
        "ann",
        0,
        "The password=hunter22 opens the shed, and so does password=kazoo99",
    );
    let added = engine
        .add(add(&key, vec![message]))
        .await
        .expect("it is accepted");
    assert_eq!(added.redacted, 2);
    engine.flush(flush(&key)).await.expect("it cuts");
    assert_eq!(world.stage.rest(&engine).await, 0);
    let ledger = format!("{:?}", world.stage.ledger.everything());
    let files: String = world
        .vault
        .paths()
        .iter()
        .map(|path| String::from_utf8_lossy(&world.vault.bytes(path).expect("there")).into_owned())
        .collect();
    for text in [ledger, files] {
        assert!(
            text.contains("[redacted:password]") && !text.contains("hunter22"),
            "{text}"
        );
    }
    assert_eq!(engine.status().await.expect("it answers").redacted, 2);
}

#[tokio::test]
async fn an_audit_names_the_run_that_wrote_a_faulty_memory() {
    let mut world = Recorded::new();
    world.stage.settings.redacts = false;
    let engine = world.open().await;
    world
        .remember(&engine, "one", "The password=hunter22 opens the shed")
        .await;
    let log = log(&engine).await;
    let run = log[0].by.run().expect("a run");
    let audited = engine.audit(None).await.expect("it answers");
    let secret = audited
        .iter()
        .find(|found| found.finding.fault == memory::Fault::Secret);
    assert_eq!(secret.expect("it is found").run.as_ref(), Some(&run.id));
    let other = Scope::new(crate::stage::name("other"), crate::stage::name("other"));
    assert_eq!(engine.audit(Some(&other)).await.expect("it answers"), []);
}
