//! The behaviour of transcript repair that the seed's tests pin, by tag.

use std::collections::BTreeSet;
use std::sync::Arc;

use transcript::repair::for_view;
use transcript::{Block, Call, Item, Role};

const EXECUTING: &str = "[executing...]";
const LOST: &str = "[result lost]";

fn calls(ids: &[&str]) -> Arc<Item> {
    let call = |id: &&str| {
        Block::Call(Call {
            id: (*id).to_owned(),
            name: "run".to_owned(),
            arguments: "{}".to_owned(),
        })
    };
    Arc::new(Item {
        role: Role::Assistant,
        blocks: ids.iter().map(call).collect(),
        raw: None,
        edited: false,
    })
}

fn result(id: &str, text: &str) -> Arc<Item> {
    Arc::new(Item::outcome(id, text))
}

fn user(text: &str) -> Arc<Item> {
    Arc::new(Item::text(Role::User, text))
}

fn rendered(items: &[Arc<Item>]) -> Vec<String> {
    let tell = |item: &Arc<Item>| match item.outcomes().next() {
        Some(outcome) => format!("{}={}", outcome.call_id, outcome.text),
        None => format!(
            "{}{}",
            item.prose(),
            item.calls()
                .map(|call| format!("!{}", call.id))
                .collect::<Vec<_>>()
                .concat()
        ),
    };
    items.iter().map(tell).collect()
}

fn view(items: &[Arc<Item>], pending: &[&str]) -> Vec<String> {
    let pending: BTreeSet<String> = pending.iter().map(|id| (*id).to_owned()).collect();
    rendered(&for_view(items, &pending).unwrap_or_else(|| items.to_vec()))
}

#[test]
fn tr_1_a_running_call_is_closed_and_real_results_stay() {
    let items = [calls(&["b", "c"]), result("b", "ok")];
    assert_eq!(view(&items, &["c"]), ["!b!c", "b=ok", &format!("c={EXECUTING}")]);
    assert_eq!(view(&[user("hi")], &[]), ["hi"]);
}

#[test]
fn tr_2_complete_transcripts_stay_and_open_calls_are_closed_after_their_item() {
    assert!(for_view(&[], &BTreeSet::new()).is_none());
    assert!(for_view(&[user("a"), calls(&["x"]), result("x", "1")], &BTreeSet::new()).is_none());
    let items = [
        calls(&["a", "b"]),
        result("b", "2"),
        user("next"),
        calls(&["c"]),
        result("zz", "stray"),
    ];
    let lost = |id: &str| format!("{id}={LOST}");
    assert_eq!(
        view(&items, &[]),
        ["!a!b", "b=2", &lost("a"), "next", "!c", &lost("c")]
    );
}

#[test]
fn tr_3_stray_duplicate_and_early_results() {
    let items = [
        result("a", "early"),
        calls(&["a", "", "a"]),
        user("hm"),
        result("b", "x"),
    ];
    assert_eq!(view(&items, &[]), ["!a", "a=early", "hm"]);
    let twice = [calls(&["a"]), result("a", "first"), result("a", "second")];
    assert_eq!(view(&twice, &[]), ["!a", "a=first"]);
    let again = [calls(&["a"]), result("a", "1"), calls(&["a"]), result("a", "2")];
    assert_eq!(
        view(&again, &[]),
        ["!a", "a=1", "!a", "a=2"],
        "an id may be used again"
    );
}

#[test]
fn tr_4_a_real_result_replaces_a_placeholder_in_any_order() {
    let late = [
        calls(&["a"]),
        result("a", EXECUTING),
        user("and?"),
        result("a", "done"),
    ];
    assert_eq!(view(&late, &[]), ["!a", "a=done", "and?"]);
    let early = [calls(&["a"]), result("a", "done"), result("a", LOST)];
    assert_eq!(view(&early, &[]), ["!a", "a=done"]);
    assert_eq!(view(&[calls(&["a"])], &["a"]), ["!a", &format!("a={EXECUTING}")]);
}

#[test]
fn reasoning_is_removed_with_its_calls() {
    let thought = Block::Thinking(transcript::Thinking {
        text: "hm".to_owned(),
        raw: "{}".to_owned(),
    });
    let call = Block::Call(Call {
        id: String::new(),
        name: "run".to_owned(),
        arguments: String::new(),
    });
    let item = Item {
        role: Role::Assistant,
        blocks: vec![thought, call],
        raw: None,
        edited: false,
    };
    assert_eq!(view(&[user("go"), Arc::new(item)], &[]), ["go"]);
}
