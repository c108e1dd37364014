//! Views of hostile transcripts: broken pairs, reused ids, reasoning, pictures, texts of every script and size.

#[path = "../../../transcript/tests/it/hostile.rs"]
mod generator;

use std::collections::BTreeSet;
use std::sync::Arc;

use context::budget::Budget;
use context::event::ViewEvent;
use context::plan::Trigger;
use context::policy::Policy;
use context::ranges;
use context::session::{Piece, PieceContent, Session};
use context::tokens::Meter;
use generator::{Hostile, transcripts};
use proptest::prelude::*;
use transcript::order;
use transcript::{Item, ItemId, Role, cut};

/// Records a transcript in a session, with a compaction at each place of `limits`.
fn hold(hostile: &Hostile, limits: &[(usize, usize)]) -> (Session, Vec<ViewEvent>) {
    let mut session = Session::new(Policy::quipu(), Meter::estimate());
    let mut log = Vec::new();
    for (at, item) in hostile.items.iter().enumerate() {
        let event = session.arrival(Arc::new(item.clone()));
        session.apply(&event);
        log.push(event);
        for (_, limit) in limits.iter().filter(|(place, _)| *place == at) {
            session.fit(&Budget::view(*limit), Trigger::Auto, |event| {
                log.push(event.clone());
            });
        }
    }
    (session, log)
}

fn limits() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0_usize..40, 300_usize..8_000), 0..5)
}

/// Whether an item begins a turn: a request, or an assistant's item that does not continue the calls of the previous
/// one. A result that arrives after it was no longer awaited.
fn begins_a_turn(items: &[Item], at: usize) -> bool {
    let item = &items[at];
    let goes_on = items[at - 1].role == Role::Assistant && item.calls().next().is_some();
    item.asks() || (item.role == Role::Assistant && !goes_on)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// I1, I2, I3. Planted: cuts anywhere; views that are not repaired.
    #[test]
    fn every_view_pairs_calls_and_results(hostile in transcripts(), limits in limits()) {
        let (session, _) = hold(&hostile, &limits);
        let view = session.assemble(&Budget::view(usize::MAX / 2)).expect("there is room");
        prop_assert!(order::openai(&view.items));
        let shown: BTreeSet<ItemId> = session.frontier().iter().filter_map(Piece::item_id).collect();
        let is_shown = |index: usize| shown.contains(&ItemId(index as u64));
        for pair in cut::pairs(&hostile.items) {
            let in_time = |outcome: &usize| !(pair.call + 1..*outcome).any(|at| begins_a_turn(&hostile.items, at));
            if let Some(outcome) = pair.outcome.filter(in_time) {
                prop_assert_eq!(is_shown(pair.call), is_shown(outcome), "a call is parted from its result: {:?}", pair);
            }
        }
    }

    /// I7, I15, I16, I18.
    #[test]
    fn every_item_is_shown_or_covered_and_views_fit(hostile in transcripts(), limits in limits(), limit in 300_usize..8_000) {
        let (mut session, mut log) = hold(&hostile, &limits);
        session.fit(&Budget::view(limit), Trigger::Overflow, |event| log.push(event.clone()));
        match session.assemble(&Budget::view(limit)) {
            Ok(view) => prop_assert!(view.tokens <= limit),
            Err(error) => prop_assert!(error.tokens > limit && !error.parts.is_empty()),
        }
        let mut seen: Vec<ItemId> = session.frontier().iter().filter_map(Piece::item_id).collect();
        for piece in session.frontier() {
            if let PieceContent::Node(node) = &piece.what {
                let ids = (0..hostile.items.len() as u64).map(ItemId);
                seen.extend(ids.filter(|id| ranges::contains(&node.covers, *id)));
            }
        }
        let distinct: BTreeSet<ItemId> = seen.iter().copied().collect();
        prop_assert_eq!(distinct.len(), seen.len(), "nothing is told twice");
        prop_assert_eq!(distinct.len(), hostile.items.len(), "nothing is lost");
    }

    /// I21, I28: the log alone gives the same view.
    #[test]
    fn a_log_gives_the_same_view(hostile in transcripts(), limits in limits()) {
        let (session, log) = hold(&hostile, &limits);
        let restored = Session::restore(Policy::quipu(), Meter::estimate(), log);
        prop_assert_eq!(restored.view_items(), session.view_items());
        prop_assert_eq!(restored.tokens(), session.tokens());
    }
}
