//! One conversation: its log, its state, its engine.
//!
//! Owns: the order ingest → compact → assemble → after turn, and that an event is on disk before it counts. Invariants: one
//! change at a time; a change that fails leaves the state as it was; no lock is held while a model writes a summary.
//! Never: choosing what leaves a view.

use std::collections::BTreeSet;
use std::sync::Arc;

use context::budget::{Budget, OverBudget};
use context::event::Event;
use context::flush::Unflushed;
use context::ladder::{Attempt, Ladder};
use context::plan::{Plan, Trigger};
use context::policy::Policy;
use context::session::Session;
use context::tokens::Meter;
use context::view::View;
use context::warn::Warnings;
use model::{Owner, SessionId, SessionKey, Timestamp};
use ports::{Chat, Clock, Conversations, LedgerError};
use tokio::sync::Mutex;
use transcript::{Item, ItemId};

use crate::archive::Archive;
use crate::flush::{self, Keeping};
use crate::hooks::{ContextEngine, EngineFault, TurnMeta};
use crate::{isolate, summarise, verify};

/// Faults of a plug-in engine in a row after which it is no longer asked in this conversation.
const FAULTS_MAX: usize = 3;

/// What a conversation is opened with.
#[derive(Debug, Clone)]
pub struct Opening {
    pub store: Arc<dyn Conversations>,
    pub clock: Arc<dyn Clock>,
    /// Writes summaries of what leaves; without it the digest alone stands.
    pub chat: Option<Arc<dyn Chat>>,
    pub engine: Arc<dyn ContextEngine>,
    /// Keeps facts of what leaves; without it nothing is written.
    pub keeping: Option<Keeping>,
    pub policy: Policy,
    pub meter: Meter,
}

/// Why a turn cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    #[error("the conversation's log cannot be used")]
    Ledger(#[from] LedgerError),
    #[error("this conversation has no item {0}")]
    Unknown(ItemId),
    #[error("item {0} was deleted")]
    Deleted(ItemId),
}

/// A handle on one conversation; all of its state belongs to it.
#[derive(Debug)]
pub struct Conversation {
    pub(crate) archive: Archive,
    clock: Arc<dyn Clock>,
    chat: Option<Arc<dyn Chat>>,
    engine: Arc<dyn ContextEngine>,
    keeping: Option<Keeping>,
    pub(crate) state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) session: Session,
    pub(crate) warnings: Warnings,
    pub(crate) last_result: Option<Vec<Attempt>>,
    pub(crate) last_compaction: Option<Timestamp>,
    /// Records in the log.
    at: u64,
    /// The engine's faults, newest last.
    faults: Vec<EngineFault>,
    faults_in_a_row: usize,
}

impl Conversation {
    /// Opens a conversation, new or with its log.
    pub async fn open(opening: Opening, key: SessionKey, owner: Owner) -> Result<Self, TurnError> {
        let Opening {
            store,
            clock,
            chat,
            engine,
            keeping,
            policy,
            meter,
        } = opening;
        let archive = Archive { store, key, owner };
        let events = archive.events().await?;
        let at = events.len() as u64;
        let warnings = Warnings::new(policy.warn_at.clone());
        let session = Session::restore(policy, meter, events);
        let booted = isolate::run(&*clock, engine.bootstrap()).await;
        let mut state = State {
            session,
            warnings,
            last_result: None,
            last_compaction: None,
            at,
            faults: Vec::new(),
            faults_in_a_row: 0,
        };
        state.heed(booted);
        Ok(Self {
            archive,
            clock,
            chat,
            engine,
            keeping,
            state: Mutex::new(state),
        })
    }

    /// Records items that arrived; gives their ids.
    pub async fn ingest(&self, items: Vec<Item>, meta: &TurnMeta) -> Result<Vec<ItemId>, TurnError> {
        let mut state = self.state.lock().await;
        let arrived: Vec<Arc<Item>> = items.into_iter().map(Arc::new).collect();
        let hooked = match state.engine(&self.engine) {
            Some(engine) => isolate::run(&*self.clock, engine.ingest(arrived.clone(), meta)).await,
            None => Ok(arrived.clone()),
        };
        let items = state.heed(hooked).unwrap_or(arrived);
        let first = state.session.items();
        let events: Vec<Event> = (first..)
            .zip(items)
            .map(|(id, item)| Event::Item { id: ItemId(id), item })
            .collect();
        self.record(&mut state, &events).await?;
        Ok((first..state.session.items()).map(ItemId).collect())
    }

    /// The view for the next request; compacts first where that is due.
    pub async fn assemble(&self, budget: &Budget) -> Result<View, TurnError> {
        let mut state = self.state.lock().await;
        let source = state.session.shown();
        verify::request_fits(&source, budget, state.session.meter())?;
        let engine = state.engine(&self.engine);
        if !engine
            .as_ref()
            .is_some_and(|engine| engine.info().owns_compaction)
        {
            drop(state);
            self.compact(budget, Trigger::Auto).await?;
            state = self.state.lock().await;
        }
        let Some(engine) = engine else {
            return Ok(state.session.assemble(budget)?);
        };
        let source = state.session.shown();
        let made = isolate::run(&*self.clock, engine.assemble(source.clone(), budget.limit())).await;
        let Some(made) = state.heed(made) else {
            drop(state);
            return self.own_view(budget).await;
        };
        let session = &state.session;
        Ok(verify::view(
            &source,
            made.items,
            &session.pending(),
            budget,
            session.meter(),
        )?)
    }

    /// The host's own view, for a turn in which the engine failed.
    async fn own_view(&self, budget: &Budget) -> Result<View, TurnError> {
        self.compact_here(budget, Trigger::Auto).await?;
        Ok(self.state.lock().await.session.assemble(budget)?)
    }

    /// Compacts where it is due, or because somebody asks; tells each attempt. An engine that owns compaction does it itself,
    /// and there is nothing to tell.
    pub async fn compact(&self, budget: &Budget, trigger: Trigger) -> Result<Vec<Attempt>, TurnError> {
        {
            let mut state = self.state.lock().await;
            if let Some(engine) = state
                .engine(&self.engine)
                .filter(|engine| engine.info().owns_compaction)
            {
                let target = state.session.inputs(budget).target;
                let made = isolate::run(&*self.clock, engine.compact(state.session.shown(), target)).await;
                if state.heed(made).is_some() {
                    return Ok(Vec::new());
                }
            }
        }
        self.compact_here(budget, trigger).await
    }

    async fn compact_here(&self, budget: &Budget, trigger: Trigger) -> Result<Vec<Attempt>, TurnError> {
        let mut ladder = Ladder::new(*budget, trigger);
        loop {
            let plan = ladder.next(&self.state.lock().await.session);
            let Some(plan) = plan else { break };
            let gain = self.carry_out(&plan).await?;
            ladder.tell(plan, gain);
        }
        let mut state = self.state.lock().await;
        let attempts = ladder.finish(&mut state.session);
        if attempts.iter().any(|attempt| attempt.gain.is_some()) {
            state.last_result = Some(attempts.clone());
            state.last_compaction = Some(self.clock.now());
        }
        Ok(attempts)
    }

    /// Carries out one plan; gives the gain, none when it was refused. What arrives while a model writes is kept: the plan
    /// holds only for the view it was made for.
    async fn carry_out(&self, plan: &Plan) -> Result<Option<usize>, TurnError> {
        self.keep(plan).await?;
        let summary = self.summary(plan).await;
        let mut state = self.state.lock().await;
        let before = state.session.tokens();
        let Ok(events) = state.session.commit(plan, summary.as_deref()) else {
            return Ok(None);
        };
        self.record(&mut state, &events).await?;
        Ok(Some(before.saturating_sub(state.session.tokens())))
    }

    /// Keeps facts of what a plan takes out, once for each stretch, before it leaves.
    async fn keep(&self, plan: &Plan) -> Result<(), TurnError> {
        let Some(keeping) = &self.keeping else {
            return Ok(());
        };
        let work = {
            let session = &self.state.lock().await.session;
            let leaving = session.leaving(plan);
            let span: Vec<(ItemId, &Item)> = leaving
                .into_iter()
                .filter_map(|(id, item)| Some((id?, item)))
                .collect();
            flush::work(keeping, &span).filter(|work| !session.has_flushed(work.key()))
        };
        let Some(work) = work else { return Ok(()) };
        let key = work.key().to_owned();
        let report = work
            .carry_out(keeping, self.chat.as_deref(), self.clock.now())
            .await;
        if matches!(report.reason, Some(Unflushed::Failed | Unflushed::Unwritable)) {
            return Ok(());
        }
        let mut state = self.state.lock().await;
        self.record(
            &mut state,
            &[Event::Flush {
                key,
                facts: report.facts,
            }],
        )
        .await
    }

    async fn summary(&self, plan: &Plan) -> Option<String> {
        let chat = self.chat.as_ref()?;
        let (leaving, meter) = {
            let session = &self.state.lock().await.session;
            let leaving = session.leaving(plan).into_iter().map(|(_, item)| item.clone());
            (leaving.collect::<Vec<Item>>(), session.meter().clone())
        };
        summarise::by_model(&**chat, &leaving, plan.node_tokens_max / 2, &meter).await
    }

    /// Records a model's reply.
    pub async fn after_turn(&self, reply: Item) -> Result<ItemId, TurnError> {
        let reply = Arc::new(reply);
        let mut state = self.state.lock().await;
        let event = state.session.arrival(Arc::clone(&reply));
        let id = ItemId(state.session.items());
        self.record(&mut state, std::slice::from_ref(&event)).await?;
        if let Some(engine) = state.engine(&self.engine) {
            let items = state.session.shown();
            let told = isolate::run(&*self.clock, engine.after_turn(&items, &reply)).await;
            state.heed(told);
        }
        Ok(id)
    }

    /// Learns what the backend reported for a view, cached tokens included.
    pub async fn record_usage(&self, view: &View, reported_tokens: usize) {
        self.state
            .lock()
            .await
            .session
            .record_usage(view.counted, reported_tokens);
    }

    /// What a sub-agent of that role starts with. Nothing of it enters this conversation but what is ingested.
    pub async fn prepare_subagent_spawn(&self, role: &str) -> Vec<Arc<Item>> {
        let mut state = self.state.lock().await;
        let items = state.session.shown();
        let made = match state.engine(&self.engine) {
            Some(engine) => {
                isolate::run(&*self.clock, engine.prepare_subagent_spawn(items.clone(), role)).await
            }
            None => Err(EngineFault::Failed("quarantined".to_owned())),
        };
        if let Some(made) = state.heed(made) {
            return made;
        }
        crate::standard::for_subagent(items, role)
    }

    /// Tells the engine that a sub-agent ended.
    pub async fn on_subagent_ended(&self, agent_id: &str, items: &[Arc<Item>], result: Option<&str>) {
        let mut state = self.state.lock().await;
        if let Some(engine) = state.engine(&self.engine) {
            let told = isolate::run(&*self.clock, engine.on_subagent_ended(agent_id, items, result)).await;
            state.heed(told);
        }
    }

    /// Records events and takes them in: on disk first.
    async fn record(&self, state: &mut State, events: &[Event]) -> Result<(), TurnError> {
        if events.is_empty() {
            return Ok(());
        }
        match self.archive.append(state.at, events).await {
            Ok(at) => state.at = at,
            // The log holds what this handle does not know of: an append whose answer was lost, or another handle's.
            Err(LedgerError::Conflict) => {
                self.reopen(state).await?;
                return Err(LedgerError::Conflict.into());
            }
            Err(error) => return Err(error.into()),
        }
        for event in events {
            state.session.apply(event);
        }
        Ok(())
    }

    /// Keeps an item verbatim whatever is compacted, or no longer.
    pub async fn pin(&self, id: ItemId, pinned: bool) -> Result<(), TurnError> {
        let mut state = self.state.lock().await;
        if id.0 >= state.session.items() {
            return Err(TurnError::Unknown(id));
        }
        let must_restore = state.session.must_restore(id, pinned);
        let event = if pinned { Event::Pin(id) } else { Event::Unpin(id) };
        self.record(&mut state, &[event]).await?;
        if must_restore {
            self.reopen(&mut state).await
        } else {
            Ok(())
        }
    }

    /// Says which calls still run.
    pub async fn set_pending(&self, pending: BTreeSet<String>) {
        self.state.lock().await.session.set_pending(pending);
    }

    /// An item as it arrived, whatever became of it in the view.
    pub async fn recover(&self, id: ItemId) -> Result<Arc<Item>, TurnError> {
        match self.archive.event(id).await? {
            Some(Event::Item { item, .. }) => Ok(item),
            Some(Event::Forget(_)) => Err(TurnError::Deleted(id)),
            _ => Err(TurnError::Unknown(id)),
        }
    }

    /// The newest items that hold all these words.
    pub async fn find(&self, words: &str, limit: usize) -> Result<Vec<ItemId>, TurnError> {
        let found = self.archive.store.find(&self.archive.key, words, limit).await?;
        Ok(found.into_iter().map(ItemId).collect())
    }

    /// Goes on from just before this item.
    pub async fn rewind(&self, to: ItemId) -> Result<(), TurnError> {
        let mut state = self.state.lock().await;
        self.record(&mut state, &[Event::Rewind(to)]).await?;
        self.reopen(&mut state).await
    }

    /// Begins another conversation with a copy of this one.
    pub async fn fork(&self, to: &SessionId) -> Result<(), TurnError> {
        let state = self.state.lock().await;
        Ok(self.archive.store.fork(&self.archive.key, state.at, to).await?)
    }

    /// Deletes an item for good: from the log, from every node that was made of it.
    pub async fn forget(&self, id: ItemId) -> Result<(), TurnError> {
        let mut state = self.state.lock().await;
        let events = self.archive.events().await?;
        let forgotten = context::forget::rewrite(&events, id).ok_or(TurnError::Unknown(id))?;
        let records = forgotten
            .into_iter()
            .map(|(at, event)| (at, crate::archive::to_record(&event)))
            .collect();
        self.archive
            .store
            .replace(&self.archive.key, state.at, records, Vec::new())
            .await?;
        self.reopen(&mut state).await
    }

    async fn reopen(&self, state: &mut State) -> Result<(), TurnError> {
        let events = self.archive.events().await?;
        state.at = events.len() as u64;
        let (policy, meter) = (state.session.policy().clone(), state.session.meter().clone());
        let mut session = Session::restore(policy, meter, events);
        session.succeed(&state.session);
        state.session = session;
        Ok(())
    }

    /// Looks at the state.
    pub async fn inspect<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        look(&self.state.lock().await.session)
    }

    /// The faults of the engine, oldest first.
    pub async fn faults(&self) -> Vec<EngineFault> {
        self.state.lock().await.faults.clone()
    }
}

impl State {
    /// The engine, unless it failed too often.
    fn engine(&self, engine: &Arc<dyn ContextEngine>) -> Option<Arc<dyn ContextEngine>> {
        (self.faults_in_a_row < FAULTS_MAX).then(|| Arc::clone(engine))
    }

    /// Notes how a hook went.
    fn heed<T>(&mut self, result: Result<T, EngineFault>) -> Option<T> {
        match result {
            Ok(value) => {
                self.faults_in_a_row = 0;
                Some(value)
            }
            Err(fault) => {
                tracing::warn!(%fault, "a context engine is passed over");
                self.faults_in_a_row += 1;
                self.faults.push(fault);
                None
            }
        }
    }
}
