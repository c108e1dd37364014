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

fn kind(item: Item) -> Kind {
    score(&[item], &Rules::quipu())[0].kind
}

#[test]
fn structure_tells_kinds_in_any_language() {
    assert_eq!(kind(outcome("完了", true)), Kind::Error);
    assert_eq!(kind(outcome("built in 3 s, 0 errors", false)), Kind::ToolResult);
    assert_eq!(kind(outcome("make: done\nexit code: 2", false)), Kind::Error);
    assert_eq!(kind(outcome("exit code 0", false)), Kind::ToolResult);
    for said in [
        "We decided on Postgres.",
        "Wir haben uns für Postgres entschieden.",
        "Nous avons décidé d'utiliser Postgres.",
        "Hemos decidido usar Postgres.",
        "我们决定使用 Postgres。",
        "Postgres を使うことに決めました。",
    ] {
        assert_eq!(kind(Item::text(Role::User, said)), Kind::Decision, "{said}");
    }
    assert_eq!(kind(Item::text(Role::User, "yes")), Kind::Conversation);
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
            &Rules {
                recency: 0.0,
                ..Rules::quipu()
            },
        );
        (scores[0].value, scores[1].value)
    };
    let (pool, cache) = talk("see src/pool_size.rs");
    assert!(pool > cache + 0.05, "{pool} {cache}");
    let (pool, cache) = talk("see nothing");
    assert!((pool - cache).abs() < 1e-9);
}

#[test]
fn pins_score_one() {
    let items = [Item::text(Role::Assistant, "a"), Item::text(Role::Assistant, "b")];
    let scores = score_pinned(&items, &BTreeSet::from([0]), &Rules::quipu());
    assert!(scores[0].value >= 1.0 && scores[1].value < 1.0);
    assert_eq!(least_first(&scores), [1, 0]);
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
    fn scores_are_a_stable_total_order(items in items(), weight in any::<f64>(), ours in any::<bool>()) {
        let mut rules = if ours { Rules::quipu() } else { Rules::codebuddy() };
        if weight > 1.0 {
            rules.weights.conversation = weight;
        }
        let scores = score(&items, &rules);
        prop_assert_eq!(scores.len(), items.len());
        prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(&score.value)));
        let order = least_first(&scores);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..items.len()).collect::<Vec<_>>());
        for pair in order.windows(2) {
            let (a, b) = (&scores[pair[0]], &scores[pair[1]]);
            prop_assert!(a.value < b.value || (a.value <= b.value && a.index < b.index));
        }
        prop_assert_eq!(scores, score(&items, &rules));
    }
}
