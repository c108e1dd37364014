//! Scores of transcripts of any kind.

use proptest::prelude::*;
use transcript::{Item, Role};

use super::*;

fn outcome(text: &str, failed: bool) -> Item {
    let mut item = Item::outcome("c1", text);
    if let Block::Outcome(outcome) = &mut item.blocks[0] {
        outcome.failed = failed;
    }
    item
}

fn kind(item: Item) -> ItemKind {
    score(&[item], &ScoreRules::quipu())[0].kind
}

#[test]
fn structure_tells_kinds_in_any_language() {
    assert_eq!(kind(outcome("完了", true)), ItemKind::Error);
    assert_eq!(
        kind(outcome("built in 3 s, 0 errors", false)),
        ItemKind::ToolResult
    );
    assert_eq!(kind(outcome("make: done\nexit code: 2", false)), ItemKind::Error);
    assert_eq!(kind(outcome("exit code 0", false)), ItemKind::ToolResult);
    for said in [
        "We decided on Postgres.",
        "Wir haben uns für Postgres entschieden.",
        "Nous avons décidé d'utiliser Postgres.",
        "Hemos decidido usar Postgres.",
        "我们决定使用 Postgres。",
        "Postgres を使うことに決めました。",
    ] {
        assert_eq!(kind(Item::text(Role::User, said)), ItemKind::Decision, "{said}");
    }
    assert_eq!(kind(Item::text(Role::User, "yes")), ItemKind::Conversation);
}

#[test]
fn what_is_referred_to_counts_more() {
    let talk = |second: &str| {
        let items = [
            Item::text(Role::Assistant, "the pool is sized in src/pool_size.rs"),
            Item::text(Role::Assistant, "the cache is sized in src/cache_size.rs"),
            Item::text(Role::Assistant, second),
        ];
        let scores = score(
            &items,
            &ScoreRules {
                recency: 0.0,
                ..ScoreRules::quipu()
            },
        );
        (scores[0].value, scores[1].value)
    };
    let (pool, cache) = talk("see src/pool_size.rs");
    assert!(pool > cache + 0.05, "{pool} {cache}");
    let (pool, cache) = talk("see nothing");
    assert!((pool - cache).abs() < 1e-9);
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
    fn scores_are_in_order_and_stable(items in items(), weight in any::<f64>(), ours in any::<bool>()) {
        let mut rules = if ours { ScoreRules::quipu() } else { ScoreRules::codebuddy() };
        if weight > 1.0 {
            rules.weights.conversation = weight;
        }
        let scores = score(&items, &rules);
        prop_assert_eq!(scores.len(), items.len());
        prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(&score.value)));
        prop_assert!(scores.iter().map(|score| score.index).eq(0..items.len()));
        prop_assert_eq!(scores, score(&items, &rules));
    }
}
