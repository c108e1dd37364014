//! The n-th call fails, or the process dies at it, for every n: nothing is lost, and nothing is done twice.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use memory::{Engine, Forget};
use model::{EntryKind, Message, Scope};

use crate::by_words::target;
use crate::stage::{Stage, add, ask, flush, new_message, persist, session, turns, user, written};
use crate::together;
use ports::Clock as _;
use testkit::faults::{MODES, Mode};

/// The actions of a client in the run. It may be asked to repeat them after a crash, and does not repeat acknowledged
/// ones.
trait Run {
    async fn prepare(&self, _stage: &Stage) {}
    async fn run(&self, stage: &Stage, engine: &Engine);
    async fn check(&self, stage: &Stage, engine: &Engine);
}

/// Repeats the run with a fault at each of its calls, once for each kind of fault.
async fn at_every_call<R: Run>(new: impl Fn() -> (Stage, R)) {
    let (stage, run) = new();
    run.prepare(&stage).await;
    let before = stage.faults.made();
    let engine = stage.open().await;
    stage.drive(run.run(&stage, &engine)).await;
    finish(&stage, &run, engine, "undisturbed").await;
    let calls = stage.faults.made() - before;
    assert!(calls > 10, "the run makes {calls} calls only");
    for mode in MODES {
        for n in 1..=calls {
            let (stage, run) = new();
            run.prepare(&stage).await;
            disturbed(&stage, &run, n, mode).await;
        }
    }
}

async fn disturbed(stage: &Stage, run: &impl Run, n: usize, mode: Mode) {
    stage.faults.plan(n, mode);
    let opened = tokio::select! {
        biased;
        () = stage.faults.death() => None,
        opened = Engine::start(stage.parts(), stage.settings.clone()) => opened.ok(),
    };
    let mut engine = None;
    if let Some(opened) = opened {
        let survived = tokio::select! {
            biased;
            () = stage.faults.death() => false,
            () = stage.drive(run.run(stage, &opened)) => true,
        };
        // A call that the run itself did not reach may belong to its background work.
        let survived = survived
            && tokio::select! {
                biased;
                () = stage.faults.death() => false,
                _ = stage.rest(&opened) => true,
            };
        engine = survived.then_some(opened);
    }
    let what = format!("{mode:?} at call {n}, {:?}", stage.faults.hit());
    let engine = if let Some(engine) = engine {
        engine
    } else {
        stage.faults.lift();
        let engine = stage.open().await;
        stage.drive(run.run(stage, &engine)).await;
        engine
    };
    stage.faults.lift();
    finish(stage, run, engine, &what).await;
}

#[expect(clippy::print_stdout, reason = "it is shown only when a check fails")]
async fn finish(stage: &Stage, run: &impl Run, engine: Engine, what: &str) {
    println!("{what}");
    assert_eq!(stage.rest(&engine).await, 0, "a job failed");
    run.check(stage, &engine).await;
    stage.check().await;
    engine.shutdown().await;
}

/// Adds and flushes in two sessions of two users.
#[derive(Default)]
struct Memorize {
    acknowledged: RefCell<BTreeSet<String>>,
}

impl Memorize {
    fn texts() -> Vec<(&'static str, &'static str, i64, String)> {
        let mut texts = Vec::new();
        for n in 0..3 {
            texts.push((
                "one",
                "ann",
                n * 2,
                format!("My violin lesson number {n} went well"),
            ));
            texts.push(("one", "bot", n * 2 + 1, format!("Good to hear about lesson {n}")));
        }
        texts.push(("one", "ann", 90, "I live in Lisbon".to_owned()));
        texts.push(("one", "ann", 91, "I work as a baker".to_owned()));
        texts.push(("two", "bob", 0, "I live in Porto".to_owned()));
        texts
    }
}

impl Run for Memorize {
    async fn run(&self, _stage: &Stage, engine: &Engine) {
        for (key, sender, minutes, text) in Self::texts() {
            if self.acknowledged.borrow().contains(&text) {
                continue;
            }
            let key = session(key);
            persist(|| engine.add(add(&key, vec![new_message(&key, sender, minutes, &text)]))).await;
            self.acknowledged.borrow_mut().insert(text.clone());
            let found = persist(|| {
                engine.search(crate::stage::question(
                    if sender == "bob" { "bob" } else { "ann" },
                    &text,
                ))
            });
            let found = found.await;
            assert!(
                found.messages.iter().any(|hit| hit.doc.text == text),
                "`{text}` is acknowledged and not found"
            );
        }
        for key in ["one", "two"] {
            persist(|| engine.flush(flush(&session(key)))).await;
        }
    }

    async fn check(&self, stage: &Stage, engine: &Engine) {
        let of = |owner: &str| {
            let texts = Self::texts()
                .into_iter()
                .filter(|(key, ..)| (*key == "one") == (owner == "ann"));
            texts.map(|(.., text)| text).collect::<Vec<_>>()
        };
        stage.check_written(&of("ann"), &["ann"]);
        stage.check_written(&of("bob"), &["bob"]);
        for text in of("ann") {
            assert!(
                turns(engine, "ann", &text).await.contains(&text),
                "`{text}` is not found"
            );
        }
        let facts = stage
            .vault
            .entries()
            .iter()
            .filter(|(_, entry)| entry.kind == EntryKind::Fact)
            .count();
        assert_eq!(facts, 6, "facts were lost or doubled");
    }
}

#[tokio::test]
async fn memorizing_survives_every_fault() {
    at_every_call(|| (Stage::default(), Memorize::default())).await;
}

/// A person edited files while no engine ran.
struct Edited;

impl Run for Edited {
    async fn prepare(&self, stage: &Stage) {
        let engine = stage.open().await;
        stage.drive(Memorize::default().run(stage, &engine)).await;
        stage.rest(&engine).await;
        engine.shutdown().await;
        let paths = stage.vault.paths();
        let episodes = paths
            .iter()
            .find(|path| path.contains("ann/episode"))
            .expect("ann has episodes");
        stage.vault.by_hand(episodes, false, |entries| {
            assert_eq!(entries.len(), 2, "a pause of an hour makes two episodes");
            entries.remove(1);
            "A person wrote this".clone_into(&mut entries[0].subject);
            entries.push(written(
                "ann",
                EntryKind::Episode,
                "ep_by_hand",
                200,
                "The cello is tuned",
            ));
        });
        let bobs = paths
            .iter()
            .find(|path| path.contains("bob/episode"))
            .expect("bob has an episode");
        stage
            .vault
            .rename(bobs, "default/default/users/bob/episodes/elsewhere.md");
    }

    async fn run(&self, _stage: &Stage, engine: &Engine) {
        persist(|| engine.sync()).await;
    }

    async fn check(&self, stage: &Stage, engine: &Engine) {
        let entries = stage.vault.entries();
        let anns: Vec<_> = entries
            .iter()
            .filter(|(_, entry)| entry.owner == user("ann"))
            .collect();
        assert_eq!(anns.len(), 7, "the facts of the deleted episode stay: {anns:?}");
        assert!(crate::stage::finds(engine, "ann", "cello tuned", "cello").await);
        assert!(
            !turns(engine, "ann", "Lisbon")
                .await
                .iter()
                .any(|text| text.contains("Lisbon"))
        );
        let bobs: Vec<_> = entries
            .iter()
            .filter(|(_, entry)| entry.owner == user("bob"))
            .collect();
        assert_eq!(bobs.len(), 2, "a moved episode keeps its fact");
        assert!(
            turns(engine, "bob", "Porto")
                .await
                .contains(&"I live in Porto".to_owned())
        );
    }
}

#[tokio::test]
async fn syncing_survives_every_fault() {
    at_every_call(|| (Stage::default(), Edited)).await;
}

/// A person edits a file, and the index is rebuilt before the edit was seen.
struct EditedThenBuilt;

impl Run for EditedThenBuilt {
    async fn prepare(&self, stage: &Stage) {
        let engine = stage.open().await;
        stage.drive(Memorize::default().run(stage, &engine)).await;
        stage.rest(&engine).await;
        engine.shutdown().await;
    }

    async fn run(&self, stage: &Stage, engine: &Engine) {
        let paths = stage.vault.paths();
        let old = paths.iter().find(|path| path.contains("ann/episode"));
        let old: &str = old.expect("ann has episodes");
        for (path, id, text) in [
            (old, "ep_old_file", "The cello is tuned"),
            (
                "default/default/users/ann/episodes/new.md",
                "ep_new_file",
                "The harp is sold",
            ),
        ] {
            let entries = stage.vault.entries();
            if !entries.iter().any(|(_, entry)| entry.id.as_str() == id) {
                stage.vault.by_hand(path, false, |entries| {
                    entries.push(written("ann", EntryKind::Episode, id, 200, text));
                });
            }
        }
        persist(|| engine.rebuild()).await;
    }

    async fn check(&self, _stage: &Stage, engine: &Engine) {
        for (question, text) in [("cello tuned", "cello"), ("harp sold", "harp")] {
            assert!(crate::stage::finds(engine, "ann", question, text).await, "{text}");
        }
    }
}

#[tokio::test]
async fn an_edit_before_a_rebuild_is_found_after_a_fault_at_any_call() {
    at_every_call(|| (Stage::default(), EditedThenBuilt)).await;
}

/// The index was deleted; while it is rebuilt, people add and edit.
struct Rebuilt(Memorize);

impl Run for Rebuilt {
    async fn prepare(&self, stage: &Stage) {
        let engine = stage.open().await;
        stage.drive(Memorize::default().run(stage, &engine)).await;
        stage.rest(&engine).await;
        engine.shutdown().await;
    }

    async fn run(&self, stage: &Stage, engine: &Engine) {
        let three = session("three");
        let text = "The oboe needs a new reed".to_owned();
        let meanwhile = async {
            if !self.0.acknowledged.borrow().contains(&text) {
                persist(|| engine.add(add(&three, vec![new_message(&three, "ann", 300, &text)]))).await;
                self.0.acknowledged.borrow_mut().insert(text.clone());
            }
            persist(|| engine.flush(flush(&three))).await;
            let edited = stage
                .vault
                .entries()
                .iter()
                .any(|(_, entry)| entry.id.as_str() == "ep_meanwhile");
            if !edited {
                let path = stage
                    .vault
                    .paths()
                    .into_iter()
                    .find(|path| path.contains("bob/episode"));
                stage
                    .vault
                    .by_hand(&path.expect("bob has an episode"), true, |entries| {
                        entries.push(written(
                            "bob",
                            EntryKind::Episode,
                            "ep_meanwhile",
                            5,
                            "A tuba arrived",
                        ));
                    });
            }
        };
        futures::future::join(persist(|| engine.rebuild()), meanwhile).await;
    }

    async fn check(&self, stage: &Stage, engine: &Engine) {
        stage.check_written(&["The oboe needs a new reed".to_owned()], &["ann"]);
        for (owner, text) in [
            ("ann", "oboe"),
            ("ann", "Lisbon"),
            ("bob", "tuba"),
            ("bob", "Porto"),
        ] {
            assert!(
                crate::stage::finds(engine, owner, text, text).await,
                "`{text}` is not found"
            );
        }
    }
}

#[tokio::test]
async fn rebuilding_survives_every_fault() {
    at_every_call(|| (Stage::default(), Rebuilt(Memorize::default()))).await;
}

/// Forgets a session, an episode, an owner and an owner's part of a session.
struct Forgets;

impl Run for Forgets {
    async fn prepare(&self, stage: &Stage) {
        let engine = stage.open().await;
        stage.drive(Memorize::default().run(stage, &engine)).await;
        let (both, open, part) = (session("both"), session("open"), session("part"));
        let shared = [
            new_message(&both, "ann", 400, "We share the piano"),
            new_message(&both, "cid", 401, "Yes, the piano is ours"),
        ];
        stage
            .drive(persist(|| engine.add(add(&both, shared.to_vec()))))
            .await;
        stage.drive(persist(|| engine.flush(flush(&both)))).await;
        stage
            .drive(persist(|| {
                engine.add(add(
                    &open,
                    vec![new_message(&open, "ann", 500, "The harp is buffered")],
                ))
            }))
            .await;
        let parted = [
            new_message(&part, "ann", 600, "The drum is loud"),
            new_message(&part, "dan", 601, "It is my drum"),
        ];
        stage
            .drive(persist(|| engine.add(add(&part, parted.to_vec()))))
            .await;
        stage.drive(persist(|| engine.flush(flush(&part)))).await;
        stage
            .drive(persist(|| {
                engine.add(add(
                    &part,
                    vec![new_message(&part, "ann", 700, "The gong is buffered")],
                ))
            }))
            .await;
        stage.rest(&engine).await;
        crate::pages::made_of(stage, &engine, &session("one")).await;
        engine.shutdown().await;
    }

    async fn run(&self, stage: &Stage, engine: &Engine) {
        let scope = Scope::default();
        persist(|| engine.forget(Forget::OwnerInSession(session("part"), user("ann")))).await;
        persist(|| engine.forget(Forget::Session(session("one")))).await;
        persist(|| engine.forget(Forget::Session(session("open")))).await;
        persist(|| engine.forget(Forget::Owner(scope.clone(), user("bob")))).await;
        let entries = stage.vault.entries();
        let cids = entries.iter().filter(|(_, entry)| entry.owner == user("cid"));
        let ids: Vec<_> = cids.map(|(_, entry)| entry.id.clone()).collect();
        persist(|| engine.forget(Forget::Entries(scope.clone(), user("cid"), ids.clone()))).await;
        persist(|| engine.forget(target("dan", "loud", &[]))).await;
    }

    async fn check(&self, stage: &Stage, engine: &Engine) {
        let entries = stage.vault.entries();
        let left: BTreeSet<_> = entries
            .iter()
            .map(|(_, entry)| (entry.owner.clone(), entry.session.clone()))
            .collect();
        let expected = [("ann", "both"), ("dan", "part")];
        assert_eq!(
            left,
            expected
                .map(|(owner, key)| (user(owner), Some(session(key).session)))
                .into(),
            "only what ann shares with cid is left, and dan's part"
        );
        crate::pages::are_forgotten(stage);
        let messages = stage.ledger.everything();
        let texts: Vec<String> = messages
            .iter()
            .map(|(message, _)| Message::text(message))
            .collect();
        assert_eq!(
            texts,
            ["We share the piano", "Yes, the piano is ours", "It is my drum"]
        );
        assert_eq!(
            turns(engine, "dan", "drum").await,
            ["It is my drum"],
            "what he heard is his, but for the word that he forgot"
        );
        for owner in ["ann", "bob", "cid"] {
            for word in ["violin", "Lisbon", "harp", "Porto", "drum", "gong"] {
                let found = ask(engine, owner, word).await;
                assert!(
                    found.messages.iter().all(|hit| !hit.doc.text.contains(word)),
                    "`{word}` came back"
                );
                assert!(
                    found.memories.iter().all(|hit| !hit.doc.text.contains(word)),
                    "`{word}` came back"
                );
            }
        }
        assert!(turns(engine, "cid", "piano").await.is_empty());
        assert_eq!(turns(engine, "ann", "piano").await.len(), 2);
    }
}

#[tokio::test]
async fn forgetting_survives_every_fault() {
    at_every_call(|| (Stage::default(), Forgets)).await;
}

/// Messages in the ledger, entries in the vault, and whether the history of an earlier version lies next to it.
fn stored(stage: &Stage) -> (Vec<String>, BTreeSet<String>, bool) {
    let messages = stage.ledger.everything();
    let texts = messages.iter().map(|(message, _)| Message::text(message));
    let entries = stage.vault.entries();
    let entries = entries
        .iter()
        .map(|(path, entry)| format!("{path} {} {}", entry.id, entry.turns.len()));
    (
        texts.collect(),
        entries.collect(),
        stage.vault.has_old_history_now(),
    )
}

async fn remembered() -> (Stage, Engine) {
    let stage = Stage::default();
    Forgets.prepare(&stage).await;
    stage.vault.begin_old_history();
    let engine = stage.open().await;
    stage.rest(&engine).await;
    (stage, engine)
}

/// For each call of a deletion, fails it or kills the process at it: the deletion is finished without another request,
/// or it never began.
async fn comes_to_its_end(forget: Forget) {
    let (stage, engine) = remembered().await;
    let before = stored(&stage);
    stage.drive(engine.forget(forget.clone())).await.expect("deletes");
    stage.rest(&engine).await;
    let after = stored(&stage);
    assert_ne!(before, after);
    assert!(before.2 && !after.2);
    engine.shutdown().await;
    for mode in [Mode::Refuse, Mode::LoseAnswer, Mode::DieAfter] {
        for n in 1.. {
            let (stage, engine) = remembered().await;
            stage.faults.plan(n, mode);
            let answered = tokio::select! {
                biased;
                () = stage.faults.death() => None,
                done = stage.drive(engine.forget(forget.clone())) => Some(done.is_ok()),
            };
            let hit = stage.faults.hit();
            let engine = if answered.is_some() {
                engine
            } else {
                drop(engine);
                stage.faults.lift();
                stage.open().await
            };
            stage.faults.lift();
            // A message added after it stays.
            let key = session("one");
            let said = vec![new_message(&key, "eve", 900, "The lute is new")];
            stage.drive(persist(|| engine.add(add(&key, said.clone())))).await;
            stage.drive(stage.clock.sleep(Duration::from_mins(2))).await;
            let what = format!("{mode:?} at call {n}, {hit:?}, answered {answered:?}");
            let (mut texts, entries, history) = stored(&stage);
            let all = texts.len();
            texts.retain(|text| text != "The lute is new");
            assert_eq!(texts.len() + 1, all, "{what}: an acknowledged message went");
            let now = (texts, entries, history);
            assert!(
                now == after || (now == before && answered != Some(true)),
                "{what}: {now:?}, and {after:?} was to be left"
            );
            engine.shutdown().await;
            if hit.is_none() {
                assert!(n > 10, "the deletion makes {n} calls only");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_deletion_of_a_session_is_finished_after_any_fault() {
    comes_to_its_end(Forget::Session(session("one"))).await;
}

#[tokio::test]
async fn a_deletion_of_an_owner_is_finished_after_any_fault() {
    comes_to_its_end(Forget::Owner(Scope::default(), user("ann"))).await;
}

#[tokio::test]
async fn a_deletion_by_words_is_finished_after_any_fault() {
    comes_to_its_end(target("dan", "loud", &[])).await;
}

/// Waiting segments of one session are written together.
struct Together(Vec<String>);

impl Run for Together {
    async fn prepare(&self, stage: &Stage) {
        together::wait_on(stage).await;
    }

    async fn run(&self, _: &Stage, _: &Engine) {}

    async fn check(&self, stage: &Stage, _: &Engine) {
        assert_eq!(together::entry_lines(stage), self.0);
    }
}

#[tokio::test]
async fn writing_together_survives_every_fault() {
    let expected = together::entry_lines_alone().await;
    at_every_call(|| (Stage::default(), Together(expected.clone()))).await;
}
