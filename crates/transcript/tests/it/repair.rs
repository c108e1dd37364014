//! Repaired histories and closed pending calls, in the short notation of `say`.
use std::collections::BTreeSet;
use std::sync::Arc;

use transcript::Item;
use transcript::repair::{for_view, repair};

use crate::say::{items, said};

#[track_caller]
fn check(text: &str, pending: &str, expected: &str) {
    let pending: BTreeSet<String> = pending.split_whitespace().map(str::to_owned).collect();
    let before = items(text);
    let repaired = repair(&before, &pending);
    assert_eq!(said(&repaired), expected);
    assert_eq!(said(&repair(&repaired, &pending)), expected, "again");
}

#[track_caller]
fn untouched(text: &str, pending: &str) {
    let before = items(text);
    let pending: BTreeSet<String> = pending.split_whitespace().map(str::to_owned).collect();
    let repaired = repair(&before, &pending);
    assert!(
        before.iter().zip(&repaired).all(|(a, b)| Arc::ptr_eq(a, b)),
        "{}",
        said(&repaired)
    );
    assert_eq!(before.len(), repaired.len());
}

#[test]
fn paired_items_stay_the_same_items() {
    untouched("S be | U hi | A \"ho", "");
    untouched("U go | A a b | T b | T a | A a | T a", "");
    untouched("U go | A ? a b | U +a +b and more", "");
    untouched("U go | R | C a | C b | A \"so | T b | T a | R | A \"done", "");
    untouched("U go | C a | T a | C b | T b", "");
    untouched("U go | A a b | T a | U meanwhile", "b");
}

#[test]
fn an_unanswered_call_is_closed_as_lost_unless_it_runs() {
    check("A a b c | T b | U hi", "c", "A a b c | T b | T ~a | U hi");
    check("A a b | U +a hi", "", "A a b | T ~b | U +a hi");
}

#[test]
fn results_and_calls_without_a_pair_are_removed() {
    check("U hi | T x | A \"ho", "", "U hi | A \"ho");
    check("U +x hi | A \"ho", "", "U hi | A \"ho");
    check("A a . | T a", "", "A a | T a");
    check("U hi !a | T a", "", "U hi");
    check("U go | A a | U !b | A a", "a", "U go | A a");
    check("U go | A a | T a !b", "", "U go | A a | T a");
}

#[test]
fn the_first_result_wins_unless_it_is_a_placeholder() {
    check("A a | T a | T a", "", "A a | T a");
    check("A a | T ~a | T a", "", "A a | T a");
    check("A a | T a | U hi | T ~a", "", "A a | T a | U hi");
    check("A a | T ~a | U hi | T a", "", "A a | T a | U hi");
}

#[test]
fn results_move_directly_after_their_turn() {
    check("T a | A a | U hi", "", "A a | T a | U hi");
    check("A a | U hi | T a", "", "A a | T a | U hi");
    check(
        "A a b | T a | U hi | U +b ho",
        "",
        "A a b | T a | U +b | U hi | U ho",
    );
    check("A a | U hi +a", "", "A a | U +a | U hi");
    check("A a | S be | T a", "", "A a | T a | S be");
    check("A a | A b | T a | T b", "", "A a | T a | A b | T b");
}

#[test]
fn an_item_keeps_its_text_when_a_result_is_moved() {
    check(
        "A a | U hi | A b | U +b +a ho",
        "",
        "A a | U +a | U hi | A b | U +b ho",
    );
}

#[test]
fn a_reused_id_is_a_copy_or_a_new_call() {
    check("A a | A a | T a", "", "A a | T a");
    check("A a a | T a", "", "A a | T a");
    check("A a | U hi | A a | T a", "", "A a | T ~a | U hi | A a | T a");
}

#[test]
fn reasoning_is_removed_with_its_calls() {
    check("U go | A ? . | U hi", "", "U go | U hi");
    check("U go | A ? \"so . | U hi", "", "U go | A \"so | U hi");
    check("U go | A ? a . | T a", "", "U go | A ? a | T a");
    check("U go | R | R | C . | U hi", "", "U go | U hi");
    check("U go | R | C . | C a | T a", "", "U go | R | C a | T a");
}

#[test]
fn running_and_lost_calls_get_their_own_placeholders_in_order() {
    let pending = ["a", "b", "x"].map(str::to_owned).into();
    let view = for_view(&items("U go | A a b c d | T d | U hi"), &pending).expect("calls are open");
    let texts: Vec<&str> = view
        .iter()
        .flat_map(|item| item.outcomes())
        .map(|outcome| outcome.text.as_str())
        .collect();
    assert_eq!(
        texts,
        ["of d", "[result lost]", "[executing...]", "[executing...]"]
    );
    assert_eq!(said(&view), "U go | A a b c d | T d | T ~c | T ~a | T ~b | U hi");
}

#[test]
fn a_view_is_closed_and_repaired_or_stays_unchanged() {
    let pending: BTreeSet<String> = ["b".to_owned()].into();
    assert_eq!(for_view(&items("U go | A a | T a"), &pending), None);
    let view = for_view(&items("U go | A a b | U hi | T a"), &pending).expect("a pending call is closed");
    assert_eq!(said(&view), "U go | A a b | T a | T ~b | U hi");
    // The late result replaces the placeholder, although that came first.
    let mut later = view;
    later.extend(items("T b"));
    let view = for_view(&later, &BTreeSet::new()).expect("it moves");
    assert_eq!(said(&view), "U go | A a b | T a | T b | U hi");
}

#[test]
fn blocks_that_a_repair_moves_leave_the_bytes_of_their_item() {
    let text = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":"hi"},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A","x":1},{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"ho"}]}]"#;
    let read = transcript::dialect::read(text).expect("messages");
    let shared: Vec<Arc<Item>> = read.items.into_iter().map(Arc::new).collect();
    let view = for_view(&shared, &BTreeSet::new()).expect("a result is late");
    let view: Vec<Item> = view.iter().map(|item| Item::clone(item)).collect();
    assert_eq!(
        transcript::dialect::write(read.dialect, &view)[1..],
        [
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A","x":1}]}"#,
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"ho"}]}"#,
        ]
    );
}
