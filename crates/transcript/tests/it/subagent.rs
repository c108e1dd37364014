//! The items that a sub-agent starts with.

use std::sync::Arc;

use transcript::{Block, Call, Item, Role, subagent};

#[test]
fn a_subagent_starts_with_the_system_and_the_newest_whole_pairs() {
    let mut items = vec![Arc::new(Item::text(Role::System, "be kind"))];
    items.extend((0..30).map(|n| Arc::new(Item::text(Role::User, format!("{n}")))));
    assert_eq!(subagent::starts_with(items.clone(), "explorer").len(), 11);
    assert_eq!(subagent::starts_with(items.clone(), "writer").len(), 21);
    assert_eq!(subagent::starts_with(items[..5].to_vec(), "writer").len(), 5);
    let mut call = Item::text(Role::Assistant, "");
    call.blocks = vec![Block::Call(Call {
        id: "c1".to_owned(),
        name: "ls".to_owned(),
        arguments: "{}".to_owned(),
    })];
    items.splice(22..22, [Arc::new(call)]);
    items.splice(24..24, [Arc::new(Item::outcome("c1", "x"))]);
    let kept = subagent::starts_with(items, "explorer");
    assert_eq!(
        kept.len(),
        9,
        "the call stands before the ten newest, so its result is left out too"
    );
}
