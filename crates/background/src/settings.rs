//! Settings of the offline engine; every number has a name, a unit and a default.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use model::Zone;
use ports::runs::Threshold;

use crate::cron::{Cron, InvalidCron};
use crate::strategy::{Strategy, Triggers};

model::defaults! {
    /// The offline engine's settings, from `[consolidation]` in `quipu.toml`; they can change while it runs.
    #[derive(Debug, Clone, PartialEq)]
    pub struct BackgroundSettings {
        /// Time zone of cron expressions and days.
        pub zone: Zone = Zone::utc(),
        /// Maximum number of attempts at a time; waiting runs do not use a slot.
        pub concurrency: usize = 2,
        /// Maximum number of attempts of a run before it is a dead letter.
        pub attempts_max: u32 = 5,
        /// Time limit of an attempt.
        pub attempt_max: Duration = Duration::from_mins(30),
        /// Maximum tokens of models in a day, prompts and answers together; none: no limit.
        pub tokens_per_day_max: Option<u64>,
        /// Strategies that do not run, unless a person forces them.
        pub disabled: BTreeSet<String>,
        /// Only runs that a person asks for start.
        pub is_quiet: bool,
        /// By strategy.
        pub strategies: BTreeMap<String, StrategySettings>,
    }
}

/// Settings of one strategy, which override its defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StrategySettings {
    /// Cron expression; empty for no schedule.
    pub cron: Option<String>,
    /// Start only after this time without another event for the same work.
    pub idle: Option<Duration>,
    /// Start only after this number of events for the same work.
    pub count: Option<u32>,
    /// Start no sooner than this after the last run.
    pub cooldown: Option<Duration>,
    pub attempts_max: Option<u32>,
    /// Name of the chat model that the strategy uses.
    pub model: Option<String>,
    /// Text of the operator that follows the instructions of each prompt.
    pub instructions: Option<String>,
}

/// Errors in the settings of a strategy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    #[error("there is no strategy `{name}`; there are: {known}")]
    NoStrategy { name: String, known: String },
    #[error("strategy `{name}` does not use `{key}`; remove it")]
    NotUsed { name: String, key: &'static str },
    #[error("strategy `{name}`: {error}")]
    Cron { name: String, error: InvalidCron },
}

impl BackgroundSettings {
    /// Checks the settings of each strategy against the settings that the strategies can use.
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

    /// Maximum number of attempts of a strategy's run.
    pub(crate) fn attempts_max(&self, strategy: &str) -> u32 {
        let own = self.strategies.get(strategy);
        own.and_then(|own| own.attempts_max).unwrap_or(self.attempts_max)
    }
}
