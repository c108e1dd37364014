//! Summaries without a model, and how the summaries of chunks become one.
//!
//! Owns: the worth of a text's sentences; the order, the carry and the failures of chunk summaries; merging. Never:
//! calling a model, running anything at once (a host does).

use std::borrow::Borrow;
use std::ops::Range;

use crate::tokens::Meter;
use transcript::{Block, Item};

use crate::shorten::chunk::Chunk;
use crate::shorten::score::lexicon::{CueWords, DECISION, ERROR, IMPORTANT, OPEN, REASON};
use crate::shorten::shrink;
use crate::shorten::truncate::{self, Style};

/// Shorter sentences are passed over, in characters; CJK sentences are short.
const SENTENCE_CHARS_MIN: usize = 6;

/// A sentence and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WeighedSentence<'a> {
    pub text: &'a str,
    pub worth: u32,
}

/// The sentences of a text with their worth, in order.
pub(crate) fn worth(text: &str) -> Vec<WeighedSentence<'_>> {
    let long = sentences(text).filter(|sentence| sentence.chars().count() >= SENTENCE_CHARS_MIN);
    long.map(|text| WeighedSentence {
        text,
        worth: weigh(text),
    })
    .collect()
}

/// Ended by marks before white space or the end, by those of Chinese and Japanese, and by the end of a line.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut start = 0;
        let mut found = Vec::new();
        for (at, c) in line.char_indices() {
            let end = at + c.len_utf8();
            let next = line[end..].chars().next();
            let stops = matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace);
            if stops || matches!(c, '。' | '！' | '？') {
                found.push(line[start..end].trim());
                start = end;
            }
        }
        found.push(line[start..].trim());
        found.into_iter().filter(|sentence| !sentence.is_empty())
    })
}

/// Words of several languages, names and numbers, and shapes.
fn weigh(sentence: &str) -> u32 {
    let tables: [(&CueWords, u32); 5] = [
        (&DECISION, 4),
        (&ERROR, 3),
        (&IMPORTANT, 3),
        (&OPEN, 3),
        (&REASON, 1),
    ];
    let lower = sentence.to_lowercase();
    let said: u32 = tables
        .iter()
        .map(|(words, worth)| if words.found_in(&lower) { *worth } else { 0 })
        .sum();
    let names = crate::shorten::score::identifiers(sentence).len().min(4);
    said + u32::try_from(names).unwrap_or(0) * 2 + u32::from(sentence.contains(['`', '?', '？']))
}

/// Items as text for a summariser: speaker and content, without reasoning and pictures.
fn transcript<I: Borrow<Item>>(items: &[I]) -> String {
    let lines = items.iter().flat_map(|item| {
        let item = item.borrow();
        let speaker = item.role.as_str();
        item.blocks.iter().filter_map(move |block| match block {
            Block::Text(text) => Some(format!("{speaker}: {text}")),
            Block::Call(call) => Some(format!("{speaker} calls {} {}", call.name, call.arguments)),
            Block::Outcome(outcome) if outcome.failed => Some(format!("tool failed: {}", outcome.text)),
            Block::Outcome(outcome) => Some(format!("tool: {}", outcome.text)),
            Block::Image(_) | Block::Thinking(_) | Block::Other(_) => None,
        })
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Result of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkSummary {
    /// The chunk's.
    pub index: usize,
    pub text: String,
    pub tokens_before: usize,
    pub tokens_after: usize,
    /// The summariser failed: the text is an excerpt.
    pub failed: bool,
}

/// Heading of an excerpt.
const EXCERPT: &str = "[Summarization failed, using excerpt]";

/// The part for a host's answer; if it failed or is blank, an excerpt of the chunk.
pub fn part<I: Borrow<Item>, E>(
    items: &[I],
    chunk: &Chunk,
    answer: Result<String, E>,
    meter: &Meter,
) -> ChunkSummary {
    let answer = answer.ok().filter(|text| !text.trim().is_empty());
    let failed = answer.is_none();
    let text = answer.unwrap_or_else(|| {
        let text = transcript(items.get(chunk.items.clone()).unwrap_or_default());
        format!(
            "{EXCERPT}\n{}",
            truncate::head_tail(&text, 500, 500, &Style::codebuddy())
        )
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

/// Which chunks a host may summarise at the same time: rounds of at most `at_once`, in order. The chunks of one round are given
/// the summary of the round before.
pub fn rounds(chunks: &[Chunk], at_once: usize) -> Vec<Range<usize>> {
    let at_once = at_once.max(1);
    (0..chunks.len())
        .step_by(at_once)
        .map(|start| start..chunks.len().min(start.saturating_add(at_once)))
        .collect()
}

/// The summaries as one, in the order of their chunks, not of arrival. From four on, each has its number.
pub fn merge(mut parts: Vec<ChunkSummary>) -> String {
    parts.sort_by_key(|part| part.index);
    let count = parts.len();
    let texts = parts.into_iter().enumerate().map(|(at, part)| match count {
        0..=3 => part.text,
        _ => format!("[Part {}/{count}]\n{}", at + 1, part.text),
    });
    texts.collect::<Vec<String>>().join("\n\n")
}

/// As [`merge`], within `tokens_max`: a summary that needs less than an even share leaves the rest to the others.
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
