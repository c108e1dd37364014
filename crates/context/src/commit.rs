//! Executes a plan: the node that replaces the leaving items, verified before it is recorded.
//!
//! Owns: building nodes and their text; refusing plans with too little gain. Never: trusting a text of the host's
//! model.

use std::borrow::Cow;

use crate::digest::Digest;
use crate::shorten::first_lines::first_lines;
use crate::shorten::shrink;
use transcript::spoken::without_additions;
use transcript::{Item, ItemId};

use crate::event::{Node, ViewEvent};
use crate::plan::Plan;
use crate::policy::SummaryStyle;
use crate::ranges;
use crate::session::{Piece, PieceContent, Session};
use crate::text;

/// Why a plan was not carried out; the session is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The view changed since the plan was made: plan again.
    #[error("the conversation changed after the compaction was planned")]
    Stale,
    /// The gain, in tokens, is smaller than required.
    #[error("the compaction would save {gain} tokens, at least {required} are required")]
    NoProgress { gain: usize, required: usize },
}

impl Session {
    /// The items that a plan removes from the view, for a host that summarises them: nodes come as their text.
    pub fn leaving(&self, plan: &Plan) -> Vec<(Option<ItemId>, &Item)> {
        let leaving = self.removed(plan);
        leaving.map(|piece| (piece.item_id(), &*piece.item)).collect()
    }

    fn removed(&self, plan: &Plan) -> impl Iterator<Item = &Piece> {
        let frontier = self.frontier();
        plan.leaves.iter().filter_map(move |&index| frontier.get(index))
    }

    /// The summaries by a host's model among the items that a plan removes.
    pub fn summaries(&self, plan: &Plan) -> impl Iterator<Item = &str> {
        self.removed(plan).filter_map(|piece| match &piece.what {
            PieceContent::Node(node) => node.summary.as_deref(),
            PieceContent::Item { .. } => None,
        })
    }

    /// The events that carry out a plan; the caller records them and then applies them. `summary` is a text by the
    /// host's model; a blank one is left out, an oversized one is shortened.
    pub fn commit(&self, plan: &Plan, summary: Option<&str>) -> Result<Vec<ViewEvent>, Refused> {
        if plan.epoch != self.epoch() {
            return Err(Refused::Stale);
        }
        let mut events = Vec::new();
        if !plan.leaves.is_empty() {
            events.push(ViewEvent::Node(self.node(plan, summary)));
        }
        if !plan.masks.is_empty() {
            events.push(ViewEvent::Masks(plan.masks.clone()));
        }
        let gain = self.gain(&events);
        let required = plan.gain_required;
        if gain < required {
            Err(Refused::NoProgress { gain, required })
        } else {
            Ok(events)
        }
    }

    /// Tokens that these events save in the view.
    fn gain(&self, events: &[ViewEvent]) -> usize {
        let mut after = self.clone();
        for event in events {
            after.apply(event);
        }
        self.tokens().saturating_sub(after.tokens())
    }

    fn node(&self, plan: &Plan, summary: Option<&str>) -> Node {
        let leaves: Vec<&Piece> = self.removed(plan).collect();
        let id = self.next_node();
        let mut covers = ranges::of(leaves.iter().filter_map(|piece| piece.item_id()));
        let mut children = Vec::new();
        let mut digest = Digest::default();
        let said: Vec<Cow<'_, Item>> = leaves
            .iter()
            .map(|piece| without_additions(&piece.item))
            .collect();
        let mut items: Vec<(ItemId, &Item)> = Vec::new();
        for (piece, said) in leaves.iter().zip(&said) {
            match &piece.what {
                PieceContent::Item { id, .. } => items.push((*id, said)),
                PieceContent::Node(old) => {
                    digest = digest
                        .followed_by(crate::digest::read(&std::mem::take(&mut items)))
                        .followed_by(old.digest.clone());
                    covers = ranges::union(&covers, &old.covers);
                    children.push(old.id);
                }
            }
        }
        let digest = digest.followed_by(crate::digest::read(&items));
        let tokens_before = leaves.iter().map(|piece| piece.tokens).sum();
        let summary = self.summary(plan, summary);
        // The digest gets the room that the node's wrapper and summary leave.
        let wrapper = self
            .meter()
            .text(&text::node(id, &covers, summary.as_deref(), ""));
        let digest = digest.within(plan.node_tokens_max.saturating_sub(wrapper), self.meter());
        let text = match self.policy().summary {
            SummaryStyle::Digest => text::node(id, &covers, summary.as_deref(), &digest.to_text()),
            SummaryStyle::FirstLines { ratio } => {
                let items: Vec<&Item> = said.iter().map(|item| &**item).collect();
                first_lines(&items, ratio)
            }
        };
        let tokens_after = self.meter().text(&text);
        Node {
            id,
            covers,
            children,
            digest,
            summary,
            text,
            tokens_before,
            tokens_after,
            reason: plan.reason,
        }
    }

    /// The host's summary, else those of the older nodes, in at most half of the node's room. None if there is no
    /// summary or too little room.
    fn summary(&self, plan: &Plan, summary: Option<&str>) -> Option<String> {
        let older = || self.summaries(plan).collect::<Vec<_>>().join("\n\n");
        let summary = summary.map_or_else(older, str::to_owned);
        let summary = summary.trim();
        let room = plan.node_tokens_max / 2;
        if summary.is_empty() || room < SUMMARY_TOKENS_MIN {
            return None;
        }
        if self.meter().text(summary) <= room {
            return Some(summary.to_owned());
        }
        Some(shrink::to_target(summary, room, self.meter()))
    }
}

impl Node {
    /// The node without the parts that only this item supports. A model's summary is dropped, because its sources are
    /// unknown.
    #[must_use]
    pub fn without(&self, id: ItemId) -> Self {
        let mut node = self.clone();
        node.digest = node.digest.without(id);
        node.summary = None;
        node.text = text::node(node.id, &node.covers, None, &node.digest.to_text());
        node
    }
}

/// Minimum tokens of a model's summary; a shorter one is useless.
const SUMMARY_TOKENS_MIN: usize = 40;
