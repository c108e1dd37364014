//! AC: the adaptive chunker.

use context::shorten::chunk::{Chunk, balance, split};
use transcript::Item;

use crate::codebuddy::user;

fn talk(count: usize) -> Vec<Item> {
    (0..count).map(|index| user(format!("message {index}"))).collect()
}

fn chunks(tokens: &[usize]) -> Vec<Chunk> {
    tokens
        .iter()
        .enumerate()
        .map(|(index, &tokens)| Chunk {
            index,
            items: index..index + 1,
            tokens,
        })
        .collect()
}

#[test]
fn ac_3_each_item_is_in_one_chunk() {
    let none: [Item; 0] = [];
    assert!(split(&none, &[], 2_000).is_empty());
    let three = split(&talk(3), &[10; 3], 2_000);
    assert_eq!(
        three,
        [Chunk {
            index: 0,
            items: 0..3,
            tokens: 30
        }]
    );
    let many = split(&talk(40), &[200; 40], 2_000);
    assert!(many.len() > 1 && many.iter().all(|chunk| chunk.tokens > 0));
    let places: Vec<usize> = many.iter().flat_map(|chunk| chunk.items.clone()).collect();
    assert_eq!(places, (0..40).collect::<Vec<_>>());
    assert!(many.iter().enumerate().all(|(index, chunk)| chunk.index == index));
}

#[test]
fn ac_2_4_number_and_size_of_chunks() {
    let count = |items: usize, tokens: usize| {
        let chunks = split(&talk(items), &vec![tokens / items; items], 2_000);
        assert!(chunks.iter().all(|chunk| chunk.tokens <= 2_000), "{chunks:?}");
        chunks.len()
    };
    assert_eq!(
        [count(10, 1_000), count(20, 4_000), count(20, 20_000)],
        [1, 2, 10]
    );
}

#[test]
fn ac_5_balance() {
    let balanced = |tokens: &[usize]| balance(chunks(tokens), 500, usize::MAX);
    assert!(balanced(&[]).is_empty());
    assert_eq!(balanced(&[100]), chunks(&[100]));
    let joined = balanced(&[100, 150, 600]);
    assert!(
        joined.len() < 3
            && joined
                .iter()
                .enumerate()
                .all(|(index, chunk)| chunk.index == index)
    );
    assert_eq!(balanced(&[600, 700, 800]), chunks(&[600, 700, 800]));
}
