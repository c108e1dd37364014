//! Any text and any limits: no cut tears a character, no result is over its limit, every marker's sum is right.

#![no_main]

use context::shorten::truncate::{self, Style};
use context::tokens::Meter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str)| {
    let (head, tail, text) = input;
    let tokens_max = usize::from(head);
    let meter = Meter::estimate();
    let cut = truncate::to_tokens(text, tokens_max, &meter);
    assert!(meter.text(&cut) <= tokens_max);
    assert!(
        meter.text(text) > tokens_max || cut == text,
        "what fits stays whole"
    );
    for style in [Style::quipu(), Style::codebuddy()] {
        let cut = truncate::head_tail(text, usize::from(head), usize::from(tail), &style);
        assert!(cut.len() <= text.len());
        assert!(cut == text || adds_up(text, &cut, &style), "{cut:?}");
    }
});

/// One marker stands between a head and a tail of the text, and its number is what they lack.
fn adds_up(text: &str, cut: &str, style: &Style) -> bool {
    let (before, after) = style.marker.split_once("{}").expect("a marker has a number");
    cut.match_indices(before).any(|(at, _)| {
        let rest = &cut[at + before.len()..];
        let Some((number, tail)) = rest.split_once(after) else {
            return false;
        };
        let head = &cut[..at];
        let missing = style.unit.len(text) - style.unit.len(head).min(style.unit.len(text));
        text.starts_with(head)
            && text.ends_with(tail)
            && number.parse() == Ok(missing.saturating_sub(style.unit.len(tail)))
    })
}
