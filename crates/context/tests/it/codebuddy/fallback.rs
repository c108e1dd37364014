//! PF: the progressive fallback.

use context::shorten::shrink::{ShrinkRules, ShrinkStrategy, Shrunk, ladder};

use crate::codebuddy::meter;

fn text(length: usize) -> String {
    let words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet ";
    let text = words.repeat(length / words.len() + 1);
    format!("HEAD{}TAIL", &text[..length - 8])
}

fn run(text: &str, strategy: &'static [ShrinkStrategy], target: usize) -> Shrunk {
    let rules = ShrinkRules {
        ladder: strategy,
        ..ShrinkRules::codebuddy()
    };
    ladder(text, target, &rules, &meter())
}

fn gone(shrunk: &Shrunk) -> f64 {
    1.0 - shrunk.tokens_after as f64 / shrunk.tokens_before as f64
}

#[test]
fn pf_1_truncation() {
    // The ends that it keeps at least weigh less than the middle.
    let text = format!("{}{}{}", text(2_500), "橋".repeat(4_000), text(2_500));
    let cut = run(&text, &[ShrinkStrategy::Truncate], 3_000);
    assert_eq!(cut.strategy.as_str(), "truncate");
    assert!(cut.tokens_after <= cut.tokens_before && gone(&cut) > 0.0);
    assert!(cut.text.contains("truncated") && cut.text.starts_with("HEAD") && cut.text.ends_with("TAIL"));
}

#[test]
fn pf_2_remove_middle() {
    let cut = run(&text(10_000), &[ShrinkStrategy::RemoveMiddle], 500);
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
    let cut = run(&talk, &[ShrinkStrategy::ExtractKey], 60);
    assert_eq!(cut.strategy.as_str(), "extract-key");
    assert!(cut.text.starts_with("[Key information extracted]"));
    assert!(cut.text.contains("The error was in the parser.") && cut.text.contains("`parse()`"));
    assert_eq!(
        run(&text(2_000), &[ShrinkStrategy::ExtractKey], 60)
            .strategy
            .as_str(),
        "aggressive-truncate"
    );
}

#[test]
fn pf_4_aggressive_truncate() {
    let cut = run(&text(10_000), &[ShrinkStrategy::AggressiveTruncate], 100);
    assert_eq!(cut.strategy.as_str(), "aggressive-truncate");
    assert!(cut.tokens_after < cut.tokens_before && cut.text.contains("content truncated"));
}

#[test]
fn pf_5_progressive_fallback() {
    let shrink = |length, target| ladder(&text(length), target, &ShrinkRules::codebuddy(), &meter());
    assert!(shrink(2_000, 400).tokens_after <= 400);
    let small = shrink(10_000, 50);
    assert!(small.tokens_after <= 100 && gone(&small) > 0.9);
    assert!(!shrink(10_000, 10).text.is_empty());
    assert!(ladder("", 0, &ShrinkRules::codebuddy(), &meter()).text.is_empty());
}
