//! The providers' rules, in the short text of `say`.
use transcript::order::{Rule, anthropic, openai};

use crate::say::items;

#[track_caller]
fn breaks(text: &str, by_openai: Option<(usize, Rule)>, by_anthropic: Option<(usize, Rule)>) {
    let items = items(text);
    assert_eq!(
        openai(&items).err().map(|breach| (breach.item, breach.rule)),
        by_openai,
        "openai: {text}"
    );
    assert_eq!(
        anthropic(&items).err().map(|breach| (breach.item, breach.rule)),
        by_anthropic,
        "anthropic: {text}"
    );
}

#[test]
fn results_stand_directly_behind_their_turn() {
    breaks("U go | A a b | T b | T a | A \"done", None, None);
    breaks("U go | A a b | U +b +a more", None, None);
    breaks("U go | A a b | U +b | U +a more | A \"done", None, None);
    breaks("U go | C a | C b | T a | T b", None, None);
    let unanswered = Some((1, Rule::CallIsAnswered));
    breaks("U go | A a", unanswered, unanswered);
    breaks("U go | A a | U hi | T a", unanswered, unanswered);
    breaks("U go | A a b | U +a hi | U +b", unanswered, unanswered);
    breaks("U go | A a | S be | T a", unanswered, None);
    let stray = |at| Some((at, Rule::ResultHasCall));
    breaks("U go | T a", stray(1), stray(1));
    breaks("U go | A a | T a | T a", stray(3), stray(3));
    breaks("U go | A a | T b", stray(2), stray(2));
    let behind = Some((2, Rule::ResultsComeFirst));
    breaks("U go | A a | U hi +a", behind, behind);
}

#[test]
fn calls_are_told_apart() {
    let rule = |rule| Some((1, rule));
    breaks("U go | A . | T a", rule(Rule::CallHasId), rule(Rule::CallHasId));
    breaks(
        "U go | A a a | T a",
        rule(Rule::CallIdsDiffer),
        rule(Rule::CallIdsDiffer),
    );
    breaks("U go | A a | T a | A a | T a", None, None);
    let another = |at| Some((at, Rule::CallIsTheAssistants));
    breaks("U go | U !a", another(1), another(1));
    breaks("U go | A a | U +a !b", another(2), another(2));
}

#[test]
fn anthropic_wants_the_user_first_and_nothing_empty() {
    breaks("S be | A \"hi", None, Some((1, Rule::UserIsFirst)));
    breaks("U hi | A | U ho", None, Some((1, Rule::NothingIsEmpty)));
    breaks("S be | U hi | A \" | U ho", None, Some((2, Rule::NothingIsEmpty)));
}
