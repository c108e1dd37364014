//! PF: the progressive fallback.

use context::shorten::shrink::{Rules, Shrunk, Strategy, apply, items, ladder};
use transcript::Role;

use crate::codebuddy::{meter, user};

fn text(length: usize) -> String {
    let words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet ";
    let text = words.repeat(length / words.len() + 1);
    format!("HEAD{}TAIL", &text[..length - 8])
}

fn run(text: &str, strategy: Strategy, target: usize) -> Shrunk {
    apply(text, strategy, target, &Rules::codebuddy(), &meter())
}

#[test]
fn pf_1_truncation() {
    let cut = run(&text(10_000), Strategy::Truncate, 500);
    assert_eq!(cut.strategy.as_str(), "truncate");
    assert!(cut.tokens_after <= cut.tokens_before && cut.ratio() > 0.0);
    assert!(cut.text.contains("truncated") && cut.text.starts_with("HEAD") && cut.text.ends_with("TAIL"));
}

#[test]
fn pf_2_remove_middle() {
    let cut = run(&text(10_000), Strategy::RemoveMiddle, 500);
    assert_eq!(cut.strategy.as_str(), "remove-middle");
    let (head, tail) = cut.text.split_once("[... ").unwrap();
    assert!(tail.contains("removed") && head.len() > tail.len());
}

#[test]
fn pf_3_extract_key_info() {
    let talk = format!(
        "{}The error was in the parser. We fixed `parse()` there. {}",
        "Words. ".repeat(200),
        "Words. ".repeat(200)
    );
    let cut = run(&talk, Strategy::ExtractKey, 60);
    assert_eq!(cut.strategy.as_str(), "extract-key");
    assert!(cut.text.starts_with("[Key information extracted]"));
    assert!(cut.text.contains("The error was in the parser.") && cut.text.contains("`parse()`"));
    assert_eq!(
        run(&text(2_000), Strategy::ExtractKey, 60).strategy.as_str(),
        "aggressive-truncate"
    );
}

#[test]
fn pf_4_aggressive_truncate() {
    let cut = run(&text(10_000), Strategy::AggressiveTruncate, 100);
    assert_eq!(cut.strategy.as_str(), "aggressive-truncate");
    assert!(cut.tokens_after < cut.tokens_before && cut.text.contains("content truncated"));
}

#[test]
fn pf_5_progressive_fallback() {
    let shrink = |length, target| ladder(&text(length), target, &Rules::codebuddy(), &meter());
    assert!(shrink(2_000, 400).tokens_after <= 400);
    let small = shrink(10_000, 50);
    assert!(small.tokens_after <= 100 && small.ratio() > 0.9);
    assert!(!shrink(10_000, 10).text.is_empty());
    assert!(ladder("", 0, &Rules::codebuddy(), &meter()).text.is_empty());
}

#[test]
fn pf_6_message_fallback() {
    let talk: Vec<_> = (0..10)
        .map(|index| user(format!("{index} {}", text(800))))
        .collect();
    let made = items(&talk, 300, &Rules::codebuddy(), &meter());
    assert_eq!(made.item.role, Role::System);
    let told = made.item.prose();
    assert!(told.starts_with("[Conversation Summary (fallback)]"), "{told}");
    assert!(made.tokens_before > made.tokens_after && made.tokens_after > 0);
    assert!(made.ratio() > 0.0 && made.items == 10);
}
