//! What the offline engine can be told; every number has a name, a unit and a default.

use std::collections::BTreeSet;
use std::time::Duration;

use model::Zone;

/// When background runs keep still; what a person asks for runs all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Quiet {
    #[default]
    Never,
    /// While the machine runs on a battery.
    Battery,
    Always,
}

/// The offline engine's settings, as `[consolidation]` in `quipu.toml` gives them; they may change while it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The zone in which cron expressions and days are meant.
    pub zone: Zone,
    /// Attempts at a time; whoever waits takes no place.
    pub concurrency: usize,
    /// A run is tried this often in all before it is a dead letter.
    pub attempts_max: u32,
    /// An attempt that takes longer has failed.
    pub attempt_max: Duration,
    /// What models may cost in a day, prompts and answers together; no bound when none.
    pub tokens_per_day_max: Option<u64>,
    /// Strategies that do not run, unless a person forces them.
    pub disabled: BTreeSet<String>,
    pub quiet: Quiet,
    /// How long successes can be looked up.
    pub retention: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            zone: Zone::utc(),
            concurrency: 2,
            attempts_max: 5,
            attempt_max: Duration::from_mins(30),
            tokens_per_day_max: None,
            disabled: BTreeSet::new(),
            quiet: Quiet::default(),
            retention: Duration::from_hours(168),
        }
    }
}
