//! A whole Quipu in one thread: clients, people with editors, a model server with moods, clocks that are set,
//! and processes that die at any call of a store. Every decision comes from one seed, so a run can be
//! repeated.
//!
//! Owns: the run and its trace. Never: a decision that the seed does not make, or a rule beyond Quipu's
//! promises.
//!
//! Reading order: [`world`] (the process, and everything that outlives it), [`backend`] (the model server),
//! [`steps`], [`acts`], [`says`], [`agents`], [`hands`] and [`past`] (the actions), [`book`] (the expected
//! state), [`checks`] (the comparison). The second kind of run, a year without faults, is [`mod@year`].

mod acts;
mod agents;
mod backend;
mod book;
mod checks;
mod dice;
mod hands;
mod past;
mod says;
mod steps;
mod world;
mod year;

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use steps::Run;

pub use year::{YearPlan, year};

/// Number of trace lines that a failure shows.
const TRACE_LINES: usize = 40;

/// A run: its seed and its number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub seed: u64,
    pub steps: usize,
}

/// The command line that repeats the run.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cargo run -p sim -- --seed {} --steps {}",
            self.seed, self.steps
        )
    }
}

/// Result of a run in which every promise was kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Hash of the whole trace, in order.
    pub hash: u64,
    pub sessions: usize,
    pub messages: usize,
    /// Processes that died; a shutdown does not count.
    pub deaths: usize,
    pub model_calls: usize,
    /// Calls of the stores.
    pub store_calls: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} sessions, {} messages, {} deaths, {} calls of the model and {} of the stores; trace {:016x}",
            self.sessions, self.messages, self.deaths, self.model_calls, self.store_calls, self.hash
        )
    }
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub plan: Plan,
    pub what: String,
    /// The newest lines of the trace.
    pub trace: Vec<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.trace.join("\n"))?;
        write!(f, "{}\n{}", self.what, self.plan)
    }
}

impl std::error::Error for Broken {}

/// Runs a plan to its end, or to the first promise that is not kept. It must be alone on its thread.
///
/// # Panics
/// When there is no temporary folder, or a part of Quipu panics where a client would see it.
pub fn run(plan: Plan) -> Result<Report, Box<Broken>> {
    let mut run = Run::new(plan);
    let ended = run.all();
    let trace = run.trace();
    match ended {
        Ok(()) => Ok(Report {
            hash: hash(trace),
            ..run.counts()
        }),
        Err(what) => Err(Box::new(Broken {
            plan,
            what,
            trace: trace[trace.len().saturating_sub(TRACE_LINES)..].to_vec(),
        })),
    }
}

fn hash(trace: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    trace.hash(&mut hasher);
    hasher.finish()
}
