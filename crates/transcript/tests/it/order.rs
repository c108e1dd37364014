//! The providers' rules, in the short notation of `say`.

use transcript::order::openai;

use crate::anthropic::anthropic;
use crate::say::items;

#[track_caller]
fn holds(text: &str, of_openai: bool, of_anthropic: bool) {
    let items = items(text);
    assert_eq!(openai(&items), of_openai, "openai: {text}");
    assert_eq!(anthropic(&items), of_anthropic, "anthropic: {text}");
}

#[test]
fn results_come_directly_after_their_turn() {
    holds("U go | A a b | T b | T a | A \"done", true, true);
    holds("U go | A a b | U +b +a more", true, true);
    holds("U go | A a b | U +b | U +a more | A \"done", true, true);
    holds("U go | C a | C b | T a | T b", true, true);
    holds("U go | A a", false, false);
    holds("U go | A a | U hi | T a", false, false);
    holds("U go | A a b | U +a hi | U +b", false, false);
    holds("U go | A a | S be | T a", false, true);
    holds("U go | T a", false, false);
    holds("U go | A a | T a | T a", false, false);
    holds("U go | A a | T b", false, false);
    holds("U go | A a | U hi +a", false, false);
}

#[test]
fn calls_are_distinguished_by_their_ids() {
    holds("U go | A . | T a", false, false);
    holds("U go | A a a | T a", false, false);
    holds("U go | A a | T a | A a | T a", true, true);
    holds("U go | U !a", false, false);
    holds("U go | A a | U +a !b", false, false);
}

#[test]
fn anthropic_requires_the_user_first_and_no_empty_message() {
    holds("S be | A \"hi", true, false);
    holds("U hi | A | U ho", true, false);
    holds("S be | U hi | A \" | U ho", true, false);
}
