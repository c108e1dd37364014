//! PF: the progressive fallback, on our ladder.

use context::shorten::shrink::{Shrunk, ladder};

use crate::codebuddy::meter;

fn text(length: usize) -> String {
    let words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet ";
    let text = words.repeat(length / words.len() + 1);
    format!("HEAD{}TAIL", &text[..length - 8])
}

fn run(text: &str, target: usize) -> Shrunk {
    ladder(text, target, &meter())
}

#[test]
fn pf_2_remove_middle() {
    let cut = run(&text(10_000), 1_600);
    assert_eq!(cut.strategy.as_str(), "remove-middle");
    let (head, tail) = cut.text.split_once("[… ").unwrap();
    assert!(tail.contains("removed") && head.len() > tail.len());
    assert!(cut.text.starts_with("HEAD") && cut.text.ends_with("TAIL"));
}

#[test]
fn pf_3_extract_key_info() {
    let talk = format!(
        "{}The error was in the parser. We decided to fix `parse()` there. {}",
        "Words. ".repeat(200),
        "Words. ".repeat(200)
    );
    let cut = run(&talk, 60);
    assert_eq!(cut.strategy.as_str(), "extract-key");
    assert!(cut.text.contains("The error was in the parser.") && cut.text.contains("`parse()`"));
}

#[test]
fn pf_4_aggressive_truncate() {
    let cut = run(&text(10_000), 100);
    assert_eq!(cut.strategy.as_str(), "aggressive-truncate");
    assert!(cut.tokens_after < cut.tokens_before && cut.text.contains("content truncated"));
}

#[test]
fn pf_5_progressive_fallback() {
    assert!(run(&text(2_000), 400).tokens_after <= 400);
    let small = run(&text(10_000), 50);
    assert!(small.tokens_after <= 100 && small.tokens_after * 10 < small.tokens_before);
    assert!(!run(&text(10_000), 10).text.is_empty());
    assert!(run("", 0).text.is_empty());
}
