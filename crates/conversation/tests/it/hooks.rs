//! The order of the hooks, and what becomes of an engine that errs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use context::budget::{Budget, OverBudgetCode};
use context::plan::Trigger;
use conversation::{
    Assembled, ContextEngine, EngineFault, EngineInfo, Opening, Standard, TurnError, TurnMeta,
};
use testkit::clock::ManualClock;
use testkit::ledger::MemoryLedger;
use transcript::{Item, Role};

use crate::common::{open, opening, reply, user};

/// What an engine under test does with a list.
type Deed = fn(Vec<Arc<Item>>) -> Result<Vec<Arc<Item>>, EngineFault>;

/// An engine that records the order of its hooks.
#[derive(Debug)]
struct Recorder {
    owns: bool,
    assemble: Deed,
    called: Mutex<Vec<&'static str>>,
}

impl Recorder {
    fn new(owns: bool, assemble: Deed) -> Arc<Self> {
        Arc::new(Self {
            owns,
            assemble,
            called: Mutex::default(),
        })
    }

    fn note(&self, hook: &'static str) {
        self.called.lock().unwrap().push(hook);
    }
}

#[async_trait]
impl ContextEngine for Recorder {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: "recorder".to_owned(),
            owns_compaction: self.owns,
        }
    }

    async fn bootstrap(&self) -> Result<(), EngineFault> {
        self.note("bootstrap");
        Ok(())
    }

    async fn ingest(&self, items: Vec<Arc<Item>>, _meta: &TurnMeta) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("ingest");
        Ok(items)
    }

    async fn assemble(&self, items: Vec<Arc<Item>>, _limit: usize) -> Result<Assembled, EngineFault> {
        self.note("assemble");
        (self.assemble)(items).map(|items| Assembled { items, tokens: 1 })
    }

    async fn compact(&self, items: Vec<Arc<Item>>, _target: usize) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("compact");
        Ok(items)
    }

    async fn after_turn(&self, _items: &[Arc<Item>], _reply: &Item) -> Result<(), EngineFault> {
        self.note("after_turn");
        Ok(())
    }

    async fn prepare_subagent_spawn(
        &self,
        items: Vec<Arc<Item>>,
        _role: &str,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        self.note("prepare_subagent_spawn");
        Ok(items)
    }

    async fn on_subagent_ended(&self, _: &str, _: &[Arc<Item>], _: Option<&str>) -> Result<(), EngineFault> {
        self.note("on_subagent_ended");
        Ok(())
    }
}

#[tokio::test]
async fn ce_1_the_host_calls_the_hooks_in_order() {
    let store = Arc::new(MemoryLedger::new());
    let engine = Recorder::new(true, Ok);
    let conversation = open(opening(&store, Arc::<Recorder>::clone(&engine))).await;
    conversation
        .ingest(vec![user("hi")], &TurnMeta::default())
        .await
        .unwrap();
    conversation.assemble(&Budget::view(1_000)).await.unwrap();
    conversation
        .compact(&Budget::view(1_000), Trigger::Manual)
        .await
        .unwrap();
    conversation.after_turn(reply("hello")).await.unwrap();
    conversation.prepare_subagent_spawn("explorer").await;
    conversation.on_subagent_ended("a1", &[], Some("done")).await;
    let called = engine.called.lock().unwrap().clone();
    let order = [
        "bootstrap",
        "ingest",
        "assemble",
        "compact",
        "after_turn",
        "prepare_subagent_spawn",
        "on_subagent_ended",
    ];
    assert_eq!(called, order);
}

#[tokio::test]
async fn ce_8_a_subagent_starts_with_the_system_and_the_newest() {
    let mut items = vec![Arc::new(Item::text(Role::System, "be kind"))];
    items.extend((0..30).map(|n| Arc::new(user(&format!("m{n}")))));
    let engine = Standard::default();
    let explorer = engine
        .prepare_subagent_spawn(items.clone(), "explorer")
        .await
        .unwrap();
    let other = engine.prepare_subagent_spawn(items, "writer").await.unwrap();
    assert_eq!((explorer.len(), other.len()), (11, 21));
    assert_eq!(explorer[0].role, Role::System);
}

#[tokio::test]
async fn ce_12_what_an_engine_returns_is_verified() {
    let system = || Item::text(Role::System, "never delete");
    let view = |deed: Deed, limit: usize| async move {
        let store = Arc::new(MemoryLedger::new());
        let conversation = open(opening(&store, Recorder::new(true, deed))).await;
        let items = vec![system(), user("first"), reply("yes"), user("second")];
        conversation.ingest(items, &TurnMeta::default()).await.unwrap();
        conversation.assemble(&Budget::view(limit)).await
    };
    let mended = view(|items| Ok(items[2..].to_vec()), 1_000).await.unwrap();
    assert_eq!(*mended.items[0], system(), "a dropped system item comes back");
    assert!(mended.tokens > 1, "the host counts by itself");
    let code = |result: Result<_, TurnError>| match result {
        Err(TurnError::OverBudget(error)) => error.code,
        other => panic!("{other:?}"),
    };
    let dropped = view(|items| Ok(items[..2].to_vec()), 1_000).await.map(|_| ());
    assert_eq!(code(dropped), OverBudgetCode::CurrentRequestDropped);
    let huge: Deed = |mut items| {
        items.insert(1, Arc::new(user(&"long ".repeat(2_000))));
        Ok(items)
    };
    assert_eq!(
        code(view(huge, 1_000).await.map(|_| ())),
        OverBudgetCode::CompactionExceedsLimit
    );
    assert_eq!(
        code(view(|_| panic!("not asked"), 2).await.map(|_| ())),
        OverBudgetCode::CurrentRequestExceedsBudget
    );
}

#[tokio::test]
async fn i31_a_failing_engine_is_passed_over_and_then_left_alone() {
    let store = Arc::new(MemoryLedger::new());
    let engine = Recorder::new(true, |_| panic!("a fault of a plug-in"));
    let conversation = open(opening(&store, Arc::<Recorder>::clone(&engine))).await;
    conversation
        .ingest(vec![user("hi")], &TurnMeta::default())
        .await
        .unwrap();
    for _ in 0..5 {
        let view = conversation.assemble(&Budget::view(1_000)).await.unwrap();
        assert_eq!(view.items.len(), 1, "the turn goes on with the host's own view");
    }
    assert_eq!(conversation.faults().await, vec![EngineFault::Panicked; 3]);
    let asked = engine
        .called
        .lock()
        .unwrap()
        .iter()
        .filter(|hook| **hook == "assemble")
        .count();
    assert_eq!(asked, 3, "after three faults it is no longer asked");
}

#[derive(Debug)]
struct Endless;

#[async_trait]
impl ContextEngine for Endless {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: "endless".to_owned(),
            owns_compaction: false,
        }
    }

    async fn assemble(&self, _: Vec<Arc<Item>>, _: usize) -> Result<Assembled, EngineFault> {
        std::future::pending().await
    }

    async fn compact(&self, _: Vec<Arc<Item>>, _: usize) -> Result<Vec<Arc<Item>>, EngineFault> {
        std::future::pending().await
    }

    async fn prepare_subagent_spawn(
        &self,
        _: Vec<Arc<Item>>,
        _: &str,
    ) -> Result<Vec<Arc<Item>>, EngineFault> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn i31_an_endless_engine_is_left_after_its_time() {
    let store = Arc::new(MemoryLedger::new());
    let clock = Arc::new(ManualClock::new());
    let opening = Opening {
        clock: Arc::<ManualClock>::clone(&clock),
        ..opening(&store, Arc::new(Endless))
    };
    let conversation = open(opening).await;
    conversation
        .ingest(vec![user("hi")], &TurnMeta::default())
        .await
        .unwrap();
    let budget = Budget::view(1_000);
    let move_on = async {
        clock.sleeping(1).await;
        clock.advance(Duration::from_secs(5));
    };
    let (view, ()) = tokio::join!(conversation.assemble(&budget), move_on);
    assert_eq!(view.unwrap().items.len(), 1);
    assert_eq!(conversation.faults().await, vec![EngineFault::TimedOut(5_000)]);
}
