//! A strategy under a test's control, and an offline engine around it.
//!
//! Owns: building both, and running everything that is due. Never: a check.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use background::{
    About, BackgroundParts, BackgroundSettings, Failure, Offline, RunContext, RunOutcome, Strategy, Triggers,
};
use futures::FutureExt;
use model::{EntryId, Name, Owner, Scope, SessionId};
use ports::Chat;
use ports::runs::{MemoryEvent, Run, RunQuery, Runs};
use testkit::clock::{CountingIds, ManualClock};
use testkit::ledger::{MemoryLedger, samples};
use tokio::sync::watch;
use tokio::task::yield_now;

pub(crate) type Act = Box<dyn FnMut(&RunContext) -> Result<RunOutcome, Failure> + Send>;

/// A strategy for episodes that does what a test tells it.
pub(crate) struct Puppet {
    pub(crate) name: &'static str,
    pub(crate) triggers: Triggers,
    pub(crate) act: Mutex<Act>,
    /// Attempts wait while this is set.
    pub(crate) held: watch::Sender<bool>,
    /// A held attempt ends when it gets the stop signal.
    pub(crate) is_polite: bool,
    /// The runs that were started, in order.
    pub(crate) begun: Mutex<Vec<Run>>,
}

impl fmt::Debug for Puppet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Puppet {
    pub(crate) fn new(name: &'static str, triggers: Triggers) -> Self {
        Self {
            name,
            triggers,
            act: Mutex::new(Box::new(|_| Ok(outcome("looked")))),
            held: watch::Sender::new(false),
            is_polite: false,
            begun: Mutex::default(),
        }
    }

    pub(crate) fn does(
        self,
        act: impl FnMut(&RunContext) -> Result<RunOutcome, Failure> + Send + 'static,
    ) -> Self {
        Self {
            act: Mutex::new(Box::new(act)),
            ..self
        }
    }

    /// The subjects of the started runs.
    pub(crate) fn begun(&self) -> Vec<String> {
        let begun = self.begun.lock().expect("no panic");
        begun.iter().map(|run| run.work.subject.clone()).collect()
    }
}

pub(crate) fn outcome(change: &str) -> RunOutcome {
    RunOutcome {
        change: change.to_owned(),
        events: Vec::new(),
    }
}

#[async_trait]
impl Strategy for Puppet {
    fn name(&self) -> &'static str {
        self.name
    }

    fn triggers(&self) -> Triggers {
        self.triggers.clone()
    }

    fn about(&self, event: &MemoryEvent) -> Option<About> {
        let MemoryEvent::EpisodeWritten { owner, cell, .. } = event else {
            return None;
        };
        Some(About {
            owner: Some(owner.clone()),
            subject: cell.id.to_string(),
        })
    }

    async fn run(&self, context: &RunContext) -> Result<RunOutcome, Failure> {
        self.begun.lock().expect("no panic").push(context.run.clone());
        let mut held = self.held.subscribe();
        let released = held.wait_for(|held| !held);
        if self.is_polite {
            tokio::select! {
                _ = released => {}
                () = context.stopping() => return Err(Failure::Retry("told to stop".to_owned())),
            }
        } else {
            drop(released.await);
        }
        // The act may panic and be called again.
        (self.act.lock().unwrap_or_else(PoisonError::into_inner))(context)
    }
}

/// Fakes and settings that an offline engine is opened on.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ids: Arc<CountingIds>,
    pub(crate) chat: Option<Arc<dyn Chat>>,
    pub(crate) models: BTreeMap<String, Arc<dyn Chat>>,
    pub(crate) settings: BackgroundSettings,
}

impl Stage {
    pub(crate) fn build(&self, strategies: &[&Arc<Puppet>]) -> Offline {
        let parts = BackgroundParts {
            runs: self.ledger.clone(),
            chat: self.chat.clone(),
            models: self.models.clone(),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
        };
        let offline = Offline::new(parts, self.settings.clone());
        let strategies = strategies.iter().map(|one| Arc::clone(one) as Arc<dyn Strategy>);
        offline.register(strategies.collect());
        offline
    }

    pub(crate) async fn open(&self, strategies: &[&Arc<Puppet>]) -> Offline {
        let offline = self.build(strategies);
        offline.start().await.expect("starts");
        self.pass(Duration::ZERO).await;
        offline
    }

    /// Advances the clock, then lets everything run that is due.
    pub(crate) async fn pass(&self, time: Duration) {
        self.clock.advance(time);
        for _ in 0..300 {
            yield_now().await;
        }
    }

    /// Emits an event, which must not wait for a run that it causes; then lets everything run that is due.
    pub(crate) async fn emit(&self, offline: &Offline, owner: &str, cell: &str) {
        let emitted = offline.events().emit(vec![written(owner, cell)]).now_or_never();
        emitted.expect("it returns at once").expect("on disk");
        self.pass(Duration::ZERO).await;
    }

    /// All runs, the newest first.
    pub(crate) async fn runs(&self) -> Vec<Run> {
        let all = RunQuery {
            page: 1,
            page_size: 999,
            ..RunQuery::default()
        };
        self.ledger.page(&all).await.expect("reads").runs
    }

    /// The states of all runs, the oldest first.
    pub(crate) async fn states(&self) -> String {
        let runs = self.runs().await;
        let states: Vec<&str> = runs.iter().rev().map(|run| run.state.as_str()).collect();
        states.join(" ")
    }
}

pub(crate) fn user(name: &str) -> Owner {
    Owner::user(Name::parse(name).expect("a name"))
}

pub(crate) fn written(owner: &str, cell: &str) -> MemoryEvent {
    let said = samples::says(&samples::session("app", "talk"), owner, "m", 0);
    MemoryEvent::EpisodeWritten {
        scope: Scope::default(),
        owner: user(owner),
        session: SessionId::new("talk"),
        cell: Arc::new(samples::cell(cell, &[said], &[owner])),
        episode: EntryId::new(format!("ep_{cell}")),
    }
}

pub(crate) fn at_once(name: &'static str) -> Arc<Puppet> {
    Arc::new(Puppet::new(name, Triggers::default()))
}

pub(crate) const IDLE: Duration = Duration::from_mins(15);

pub(crate) fn when_idle(name: &'static str) -> Arc<Puppet> {
    let triggers = Triggers {
        idle: Some(IDLE),
        ..Triggers::default()
    };
    Arc::new(Puppet::new(name, triggers))
}
