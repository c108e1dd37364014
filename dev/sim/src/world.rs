//! The simulated process, and everything that outlives it.
//!
//! Owns: the stores, time, starting, stopping and killing. Never: requests to a process, or a check beyond
//! invariant 11.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use background::{BackgroundSettings, Offline};
use ledger::SqliteLedger;
use memory::{Engine, MemorySettings};
use ports::runs::Runs;
use ports::{
    Chat, Clock, Embedder, FileChanges, History, Index, Jobs, Pages, Retention, Transcripts, Vault,
    VaultWriter,
};
use proxy::GatedChat;
use proxy::gate::Gates;
use tempfile::TempDir;
use testkit::clock::ManualClock;
use testkit::faults::{Faults, Faulty};
use testkit::index::MemoryIndex;
use testkit::ledger::MemoryLedger;
use testkit::models::HashEmbedder;
use testkit::vault::MemoryVault;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use crate::backend::{Backend, Talk};
use crate::dice::Dice;

/// A kept promise, or the description of a broken one.
pub(crate) type Held<T = ()> = Result<T, String>;

/// Turns that tasks get before the clock moves on.
const TURNS: usize = 40;
/// After this many moves of the clock the awaited work counts as stuck.
const TIMES_MAX: usize = 60_000;
/// After this many moves a person stops using the model server and a slow model is quick again: every job
/// waits for both, one after the other.
const DELAY_TIMES_MAX: usize = 6_000;
/// Maximum time of a shutdown: the engine's work and its writer, the history, the runs and the gate, each
/// with its bound.
const END_MAX: Duration = Duration::from_secs(42);
/// A memcell of up to this many messages is never extracted on another thread, whose time the test does not
/// control.
const MESSAGES_MAX: usize = 8;

/// The ledger: in memory, or `SQLite` in a file that a dead process leaves behind.
#[derive(Debug)]
enum Store {
    Memory(Arc<MemoryLedger>),
    File {
        folder: TempDir,
        path: PathBuf,
        open: Option<Arc<SqliteLedger>>,
    },
}

impl Store {
    fn file() -> Self {
        let folder = tempfile::tempdir().expect("there is a place for temporary files");
        Self::File {
            path: folder.path().join("ledger.sqlite"),
            folder,
            open: None,
        }
    }
}

/// A ledger as its ports.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(crate) transcripts: Arc<dyn Transcripts>,
    pub(crate) jobs: Arc<dyn Jobs>,
    pub(crate) files: Arc<dyn FileChanges>,
    pub(crate) retention: Arc<dyn Retention>,
    pub(crate) runs: Arc<dyn Runs>,
    history: Arc<dyn History>,
}

impl Ledger {
    fn of<L: Transcripts + Jobs + FileChanges + Retention + Runs + History + 'static>(
        ledger: &Arc<L>,
        faults: &Arc<Faults>,
    ) -> Self {
        Self {
            transcripts: Faulty::<dyn Transcripts>::new(ledger.clone(), faults),
            jobs: Faulty::<dyn Jobs>::new(ledger.clone(), faults),
            files: Faulty::<dyn FileChanges>::new(ledger.clone(), faults),
            retention: Faulty::<dyn Retention>::new(ledger.clone(), faults),
            runs: Faulty::<dyn Runs>::new(ledger.clone(), faults),
            history: Faulty::<dyn History>::new(ledger.clone(), faults),
        }
    }
}

/// A running process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) engine: Engine,
    pub(crate) offline: Offline,
    gates: Gates,
    pub(crate) talk: RefCell<Option<Talk>>,
}

/// The process, its runtime, and everything that outlives it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) dice: Arc<Dice>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) vault: MemoryVault,
    pub(crate) index: MemoryIndex,
    pub(crate) backend: Arc<Backend>,
    embedder: Arc<HashEmbedder>,
    store: Store,
    /// Whether a chat model is configured.
    has_model: bool,
    memory: MemorySettings,
    process: Option<Process>,
    /// Runtime of the process's tasks; they end with it.
    runtime: Rc<Runtime>,
}

fn runtime() -> Rc<Runtime> {
    let built = Builder::new_current_thread().build();
    Rc::new(built.expect("a runtime without drivers needs nothing"))
}

impl World {
    /// A world with faults to come, perhaps with a chat model.
    pub(crate) fn new(dice: &Arc<Dice>) -> Self {
        let store = if dice.percent(30) {
            Store::file()
        } else {
            Store::Memory(Arc::default())
        };
        let has_model = dice.percent(60);
        let memory = MemorySettings {
            messages_max: MESSAGES_MAX,
            // The ledger must keep the job of every memcell: the checks find memcells by their jobs.
            task_retention_hours: 1_000_000,
            ..MemorySettings::default()
        };
        Self::of(dice, store, has_model, memory)
    }

    /// A world with the settings of a fresh installation, the ledger in a file, and no chat model.
    pub(crate) fn without_model(dice: &Arc<Dice>) -> Self {
        Self::of(dice, Store::file(), false, MemorySettings::default())
    }

    fn of(dice: &Arc<Dice>, store: Store, has_model: bool, memory: MemorySettings) -> Self {
        let clock = Arc::new(ManualClock::new());
        let embedder = Arc::new(HashEmbedder::new(64));
        Self {
            dice: dice.clone(),
            faults: Arc::new(Faults::default().at_once()),
            vault: MemoryVault::new(memory.zone.clone()),
            index: MemoryIndex::new(embedder.id().clone()),
            backend: Arc::new(Backend::new(dice.clone(), clock.clone())),
            embedder,
            clock,
            store,
            has_model,
            memory,
            process: None,
            runtime: runtime(),
        }
    }

    /// Runtime of the current process; a kill replaces it.
    pub(crate) fn runtime(&self) -> Rc<Runtime> {
        self.runtime.clone()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.process.is_some()
    }

    pub(crate) fn process(&self) -> &Process {
        self.process.as_ref().expect("one is started before it is used")
    }

    pub(crate) fn process_mut(&mut self) -> &mut Process {
        self.process.as_mut().expect("one is started before it is used")
    }

    /// The ledger without faults, for checks from outside the process.
    pub(crate) fn ledger(&mut self) -> Held<Ledger> {
        self.ledger_with(&Arc::new(Faults::default().at_once()))
    }

    fn ledger_with(&mut self, faults: &Arc<Faults>) -> Held<Ledger> {
        match &mut self.store {
            Store::Memory(ledger) => Ok(Ledger::of(ledger, faults)),
            Store::File { path, open, .. } => {
                let ledger = match open {
                    Some(ledger) => ledger,
                    None => open.insert(Arc::new(
                        SqliteLedger::open(path)
                            .map_err(|error| format!("the ledger does not open: {error:?}"))?,
                    )),
                };
                Ok(Ledger::of(ledger, faults))
            }
        }
    }

    /// The bytes of the ledger's files, none when it has none.
    pub(crate) fn ledger_files(&self) -> Vec<Vec<u8>> {
        let Store::File { path, .. } = &self.store else {
            return Vec::new();
        };
        let files = ["sqlite", "sqlite-wal"].map(|end| std::fs::read(path.with_extension(end)).ok());
        files.into_iter().flatten().collect()
    }

    /// The ledger's file, and the folder of everything that it writes; none when it has none.
    pub(crate) fn ledger_place(&self) -> Option<(&Path, &Path)> {
        match &self.store {
            Store::Memory(_) => None,
            Store::File { folder, path, .. } => Some((path, folder.path())),
        }
    }

    /// Starts a process; false when it died or could not start.
    pub(crate) async fn start(&mut self) -> Held<bool> {
        let ledger = self.ledger_with(&self.faults.clone())?;
        let gates = Gates::new(self.clock.clone());
        let chat: Option<Arc<dyn Chat>> = self
            .has_model
            .then(|| Arc::new(GatedChat::new(self.backend.clone(), gates.of("model"))) as Arc<dyn Chat>);
        let offline = background::BackgroundParts {
            runs: ledger.runs,
            chat: chat.clone(),
            models: BTreeMap::default(),
            clock: self.clock.clone(),
            ids: self.dice.clone(),
        };
        let offline = Offline::new(offline, BackgroundSettings::default());
        let faults = &self.faults;
        let parts = memory::Parts {
            transcripts: ledger.transcripts.clone(),
            jobs: ledger.jobs,
            file_changes: ledger.files,
            retention: ledger.retention,
            vault: Faulty::<dyn Vault>::new(Arc::new(self.vault.clone()), faults),
            vault_writer: Faulty::<dyn VaultWriter>::new(Arc::new(self.vault.clone()), faults),
            pages: Faulty::<dyn Pages>::new(Arc::new(self.vault.clone()), faults),
            history: ledger.history,
            index: Faulty::<dyn Index>::new(Arc::new(self.index.clone()), faults),
            embedder: Faulty::<dyn Embedder>::new(self.embedder.clone(), faults),
            reranker: None,
            chat,
            events: offline.events(),
            documents: Arc::new(testkit::reading::DirectReader),
            clock: self.clock.clone(),
            ids: self.dice.clone(),
        };
        let starting = async {
            let engine = Engine::start(parts, self.memory.clone()).await.ok()?;
            let mut tracks =
                background::strategies::user_track(&engine, background::strategies::Limits::default());
            tracks.extend(background::strategies::agent_track(&engine, ledger.transcripts));
            offline.register(tracks);
            offline.start().await.ok()?;
            Some(engine)
        };
        let started = tokio::select! {
            biased;
            () = self.faults.death() => None,
            started = self.drive(starting) => started?,
        };
        let Some(engine) = started else {
            // As in `kill`.
            offline.register(Vec::new());
            return Ok(false);
        };
        self.process = Some(Process {
            engine,
            offline,
            gates,
            talk: RefCell::default(),
        });
        Ok(true)
    }

    /// The process ends where it stands, with everything of it.
    pub(crate) fn kill(&mut self) -> Held {
        if let Some(process) = self.process.take() {
            // The strategies hold the engine, and the engine holds the event receiver: a cycle.
            process.offline.register(Vec::new());
        }
        self.runtime = runtime();
        self.has_ended()
    }

    /// Shuts the process down within its bounds; false when it died meanwhile.
    pub(crate) async fn stop(&mut self) -> Held<bool> {
        self.process_mut().talk.take();
        let process = self.process();
        let began = self.clock.elapsed();
        let ending = async {
            process.offline.stop().await;
            process.engine.shutdown().await;
            // Only now: the engine's last writes still queue runs.
            process.offline.register(Vec::new());
            process.gates.shutdown(Duration::from_secs(10)).await;
        };
        let ended = tokio::select! {
            biased;
            () = self.faults.death() => false,
            ended = self.drive(ending) => { ended?; true },
        };
        let took = self.clock.elapsed().saturating_sub(began);
        let left = self.runtime.metrics().num_alive_tasks();
        if took > END_MAX || ended && left > 0 {
            return Err(format!(
                "invariant 11: after a shutdown of {took:?} {left} tasks go on"
            ));
        }
        if ended {
            self.process = None;
            self.has_ended()?;
        }
        Ok(ended)
    }

    /// Checks that nothing of an ended process is still held.
    fn has_ended(&mut self) -> Held {
        if self.backend.running() > 0 {
            return Err("invariant 11: a call of the model outlives its process".to_owned());
        }
        self.faults.lift();
        if let Store::File { open, .. } = &mut self.store
            && let Some(ledger) = open.take()
            && Arc::into_inner(ledger).is_none()
        {
            return Err("invariant 11: somebody holds the ledger of a process that ended".to_owned());
        }
        Ok(())
    }

    /// Awaits work while time passes; an error if it never ends.
    pub(crate) async fn drive<T>(&self, work: impl Future<Output = T>) -> Held<T> {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            done = &mut work => Ok(done),
            () = self.times() => Err("what was waited for never came".to_owned()),
        }
    }

    async fn times(&self) {
        for time in 0..TIMES_MAX {
            if time == DELAY_TIMES_MAX {
                self.process.as_ref().and_then(|process| process.talk.take());
                self.backend.hurry();
            }
            self.breathe(TURNS).await;
            self.clock
                .advance(self.clock.next().unwrap_or(Duration::from_secs(1)));
        }
    }

    /// A person starts to use the model server; false without a server, or if a person uses it already.
    pub(crate) fn talk(&mut self) -> bool {
        let backend = self.backend.clone();
        let has_model = self.has_model;
        let process = self.process_mut();
        if !has_model || process.talk.borrow().is_some() {
            return false;
        }
        process
            .talk
            .replace(Some(Talk::begin(&backend, &process.gates.of("model"))));
        true
    }

    /// Lets others work for so many turns.
    pub(crate) async fn breathe(&self, turns: usize) {
        for _ in 0..turns {
            yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use ports::ChatRequest;

    use super::*;
    use crate::backend::Mood;

    #[test]
    fn many_calls_of_a_slow_model_are_waited_for() {
        let world = World::new(&Arc::new(Dice::new(1)));
        world.backend.set(Mood::Slow);
        // Each call takes two and a half minutes; meanwhile another task wakes every second.
        let calls = async {
            for _ in 0..600 {
                let request = ChatRequest::new(String::new(), String::new(), 10);
                drop(world.backend.complete(request).await);
            }
        };
        let looks = async {
            loop {
                world.clock.sleep(Duration::from_secs(1)).await;
            }
        };
        let waits = async {
            tokio::select! { () = calls => {}, () = looks => {} }
        };
        let waited = world.runtime().block_on(world.drive(waits));
        assert_eq!(waited, Ok(()));
    }
}
