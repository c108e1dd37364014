//! What the vault's history is told, by whom and when; and what nothing of it may cost.

mod along;
mod beside;

use std::sync::Arc;
use std::time::Duration;

use memory::{EditEntry, Engine, EngineError, Forget, Parts};
use model::{EntryId, Scope};
use ports::{By, History, HistoryError, Index, RecordedChange, Run, Touching};
use testkit::faults::{Faulty, Mode};
use testkit::history::MemoryHistory;
use testkit::vault::MemoryVault;
use tokio::task::yield_now;

use crate::slow::{At, Slow};
use crate::stage::{Stage, add, finds, flush, said, say, session, user};

struct Recorded {
    stage: Stage,
    vault: MemoryVault,
    history: MemoryHistory,
}

impl Recorded {
    fn new() -> Self {
        let stage = Stage::default();
        let vault = MemoryVault::new(stage.settings.zone.clone());
        let history = MemoryHistory::new(vault.clone());
        Self {
            stage,
            vault,
            history,
        }
    }

    async fn open(&self) -> Engine {
        self.open_on(Arc::new(self.history.clone())).await
    }

    async fn open_on(&self, history: Arc<dyn History>) -> Engine {
        self.open_with(history, Arc::new(self.stage.index.clone())).await
    }

    async fn open_with(&self, history: Arc<dyn History>, index: Arc<dyn Index>) -> Engine {
        let parts = Parts {
            vault: Arc::new(self.vault.clone()),
            history: Some(history),
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

    async fn log(&self) -> Vec<RecordedChange> {
        self.history.log(&Touching::All, 100).await.expect("it reads")
    }

    async fn diff(&self, change: &RecordedChange) -> String {
        self.history.diff(Some(&change.id)).await.expect("it reads")
    }

    /// Lets time pass until the newest changes are so many.
    async fn until_recorded(&self, count: usize) -> Vec<RecordedChange> {
        let recorded = async {
            while self.log().await.len() < count {
                yield_now().await;
            }
        };
        self.stage.drive(recorded).await;
        self.log().await
    }

    /// A person writes another word in every file that has the one.
    fn by_hand(&self, from: &str, to: &str) {
        for path in self.vault.paths() {
            let text = String::from_utf8(self.vault.bytes(&path).expect("it is there")).expect("text");
            if text.contains(from) {
                self.vault.write(&path, text.replace(from, to));
            }
        }
    }

    /// An entry of ann's that tells something.
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
    matches!(&change.by, By::Run { run, .. } if run.strategy == strategy)
}

#[tokio::test]
async fn what_memcells_wrote_and_what_a_person_edited_beside_it_are_told_apart() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let log = world.until_recorded(1).await;
    assert!(is_by(&log[0], "remember"), "{log:?}");
    // In the quiet time after an append to the same file.
    world.remember(&engine, "two", "The theremin needs a cable").await;
    world.by_hand("violin", "glockenspiel");
    let log = world.until_recorded(3).await;
    assert!(matches!(log[0].by, By::Person { .. }), "{log:?}");
    assert!(is_by(&log[1], "remember"), "{log:?}");
    let [hand, own] = [world.diff(&log[0]).await, world.diff(&log[1]).await];
    let added = |diff: &str, word: &str| {
        diff.lines()
            .any(|line| line.starts_with('+') && line.contains(word))
    };
    assert!(added(&hand, "glockenspiel"), "{hand}");
    assert!(added(&own, "theremin") && !added(&own, "glockenspiel"), "{own}");
    assert_eq!(world.history.diff(None).await.expect("it reads"), "");
}

#[tokio::test]
async fn what_a_person_changed_before_it_was_recorded_is_theirs() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    world.by_hand("violin", "glockenspiel");
    world.stage.rest(&engine).await;
    let log = world.until_recorded(1).await;
    for change in log.iter().filter(|change| is_by(change, "remember")) {
        assert!(!world.diff(change).await.contains("glockenspiel"), "{log:?}");
    }
}

#[tokio::test]
async fn what_is_written_while_a_new_index_is_built_is_told_apart_as_well() {
    let world = Recorded::new();
    let slow = Slow::new(world.stage.index.clone());
    let engine = world
        .open_with(Arc::new(world.history.clone()), slow.clone())
        .await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    slow.arm(At::StageAdd);
    let rebuilding = tokio::spawn({
        let engine = engine.clone();
        async move { engine.rebuild(None).await }
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
    let log = world.until_recorded(2).await;
    let [mut ours, mut theirs] = [String::new(), String::new()];
    for change in &log {
        let diff = world.diff(change).await;
        if is_by(change, "remember") {
            &mut ours
        } else {
            &mut theirs
        }
        .push_str(&diff);
    }
    let added = |diff: &str, word: &str| {
        diff.lines()
            .any(|line| line.starts_with('+') && line.contains(word))
    };
    assert!(added(&ours, "theremin") && !added(&ours, "clarinet"), "{ours}");
    assert!(
        added(&theirs, "clarinet") && !added(&theirs, "theremin"),
        "{theirs}"
    );
}

#[tokio::test]
async fn a_commit_waits_for_a_quiet_moment_but_not_for_ever() {
    let world = Recorded::new();
    let engine = world.open().await;
    for n in 0..80 {
        world
            .remember(&engine, &format!("s{n}"), &format!("Song number {n} is loud"))
            .await;
        if n < 3 {
            assert_eq!(world.log().await, [], "an append is not a change of its own");
        }
        world.stage.clock.advance(Duration::from_secs(5));
    }
    let made = world.log().await.len();
    assert!(
        (1..=3).contains(&made),
        "{made} changes in 80 appends over seven minutes"
    );
}

#[tokio::test]
async fn a_run_is_one_change_after_what_a_person_did_and_can_be_taken_back() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let id = world.entry(&engine, "violin").await;
    world.until_recorded(1).await;
    world.by_hand("out of tune", "in perfect tune");
    world.stage.rest(&engine).await;
    let (done, change) = engine
        .recorded(run("r_1"), engine.edit(edit(&id, "A harpsichord stands there")))
        .await;
    done.expect("it edits");
    let change = change.expect("it changed something");
    assert!(matches!(&change.by, By::Run { run, .. } if &*run.id == "r_1"));
    let diff = world.diff(&change).await;
    assert!(diff.contains("+A harpsichord stands there"), "{diff}");
    let log = world.log().await;
    assert!(matches!(log[1].by, By::Person { .. }), "{log:?}");
    assert!(world.diff(&log[1]).await.contains("perfect tune"));
    assert!(is_by(&log[2], "remember"), "{log:?}");

    assert!(finds(&engine, "ann", "harpsichord", "harpsichord").await);
    let undone = engine.undo(None, "r_1").await.expect("it takes back");
    assert!(undone.is_some_and(|change| is_by(&change, "undo")));
    assert!(!finds(&engine, "ann", "harpsichord", "harpsichord").await);
    let again = engine.undo(None, "r_1").await;
    assert!(matches!(
        again,
        Err(EngineError::History(HistoryError::Undone { .. }))
    ));
    let nothing = engine.recorded(run("r_2"), async { 7 }).await;
    assert_eq!(nothing, (7, None));
}

#[tokio::test]
async fn what_is_appended_while_a_run_works_is_not_the_runs() {
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
    let diff = world.diff(&change.expect("it changed something")).await;
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
    assert!(world.diff(&first).await.contains("+First"));
    assert!(world.diff(&second).await.contains("-First"));
}

#[tokio::test]
async fn what_is_forgotten_leaves_the_history_before_the_answer() {
    for what in 0..4 {
        let world = Recorded::new();
        let engine = world.open().await;
        world.remember(&engine, "one", "The violin is out of tune").await;
        world.until_recorded(1).await;
        let forget = match what {
            0 => Forget::Session(session("one")),
            1 => Forget::Owner(Scope::default(), user("ann")),
            2 => crate::by_words::target("ann", "Violin", &[]),
            _ => {
                let id = world.entry(&engine, "violin").await;
                Forget::Entries(Scope::default(), user("ann"), vec![id])
            }
        };
        engine.forget(forget).await.expect("it forgets");
        let log = world.log().await;
        assert_eq!(log.len(), 1, "{log:?}");
        assert_eq!(log[0].by, By::Purge);
        assert!(!world.diff(&log[0]).await.contains("violin"));
    }
}

#[tokio::test]
async fn what_was_forgotten_before_a_death_leaves_the_history_with_the_next_process() {
    let world = Recorded::new();
    let faults = &world.stage.faults;
    let fragile: Arc<dyn History> = Arc::new(world.history.clone());
    let engine = world.open_on(Faulty::new(fragile, faults)).await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    world.until_recorded(1).await;
    let id = world.entry(&engine, "violin").await;
    let forget = Forget::Entries(Scope::default(), user("ann"), vec![id]);
    faults.plan_next("purge", Mode::DieBefore);
    tokio::select! {
        biased;
        forgot = engine.forget(forget.clone()) => panic!("it died: {forgot:?}"),
        () = faults.death() => {}
    }
    drop(engine);
    faults.lift();
    let engine = world.open().await;
    let forgot = engine.forget(forget).await.expect("there is nothing to do");
    assert_eq!(forgot.entries, 0);
    let log = world.log().await;
    assert_eq!(log.last().expect("it began anew").by, By::Purge, "{log:?}");
    for change in &log {
        assert!(!world.diff(change).await.contains("violin"));
    }
}

#[tokio::test]
async fn forgetting_what_is_not_there_takes_no_history_away() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    let log = world.until_recorded(1).await;
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
        assert_eq!(world.log().await, log);
        assert_eq!(world.history.owed().await.expect("it reads"), []);
    }
}

#[tokio::test]
async fn a_history_that_fails_fails_nothing_and_is_tried_again() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.history.fail_call(1);
    world.remember(&engine, "one", "The violin is out of tune").await;
    let problems = async || engine.status().await.expect("it answers").problems();
    let failed = async {
        while problems().await.is_empty() {
            yield_now().await;
        }
    };
    world.stage.drive(failed).await;
    assert!(problems().await[0].contains("history"));
    let log = world.until_recorded(1).await;
    assert!(is_by(&log[0], "remember"), "{log:?}");
    assert_eq!(problems().await, Vec::<String>::new());

    // A commit that fails is told until it succeeds, whatever else of the history succeeds meanwhile.
    let calls = world.history.calls();
    world.history.fail_call(1);
    world.remember(&engine, "two", "The theremin needs a cable").await;
    let called = async {
        while world.history.calls() == calls {
            yield_now().await;
        }
    };
    world.stage.drive(called).await;
    assert!(problems().await[0].contains("history"));
    world.until_recorded(2).await;
    assert_eq!(problems().await, Vec::<String>::new());

    // The first call writes the debt down, the second pays it.
    world.history.fail_call(2);
    engine
        .forget(Forget::Session(session("one")))
        .await
        .expect("it forgets all the same");
    assert!(problems().await[0].contains("history"));
    let purged = async {
        while !problems().await.is_empty() {
            yield_now().await;
        }
    };
    world.stage.drive(purged).await;
    assert!(world.log().await.iter().any(|change| change.by == By::Purge));
}

#[tokio::test]
async fn an_end_records_what_is_left_and_a_begin_knows_whose_it_was() {
    let world = Recorded::new();
    let engine = world.open().await;
    world.remember(&engine, "one", "The violin is out of tune").await;
    engine.shutdown().await;
    assert_eq!(world.log().await.len(), 1);

    let engine = world.open().await;
    world.remember(&engine, "two", "The theremin needs a cable").await;
    // As a killed process leaves it.
    drop(engine);
    world.by_hand("violin", "glockenspiel");
    let engine = world.open().await;
    world.stage.rest(&engine).await;
    engine.shutdown().await;
    let log = world.log().await;
    assert!(
        log[0].files.len() < log[1].files.len() || log.len() == 2,
        "{log:?}"
    );
    assert!(matches!(log[0].by, By::Person { .. }), "{log:?}");
}

#[tokio::test]
async fn secrets_are_taken_out_before_anything_is_written() {
    let world = Recorded::new();
    let engine = world.open().await;
    let key = session("one");
    let message = said(
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
async fn an_audit_names_the_run_that_wrote_what_is_wrong() {
    let mut world = Recorded::new();
    world.stage.settings.redacts = false;
    let engine = world.open().await;
    world
        .remember(&engine, "one", "The password=hunter22 opens the shed")
        .await;
    let log = world.until_recorded(1).await;
    let By::Run { run, .. } = &log[0].by else {
        panic!("{log:?}");
    };
    let audited = engine.audit(None).await.expect("it answers");
    let secret = audited
        .iter()
        .find(|found| found.finding.fault == memory::Fault::Secret);
    assert_eq!(secret.expect("it is found").run.as_ref(), Some(&run.id));
    let other = Scope::new(crate::stage::name("other"), crate::stage::name("other"));
    assert_eq!(engine.audit(Some(&other)).await.expect("it answers"), []);
}
