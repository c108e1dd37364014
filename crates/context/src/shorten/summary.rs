//! Summaries without a model, and merging the summaries of chunks.
//!
//! Owns: the order, the carry and the failures of chunk summaries; merging. Never: calling a model, running calls at
//! the same time (a host does).

use std::borrow::Borrow;
use std::ops::Range;

use transcript::Item;

use crate::prompt;
use crate::shorten::chunk::Chunk;
use crate::shorten::shrink;
use crate::shorten::truncate::{self, Style};
use crate::tokens::Meter;

/// Result of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkSummary {
    /// Index of the chunk.
    pub index: usize,
    pub text: String,
    pub tokens_before: usize,
    pub tokens_after: usize,
    /// Whether the summariser failed: the text is then an excerpt.
    pub failed: bool,
}

/// Heading of an excerpt.
const EXCERPT: &str = "[Summarization failed, using excerpt]";

/// The part for a host's answer; if the call failed or the answer is blank, an excerpt of the chunk.
pub fn part<I: Borrow<Item>, E>(
    items: &[I],
    chunk: &Chunk,
    answer: Result<String, E>,
    meter: &Meter,
) -> ChunkSummary {
    let answer = answer.ok().filter(|text| !text.trim().is_empty());
    let failed = answer.is_none();
    let text = answer.unwrap_or_else(|| {
        let items = items.get(chunk.items.clone()).unwrap_or_default().iter();
        let lines = items.flat_map(|item| prompt::lines(item.borrow()));
        let lines: Vec<String> = lines
            .map(|(speaker, text)| format!("{speaker}: {text}"))
            .collect();
        let excerpt = truncate::head_tail(&lines.join("\n"), 500, 500, &Style::codebuddy()).into_owned();
        format!("{EXCERPT}\n{excerpt}")
    });
    let tokens_after = meter.text(&text);
    ChunkSummary {
        index: chunk.index,
        text,
        tokens_before: chunk.tokens,
        tokens_after,
        failed,
    }
}

/// The chunks that a host may summarise at the same time: rounds of at most `at_once`, in order. The chunks of one
/// round get the summary of the previous round.
pub fn rounds(chunks: &[Chunk], at_once: usize) -> Vec<Range<usize>> {
    let at_once = at_once.max(1);
    (0..chunks.len())
        .step_by(at_once)
        .map(|start| start..chunks.len().min(start.saturating_add(at_once)))
        .collect()
}

/// The summaries as one text, in the order of their chunks. If there are four or more, each has its number.
pub fn merge(mut parts: Vec<ChunkSummary>) -> String {
    parts.sort_by_key(|part| part.index);
    let count = parts.len();
    let texts = parts.into_iter().enumerate().map(|(at, part)| match count {
        0..=3 => part.text,
        _ => format!("[Part {}/{count}]\n{}", at + 1, part.text),
    });
    texts.collect::<Vec<String>>().join("\n\n")
}

/// Like [`merge`], within `tokens_max`: a summary that needs less than an even share leaves the rest to the others.
pub fn merge_within(parts: Vec<ChunkSummary>, tokens_max: usize, meter: &Meter) -> String {
    let whole = merge(parts.clone());
    if meter.text(&whole) <= tokens_max {
        return whole;
    }
    let frame = meter.text("\n\n[Part 99/99]\n");
    let mut room = tokens_max.saturating_sub(frame * parts.len());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| parts[at].tokens_after);
    let mut parts = parts;
    for (done, at) in order.iter().copied().enumerate() {
        let share = room / (order.len() - done);
        let part = &mut parts[at];
        if part.tokens_after > share {
            part.text = shrink::to_target(&part.text, share, meter);
            part.tokens_after = meter.text(&part.text);
        }
        room = room.saturating_sub(part.tokens_after);
    }
    parts.retain(|part| !part.text.trim().is_empty());
    shrink::to_target(&merge(parts), tokens_max, meter)
}

#[cfg(test)]
mod tests;
