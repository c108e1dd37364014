//! Places where a transcript may be cut.
use std::collections::BTreeSet;

use transcript::cut::{pairs, safe_cuts};

use crate::say::items;

#[track_caller]
fn check(text: &str, pending: &[&str], expected: &[usize]) {
    let pending: BTreeSet<String> = pending.iter().map(|&id| id.to_owned()).collect();
    assert_eq!(safe_cuts(&items(text), &pending), expected, "{text}");
}

#[test]
fn messages_without_calls_are_cut_anywhere() {
    check("S be | U hi | A \"ho | U bye", &[], &[1, 2, 3, 4]);
}

#[test]
fn parallel_calls_stay_with_all_their_results() {
    check("U go | A a b | T a | T b | A \"done", &[], &[1, 4, 5]);
    check("U go | A a b | T b | T a | A \"done", &[], &[1, 4, 5]);
    check("U go | A a b | U +a +b | A \"done", &[], &[1, 3, 4]);
}

#[test]
fn no_cut_is_safe_between_a_call_and_its_late_result() {
    check("A a | U hi | A \"ho | T a | U bye", &[], &[4, 5]);
}

#[test]
fn a_reused_id_is_a_new_pair() {
    check("A a | T a | U hi | A a | T a", &[], &[2, 3, 5]);
}

#[test]
fn calls_and_reasoning_in_items_of_their_own_stay_together() {
    check("U go | R | C a | C b | T a | T b | A \"done", &[], &[1, 6, 7]);
    check("U go | R | A \"done | U ok", &[], &[1, 3, 4]);
}

#[test]
fn nothing_is_cut_off_from_a_running_call() {
    check("U go | A a | T a | A b | U meanwhile", &["b"], &[1, 3]);
}

#[test]
fn an_unanswered_call_prevents_no_cut() {
    check("A a | U hi | A \"ho", &[], &[1, 2, 3]);
}

#[test]
fn no_cut_leaves_a_result_first() {
    check("U hi | T x | U ho", &[], &[2, 3]);
}

#[test]
fn a_result_answers_its_nearest_earlier_call() {
    let found: Vec<_> = pairs(&items("T a | A a | U hi | A a | T a | T a"))
        .iter()
        .map(|pair| (pair.call, pair.outcome))
        .collect();
    assert_eq!(found, [(1, Some(5)), (3, Some(4))]);
}
