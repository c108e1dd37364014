//! One conversation: the fold of its events.
//!
//! Owns: the frontier (the items and nodes in the view, in order), pins, pending calls, counters. Invariants: every
//! item that arrived and was not rewound or deleted is in the frontier or covered by exactly one node of it; only
//! [`Session::apply`] changes the state of the log. Never: choosing items to compact; keeping originals that left the
//! frontier.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::tokens::{Calibration, Meter};
use transcript::{Block, Item, ItemId, Role};

use crate::event::{Mask, Node, NodeId, ViewEvent};
use crate::policy::Policy;
use crate::ranges;

/// One place of the frontier.
#[derive(Debug, Clone)]
pub struct Piece {
    pub what: PieceContent,
    /// The item that the view shows at this place.
    pub item: Arc<Item>,
    pub tokens: usize,
}

/// Content of a place in the frontier.
#[derive(Debug, Clone)]
pub enum PieceContent {
    /// An item; some of its results may be masked.
    Item {
        id: ItemId,
        masked: bool,
    },
    Node(Arc<Node>),
}

impl Piece {
    /// The item's id; none for a node.
    pub fn item_id(&self) -> Option<ItemId> {
        match &self.what {
            PieceContent::Item { id, .. } => Some(*id),
            PieceContent::Node(_) => None,
        }
    }
}

/// The state of one conversation.
#[derive(Debug, Clone, Default)]
pub struct Session {
    policy: Policy,
    meter: Meter,
    next_item: u64,
    next_node: u64,
    frontier: Vec<Piece>,
    tokens: usize,
    pins: BTreeSet<ItemId>,
    /// Pinned items that are in the view although a node or a mask once replaced them.
    lifted: BTreeSet<ItemId>,
    /// Calls of the newest turn without a result yet; an id shared by two of them occurs twice.
    awaited: Vec<String>,
    flushed: BTreeSet<String>,
    /// The backend's reported token counts of requests.
    calibration: Calibration,
    /// Rises with each event that changes the view before its end.
    epoch: u64,
    /// Size at which a compaction last gained too little.
    refused_at: Option<usize>,
    metrics: SessionMetrics,
}

/// Counters of one conversation since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionMetrics {
    /// Number of nodes in the frontier, and their tokens.
    pub nodes: usize,
    pub nodes_tokens: usize,
    /// Maximum number of items that the frontier ever had.
    pub frontier_items_peak: usize,
    pub compactions: usize,
    pub masks: usize,
    pub saved_tokens: usize,
}

impl Session {
    /// An empty conversation.
    pub fn new(policy: Policy, meter: Meter) -> Self {
        Self {
            policy,
            meter,
            ..Self::default()
        }
    }

    /// Restores the conversation of a log. Covered items are not counted, so the cost depends on the view only.
    pub fn restore(policy: Policy, meter: Meter, log: Vec<ViewEvent>) -> Self {
        let mut session = Self::new(policy, meter);
        for event in &log {
            match event {
                ViewEvent::Item { id, .. } | ViewEvent::Forget(id) => {
                    session.next_item = session.next_item.max(id.0 + 1);
                }
                ViewEvent::Node(node) => session.next_node = session.next_node.max(node.id.0 + 1),
                _ => {}
            }
        }
        let log = live(log);
        let pins = pinned_at_the_end(&log);
        let covered = ranges::without(&covered_at_the_end(&log), &pins);
        session.lifted = pins;
        for event in log {
            match event {
                ViewEvent::Item { id, item } if ranges::contains(&covered, id) => session.push(id, item, 0),
                event => session.apply(&event),
            }
        }
        session.metrics = SessionMetrics::default();
        session.count_nodes();
        session
    }

    /// Applies a recorded event. A rewind restores items that compactions hid: only [`Session::restore`] can apply it.
    pub fn apply(&mut self, event: &ViewEvent) {
        match event {
            ViewEvent::Item { id, item } => {
                let tokens = self.meter.item(item);
                self.push(*id, Arc::clone(item), tokens);
            }
            ViewEvent::Node(node) => self.put_node(node),
            ViewEvent::Masks(masks) => self.put_masks(masks),
            ViewEvent::Rewrite { id, item } => self.rewrite(*id, item),
            ViewEvent::Pin(id) => {
                self.pins.insert(*id);
            }
            ViewEvent::Unpin(id) => {
                self.pins.remove(id);
            }
            ViewEvent::Flush { key, .. } => {
                self.flushed.insert(key.clone());
            }
            ViewEvent::Rewind(_) => {}
            ViewEvent::Forget(id) => self.forget(*id),
        }
    }

    /// Whether pinning or unpinning this item changes if its original is shown: then the session must be restored from
    /// its log, which has the original.
    pub fn must_restore(&self, id: ItemId, pinned: bool) -> bool {
        if pinned {
            !self.shows_original(id)
        } else {
            self.lifted.contains(&id)
        }
    }

    /// Makes this restored session the successor of an earlier one: the earlier one's plans are void.
    pub fn succeed(&mut self, earlier: &Self) {
        self.epoch = self.epoch.max(earlier.epoch) + 1;
        self.calibration.clone_from(&earlier.calibration);
        self.calibration.forget_usage();
        self.metrics = earlier.metrics.clone();
        self.count_nodes();
    }

    /// The event of an arriving item.
    pub fn arrival(&self, item: Arc<Item>) -> ViewEvent {
        ViewEvent::Item {
            id: ItemId(self.next_item),
            item,
        }
    }

    /// Counts again, for another model.
    pub fn set_meter(&mut self, meter: Meter) {
        self.meter = meter;
        for piece in &mut self.frontier {
            piece.tokens = self.meter.item(&piece.item);
        }
        self.tokens = self.frontier.iter().map(|piece| piece.tokens).sum();
        self.refused_at = None;
        self.calibration = Calibration::default();
    }

    /// Records that the backend counted `reported` tokens, cached ones included, for a view of `counted` tokens.
    pub fn record_usage(&mut self, counted: usize, reported: usize) {
        self.calibration.record(counted, reported);
    }

    /// The backend's expected count for this many counted tokens.
    pub fn calibrated(&self, counted: usize) -> usize {
        self.calibration.estimate(counted)
    }

    /// Records that a compaction gained too little, so that it is not tried again until the view has grown.
    pub fn refuse(&mut self) {
        self.refused_at = Some(self.tokens);
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    pub fn frontier(&self) -> &[Piece] {
        &self.frontier
    }

    /// The items of the frontier, in order.
    pub fn view_items(&self) -> Vec<Arc<Item>> {
        self.frontier
            .iter()
            .map(|piece| Arc::clone(&piece.item))
            .collect()
    }

    /// Whether the frontier contains an item in its original form.
    pub fn shows_original(&self, id: ItemId) -> bool {
        self.frontier
            .iter()
            .any(|piece| matches!(piece.what, PieceContent::Item { id: shown, masked: false } if shown == id))
    }

    /// Tokens of the frontier.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Number of items that arrived.
    pub fn items(&self) -> u64 {
        self.next_item
    }

    /// The running calls: those of the newest turn without a result.
    pub fn pending(&self) -> BTreeSet<String> {
        self.awaited.iter().cloned().collect()
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn metrics(&self) -> &SessionMetrics {
        &self.metrics
    }

    /// Resets the counters of masks and of the largest view. Compactions and their saved tokens stay counted.
    pub fn clean_up(&mut self) {
        self.metrics = SessionMetrics {
            compactions: self.metrics.compactions,
            saved_tokens: self.metrics.saved_tokens,
            ..SessionMetrics::default()
        };
        self.count_nodes();
    }

    pub(crate) fn refused_at(&self) -> Option<usize> {
        self.refused_at
    }

    pub(crate) fn next_node(&self) -> NodeId {
        NodeId(self.next_node)
    }

    /// Whether a flush with this key was recorded.
    pub fn has_flushed(&self, key: &str) -> bool {
        self.flushed.contains(key)
    }

    /// The nodes of the frontier with their tokens.
    pub fn nodes(&self) -> impl Iterator<Item = (&Arc<Node>, usize)> {
        self.frontier.iter().filter_map(|piece| match &piece.what {
            PieceContent::Node(node) => Some((node, piece.tokens)),
            PieceContent::Item { .. } => None,
        })
    }

    /// Whether an item stays verbatim through every compaction: a pinned one, or a system item.
    pub fn stays(&self, piece: &Piece) -> bool {
        piece
            .item_id()
            .is_some_and(|id| piece.item.role == Role::System || self.pins.contains(&id))
    }

    /// Index in the frontier of the user's newest message.
    pub fn current_request(&self) -> Option<usize> {
        self.frontier
            .iter()
            .rposition(|piece| piece.item_id().is_some() && piece.item.asks())
    }

    fn push(&mut self, id: ItemId, item: Arc<Item>, tokens: usize) {
        self.next_item = self.next_item.max(id.0 + 1);
        let follows_assistant = self
            .frontier
            .last()
            .is_some_and(|piece| piece.item.role == Role::Assistant);
        let goes_on = item.role == Role::Assistant && follows_assistant && item.calls().next().is_some();
        if item.asks() || (item.role == Role::Assistant && !goes_on) {
            self.awaited.clear();
        }
        for outcome in item.outcomes() {
            if let Some(at) = self.awaited.iter().position(|id| *id == outcome.call_id) {
                self.awaited.swap_remove(at);
            }
        }
        self.awaited.extend(item.calls().map(|call| call.id.clone()));
        self.tokens += tokens;
        self.frontier.push(Piece {
            what: PieceContent::Item { id, masked: false },
            item,
            tokens,
        });
        self.metrics.frontier_items_peak = self.metrics.frontier_items_peak.max(self.frontier.len());
    }

    fn put_node(&mut self, node: &Node) {
        let children: BTreeSet<NodeId> = node.children.iter().copied().collect();
        let leaves = |piece: &Piece| match &piece.what {
            PieceContent::Item { id, .. } => ranges::contains(&node.covers, *id) && !self.lifted.contains(id),
            PieceContent::Node(old) => children.contains(&old.id),
        };
        let Some(at) = self.frontier.iter().position(leaves) else {
            return;
        };
        self.frontier.retain(|piece| !leaves(piece));
        let item = Arc::new(Item::text(self.node_role(), node.text.clone()));
        let tokens = self.meter.item(&item);
        let node = Arc::new(node.clone());
        self.next_node = self.next_node.max(node.id.0 + 1);
        self.frontier.insert(
            at,
            Piece {
                what: PieceContent::Node(node),
                item,
                tokens,
            },
        );
        self.metrics.compactions += 1;
        self.rewritten();
    }

    fn put_masks(&mut self, masks: &[Mask]) {
        for mask in masks.iter().filter(|mask| !self.lifted.contains(&mask.id)) {
            let Some(piece) = self
                .frontier
                .iter_mut()
                .find(|piece| piece.item_id() == Some(mask.id))
            else {
                continue;
            };
            let mut item = Item::clone(&piece.item);
            if let Some(Block::Outcome(outcome)) = item.blocks.get_mut(mask.block) {
                outcome.text.clone_from(&mask.stub);
                outcome.images = 0;
                item.edited = item.raw.is_some();
            }
            piece.tokens = self.meter.item(&item);
            piece.item = Arc::new(item);
            piece.what = PieceContent::Item {
                id: mask.id,
                masked: true,
            };
        }
        self.metrics.masks += masks.len();
        self.rewritten();
    }

    fn rewrite(&mut self, id: ItemId, item: &Arc<Item>) {
        if self.lifted.contains(&id) {
            return;
        }
        let Some(piece) = self.frontier.iter_mut().find(|piece| piece.item_id() == Some(id)) else {
            return;
        };
        piece.tokens = self.meter.item(item);
        piece.item = Arc::clone(item);
        piece.what = PieceContent::Item { id, masked: true };
        self.rewritten();
    }

    fn forget(&mut self, id: ItemId) {
        self.frontier.retain(|piece| piece.item_id() != Some(id));
        self.pins.remove(&id);
        let role = self.node_role();
        for piece in &mut self.frontier {
            let PieceContent::Node(node) = &piece.what else {
                continue;
            };
            if ranges::contains(&node.covers, id) {
                let node = Arc::new(node.without(id));
                piece.item = Arc::new(Item::text(role, node.text.clone()));
                piece.tokens = self.meter.item(&piece.item);
                piece.what = PieceContent::Node(node);
            }
        }
        self.rewritten();
    }

    fn rewritten(&mut self) {
        let before = self.tokens;
        self.tokens = self.frontier.iter().map(|piece| piece.tokens).sum();
        self.metrics.saved_tokens += before.saturating_sub(self.tokens);
        self.count_nodes();
        self.epoch += 1;
        self.refused_at = None;
        self.calibration.forget_usage();
    }

    fn count_nodes(&mut self) {
        self.metrics.nodes = self.nodes().count();
        self.metrics.nodes_tokens = self.nodes().map(|(_, tokens)| tokens).sum();
    }

    fn node_role(&self) -> Role {
        let has_system = self.frontier.iter().any(|piece| piece.item.role == Role::System);
        if has_system {
            self.policy.summary_role
        } else {
            Role::User
        }
    }
}

/// The events that still apply: a rewind undoes messages and compactions after its item; deletions, flushes and pins of
/// earlier items stay.
fn live(log: Vec<ViewEvent>) -> Vec<ViewEvent> {
    let mut live: Vec<ViewEvent> = Vec::with_capacity(log.len());
    for event in log {
        let ViewEvent::Rewind(to) = event else {
            live.push(event);
            continue;
        };
        let arrived = |event: &ViewEvent| matches!(event, ViewEvent::Item { id, .. } if *id >= to);
        let at = live.iter().position(arrived).unwrap_or(live.len());
        let undone = live.split_off(at);
        live.extend(undone.into_iter().filter(|event| match event {
            ViewEvent::Forget(_) | ViewEvent::Flush { .. } => true,
            ViewEvent::Pin(id) | ViewEvent::Unpin(id) => *id < to,
            _ => false,
        }));
    }
    live
}

/// The pins after all events.
fn pinned_at_the_end(log: &[ViewEvent]) -> BTreeSet<ItemId> {
    let mut pins = BTreeSet::new();
    for event in log {
        match event {
            ViewEvent::Pin(id) => {
                pins.insert(*id);
            }
            ViewEvent::Unpin(id) | ViewEvent::Forget(id) => {
                pins.remove(id);
            }
            _ => {}
        }
    }
    pins
}

/// The covered items after all events.
fn covered_at_the_end(log: &[ViewEvent]) -> Vec<(ItemId, ItemId)> {
    log.iter().fold(Vec::new(), |covered, event| match event {
        ViewEvent::Node(node) => ranges::union(&covered, &node.covers),
        _ => covered,
    })
}
