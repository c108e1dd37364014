//! The fake keeps the contract, and is strict and faulty where it says so.

use ports::{Index, IndexError, IndexHealth};

use super::samples::{embedder, key, turn};
use super::{MemoryIndex, contract};

#[tokio::test]
async fn keeps_the_contract() {
    contract::holds(async || MemoryIndex::new(embedder())).await;
}

#[tokio::test]
#[should_panic(expected = "is not removed")]
async fn a_row_added_twice_is_a_panic() {
    let index = MemoryIndex::new(embedder());
    index
        .apply(&[turn("ann", "a", "one")], &[])
        .await
        .expect("applies");
    let again = index.apply(&[turn("ann", "a", "two")], &[]).await;
    drop(again);
}

#[tokio::test]
async fn only_the_planned_call_fails_and_an_apply_half_way() {
    let index = MemoryIndex::new(embedder());
    index
        .apply(&[turn("ann", "a", "one")], &[])
        .await
        .expect("applies");
    index.fail_call(2);
    index.stats().await.expect("the first call is fine");
    let failed = index.apply(&[turn("ann", "b", "two")], &[key("ann", "a")]).await;
    assert!(matches!(failed, Err(IndexError::Store(_))));
    assert_eq!(index.rows(), []);
    index
        .apply(&[turn("ann", "b", "two")], &[])
        .await
        .expect("the third call is fine");
}

#[tokio::test]
async fn a_damaged_index_serves_again_once_rebuilt_and_a_wiped_one_is_fresh() {
    let index = MemoryIndex::new(embedder());
    index.damage("torn");
    assert!(matches!(index.stats().await, Err(IndexError::Unusable { .. })));
    index
        .stage(&embedder())
        .await
        .expect("stages")
        .publish()
        .await
        .expect("publishes");
    assert_eq!(index.health(&embedder()).await, IndexHealth::Ready);
    index.wipe();
    assert_eq!(index.health(&embedder()).await, IndexHealth::Fresh);
}
