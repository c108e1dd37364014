//! Random changes, runs, undos, deletions and restarts, against a model that keeps every state of every entry.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use memory::{Curate, Engine, EngineError, Forget, HistoryError, Moment};
use model::{EntryId, EntryKind, Scope, Timestamp};
use ports::Clock as _;
use proptest::prelude::*;

use super::{Recorded, all, diff, edit, log, run};
use crate::files::config;
use crate::stage::{user, written};

/// Number of entries, and the words that an entry can have.
const ENTRIES: usize = 4;
const WORDS: [&str; 6] = ["amber", "basil", "cedar", "dahlia", "elder", "fennel"];

#[derive(Debug, Clone)]
enum Step {
    /// A run writes entries.
    Run(BTreeMap<usize, usize>),
    /// A run removes an entry.
    Remove(usize),
    /// A person writes another word in the file.
    Hand(usize, usize),
    /// An edit through the API.
    Edit(usize, usize),
    /// Undoes the n-th newest run.
    Undo(usize),
    Forget(usize),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (entry, word) = (0..ENTRIES, 0..WORDS.len());
    let step = prop_oneof![
        4 => prop::collection::btree_map(entry.clone(), word.clone(), 1..3).prop_map(Step::Run),
        1 => entry.clone().prop_map(Step::Remove),
        3 => (entry.clone(), word.clone()).prop_map(|(entry, word)| Step::Hand(entry, word)),
        2 => (entry.clone(), word).prop_map(|(entry, word)| Step::Edit(entry, word)),
        3 => (0..4usize).prop_map(Step::Undo),
        1 => entry.prop_map(Step::Forget),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..20)
}

/// A run, with the states of its entries before and after it.
#[derive(Debug)]
struct ModelRun {
    id: String,
    changed: BTreeMap<usize, (Option<usize>, Option<usize>)>,
    undoes: Option<usize>,
}

/// The present entries, the deleted words, and the runs.
#[derive(Debug, Default)]
struct Model {
    now: BTreeMap<usize, usize>,
    /// The words of each entry that the history may contain.
    told: BTreeMap<usize, BTreeSet<usize>>,
    runs: Vec<ModelRun>,
    /// The entries after each step.
    then: Vec<(Timestamp, BTreeMap<usize, usize>)>,
}

impl Model {
    fn set(&mut self, entry: usize, word: Option<usize>) {
        match word {
            Some(word) => {
                self.now.insert(entry, word);
                self.told.entry(entry).or_default().insert(word);
            }
            None => drop(self.now.remove(&entry)),
        }
    }

    fn ran(&mut self, id: String, after: BTreeMap<usize, Option<usize>>, undoes: Option<usize>) {
        let mut changed = BTreeMap::new();
        for (entry, word) in after {
            let before = self.now.get(&entry).copied();
            if before != word {
                changed.insert(entry, (before, word));
                self.set(entry, word);
            }
        }
        if !changed.is_empty() {
            self.runs.push(ModelRun { id, changed, undoes });
        }
    }

    /// Whether a run that undid it is in force.
    fn is_undone(&self, run: usize) -> bool {
        let undid = |by: &ModelRun| by.undoes == Some(run) && !by.changed.is_empty();
        (0..self.runs.len()).any(|by| undid(&self.runs[by]) && !self.is_undone(by))
    }
}

fn id(entry: usize) -> String {
    format!("fs_{entry}")
}

fn text(entry: usize, word: usize) -> String {
    format!("number {entry} is about {}", WORDS[word])
}

fn put(entry: usize, word: usize) -> model::Entry {
    written("ann", EntryKind::Foresight, &id(entry), 1, &text(entry, word))
}

struct Checked {
    world: Recorded,
    engine: Engine,
    model: Model,
    count: usize,
}

impl Checked {
    async fn curate(&mut self, put: Vec<model::Entry>, remove: Vec<EntryId>) -> String {
        self.count += 1;
        let id = format!("r_{}", self.count);
        let curate = Curate::new(&Scope::default(), &user("ann"), put, remove);
        self.engine
            .recorded(run(&id), self.engine.curate(curate))
            .await
            .0
            .expect("it writes");
        id
    }

    async fn step(&mut self, step: &Step) {
        self.world.stage.clock.advance(Duration::from_mins(1));
        match step {
            Step::Run(words) => {
                let entries = words.iter().map(|(entry, word)| put(*entry, *word)).collect();
                let run = self.curate(entries, Vec::new()).await;
                let after = words.iter().map(|(entry, word)| (*entry, Some(*word))).collect();
                self.model.ran(run, after, None);
            }
            Step::Remove(entry) => {
                let run = self.curate(Vec::new(), vec![EntryId::new(id(*entry))]).await;
                self.model.ran(run, BTreeMap::from([(*entry, None)]), None);
            }
            Step::Hand(entry, word) => {
                if let Some(now) = self.model.now.get(entry).copied() {
                    self.world.by_hand(&text(*entry, now), &text(*entry, *word));
                    self.model.set(*entry, Some(*word));
                }
            }
            Step::Edit(entry, word) => {
                let edited = self
                    .engine
                    .edit(edit(&EntryId::new(id(*entry)), &text(*entry, *word)))
                    .await;
                assert_eq!(edited.is_ok(), self.model.now.contains_key(entry), "{edited:?}");
                if edited.is_ok() {
                    self.model.set(*entry, Some(*word));
                }
            }
            Step::Undo(nth) => self.undo(*nth).await,
            Step::Forget(entry) => {
                let forget = Forget::Entries(Scope::default(), user("ann"), vec![EntryId::new(id(*entry))]);
                let forgot = self.engine.forget(forget).await.expect("it forgets");
                if forgot.entries > 0 {
                    self.model.now.remove(entry);
                    self.model.told.remove(entry);
                    for (_, then) in &mut self.model.then {
                        then.remove(entry);
                    }
                    for run in &mut self.model.runs {
                        run.changed.remove(entry);
                    }
                }
            }
            Step::Restart => {
                self.engine.shutdown().await;
                self.engine = self.world.open().await;
            }
        }
        self.world.stage.rest(&self.engine).await;
        let then = (self.world.stage.clock.now(), self.model.now.clone());
        self.model.then.push(then);
    }

    async fn undo(&mut self, nth: usize) {
        let Some(at) = self.model.runs.len().checked_sub(nth + 1) else {
            return;
        };
        let is_undone = self.model.is_undone(at);
        let run = &self.model.runs[at];
        let undone = self.engine.undo(None, &run.id).await;
        let now = |entry: &usize| self.model.now.get(entry).copied();
        let is_conflict = run
            .changed
            .iter()
            .any(|(entry, (before, after))| now(entry) != *after && now(entry) != *before);
        let expected = match undone {
            Err(EngineError::History(HistoryError::NoRun { .. })) => run.changed.is_empty(),
            Err(EngineError::History(HistoryError::Undone { .. })) => is_undone,
            Err(EngineError::History(HistoryError::Conflict { .. })) => is_conflict && !is_undone,
            Ok(None) => run
                .changed
                .iter()
                .all(|(entry, (before, _))| now(entry) == *before),
            Ok(Some(ref change)) => {
                let by = change.by.run().expect("a run").id.to_string();
                let back = run
                    .changed
                    .iter()
                    .map(|(entry, (before, _))| (*entry, *before))
                    .collect();
                self.model.ran(by, back, Some(at));
                true
            }
            Err(_) => false,
        };
        assert!(expected, "{undone:?} of {:?}", self.model.runs[at]);
    }

    /// The files as of each earlier moment equal the model's entries then, and the files as of now are the files.
    async fn check_moments(&self) {
        for (at, had) in &self.model.then {
            let at = Moment::At(*at);
            let mut there = BTreeSet::new();
            for file in self.engine.files_then(None, at, None).await.expect("it reads") {
                let text = self.then(at, &file.path).await;
                there.extend(text.lines().filter_map(fact));
            }
            let had: BTreeSet<String> = had.iter().map(|(entry, word)| text(*entry, *word)).collect();
            assert_eq!(there, had, "{at:?}");
        }
        let last = self
            .model
            .then
            .last()
            .map_or(Timestamp::from_millis(0), |(at, _)| *at);
        for path in self.world.vault.paths() {
            let now = String::from_utf8(self.world.vault.bytes(&path).expect("there")).expect("text");
            assert_eq!(self.then(Moment::At(last), &path).await, now);
        }
    }

    async fn then(&self, moment: Moment, path: &str) -> String {
        let files = self
            .engine
            .files_then(None, moment, Some(path))
            .await
            .expect("it reads");
        files.into_iter().filter_map(|file| file.text).collect()
    }

    /// The files have the model's entries, and the history has each word that it may have, and no other.
    async fn check(&self) {
        let files: String = self
            .world
            .vault
            .paths()
            .iter()
            .filter(|path| path.contains("/foresights/"))
            .map(|path| String::from_utf8(self.world.vault.bytes(path).expect("there")).expect("text"))
            .collect();
        let told = all(&self.engine).await;
        for entry in 0..ENTRIES {
            for word in 0..WORDS.len() {
                let text = text(entry, word);
                assert_eq!(
                    files.contains(&text),
                    self.model.now.get(&entry) == Some(&word),
                    "{text}\n{files}"
                );
                let may_tell = self
                    .model
                    .told
                    .get(&entry)
                    .is_some_and(|told| told.contains(&word));
                assert_eq!(told.contains(&text), may_tell, "{text}\n{told}");
            }
        }
        // Replayed from the first change on, the diffs give the present entries.
        let mut replayed = BTreeSet::new();
        for change in log(&self.engine).await.iter().rev() {
            let diff = diff(&self.engine, change).await;
            let lines = |sign: char| {
                diff.lines()
                    .filter(move |line| line.starts_with(sign))
                    .filter_map(fact)
                    .collect::<Vec<_>>()
            };
            for gone in lines('-') {
                assert!(replayed.remove(&gone), "{gone} was not there\n{diff}");
            }
            replayed.extend(lines('+'));
        }
        let now: BTreeSet<String> = self
            .model
            .now
            .iter()
            .map(|(entry, word)| text(*entry, *word))
            .collect();
        assert_eq!(replayed, now);
    }
}

/// The statement in a line of a diff.
fn fact(line: &str) -> Option<String> {
    let at = line.find("number ")?;
    let end = line.find(" <!--").unwrap_or(line.len());
    Some(line[at..end].to_owned())
}

proptest! {
    #![proptest_config(config(12))]

    /// `PROPTEST_CASES=250` tries some 2,500 steps.
    #[test]
    fn the_history_equals_a_model_of_it(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let world = Recorded::new();
            let engine = world.open().await;
            let (model, count) = (Model::default(), 0);
            let mut checked = Checked { world, engine, model, count };
            for step in &steps {
                checked.step(step).await;
                checked.check().await;
            }
            checked.check_moments().await;
            checked.engine.shutdown().await;
        });
    }
}
