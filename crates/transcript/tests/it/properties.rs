//! Properties of every repaired transcript and every view (TR-5, I1, I2, I4, I5, I6, I20), over hostile ones.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use transcript::dialect::{self, Dialect};
use transcript::order;
use transcript::repair::{for_view, repair};
use transcript::{Block, Item, Role};

use crate::anthropic::anthropic;
use crate::hostile::{Hostile, transcripts};

fn shared(hostile: &Hostile) -> Vec<Arc<Item>> {
    hostile.items.iter().cloned().map(Arc::new).collect()
}

fn view(hostile: &Hostile) -> Vec<Arc<Item>> {
    let items = shared(hostile);
    for_view(&items, &hostile.pending).unwrap_or(items)
}

fn words_of_users(items: &[Arc<Item>]) -> Vec<&Block> {
    let users = items.iter().filter(|item| item.role == Role::User);
    users
        .flat_map(|item| &item.blocks)
        .filter(|block| !matches!(block, Block::Outcome(_)))
        .collect()
}

/// Whether each result answers a call of the previous turn, and each call once: checked by ids alone, independently of
/// `order`.
fn pairs_by_ids(items: &[Arc<Item>]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        for outcome in item.outcomes() {
            let Some(at) = open.iter().position(|id| *id == outcome.call_id) else {
                return false;
            };
            open.remove(at);
        }
        let is_more = item.role != Role::Assistant
            && item
                .blocks
                .iter()
                .any(|block| !matches!(block, Block::Outcome(_)));
        if is_more && !open.is_empty() {
            return false;
        }
        open.extend(item.calls().map(|call| call.id.as_str()));
    }
    open.is_empty()
}

proptest! {
    #![proptest_config(crate::config())]

    // Planted and detected: results without a call kept; calls without an id or with one of their turn kept; lost calls
    // left open; late results left in place; closures at the end of the transcript.
    #[test]
    fn a_view_pairs_as_openai_requires(hostile in transcripts()) {
        let view = view(&hostile);
        prop_assert!(order::openai(&view));
        prop_assert!(pairs_by_ids(&view), "{:?}", crate::say::said(&view));
    }

    // Planted and detected: as above, through the messages of this dialect.
    #[test]
    fn a_view_is_ordered_as_anthropic_requires(hostile in transcripts()) {
        let mut items = vec![Item::text(Role::User, "first")];
        items.extend(view(&hostile).iter().map(|item| Item::clone(item)));
        let messages = dialect::write(Dialect::Anthropic, &crate::say::made_anew(&items));
        let text = format!("{{\"system\":\"\",\"messages\":[{}]}}", messages.join(","));
        let read = dialect::read(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(read.dialect, Dialect::Anthropic);
        prop_assert!(anthropic(&read.items));
    }

    // Planted and detected: an item kept whole although text precedes the results in it; results in another order each
    // time; a view repaired although nothing is broken.
    #[test]
    fn a_second_repair_changes_nothing(hostile in transcripts()) {
        let once = repair(&shared(&hostile), &hostile.pending);
        let twice = repair(&once, &hostile.pending);
        prop_assert_eq!(once.len(), twice.len());
        prop_assert!(once.iter().zip(&twice).all(|(a, b)| Arc::ptr_eq(a, b)));
        prop_assert_eq!(for_view(&view(&hostile), &BTreeSet::new()), None);
    }

    // Planted and detected: every item copied.
    #[test]
    fn a_repair_is_pure_and_copies_only_changed_items(hostile in transcripts()) {
        let items = shared(&hostile);
        let repaired = repair(&items, &hostile.pending);
        prop_assert!(items.iter().zip(&hostile.items).all(|(now, before)| **now == *before));
        prop_assert_eq!(&repaired, &repair(&items, &hostile.pending));
        // No change is left, except that results are collected after their calls again.
        let again = repair(&repaired, &hostile.pending);
        for (item, before) in again.iter().zip(&repaired).filter(|(item, _)| item.outcomes().next().is_none()) {
            prop_assert!(Arc::ptr_eq(before, item), "{item:?}");
        }
    }

    // Planted and detected: the text of an item with results lost.
    #[test]
    fn no_text_of_a_user_is_lost_or_reordered(hostile in transcripts()) {
        let items = shared(&hostile);
        let view = view(&hostile);
        prop_assert_eq!(words_of_users(&items), words_of_users(&view));
        let said = |items: &[Arc<Item>], role| items.iter().filter(|item| item.role == role).map(|item| item.prose()).collect::<String>();
        let system = |items: &[Arc<Item>]| items.iter().filter(|item| item.role == Role::System).cloned().collect::<Vec<_>>();
        prop_assert_eq!(system(&items), system(&view));
        prop_assert_eq!(said(&items, Role::Assistant), said(&view, Role::Assistant));
    }

    // Planted and detected: the first result wins even if it is a placeholder; early results lost; a running call
    // marked as lost.
    #[test]
    fn a_real_result_replaces_its_placeholder(hostile in transcripts()) {
        let items = shared(&hostile);
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        items.iter().flat_map(|item| item.calls()).for_each(|call| *calls.entry(&call.id).or_default() += 1);
        let is_real = |text: &str| text.starts_with("result ");
        let real = items.iter().flat_map(|item| item.outcomes()).filter(|outcome| is_real(&outcome.text));
        let real: BTreeSet<&str> = real.map(|outcome| outcome.call_id.as_str()).collect();
        let view = view(&hostile);
        for outcome in view.iter().flat_map(|item| item.outcomes()) {
            let id = outcome.call_id.as_str();
            prop_assert!(calls[id] > 1 || is_real(&outcome.text) == real.contains(id), "{outcome:?}");
        }
        for id in hostile.pending.iter().filter(|id| !id.is_empty() && calls[id.as_str()] == 1 && !real.contains(id.as_str())) {
            let shown = view.iter().flat_map(|item| item.outcomes()).find(|outcome| outcome.call_id == *id);
            prop_assert_eq!(shown.map(|outcome| outcome.text.as_str()), Some("[executing...]"));
        }
    }

    // Planted and detected: reasoning kept after its calls were removed, in an item of its own and in theirs.
    #[test]
    fn reasoning_stays_with_its_calls_or_is_removed(hostile in transcripts()) {
        let thoughts = |items: &[Arc<Item>]| -> Vec<Block> {
            items.iter().flat_map(|item| &item.blocks).filter(|block| matches!(block, Block::Thinking(_))).cloned().collect()
        };
        let items = shared(&hostile);
        let view = view(&hostile);
        let before = thoughts(&items);
        prop_assert!(thoughts(&view).iter().all(|thought| before.contains(thought)));
        for item in view.iter().filter(|item| item.thinks()) {
            let thought = item.blocks.iter().find(|block| matches!(block, Block::Thinking(_)));
            let source = items.iter().find(|before| before.blocks.iter().any(|block| Some(block) == thought));
            let had_calls = source.is_some_and(|source| source.calls().next().is_some());
            prop_assert!(!had_calls || item.calls().next().is_some(), "reasoning without its calls: {item:?}");
        }
        for (index, item) in view.iter().enumerate().filter(|(_, item)| item.raw.is_some() && item.thinks()) {
            let at = items.iter().position(|before| Arc::ptr_eq(before, item) || before == item).unwrap_or_default();
            let led_on = items.get(at + 1).is_some_and(|next| next.role == Role::Assistant);
            let leads_on = view.get(index + 1).is_some_and(|next| next.role == Role::Assistant);
            prop_assert!(!led_on || leads_on, "reasoning that leads to nothing: {index}");
        }
    }

    #[test]
    fn anthropic_could_refuse_a_view_only_for_an_empty_text(hostile in transcripts()) {
        let mut items = vec![Arc::new(Item::text(Role::User, "first"))];
        items.extend(view(&hostile));
        let is_blank = |block: &Block| matches!(block, Block::Text(text) if text.trim().is_empty());
        let has_blank = items.iter().any(|item| item.blocks.is_empty() || item.blocks.iter().any(is_blank));
        prop_assert!(has_blank || anthropic(&items));
    }
}
