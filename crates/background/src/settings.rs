//! What the offline engine can be told; every number has a name, a unit and a default.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use model::Zone;
use ports::runs::Threshold;

use crate::cron::{Cron, InvalidCron};
use crate::strategy::{Strategy, Triggers};

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
    /// By strategy.
    pub strategies: BTreeMap<String, StrategySettings>,
}

/// Settings of one strategy, each in place of the strategy's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StrategySettings {
    /// At these times; empty for never.
    pub cron: Option<String>,
    /// Only after no further event about the same for so long.
    pub idle: Option<Duration>,
    /// Only after so many events about the same,
    pub count: Option<u32>,
    /// and not sooner than this after the last run.
    pub cooldown: Option<Duration>,
    pub attempts_max: Option<u32>,
    /// The name of the chat model that it asks.
    pub model: Option<String>,
}

/// Why settings of a strategy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    #[error("there is no strategy `{name}`; there are: {known}")]
    NoStrategy { name: String, known: String },
    #[error("strategy `{name}` does not use `{key}`; remove it")]
    NotUsed { name: String, key: &'static str },
    #[error("strategy `{name}`: {error}")]
    Cron { name: String, error: InvalidCron },
}

impl Settings {
    /// Checks the settings of each strategy against what the strategies use.
    pub fn check(&self, strategies: &[Arc<dyn Strategy>]) -> Result<(), InvalidSettings> {
        for (name, own) in &self.strategies {
            let Some(strategy) = strategies.iter().find(|one| one.name() == name) else {
                let known: Vec<&str> = strategies.iter().map(|one| one.name()).collect();
                return Err(InvalidSettings::NoStrategy {
                    name: name.clone(),
                    known: known.join(", "),
                });
            };
            let uses = strategy.triggers();
            let not_used = [
                ("cron", own.cron.is_some() && uses.cron.is_none()),
                ("idle_seconds", own.idle.is_some() && uses.idle.is_none()),
                ("count", own.count.is_some() && uses.threshold.is_none()),
                (
                    "cooldown_seconds",
                    own.cooldown.is_some() && uses.threshold.is_none(),
                ),
            ];
            if let Some((key, _)) = not_used.into_iter().find(|(_, is_not_used)| *is_not_used) {
                let name = name.clone();
                return Err(InvalidSettings::NotUsed { name, key });
            }
            let cron = own.cron.as_deref().filter(|cron| !cron.is_empty());
            cron.map_or(Ok(()), |cron| Cron::parse(cron).map(drop))
                .map_err(|error| InvalidSettings::Cron {
                    name: name.clone(),
                    error,
                })?;
        }
        Ok(())
    }

    /// When a strategy runs.
    pub(crate) fn triggers(&self, strategy: &dyn Strategy) -> Triggers {
        let triggers = strategy.triggers();
        let Some(own) = self.strategies.get(strategy.name()) else {
            return triggers;
        };
        Triggers {
            idle: own.idle.or(triggers.idle),
            threshold: triggers.threshold.map(|standard| Threshold {
                count: own.count.unwrap_or(standard.count),
                cooldown: own.cooldown.unwrap_or(standard.cooldown),
            }),
            cron: match &own.cron {
                Some(cron) => (!cron.is_empty()).then(|| cron.clone().into()),
                None => triggers.cron,
            },
        }
    }

    /// How often a run of a strategy is tried in all.
    pub(crate) fn attempts_max(&self, strategy: &str) -> u32 {
        let own = self.strategies.get(strategy);
        own.and_then(|own| own.attempts_max).unwrap_or(self.attempts_max)
    }
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
            strategies: BTreeMap::new(),
        }
    }
}
