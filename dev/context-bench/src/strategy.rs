//! The compared strategies: the view of a conversation that each gives a model.
//!
//! Owns: one interface for ours and the others. Never: the others' algorithms; [`crate::others`] has them.

use std::sync::Arc;

use context::budget::Budget;
use context::event::ViewEvent;
use context::plan::Trigger;
use context::policy::Policy;
use context::session::Session;
use context::tokens::Meter;
use transcript::{Item, ItemId};

use crate::others;

/// A strategy: it chooses the view of a conversation for each request.
pub trait Strategy {
    /// Its name in a table.
    fn name(&self) -> &str;
    /// Adds the items since the last request and returns the view for the next one, within `limit` tokens.
    fn request(&mut self, arrived: &[Arc<Item>], limit: usize) -> Vec<Arc<Item>>;
    /// The same for a request whose view nobody reads.
    fn pass(&mut self, arrived: &[Arc<Item>], limit: usize) {
        self.request(arrived, limit);
    }
}

/// Quipu's engine by one policy.
#[derive(Debug)]
pub struct Engine {
    session: Session,
    name: String,
    log: Vec<ViewEvent>,
}

impl Engine {
    pub fn new(policy: Policy, meter: Meter) -> Self {
        let name = match policy.name {
            "quipu" => "quipu".to_owned(),
            name => format!("quipu as {name}"),
        };
        Self {
            session: Session::new(policy, meter),
            name,
            log: Vec::new(),
        }
    }

    /// Keeps an item verbatim from now on.
    pub fn pin(&mut self, id: ItemId) {
        self.record(ViewEvent::Pin(id));
    }

    fn record(&mut self, event: ViewEvent) {
        self.session.apply(&event);
        self.log.push(event);
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// All recorded events.
    pub fn log(&self) -> &[ViewEvent] {
        &self.log
    }

    /// Adds items without a request.
    pub fn ingest(&mut self, arrived: &[Arc<Item>]) {
        for item in arrived {
            self.record(self.session.arrival(Arc::clone(item)));
        }
    }
}

impl Strategy for Engine {
    fn name(&self) -> &str {
        &self.name
    }

    fn request(&mut self, arrived: &[Arc<Item>], limit: usize) -> Vec<Arc<Item>> {
        self.ingest(arrived);
        let log = &mut self.log;
        self.session.fit(&Budget::view(limit), Trigger::Auto, |event| {
            log.push(event.clone());
        });
        self.session
            .assemble(&Budget::view(limit))
            .map(|view| view.items)
            .unwrap_or_default()
    }
}

/// A pure function of the whole history: systems without a log compute it before each request.
pub type Recompute = fn(&[Arc<Item>], usize, &Meter) -> Vec<Arc<Item>>;

/// A strategy that computes its view anew for each request.
#[derive(Debug)]
pub struct Stateless {
    name: &'static str,
    view: Recompute,
    meter: Meter,
    history: Vec<Arc<Item>>,
}

impl Stateless {
    pub fn new(name: &'static str, view: Recompute, meter: Meter) -> Self {
        Self {
            name,
            view,
            meter,
            history: Vec::new(),
        }
    }
}

impl Strategy for Stateless {
    fn name(&self) -> &str {
        self.name
    }

    fn request(&mut self, arrived: &[Arc<Item>], limit: usize) -> Vec<Arc<Item>> {
        self.history.extend_from_slice(arrived);
        (self.view)(&self.history, limit, &self.meter)
    }

    fn pass(&mut self, arrived: &[Arc<Item>], _: usize) {
        self.history.extend_from_slice(arrived);
    }
}

/// A strategy that works on its own last view, like systems that replace their history.
#[derive(Debug)]
pub struct InPlace {
    name: &'static str,
    shrink: Recompute,
    meter: Meter,
    view: Vec<Arc<Item>>,
    tokens: usize,
}

impl InPlace {
    pub fn new(name: &'static str, shrink: Recompute, meter: Meter) -> Self {
        Self {
            name,
            shrink,
            meter,
            view: Vec::new(),
            tokens: 0,
        }
    }
}

impl Strategy for InPlace {
    fn name(&self) -> &str {
        self.name
    }

    fn request(&mut self, arrived: &[Arc<Item>], limit: usize) -> Vec<Arc<Item>> {
        let weigh = |items: &[Arc<Item>]| items.iter().map(|item| self.meter.item(item)).sum::<usize>();
        self.view.extend_from_slice(arrived);
        self.tokens += weigh(arrived);
        if self.tokens > limit {
            self.view = (self.shrink)(&self.view, limit, &self.meter);
            self.tokens = weigh(&self.view);
        }
        self.view.clone()
    }
}

/// Shows everything, whatever the limit: the cost without compaction.
pub const NONE: &str = "no compaction";
/// The sliding window: the cost tables compare prices with it at each limit.
pub const WINDOW: &str = "window of tokens";
/// The reference of the bar for survival.
pub const LEGACY: &str = "code-buddy";

/// Quipu's engine with each preset.
pub fn ours(meter: &Meter) -> Vec<Box<dyn Strategy>> {
    Policy::PRESETS
        .iter()
        .filter_map(|name| Policy::preset(name))
        .map(|policy| Box::new(Engine::new(policy, meter.clone())) as Box<dyn Strategy>)
        .collect()
}

/// The other systems' strategies, each in its initial state.
pub fn others(meter: &Meter) -> Vec<Box<dyn Strategy>> {
    let replacing: [(&'static str, Recompute); 5] = [
        (LEGACY, others::codebuddy),
        ("code-buddy importance", others::importance),
        ("Codex", others::codex),
        ("OpenHands halving", others::halving),
        ("opencode prune", others::opencode_prune),
    ];
    let recomputing: [(&'static str, Recompute); 4] = [
        ("Anthropic clear tool uses", others::clear_tool_uses),
        ("mask observations", others::mask_observations),
        ("window of messages", others::window_by_messages),
        (WINDOW, others::window_by_tokens),
    ];
    let replacing = replacing
        .map(|(name, shrink)| Box::new(InPlace::new(name, shrink, meter.clone())) as Box<dyn Strategy>);
    let recomputing = recomputing
        .map(|(name, view)| Box::new(Stateless::new(name, view, meter.clone())) as Box<dyn Strategy>);
    replacing.into_iter().chain(recomputing).collect()
}

/// Shows the whole history.
pub fn everything(meter: &Meter) -> Stateless {
    Stateless::new(NONE, |history, _, _| history.to_vec(), meter.clone())
}
