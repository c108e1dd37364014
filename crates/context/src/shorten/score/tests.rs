//! Scores of transcripts of any kind.

use proptest::prelude::*;
use transcript::{Block, Item, Role};

use super::*;

fn outcome(text: &str, failed: bool) -> Item {
    let mut item = Item::outcome("c1", text);
    if let Block::Outcome(outcome) = &mut item.blocks[0] {
        outcome.failed = failed;
    }
    item
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let text = prop_oneof![
        any::<String>(),
        Just("Error: x".to_owned()),
        Just("决定 a_b".to_owned()),
        "[ab_/.1 ]{0,40}"
    ];
    let item = (0_u8..5, text, any::<bool>()).prop_map(|(kind, text, failed)| match kind {
        0 => Item::text(Role::System, text),
        1 | 2 => Item::text(Role::User, text),
        3 => Item::text(Role::Assistant, text),
        _ => outcome(&text, failed),
    });
    prop::collection::vec(item, 0..30)
}

proptest! {
    // I36
    #[test]
    fn scores_are_in_order_and_stable(items in items(), weight in any::<f64>()) {
        let mut rules = ScoreRules::default();
        if weight > 1.0 {
            rules.set("conversation", weight);
        }
        let scores = score(&items, &rules);
        prop_assert_eq!(scores.len(), items.len());
        prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(&score.value)));
        prop_assert!(scores.iter().map(|score| score.index).eq(0..items.len()));
        prop_assert_eq!(scores, score(&items, &rules));
    }
}
