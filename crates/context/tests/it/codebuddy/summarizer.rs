//! PS: the parallel summariser.

use std::convert::Infallible;

use context::shorten::chunk::Chunk;
use context::shorten::summary::{ChunkSummary, merge, part};
use context::shorten::truncate::{Style, head_tail};

use crate::codebuddy::{meter, user};

fn parts(texts: &[&str]) -> Vec<ChunkSummary> {
    let part = |(index, text): (usize, &&str)| ChunkSummary {
        index,
        text: (*text).to_owned(),
        tokens_before: 100,
        tokens_after: 10,
        failed: false,
    };
    texts.iter().enumerate().map(part).collect()
}

#[test]
fn ps_2_chunks_by_index() {
    let items = [user("word ".repeat(600)), user("short")];
    let chunk = |index: usize| Chunk {
        index,
        items: index..index + 1,
        tokens: 100 - 95 * index,
    };
    let second = part(
        &items,
        &chunk(1),
        Ok::<_, Infallible>("a summary longer than what it stands for".repeat(9)),
        &meter(),
    );
    let first = part(&items, &chunk(0), Err("busy"), &meter());
    assert!(first.failed && first.text.starts_with("[Summarization failed, using excerpt]"));
    assert!(first.text.contains("characters truncated") && first.text.len() < 1_200);
    let ratio = |part: &ChunkSummary| 1.0 - part.tokens_after as f64 / part.tokens_before as f64;
    assert!(ratio(&first) < 1.0 && ratio(&second) < 0.0, "it may be negative");
    assert_eq!([&first, &second].map(|part| part.index), [0, 1]);
    let (a, b) = (first.text.clone(), second.text.clone());
    assert_eq!(merge(vec![second, first]), format!("{a}\n\n{b}"));
    assert_eq!(merge(Vec::new()), "");
}

#[test]
fn ps_3_merge() {
    assert_eq!(merge(parts(&[])), "");
    assert_eq!(merge(parts(&["only"])), "only");
    assert_eq!(merge(parts(&["a", "b", "c"])), "a\n\nb\n\nc");
    let four = merge(parts(&["a", "b", "c", "d"]));
    assert!(four.starts_with("[Part 1/4]") && four.contains("[Part 4/4]"));
}

#[test]
fn ps_4_truncate_text() {
    let style = Style::codebuddy();
    let text = "x".repeat(3_050);
    assert_eq!(head_tail(&text, 1_500, 1_500, &style), text);
    let text = "x".repeat(5_000);
    let cut = head_tail(&text, 500, 500, &style);
    assert!(cut.len() < 1_500 && cut.contains("[... 4000 characters truncated ...]"));
}
