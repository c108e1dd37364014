//! PF: the progressive fallback, on our ladder.

use context::shorten::shrink::to_target;

use crate::codebuddy::meter;

fn text(length: usize) -> String {
    let words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet ";
    let text = words.repeat(length / words.len() + 1);
    format!("HEAD{}TAIL", &text[..length - 8])
}

fn run(text: &str, target: usize) -> String {
    to_target(text, target, &meter())
}

#[test]
fn pf_2_remove_middle() {
    let cut = run(&text(10_000), 1_600);
    let (head, tail) = cut.split_once("[… ").unwrap();
    assert!(tail.contains("removed") && head.len() > tail.len());
    assert!(cut.starts_with("HEAD") && cut.ends_with("TAIL"));
}

#[test]
fn pf_3_extract_key_info() {
    let talk = format!(
        "{}The error was in the parser. We decided to fix `parse()` there. {}",
        "Words. ".repeat(200),
        "Words. ".repeat(200)
    );
    let cut = run(&talk, 60);
    assert!(
        !cut.contains("[… ") && cut.contains("The error was in the parser.") && cut.contains("`parse()`")
    );
}

#[test]
fn pf_4_aggressive_truncate() {
    let cut = run(&text(10_000), 100);
    assert!(cut.starts_with("HEAD") && cut.ends_with("content truncated]"));
}

#[test]
fn pf_5_progressive_fallback() {
    assert!(meter().text(&run(&text(2_000), 400)) <= 400);
    assert!(meter().text(&run(&text(10_000), 50)) <= 100);
    assert!(!run(&text(10_000), 10).is_empty());
    assert!(run("", 0).is_empty());
}
