//! Every threshold of the engine, as a named value, and the presets.
//!
//! Owns: numbers, markers and the choice of methods. Never: reading a configuration; a door builds a policy from it.

use std::collections::BTreeMap;

use transcript::Role;

use crate::budget::share_of;
use crate::guard::Limits;
use crate::warn::WarnThreshold;

model::defaults! {
    /// Rules that keep the context of one conversation within its budget. Shares are of the limit, 0 to 1. The defaults
    /// are ours: they were set by survival in view and simulated price together (`trial`). A mask keeps less of a
    /// result than a node does, so masks alone must gain much.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Policy {
        /// Name of the preset it was made from.
        pub name: &'static str = "quipu",
        /// Share of the remaining window that the view may use: the rest is a margin for errors of an estimate.
        pub limit_share: f64 = 1.0,
        /// A compaction is due when the view reaches this share …
        pub compact_at: f64 = 0.85,
        /// … or this many tokens, whichever comes first: very wide windows are slow and expensive long before they are
        /// full.
        pub compact_at_tokens: Option<usize> = Some(400_000),
        /// While no request waits, a compaction is due from this share on, so that later requests need not wait for
        /// one.
        pub compact_idle_at: f64 = 0.65,
        /// Target of a compaction; the distance to `compact_at` is the hysteresis.
        pub target: f64 = 0.45,
        /// A compaction with a smaller gain is not recorded, unless the view would not fit otherwise.
        pub gain_min: f64 = 0.10,
        /// The newest part that stays verbatim, as a share of the target.
        pub tail: f64 = 0.35,
        /// Minimum number of the newest items that stay verbatim while the target allows it.
        pub tail_items_min: usize = 4,
        /// Maximum number of the newest items that stay verbatim.
        pub tail_items_max: Option<usize>,
        /// Older items with a higher importance stay verbatim.
        pub keep_importance_over: Option<f64>,
        /// Maximum size of a node, as a share of the replaced items.
        pub node_ratio: f64 = 0.25,
        /// Minimum room of a node, in tokens.
        pub node_tokens_min: usize = 160,
        /// Maximum of all nodes together, as a share of the target; beyond it they are folded into one.
        pub nodes_share: f64 = 0.60,
        /// A larger tool result may be replaced by a stub that names the way to recover it, in tokens.
        pub mask_over_tokens: usize = 400,
        /// Masks are set in batches that gain at least this share: each batch costs the backend's cache once.
        pub mask_gain_min: f64 = 0.40,
        /// Visible part of a masked result, in tokens.
        pub mask_preview_tokens: usize = 80,
        /// Thresholds of usage warnings.
        pub warn_at: Vec<WarnThreshold> = vec![at(0.50, Some(200_000)), at(0.75, Some(400_000)), at(0.90, None)],
        /// Tokens that a request must leave in the window.
        pub guard: Limits = Limits::quipu(),
        /// Windows of agents by their name, in tokens.
        pub agent_windows: BTreeMap<String, usize>,
        /// Whether tool results get alternating wordings.
        pub varies_results: bool,
        /// Form of a node's text.
        pub summary: SummaryStyle = SummaryStyle::Digest,
        /// The role of a node in a conversation that has a system item; without one it is always the user's. A digest
        /// contains text of tools and files, so only a preset that re-creates an older system may choose `System`.
        pub summary_role: Role = Role::User,
    }
}

/// Form of a node's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryStyle {
    /// The digest of facts, after the host's summary if there is one.
    Digest,
    /// The beginnings of the oldest messages, one of `ratio`, like code-buddy.
    FirstLines { ratio: usize },
}

impl Policy {
    /// Ours.
    pub fn quipu() -> Self {
        Self::default()
    }

    /// code-buddy's constants and markers, on this engine.
    fn codebuddy() -> Self {
        Self {
            name: "codebuddy",
            limit_share: 0.95,
            compact_at: 0.75,
            compact_at_tokens: Some(200_000),
            compact_idle_at: 0.75,
            target: 0.75,
            gain_min: 0.0,
            tail: 1.0,
            tail_items_max: Some(10),
            keep_importance_over: Some(0.8),
            node_ratio: 0.25,
            nodes_share: 1.0,
            mask_gain_min: 1.0,
            warn_at: vec![at(0.50, None), at(0.75, None), at(0.90, None)],
            guard: Limits::codebuddy(),
            varies_results: true,
            summary: SummaryStyle::FirstLines { ratio: 4 },
            summary_role: Role::System,
            ..Self::quipu()
        }
    }

    /// `OpenClaw`'s proportions: a tail of 20,000 tokens and a reserve of 20,000 in a window of 200,000.
    fn openclaw() -> Self {
        Self {
            name: "openclaw",
            compact_at: 0.90,
            compact_idle_at: 0.90,
            target: 0.30,
            tail: 0.34,
            gain_min: 0.05,
            mask_over_tokens: 1_000,
            mask_gain_min: 0.30,
            ..Self::quipu()
        }
    }

    /// Safety margin in tokens for this many tokens.
    pub fn safety(&self, tokens: usize) -> usize {
        tokens.saturating_sub(share_of(tokens, self.limit_share))
    }

    /// The preset with this name.
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "quipu" => Some(Self::quipu()),
            "codebuddy" => Some(Self::codebuddy()),
            "openclaw" => Some(Self::openclaw()),
            _ => None,
        }
    }

    /// The names of the presets.
    pub const PRESETS: [&str; 3] = ["quipu", "codebuddy", "openclaw"];
}

fn at(share: f64, tokens: Option<usize>) -> WarnThreshold {
    WarnThreshold { share, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cm_1_code_buddys_limit_keeps_a_twentieth_free() {
        assert_eq!(900 - Policy::codebuddy().safety(900), 855);
        assert_eq!(Policy::quipu().safety(900), 0);
    }
}
