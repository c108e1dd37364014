//! Every way to make a conversation fit, on conversations with calls and results.

use std::collections::BTreeSet;
use std::sync::Arc;

use context::tokens::Meter;
use proptest::prelude::*;
use transcript::{Block, Call, Item, Role};

use super::*;

mod codebuddy;

fn call(id: &str) -> Item {
    let call = Call {
        id: id.to_owned(),
        name: "run".to_owned(),
        arguments: "{\"command\":\"make\"}".to_owned(),
    };
    Item {
        role: Role::Assistant,
        blocks: vec![Block::Call(call)],
        raw: None,
        edited: false,
    }
}

fn talk(turns: &[(bool, bool, usize)]) -> Vec<Arc<Item>> {
    let mut items = vec![Item::text(Role::System, "Be brief.")];
    for (at, &(asks, calls, size)) in turns.iter().enumerate() {
        if asks {
            items.push(Item::text(
                Role::User,
                format!("ask {at} {}", "why ".repeat(size)),
            ));
        }
        if calls {
            items.push(call(&format!("c{at}")));
            items.push(Item::outcome(
                format!("c{at}"),
                "line of output\n".repeat(size * 4),
            ));
        }
        items.push(Item::text(Role::Assistant, format!("done {at}")));
    }
    items.into_iter().map(Arc::new).collect()
}

type Way = fn(&[Arc<Item>], usize, &Meter) -> Vec<Arc<Item>>;

const WAYS: [(&str, Way); 9] = [
    ("codebuddy", codebuddy),
    ("window by messages", window_by_messages),
    ("window by tokens", window_by_tokens),
    ("importance", importance),
    ("opencode", opencode_prune),
    ("codex", codex),
    ("clear", clear_tool_uses),
    ("masking", mask_observations),
    ("halving", halving),
];

proptest! {
    #[test]
    fn all_strategies_fit_and_none_separates_a_call_from_its_result(
        turns in prop::collection::vec((any::<bool>(), any::<bool>(), 0_usize..30), 1..25),
        limit in 400_usize..3_000,
    ) {
        let meter = Meter::estimate();
        let items = talk(&turns);
        for (name, way) in WAYS {
            let view = way(&items, limit, &meter);
            let fits = weight(&view, &meter) <= limit;
            prop_assert!(fits || name == "codebuddy" || view.len() <= 4, "{name}: {} of {limit}", weight(&view, &meter));
            prop_assert_eq!(&view[0], &items[0], "{}", name);
            let calls: BTreeSet<&str> = view.iter().flat_map(|item| item.calls()).map(|call| &*call.id).collect();
            let results: BTreeSet<&str> = view.iter().flat_map(|item| item.outcomes()).map(|one| &*one.call_id).collect();
            prop_assert_eq!(calls, results, "{}", name);
            // Windows and halving ignore asks: a long tool loop pushes the last ask out.
            let knows_asks = !name.starts_with("window") && name != "halving";
            if let Some(ask) = last_ask(&items).filter(|_| knows_asks) {
                prop_assert!(view.contains(&items[ask]), "{name} lost the last ask");
            }
            prop_assert_eq!(&way(&items, limit, &meter), &view, "{}", name);
        }
    }
}

fn text_of(item: &Item) -> String {
    let results = item.outcomes().map(|outcome| outcome.text.as_str());
    results.fold(item.prose(), |all, text| all + "\n" + text)
}

#[test]
fn each_idea_is_recognised() {
    let items = talk(&[(true, true, 20); 14]);
    let meter = Meter::estimate();
    let limit = weight(&items, &meter) - 500;
    let texts = |way: Way| {
        way(&items, limit, &meter)
            .iter()
            .map(|item| text_of(item))
            .collect::<String>()
    };
    let count = |way: Way, needle: &str| texts(way).matches(needle).count();
    assert_eq!(count(clear_tool_uses, "[Tool result cleared]"), 11);
    assert_eq!(count(mask_observations, "[Previous observation elided]"), 4);
    assert!(count(opencode_prune, "[Old tool result content cleared]") >= 9);
    assert_eq!(count(codex, "line of output"), 0);
    assert!(texts(codex).contains("[Conversation Summary]"));
    assert_eq!(count(halving, "[Conversation Summary]"), 1);
    assert_eq!(window_by_messages(&items, limit, &meter).len(), 21);
    assert!(window_by_tokens(&items, limit, &meter).len() > 40);
}
