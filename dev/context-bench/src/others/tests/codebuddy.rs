//! CM: the behaviour of its compaction that code-buddy's own tests fix.

use context::tokens::Meter;
use transcript::{Item, Role};

use super::call;
use crate::others::{accepts, codebuddy, weight as weight_by};

fn meter() -> Meter {
    Meter::estimate()
}

fn weight(items: &[Item]) -> usize {
    weight_by(items, &meter())
}

fn user(text: impl Into<String>) -> Item {
    Item::text(Role::User, text)
}

fn assistant(text: impl Into<String>) -> Item {
    Item::text(Role::Assistant, text)
}

fn system(text: impl Into<String>) -> Item {
    Item::text(Role::System, text)
}

fn pressed(items: &[Item], tokens_max: usize) -> Vec<Item> {
    codebuddy(items, tokens_max, &meter())
}

fn talk(count: usize) -> Vec<Item> {
    let said = |index: usize| format!("{index} {}", "some words that were said ".repeat(8));
    (0..count)
        .map(|index| {
            if index % 2 == 0 {
                user(said(index))
            } else {
                assistant(said(index))
            }
        })
        .collect()
}

fn text_of(items: &[Item]) -> String {
    items.iter().map(Item::prose).collect::<Vec<_>>().join("\n")
}

#[test]
fn cm_10_acceptance() {
    let mut before = talk(6);
    before.extend([call("a"), Item::outcome("a", "output"), user("and now?")]);
    let limit = weight(&before) - 1;
    let ok = |after: &[Item]| accepts(&before, after, limit, &meter());
    assert!(ok(&before[6..]));
    assert!(!ok(&[]), "empty");
    assert!(!ok(&before), "over the limit");
    assert!(!accepts(&before, &before, usize::MAX, &meter()), "not smaller");
    assert!(!ok(&before[8..]), "lost every result");
    assert!(!ok(&before[..8]), "lost the last ask");
}

#[test]
fn cm_11_window_then_marker() {
    let items: Vec<Item> = std::iter::once(system("Be brief.")).chain(talk(30)).collect();
    let view = pressed(&items, weight(&items) * 2 / 3);
    assert_eq!(view.len(), 12);
    assert_eq!(
        view[1].prose(),
        "[Previous 20 messages summarized due to context limits]"
    );
    assert_eq!(view[2..], items[21..]);
    assert_eq!(pressed(&items, weight(&items)), items, "what fits is not touched");
}

#[test]
fn cm_11_hard_truncation() {
    let mut items = vec![system("Be brief.")];
    items.extend((0..12).map(|_| assistant("a long answer ".repeat(80))));
    items.push(user("and now?"));
    items.push(assistant("a long answer ".repeat(80)));
    let view = pressed(&items, 260);
    assert!(view.contains(&user("and now?")));
    assert!(
        view.len() >= 3 && text_of(&view).contains("... [truncated]"),
        "{}",
        text_of(&view)
    );
    assert!(!text_of(&view).contains(&"a long answer ".repeat(20)));
}

#[test]
fn cm_12_leading_system_items_stay() {
    let lead = [system("One."), system("Two."), system("Three.")];
    let items: Vec<Item> = lead.iter().cloned().chain(talk(40)).collect();
    for tokens_max in [1_000, 400, 100, 10] {
        assert_eq!(pressed(&items, tokens_max)[..3], lead);
    }
}

#[test]
fn cm_14_no_system_item_where_there_was_none() {
    for tokens_max in [900, 400, 100] {
        let view = pressed(&talk(40), tokens_max);
        assert!(view.iter().all(|item| item.role != Role::System));
    }
    let items: Vec<Item> = talk(40)
        .iter()
        .map(|item| Item::text(item.role, item.prose().repeat(4)))
        .collect();
    let view = pressed(&items, weight(&items[30..]) - 100);
    assert!(view.len() < 40 && view.iter().all(|item| item.role != Role::System));
}

#[test]
fn cm_23_results_keep_their_end() {
    let output = format!(
        "{}\nERROR: the disk is full",
        "compiling, nothing of interest 漢字\n".repeat(400)
    );
    let items = [user("build it"), call("call_7"), Item::outcome("call_7", output)];
    let view = pressed(&items, 1_000);
    let outcome = view[2].outcomes().next().unwrap();
    assert_eq!(outcome.call_id, "call_7");
    assert!(
        outcome.text.len() <= 500 && outcome.text.ends_with("ERROR: the disk is full"),
        "{}",
        outcome.text
    );
}
