//! Chunks of transcripts with calls and results.

use proptest::prelude::*;
use transcript::{Block, Call, Item, Role};

use super::*;

fn call(ids: &[String]) -> Item {
    let call = |id: &String| {
        Block::Call(Call {
            id: id.clone(),
            name: "run".to_owned(),
            arguments: "{}".to_owned(),
        })
    };
    Item {
        role: Role::Assistant,
        blocks: ids.iter().map(call).collect(),
        raw: None,
        edited: false,
    }
}

fn talk() -> impl Strategy<Value = Vec<Item>> {
    let turn = (0_usize..4, any::<bool>(), any::<bool>());
    prop::collection::vec(turn, 0..25).prop_map(|turns| {
        let mut items = Vec::new();
        for (at, (calls, asks, answered)) in turns.into_iter().enumerate() {
            if asks {
                items.push(Item::text(Role::User, "next"));
            }
            let ids: Vec<String> = (0..calls).map(|call| format!("c{at}_{call}")).collect();
            items.push(if ids.is_empty() {
                Item::text(Role::Assistant, "said")
            } else {
                call(&ids)
            });
            if answered {
                items.extend(ids.iter().map(|id| Item::outcome(id, "done")));
            }
        }
        items
    })
}

proptest! {
    // I37
    #[test]
    fn chunks_cover_the_whole_stretch(
        items in talk(),
        seeds in prop::collection::vec(0_usize..400, 100),
        tokens_max in 1_usize..1_500,
    ) {
        let weights: Vec<usize> = seeds.into_iter().cycle().take(items.len()).collect();
        let cuts = cut::safe_cuts(&items, &std::collections::BTreeSet::new());
        let chunks = split(&items, &weights, tokens_max);
        for chunks in [balance(chunks.clone(), tokens_max / 3, tokens_max), chunks] {
            let places: Vec<usize> = chunks.iter().flat_map(|chunk| chunk.items.clone()).collect();
            prop_assert_eq!(places, (0..items.len()).collect::<Vec<_>>());
            for (index, chunk) in chunks.iter().enumerate() {
                prop_assert_eq!(chunk.index, index);
                prop_assert_eq!(chunk.tokens, weights[chunk.items.clone()].iter().sum::<usize>());
                prop_assert!(chunk.items.end == items.len() || cuts.contains(&chunk.items.end));
                let inner = cuts.iter().any(|cut| (chunk.items.start + 1..chunk.items.end).contains(cut));
                prop_assert!(chunk.tokens <= tokens_max || !inner);
            }
        }
    }
}

#[test]
fn shares_are_even() {
    let items = vec![Item::text(Role::User, "x"); 30];
    let tokens: Vec<usize> = split(&items, &[100; 30], 1_100)
        .iter()
        .map(|chunk| chunk.tokens)
        .collect();
    assert_eq!(tokens, [1_100, 1_100, 800]);
}

#[test]
fn a_small_last_chunk_joins_the_previous_one() {
    let chunk = |index, items, tokens| Chunk { index, items, tokens };
    let chunks = vec![chunk(0, 0..3, 700), chunk(1, 3..6, 600), chunk(2, 6..7, 50)];
    assert_eq!(
        balance(chunks.clone(), 500, 1_000),
        [chunk(0, 0..3, 700), chunk(1, 3..7, 650)]
    );
    assert_eq!(balance(chunks.clone(), 500, 620), chunks, "no room");
}
