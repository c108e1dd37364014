//! Summaries of chunks.

use crate::tokens::Meter;
use proptest::prelude::*;
use transcript::{Item, Role};

use super::*;

fn chunks(count: usize) -> (Vec<Item>, Vec<Chunk>) {
    let items = (0..count)
        .map(|at| Item::text(Role::User, format!("message {at}")))
        .collect();
    (
        items,
        (0..count)
            .map(|index| Chunk {
                index,
                items: index..index + 1,
                tokens: 6,
            })
            .collect(),
    )
}

#[test]
fn rounds_cover_all_in_order() {
    let (_, chunks) = chunks(5);
    assert_eq!(rounds(&chunks, 2), [0..2, 2..4, 4..5]);
    assert_eq!(rounds(&chunks, 0).len(), 5);
    assert!(rounds(&[], 4).is_empty());
}

proptest! {
    #[test]
    fn a_merge_keeps_to_its_target(texts in prop::collection::vec("(?s).{0,300}", 0..9), tokens_max in 0_usize..300) {
        let meter = Meter::estimate();
        let part = |(index, text): (usize, &String)| ChunkSummary {
            index, text: text.clone(), tokens_before: 9, tokens_after: meter.text(text), failed: false,
        };
        let parts: Vec<ChunkSummary> = texts.iter().enumerate().map(part).collect();
        prop_assert!(meter.text(&merge_within(parts.clone(), tokens_max, &meter)) <= tokens_max);
        let mut shuffled = parts.clone();
        shuffled.reverse();
        prop_assert_eq!(merge(shuffled), merge(parts));
    }
}
