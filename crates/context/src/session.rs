//! One conversation: the fold of its events.
//!
//! Owns: the frontier (what stands in the view, in order), pins, pending calls, counters. Invariants: every item that
//! arrived and was not rewound or forgotten is in the frontier or covered by exactly one node of it; [`Session::apply`]
//! alone changes what the log says. Never: choosing what to compact; keeping originals that left the frontier.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::tokens::{Calibration, Meter};
use transcript::{Block, Item, ItemId, Role};

use crate::event::{Event, Mask, Node, NodeId};
use crate::policy::Policy;
use crate::ranges;

/// One place of the frontier.
#[derive(Debug, Clone)]
pub struct Piece {
    pub what: What,
    /// What the view shows there.
    pub item: Arc<Item>,
    pub tokens: usize,
}

/// What a place of the frontier holds.
#[derive(Debug, Clone)]
pub enum What {
    /// An item, some of its results masked perhaps.
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
            What::Item { id, .. } => Some(*id),
            What::Node(_) => None,
        }
    }
}

/// The state of one conversation.
#[derive(Debug, Clone)]
pub struct Session {
    policy: Policy,
    meter: Meter,
    next_item: u64,
    next_node: u64,
    frontier: Vec<Piece>,
    tokens: usize,
    pins: BTreeSet<ItemId>,
    /// Pinned items that stand in the view although a node or a mask once took them.
    lifted: BTreeSet<ItemId>,
    /// Calls that the host says still run.
    pending: BTreeSet<String>,
    /// Calls of the newest turn whose results are still to come; an id that two of them have stands twice.
    awaited: Vec<String>,
    flushed: BTreeSet<String>,
    /// What the backend said requests really weigh.
    calibration: Calibration,
    /// Rises with each event that changes what the view shows before its end.
    epoch: u64,
    /// The weight at which a compaction was last found not worth it.
    refused_at: Option<usize>,
    metrics: Metrics,
}

/// Counters of one conversation since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Nodes in the frontier, and their weight.
    pub nodes: usize,
    pub nodes_tokens: usize,
    /// The most items that the frontier ever held.
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
            next_item: 0,
            next_node: 0,
            frontier: Vec::new(),
            tokens: 0,
            pins: BTreeSet::new(),
            lifted: BTreeSet::new(),
            pending: BTreeSet::new(),
            awaited: Vec::new(),
            flushed: BTreeSet::new(),
            calibration: Calibration::default(),
            epoch: 0,
            refused_at: None,
            metrics: Metrics::default(),
        }
    }

    /// The conversation that a log tells. What a node covers is not counted, so that opening costs what is in the view.
    pub fn restore(policy: Policy, meter: Meter, log: Vec<Event>) -> Self {
        let mut session = Self::new(policy, meter);
        for event in &log {
            match event {
                Event::Item { id, .. } | Event::Forget(id) => {
                    session.next_item = session.next_item.max(id.0 + 1);
                }
                Event::Node(node) => session.next_node = session.next_node.max(node.id.0 + 1),
                _ => {}
            }
        }
        let log = live(log);
        let pins = pinned_at_the_end(&log);
        let covered = ranges::without(&covered_at_the_end(&log), &pins);
        session.lifted = pins;
        for event in log {
            match event {
                Event::Item { id, item } if ranges::contains(&covered, id) => session.push(id, item, 0),
                event => session.apply(&event),
            }
        }
        session.reset_metrics();
        session
    }

    /// Takes in what was recorded. A rewind brings back what compactions hid: only [`Session::restore`] can take it in.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Item { id, item } => {
                let tokens = self.meter.item(item);
                self.push(*id, Arc::clone(item), tokens);
            }
            Event::Node(node) => self.put_node(node),
            Event::Masks(masks) => self.put_masks(masks),
            Event::Rewrite { id, item } => self.rewrite(*id, item),
            Event::Pin(id) => {
                self.pins.insert(*id);
            }
            Event::Unpin(id) => {
                self.pins.remove(id);
            }
            Event::Flush { key, .. } => {
                self.flushed.insert(key.clone());
            }
            Event::Rewind(_) => {}
            Event::Forget(id) => self.forget(*id),
        }
    }

    /// Whether pinning or unpinning this item shows its original again, or no longer: then the session must be restored
    /// from its log, where the original is.
    pub fn must_restore(&self, id: ItemId, pinned: bool) -> bool {
        if pinned {
            !self.shows_original(id)
        } else {
            self.lifted.contains(&id)
        }
    }

    /// Makes this session, restored, the successor of one whose plans are void.
    pub fn succeed(&mut self, earlier: &Self) {
        self.epoch = self.epoch.max(earlier.epoch) + 1;
        self.calibration.clone_from(&earlier.calibration);
        self.calibration.forget_usage();
        self.pending.clone_from(&earlier.pending);
        self.metrics = earlier.metrics.clone();
        self.count_nodes();
    }

    /// The event that an arriving item is.
    pub fn arrival(&self, item: Arc<Item>) -> Event {
        Event::Item {
            id: ItemId(self.next_item),
            item,
        }
    }

    /// Says which calls still run: they may not be cut off, and the view closes them.
    pub fn set_pending(&mut self, pending: BTreeSet<String>) {
        self.pending = pending;
    }

    /// Counts anew, for another model.
    pub fn set_meter(&mut self, meter: Meter) {
        self.meter = meter;
        for piece in &mut self.frontier {
            piece.tokens = self.meter.item(&piece.item);
        }
        self.tokens = self.frontier.iter().map(|piece| piece.tokens).sum();
        self.refused_at = None;
        self.calibration = Calibration::default();
    }

    /// Learns that a view which was counted as `counted` tokens was `reported` tokens to the backend, cached ones included.
    pub fn record_usage(&mut self, counted: usize, reported: usize) {
        self.calibration.record(counted, reported);
    }

    /// What the backend will report for so many counted tokens.
    pub fn calibrated(&self, counted: usize) -> usize {
        self.calibration.estimate(counted)
    }

    /// Notes that compacting was not worth it, so that it is not tried again until more has come.
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

    /// What the frontier shows, in order.
    pub fn shown(&self) -> Vec<Arc<Item>> {
        self.frontier
            .iter()
            .map(|piece| Arc::clone(&piece.item))
            .collect()
    }

    /// Whether an item stands in the frontier as it arrived.
    pub fn shows_original(&self, id: ItemId) -> bool {
        self.frontier
            .iter()
            .any(|piece| matches!(piece.what, What::Item { id: shown, masked: false } if shown == id))
    }

    /// The weight of the frontier, in tokens.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// How many items arrived.
    pub fn items(&self) -> u64 {
        self.next_item
    }

    /// The calls that still run: those that the host named, and those of the newest turn that have no result yet.
    pub fn pending(&self) -> BTreeSet<String> {
        self.pending.iter().chain(&self.awaited).cloned().collect()
    }

    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Begins counting anew; what is in view stays counted.
    pub fn reset_metrics(&mut self) {
        self.metrics = Metrics::default();
        self.count_nodes();
    }

    pub(crate) fn refused_at(&self) -> Option<usize> {
        self.refused_at
    }

    pub(crate) fn next_node(&self) -> NodeId {
        NodeId(self.next_node)
    }

    /// A flush of that key was recorded.
    pub fn has_flushed(&self, key: &str) -> bool {
        self.flushed.contains(key)
    }

    /// The nodes of the frontier with their weight.
    pub fn nodes(&self) -> impl Iterator<Item = (&Arc<Node>, usize)> {
        self.frontier.iter().filter_map(|piece| match &piece.what {
            What::Node(node) => Some((node, piece.tokens)),
            What::Item { .. } => None,
        })
    }

    /// An item that stays verbatim through any compaction: pinned, or the system's.
    pub fn stays(&self, piece: &Piece) -> bool {
        piece
            .item_id()
            .is_some_and(|id| piece.item.role == Role::System || self.pins.contains(&id))
    }

    /// The index in the frontier of the newest message of the user.
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
            self.pending.remove(&outcome.call_id);
            if let Some(at) = self.awaited.iter().position(|id| *id == outcome.call_id) {
                self.awaited.swap_remove(at);
            }
        }
        self.awaited.extend(item.calls().map(|call| call.id.clone()));
        self.tokens += tokens;
        self.frontier.push(Piece {
            what: What::Item { id, masked: false },
            item,
            tokens,
        });
        self.metrics.frontier_items_peak = self.metrics.frontier_items_peak.max(self.frontier.len());
    }

    fn put_node(&mut self, node: &Node) {
        let children: BTreeSet<NodeId> = node.children.iter().copied().collect();
        let leaves = |piece: &Piece| match &piece.what {
            What::Item { id, .. } => ranges::contains(&node.covers, *id) && !self.lifted.contains(id),
            What::Node(old) => children.contains(&old.id),
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
                what: What::Node(node),
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
            piece.what = What::Item {
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
        piece.what = What::Item { id, masked: true };
        self.rewritten();
    }

    fn forget(&mut self, id: ItemId) {
        self.frontier.retain(|piece| piece.item_id() != Some(id));
        self.pins.remove(&id);
        let role = self.node_role();
        for piece in &mut self.frontier {
            let What::Node(node) = &piece.what else { continue };
            if ranges::contains(&node.covers, id) {
                let node = Arc::new(node.without(id));
                piece.item = Arc::new(Item::text(role, node.text.clone()));
                piece.tokens = self.meter.item(&piece.item);
                piece.what = What::Node(node);
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

/// The events that still hold: a rewind undoes what was said and compacted since its item arrived; deletions, flushes and
/// pins of earlier items stay.
fn live(log: Vec<Event>) -> Vec<Event> {
    let mut live: Vec<Event> = Vec::with_capacity(log.len());
    for event in log {
        let Event::Rewind(to) = event else {
            live.push(event);
            continue;
        };
        let arrived = |event: &Event| matches!(event, Event::Item { id, .. } if *id >= to);
        let at = live.iter().position(arrived).unwrap_or(live.len());
        let undone = live.split_off(at);
        live.extend(undone.into_iter().filter(|event| match event {
            Event::Forget(_) | Event::Flush { .. } => true,
            Event::Pin(id) | Event::Unpin(id) => *id < to,
            _ => false,
        }));
    }
    live
}

/// What is pinned when all events are taken in.
fn pinned_at_the_end(log: &[Event]) -> BTreeSet<ItemId> {
    let mut pins = BTreeSet::new();
    for event in log {
        match event {
            Event::Pin(id) => {
                pins.insert(*id);
            }
            Event::Unpin(id) | Event::Forget(id) => {
                pins.remove(id);
            }
            _ => {}
        }
    }
    pins
}

/// What the nodes cover when all events are taken in.
fn covered_at_the_end(log: &[Event]) -> Vec<(ItemId, ItemId)> {
    log.iter().fold(Vec::new(), |covered, event| match event {
        Event::Node(node) => ranges::union(&covered, &node.covers),
        _ => covered,
    })
}
