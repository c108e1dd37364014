//! Figures and lists of a conversation, for people and programs.
//!
//! Owns: the size of the view, the ranges of its summaries, the compactions. Never: changing the log.

use std::borrow::Cow;
use std::sync::Arc;

use context::event::ViewEvent;
use context::ladder::Attempt;
use context::plan::Trigger;
use context::ranges;
use context::session::{PieceContent, SessionMetrics};
use model::Timestamp;
use ports::context_engine::EngineFault;
use prefix::shadow::Reason;
use transcript::spoken::without_additions;
use transcript::{Item, ItemId, Role};

use crate::conversation::contexts::Compaction;
use crate::conversation::state::Conversation;

/// Shares of the limit from which a view is near it, and critical.
const NEAR_SHARE: f64 = 0.75;
const CRITICAL_SHARE: f64 = 0.90;

/// The figures of a conversation.
#[derive(Debug, Clone)]
pub struct Stats {
    /// Tokens of the view, waiting messages included.
    pub tokens: usize,
    /// System text and tools, in tokens, as of the last request.
    pub head_tokens: usize,
    /// Maximum tokens of the view; none before a budget is known.
    pub limit: Option<usize>,
    /// The model's window, in tokens.
    pub window: Option<usize>,
    /// Share of the limit: 0 to 1, and above 1 if exceeded.
    pub share: Option<f64>,
    /// Tokens of the view at which a request compacts it.
    pub compacts_at: Option<usize>,
    pub is_near_limit: bool,
    pub is_critical: bool,
    /// Messages in view, summaries included.
    pub messages: usize,
    /// Number of messages that ever arrived.
    pub messages_ever: u64,
    pub model: String,
    /// Counted from 1; 0 before the first request.
    pub epoch: u64,
    /// Why the epoch began.
    pub reasons: Vec<Reason>,
    pub metrics: SessionMetrics,
    /// Number of budget warnings that still apply.
    pub warnings: usize,
    pub last_compaction: Option<Timestamp>,
    /// Attempts of the last compaction.
    pub last_attempts: Vec<Attempt>,
    /// Faults of a plug-in engine, the newest last.
    pub faults: Vec<EngineFault>,
}

/// One message of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewMessage {
    /// `m17` for a message, `n3` for a summary.
    pub id: String,
    pub role: &'static str,
    pub tokens: usize,
    pub is_pinned: bool,
    /// Its text, calls and results.
    pub text: String,
}

impl Conversation {
    /// The view and the waiting messages, one by one.
    pub(crate) fn view_messages(&self) -> Vec<ViewMessage> {
        let shown = |id: String, item: &Item, tokens: usize, is_pinned: bool| ViewMessage {
            id,
            role: item.role.as_str(),
            tokens,
            is_pinned,
            text: item.words(),
        };
        let pieces = self.session.frontier().iter().map(|piece| {
            let id = match &piece.what {
                PieceContent::Item { id, .. } => id.to_string(),
                PieceContent::Node(node) => node.id.to_string(),
            };
            let is_pinned = piece.item.role != Role::System && self.session.stays(piece);
            shown(id, &piece.item, piece.tokens, is_pinned)
        });
        let first = self.session.items();
        let waiting = (first..).zip(&self.appended).map(|(at, bytes)| {
            let item = Self::read(bytes);
            shown(
                ItemId(at).to_string(),
                &item,
                self.session.meter().item(&item),
                false,
            )
        });
        pieces.chain(waiting).collect()
    }

    /// The figures, for a request in a window of this many tokens, or for the last request.
    pub fn stats(&self, window_tokens: Option<usize>) -> Stats {
        let budget = self.budget_in(window_tokens);
        let meter = self.session.meter();
        let waiting: usize = self
            .appended
            .iter()
            .map(|bytes| meter.item(&Self::read(bytes)))
            .sum();
        let tokens = self.session.view_tokens() + waiting;
        let limit = budget.map(|budget| budget.limit());
        let share = limit.map(|limit| {
            if limit == 0 {
                1.0
            } else {
                tokens as f64 / limit as f64
            }
        });
        Stats {
            tokens,
            head_tokens: self.budget.map_or(0, |budget| budget.tools),
            limit,
            window: budget.map(|budget| budget.window),
            share,
            compacts_at: budget.map(|budget| self.session.inputs(&budget).threshold),
            is_near_limit: share.is_some_and(|share| share > NEAR_SHARE),
            is_critical: share.is_some_and(|share| share > CRITICAL_SHARE),
            messages: self.session.frontier().len() + self.appended.len(),
            messages_ever: self.session.items() + self.appended.len() as u64,
            model: self.shadow.head().model.clone(),
            epoch: self.shadow.epoch(),
            reasons: self.shadow.reasons().to_vec(),
            metrics: self.session.metrics().clone(),
            warnings: self.warnings.sent(),
            last_compaction: self.last_compaction,
            last_attempts: self.last_result.clone().unwrap_or_default(),
            faults: self.health.faults.clone(),
        }
    }

    /// A compaction that is about to begin.
    pub(crate) fn compaction(&self, trigger: Trigger) -> Compaction {
        Compaction {
            conversation: self.key.clone(),
            reason: trigger.as_str(),
            tokens_before: self.session.view_tokens(),
            messages_before: self.session.frontier().len(),
            tokens_after: None,
            messages_after: None,
        }
    }

    /// The items that summaries have covered since the log had this many events, without Quipu's additions to them, and
    /// without items that memory may not learn from.
    pub(crate) fn covered_since(&self, events: usize) -> Vec<(ItemId, Arc<Item>)> {
        let nodes = self.log.iter().skip(events).filter_map(|event| match event {
            ViewEvent::Node(node) => Some(&node.covers),
            _ => None,
        });
        let covers = nodes.fold(Vec::new(), |covers, more| ranges::union(&covers, more));
        let items = self.log.iter().filter_map(|event| match event {
            ViewEvent::Item { id, item } if ranges::contains(&covers, *id) && !self.private.contains(id) => {
                Some((*id, client_item(item)))
            }
            _ => None,
        });
        items.collect()
    }

    /// The system text, the view and the waiting messages.
    pub(crate) fn with_waiting(&self) -> Vec<Arc<Item>> {
        let head = self.shadow.head();
        let system = head.messages.iter().map(|bytes| Arc::new(Self::read(bytes)));
        let field = head.system.as_ref().map(|text| {
            let text = serde_json::from_str(text).unwrap_or_else(|_| text.clone());
            Arc::new(Item::text(Role::System, text))
        });
        let waiting = self.appended.iter().map(|bytes| Arc::new(Self::read(bytes)));
        system
            .chain(field)
            .chain(self.session.view_items())
            .chain(waiting)
            .collect()
    }
}

/// An item without what Quipu added to it.
fn client_item(item: &Arc<Item>) -> Arc<Item> {
    match without_additions(item) {
        Cow::Borrowed(_) => Arc::clone(item),
        Cow::Owned(item) => Arc::new(item),
    }
}
