//! The run: the seed chooses the next step, the trace records it, and the process may die in it.
//!
//! Owns: the order of steps. Never: a step's work (`acts`), or the expected state (`book`).

use std::sync::Arc;
use std::time::Duration;

use memory::{Add, EngineError};
use ports::Clock as _;
use testkit::faults::Mode;

use crate::backend::Mood;
use crate::book::{Book, Forgetting};
use crate::dice::Dice;
use crate::world::{Held, World};
use crate::{Plan, Report};

/// A planned fault hits one of this many next store calls.
const FAULT_WITHIN: usize = 80;
/// Maximum number of turns that other tasks get between two steps, so a step meets work at any stage.
pub(crate) const TURNS_MAX: usize = 60;

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Say,
    Work,
    Burst,
    Retry,
    Flush,
    Ask,
    Spy,
    ForgetSession,
    ForgetOwner,
    ForgetPart,
    ForgetEntry,
    WriteFile,
    WriteHeading,
    WritePage,
    TakeOut,
    Sync,
    Rebuild,
    Judge,
    Teach,
    Undo,
    Trigger,
    TalkBegins,
    TalkEnds,
    Mood,
    Pass,
    SetWall,
    Fault,
    Restart,
    Rest,
}

/// Weight of each step.
const STEPS: [(usize, Step); 29] = [
    (240, Step::Say),
    (60, Step::Work),
    (120, Step::Burst),
    (60, Step::Retry),
    (70, Step::Flush),
    (70, Step::Ask),
    (30, Step::Spy),
    (14, Step::ForgetSession),
    (5, Step::ForgetOwner),
    (8, Step::ForgetPart),
    (14, Step::ForgetEntry),
    (10, Step::WriteFile),
    (12, Step::WriteHeading),
    (10, Step::WritePage),
    (8, Step::TakeOut),
    (10, Step::Sync),
    (6, Step::Rebuild),
    (12, Step::Judge),
    (4, Step::Teach),
    (10, Step::Undo),
    (20, Step::Trigger),
    (20, Step::TalkBegins),
    (40, Step::TalkEnds),
    (25, Step::Mood),
    (70, Step::Pass),
    (10, Step::SetWall),
    (130, Step::Fault),
    (8, Step::Restart),
    (12, Step::Rest),
];

/// A request that a client retries until it is answered.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    /// With the numbers of its messages in the book, and whether the client waits until they are memory.
    Add(Add, Vec<usize>, bool),
    Forget(Forgetting),
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Run {
    plan: Plan,
    pub(crate) dice: Arc<Dice>,
    pub(crate) world: World,
    pub(crate) book: Book,
    pub(crate) promises: Vec<Promise>,
    trace: Vec<String>,
    deaths: usize,
    /// Processes that were started.
    pub(crate) processes: usize,
    /// Number of the last process in which the embedder refused. Its buffered messages are found by their
    /// words alone.
    bare: usize,
}

impl Run {
    pub(crate) fn new(plan: Plan) -> Self {
        let dice = Arc::new(Dice::new(plan.seed));
        Self {
            plan,
            world: World::new(&dice),
            dice,
            book: Book::default(),
            promises: Vec::new(),
            trace: Vec::new(),
            deaths: 0,
            processes: 0,
            bare: 0,
        }
    }

    /// All trace lines.
    pub(crate) fn trace(&self) -> &[String] {
        &self.trace
    }

    pub(crate) fn counts(&self) -> Report {
        Report {
            hash: 0,
            sessions: self.book.sessions.len(),
            messages: self.book.said.len(),
            deaths: self.deaths,
            model_calls: self.world.backend.calls(),
            store_calls: self.world.faults.made(),
        }
    }

    /// Adds a line to the trace.
    pub(crate) fn note(&mut self, what: impl std::fmt::Display) {
        let millis = self.world.clock.elapsed().as_millis();
        let calls = self.world.faults.made();
        self.trace
            .push(format!("{millis:>12} ms {calls:>7} calls  {what}"));
    }

    /// The whole run.
    pub(crate) fn all(&mut self) -> Held {
        self.open()?;
        for number in 0..self.plan.steps {
            let step = self.dice.weighed(&STEPS);
            self.note(format_args!("{number} {step:?}"));
            self.mortal(step)?;
            if let Some(broken) = self.world.backend.broken() {
                return Err(format!("invariant 9: {broken}"));
            }
        }
        [Step::Rest, Step::Restart, Step::Rest]
            .into_iter()
            .try_for_each(|step| self.mortal(step))
    }

    /// Runs a step and starts another process if this one died or was stopped.
    fn mortal(&mut self, step: Step) -> Held {
        let faults = self.world.faults.clone();
        let runtime = self.world.runtime();
        let done = runtime.block_on(async {
            tokio::select! {
                biased;
                () = faults.death() => None,
                done = self.act(step) => Some(done),
            }
        });
        drop(runtime);
        match done {
            Some(done) => done?,
            None => self.bury()?,
        }
        if self.world.is_running() {
            Ok(())
        } else {
            self.open()
        }
    }

    /// Buries a dead process. The stores keep their state, except an index that is wiped or damaged at
    /// random.
    fn bury(&mut self) -> Held {
        self.deaths += 1;
        let hit = self.world.faults.hit();
        self.note(format_args!("died at {hit:?}"));
        self.world.kill()?;
        match self.dice.below(20) {
            0 => self.world.index.wipe(),
            1 => self.world.index.damage("a disk that lies"),
            _ => {}
        }
        if self.dice.percent(25) {
            self.plan_fault();
        }
        Ok(())
    }

    /// Starts a process, again if it dies in its start, and checks at once that every acknowledged message is
    /// there.
    fn open(&mut self) -> Held {
        loop {
            let runtime = self.world.runtime();
            self.processes += 1;
            if runtime.block_on(self.world.start())? {
                self.note("started");
                return runtime.block_on(self.check_places()).map(drop);
            }
            drop(runtime);
            let hit = self.world.faults.hit();
            self.note(format_args!("did not start: {hit:?}"));
            self.world.kill()?;
        }
    }

    /// Whether the embedder refused in this process.
    pub(crate) fn is_bare(&mut self) -> bool {
        if self.world.faults.hit() == Some("embed") {
            self.bare = self.processes;
        }
        self.bare == self.processes
    }

    pub(crate) fn plan_fault(&mut self) {
        // The next fault replaces the record of this one.
        self.is_bare();
        let mode = self.dice.weighed(&[
            (2, Mode::DieBefore),
            (2, Mode::DieAfter),
            (1, Mode::Refuse),
            (1, Mode::LoseAnswer),
        ]);
        self.world.faults.plan(1 + self.dice.below(FAULT_WITHIN), mode);
    }

    pub(crate) fn change_mood(&mut self) {
        let mood = self.dice.pick(&Mood::ALL).unwrap_or_default();
        self.note(format_args!("{mood:?}"));
        self.world.backend.set(mood);
    }

    /// Lets time pass, at once or in pieces, as on a machine that slept.
    pub(crate) async fn pass(&mut self) {
        let seconds = self.dice.weighed(&[
            (6, 3),
            (6, 70),
            (4, 6 * 60),
            (4, 20 * 60),
            (2, 3 * 3_600),
            (1, 26 * 3_600),
        ]);
        let pieces = 1 + u32::try_from(self.dice.below(6)).expect("it is below six");
        self.note(format_args!("{seconds} s in {pieces}"));
        for _ in 0..pieces {
            self.world.clock.advance(Duration::from_secs(seconds) / pieces);
            let turns = self.dice.below(3 * TURNS_MAX);
            self.world.breathe(turns).await;
        }
    }

    /// The answer; none after an error that allows a retry. A panic breaks the run.
    pub(crate) fn heard<T>(&mut self, answer: Result<T, EngineError>) -> Held<Option<T>> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(EngineError::Panicked(what)) => Err(format!("it panicked: {what}")),
            Err(error) => {
                self.note(format_args!("refused: {error}"));
                Ok(None)
            }
        }
    }
}
