//! The decision to compact, with its inputs, its rule and its expected gain.
//!
//! Owns: applying thresholds, choosing the stretch that leaves, choosing results to mask. Never: changing the session;
//! `commit` verifies and records.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::shorten::score;
use crate::tokens::Meter;
use transcript::{Block, Item, ItemId, cut};

use crate::budget::{Budget, share_of};
use crate::event::{CompactionReason, Mask};
use crate::session::{Piece, PieceContent, Session};
use crate::text;

model::worded! {
    /// Cause of a decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Trigger {
        /// Before a request: only if due.
        Auto = "threshold",
        /// Between requests: only if due soon.
        Idle = "idle",
        /// A person or a client asked: at any size.
        Manual = "manual",
        /// The backend refused the request as too long.
        Overflow = "overflow",
    }
}

model::worded! {
    /// Strength of a compaction; if one attempt does not bring the view within its limit, the next effort follows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Effort {
        /// Stubs for large results, if they gain enough by themselves.
        Mask = "mask",
        /// The oldest stretch becomes a node.
        Compact = "compact",
        /// A short tail; all nodes become one.
        Fold = "fold",
        /// Only required items stay; their large results are masked.
        Strip = "strip",
        /// The node contains only the reference to the originals.
        Bare = "bare",
    }
}

impl Effort {
    /// The next harder effort.
    pub fn harder(self) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| *effort > self)
    }
}

/// Inputs of a decision, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Tokens of the view.
    pub used: usize,
    /// Maximum tokens of the view.
    pub limit: usize,
    /// A compaction is due from this size on.
    pub threshold: usize,
    /// Target of a compaction.
    pub target: usize,
    /// Minimum gain that justifies a rewrite.
    pub gain_min: usize,
}

/// The decision.
#[derive(Debug, Clone)]
pub enum Decision {
    /// Nothing to do, with the reason.
    Keep(Inputs, Keep),
    Compact(Box<Plan>),
}

model::worded! {
    /// Why nothing is compacted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Keep {
        BelowThreshold = "below_threshold",
        /// An attempt at nearly this size gained too little.
        RefusedBefore = "refused_before",
        /// No item may leave.
        NothingToTake = "nothing_to_take",
    }
}

/// Plan of a compaction.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The session's epoch and number of items when the plan was made: a plan of another epoch is void.
    pub epoch: u64,
    pub reason: CompactionReason,
    pub effort: Effort,
    pub inputs: Inputs,
    /// The pieces of the frontier that leave, ascending; none for masks alone.
    pub leaves: Vec<usize>,
    /// Maximum tokens of the new node.
    pub node_tokens_max: usize,
    pub masks: Vec<Mask>,
    /// Expected gain in tokens.
    pub gain_expected: usize,
    /// Minimum gain in tokens; with less, the plan is not recorded.
    pub gain_required: usize,
}

impl Session {
    /// The token counts that decide.
    pub fn inputs(&self, budget: &Budget) -> Inputs {
        let policy = self.policy();
        let limit = budget.limit();
        let threshold =
            share_of(limit, policy.compact_at).min(policy.compact_at_tokens.unwrap_or(usize::MAX));
        let target = share_of(threshold, policy.target / policy.compact_at);
        let gain_min = share_of(threshold, policy.gain_min / policy.compact_at);
        Inputs {
            used: self.view_tokens(),
            limit,
            threshold,
            target,
            gain_min,
        }
    }

    fn inputs_of(&self, budget: &Budget, trigger: Trigger) -> Inputs {
        let (inputs, policy) = (self.inputs(budget), self.policy());
        let threshold = match trigger {
            Trigger::Idle => share_of(inputs.threshold, policy.compact_idle_at / policy.compact_at),
            Trigger::Auto | Trigger::Manual | Trigger::Overflow => inputs.threshold,
        };
        Inputs { threshold, ..inputs }
    }

    /// Decides for one effort. `Auto` starts at [`Effort::Mask`].
    pub fn decide(&self, budget: &Budget, trigger: Trigger, effort: Effort) -> Decision {
        let inputs = self.inputs_of(budget, trigger);
        let fits = inputs.used <= inputs.limit;
        let waits_until_due = matches!(trigger, Trigger::Auto | Trigger::Idle);
        if waits_until_due && inputs.used < inputs.threshold {
            return Decision::Keep(inputs, Keep::BelowThreshold);
        }
        let refused = self
            .refused_at()
            .is_some_and(|at| inputs.used < at.saturating_add(inputs.gain_min.max(1)));
        if waits_until_due && fits && refused {
            return Decision::Keep(inputs, Keep::RefusedBefore);
        }
        let reason = match trigger {
            Trigger::Manual => CompactionReason::Manual,
            Trigger::Auto if fits => CompactionReason::Threshold,
            Trigger::Idle if fits => CompactionReason::Idle,
            _ => CompactionReason::Overflow,
        };
        let masks = if matches!(effort, Effort::Mask | Effort::Strip | Effort::Bare) {
            self.masks(&inputs, effort)
        } else {
            Vec::new()
        };
        let leaves = if effort == Effort::Mask {
            Vec::new()
        } else {
            self.leaves(&inputs, effort)
        };
        let masks: Vec<Heavy> = masks
            .into_iter()
            .filter(|heavy| leaves.binary_search(&heavy.index).is_err())
            .collect();
        let span_tokens: usize = leaves.iter().map(|&index| self.frontier()[index].tokens).sum();
        let preview_tokens = self.preview_tokens(effort);
        let mask_gain: usize = masks
            .iter()
            .map(|heavy| heavy.tokens.saturating_sub(STUB_TOKENS + preview_tokens))
            .sum();
        let node_tokens_max = self.node_room(&inputs, effort, span_tokens, mask_gain);
        let gain_expected = span_tokens.saturating_sub(node_tokens_max) + mask_gain;
        let enough = inputs.used.saturating_sub(mask_gain) + inputs.gain_min <= inputs.threshold
            && mask_gain >= share_of(inputs.limit, self.policy().mask_gain_min);
        let too_little = effort == Effort::Mask && !enough;
        if (leaves.is_empty() && masks.is_empty()) || too_little {
            return Decision::Keep(inputs, Keep::NothingToTake);
        }
        let gain_required = if fits && trigger != Trigger::Manual {
            inputs.gain_min.max(1)
        } else {
            1
        };
        let masks = masks
            .into_iter()
            .map(|heavy| heavy.masked(preview_tokens, self.meter()))
            .collect();
        let epoch = self.epoch();
        Decision::Compact(Box::new(Plan {
            epoch,
            reason,
            effort,
            inputs,
            leaves,
            node_tokens_max,
            masks,
            gain_expected,
            gain_required,
        }))
    }

    /// The pieces that leave: those of the stretch that are not kept.
    fn leaves(&self, inputs: &Inputs, effort: Effort) -> Vec<usize> {
        let kept = self.kept(effort);
        self.stretch(inputs, effort)
            .filter(|index| !kept.contains(index))
            .collect()
    }

    /// The pieces that stay: the newest request, pins, system items, items that the policy finds important; a call
    /// stays with its results, and a result with its call.
    fn kept(&self, effort: Effort) -> BTreeSet<usize> {
        let pieces = self.frontier();
        let stays = (0..pieces.len()).filter(|&index| self.stays(&pieces[index]));
        let mut kept: BTreeSet<usize> = stays.chain(self.current_request()).collect();
        if effort < Effort::Strip {
            kept.extend(self.important());
        }
        let items: Vec<&Item> = pieces.iter().map(|piece| &*piece.item).collect();
        let pairs = cut::pairs(&items);
        loop {
            let before = kept.len();
            for (call, outcome) in pairs.iter().filter_map(|pair| Some((pair.call, pair.outcome?))) {
                if kept.contains(&call) || kept.contains(&outcome) {
                    kept.extend([call, outcome]);
                }
            }
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// The stretch that leaves: from the first piece that may leave, to the last safe cut before the tail.
    fn stretch(&self, inputs: &Inputs, effort: Effort) -> Range<usize> {
        let policy = self.policy();
        let pieces = self.frontier();
        let nodes_tokens = self.metrics().nodes_tokens;
        let nodes_room = share_of(inputs.target, policy.nodes_share);
        let folds = effort >= Effort::Fold || nodes_tokens + policy.node_tokens_min > nodes_room;
        let may_go = |piece: &Piece| match &piece.what {
            PieceContent::Node(_) => folds,
            PieceContent::Item { .. } => !self.stays(piece),
        };
        let Some(start) = pieces.iter().position(may_go) else {
            return 0..0;
        };
        let (tail_tokens, tail_items) = match effort {
            Effort::Mask | Effort::Compact => (share_of(inputs.target, policy.tail), policy.tail_items_min),
            Effort::Fold => (share_of(inputs.target, policy.tail / 4.0), 1),
            Effort::Strip | Effort::Bare => (0, 0),
        };
        let tail_items_max = policy.tail_items_max.unwrap_or(usize::MAX);
        let mut latest = pieces.len();
        let mut weight = 0;
        while latest > start {
            let kept = pieces.len() - latest;
            weight += pieces[latest - 1].tokens;
            if kept >= tail_items_max || (kept >= tail_items && weight > tail_tokens) {
                break;
            }
            latest -= 1;
        }
        let items: Vec<&Item> = pieces.iter().map(|piece| &*piece.item).collect();
        let cuts = cut::safe_cuts(&items, &self.pending());
        let end = cuts.into_iter().rfind(|&cut| cut <= latest).unwrap_or(start);
        start..end.max(start)
    }

    /// Maximum tokens of the new node.
    fn node_room(&self, inputs: &Inputs, effort: Effort, span_tokens: usize, mask_gain: usize) -> usize {
        let policy = self.policy();
        if effort == Effort::Bare {
            return 0;
        }
        let least = policy.node_tokens_min.min(share_of(inputs.limit, 0.15));
        let wish = share_of(span_tokens, policy.node_ratio).min(share_of(inputs.target, policy.nodes_share));
        let rest = inputs.used.saturating_sub(span_tokens + mask_gain);
        let free = inputs.limit.saturating_sub(rest);
        wish.max(least).min(free).min(span_tokens)
    }

    /// Large results that may be masked, oldest first. The hardest efforts also take the newest.
    fn masks(&self, inputs: &Inputs, effort: Effort) -> Vec<Heavy<'_>> {
        let policy = self.policy();
        let (protected, heavy_over) = if effort >= Effort::Strip {
            (0, STUB_TOKENS)
        } else {
            (share_of(inputs.target, policy.tail), policy.mask_over_tokens)
        };
        let mut after = 0;
        let mut found = Vec::new();
        for (index, piece) in self.frontier().iter().enumerate().rev() {
            let beyond = after >= protected;
            after += piece.tokens;
            let PieceContent::Item { id, masked: false } = piece.what else {
                continue;
            };
            if beyond && piece.tokens > heavy_over && !self.stays(piece) {
                found.extend(
                    self.heavy(index, id, piece)
                        .filter(|heavy| heavy.tokens > heavy_over),
                );
            }
        }
        found.reverse();
        found
    }

    /// The results of an item. A result that is its item's only block has the item's tokens, so that they are not
    /// counted twice.
    fn heavy<'a>(&'a self, index: usize, id: ItemId, piece: &'a Piece) -> impl Iterator<Item = Heavy<'a>> {
        let blocks = &piece.item.blocks;
        blocks.iter().enumerate().filter_map(move |(block, part)| {
            let Block::Outcome(outcome) = part else {
                return None;
            };
            let tokens = if blocks.len() == 1 {
                piece.tokens
            } else {
                self.meter().block(part)
            };
            Some(Heavy {
                index,
                id,
                block,
                text: &outcome.text,
                tokens,
            })
        })
    }

    /// Maximum tokens of a masked result's preview in its stub.
    fn preview_tokens(&self, effort: Effort) -> usize {
        if effort >= Effort::Strip {
            0
        } else {
            self.policy().mask_preview_tokens
        }
    }

    /// The pieces that stay because of their importance, if the policy uses importance.
    fn important(&self) -> BTreeSet<usize> {
        let Some(least) = self.policy().keep_importance_over else {
            return BTreeSet::new();
        };
        let items: Vec<&Item> = self.frontier().iter().map(|piece| &*piece.item).collect();
        let scores = score::score(&items, &score::ScoreRules::default());
        let over = scores.into_iter().filter(|score| score.value > least);
        over.map(|score| score.index).collect()
    }
}

/// Maximum tokens of a stub without a preview.
const STUB_TOKENS: usize = 60;

/// A result that may be masked.
struct Heavy<'a> {
    /// Its place in the frontier.
    index: usize,
    id: ItemId,
    block: usize,
    text: &'a str,
    tokens: usize,
}

impl Heavy<'_> {
    fn masked(&self, preview_tokens: usize, meter: &Meter) -> Mask {
        Mask {
            id: self.id,
            block: self.block,
            stub: text::stub(self.id, self.text, self.tokens, preview_tokens, meter),
        }
    }
}
