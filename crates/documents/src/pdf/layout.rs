//! Runs of text to lines, paragraphs and headings.
//!
//! Owns: joining text into words, lines and paragraphs by its place; finding headings by their
//! size. Never: changing the order, which in files made by programs is the order of reading,
//! columns included.

use std::collections::BTreeMap;

use super::page::Run;
use crate::markdown::one_line;

/// Minimum gap that counts as a space. All lengths here are relative to the text's size.
const SPACE_GAP: f64 = 0.15;
/// Maximum step back on a line; a larger one begins a new line.
const BACK_MAX: f64 = 1.0;
/// Maximum shift of a superscript on its line.
const LINE_SHIFT_MAX: f64 = 0.45;
/// Maximum distance between the lines of one paragraph.
const LEADING_MAX: f64 = 1.7;
/// Minimum indentation of a line that begins a paragraph, relative to the line before.
const INDENT: f64 = 0.9;
/// Minimum size of a heading, relative to most of the text; a heading is also short.
const HEADING_FACTOR: f64 = 1.15;
const HEADING_MAX_CHARS: usize = 160;
const HEADING_LEVELS: usize = 3;

#[derive(Debug)]
struct TextLine {
    text: String,
    /// In characters. It is stored because counting a long line anew for every run would be
    /// quadratic.
    length: usize,
    start_along: f64,
    end_along: f64,
    across: f64,
    size: f64,
    turn: u8,
}

#[derive(Debug)]
struct Paragraph {
    text: String,
    size: f64,
}

/// The Markdown of the pages.
pub(super) fn markdown(pages: Vec<Vec<Run>>) -> String {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    for runs in pages {
        let mut lines = lines(runs);
        // The last line is the page's number.
        if lines.last().is_some_and(is_number) {
            lines.pop();
        }
        let mut before: Option<TextLine> = None;
        for line in lines {
            match paragraphs.last_mut() {
                Some(paragraph) if continues(before.as_ref(), &line, paragraph) => {
                    append(&mut paragraph.text, &line.text);
                }
                _ => paragraphs.push(Paragraph {
                    text: line.text.clone(),
                    size: line.size,
                }),
            }
            before = Some(line);
        }
    }
    let body = body_size(&paragraphs);
    let is_heading = |paragraph: &Paragraph| {
        let length = paragraph.text.chars().count();
        let letters = paragraph
            .text
            .chars()
            .filter(|letter| letter.is_alphabetic())
            .count();
        paragraph.size >= body * HEADING_FACTOR && length <= HEADING_MAX_CHARS && letters >= 2
    };
    let mut sizes: Vec<i64> = paragraphs
        .iter()
        .filter(|p| is_heading(p))
        .map(|p| half_points(p.size))
        .collect();
    sizes.sort_unstable_by_key(|size| -size);
    sizes.dedup();
    sizes.truncate(HEADING_LEVELS);
    let blocks = paragraphs.iter().map(|paragraph| {
        if !is_heading(paragraph) {
            return body_text(&paragraph.text);
        }
        let rank = sizes.iter().position(|size| *size == half_points(paragraph.size));
        format!(
            "{} {}",
            "#".repeat(rank.map_or(HEADING_LEVELS, |rank| rank + 1)),
            paragraph.text
        )
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn lines(runs: Vec<Run>) -> Vec<TextLine> {
    let mut lines: Vec<TextLine> = Vec::new();
    for run in runs {
        let gap = lines
            .last()
            .filter(|line| is_on(line, &run))
            .map(|line| run.start_along - line.end_along);
        match (gap, lines.last_mut()) {
            (Some(gap), Some(line)) => {
                let is_apart = gap > SPACE_GAP * run.size.min(line.size);
                if is_apart && !line.text.ends_with(' ') && !run.text.starts_with(' ') {
                    line.text.push(' ');
                }
                let length = run.text.chars().count();
                // The size of a line is that of most of its characters, so superscripts do not
                // change it.
                if length > line.length {
                    line.size = run.size;
                }
                line.length += length;
                line.text.push_str(&run.text);
                line.end_along = run.end_along;
            }
            _ => lines.push(TextLine {
                length: run.text.chars().count(),
                text: run.text,
                start_along: run.start_along,
                end_along: run.end_along,
                across: run.across,
                size: run.size,
                turn: run.turn,
            }),
        }
    }
    for line in &mut lines {
        line.text = one_line(&line.text);
    }
    lines.retain(|line| !line.text.is_empty());
    lines
}

fn is_on(line: &TextLine, run: &Run) -> bool {
    let size = line.size.max(run.size);
    line.turn == run.turn
        && (line.across - run.across).abs() <= LINE_SHIFT_MAX * size
        && run.start_along > line.end_along - BACK_MAX * size
}

fn is_number(line: &TextLine) -> bool {
    line.text.len() <= 4 && line.text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a line continues the paragraph of the line before.
fn continues(before: Option<&TextLine>, line: &TextLine, paragraph: &Paragraph) -> bool {
    if half_points(paragraph.size) != half_points(line.size) || bullet(&line.text).is_some() {
        return false;
    }
    let down = before.map_or(-1.0, |before| {
        if before.turn == line.turn {
            before.across - line.across
        } else {
            -1.0
        }
    });
    if down <= 0.0 {
        // Across columns or pages, a paragraph continues only in the middle of a sentence.
        let is_open = !paragraph
            .text
            .ends_with(['.', '!', '?', ':', '"', '”', '。', '！', '？']);
        return is_open && line.text.starts_with(char::is_lowercase);
    }
    let right = before.map_or(0.0, |before| line.start_along - before.start_along);
    down <= LEADING_MAX * line.size && right <= INDENT * line.size
}

fn append(text: &mut String, line: &str) {
    let mut ends = text.chars().rev();
    let (last, second) = (ends.next(), ends.next());
    let is_hyphenated =
        last == Some('-') && second.is_some_and(char::is_alphabetic) && line.starts_with(char::is_lowercase);
    let sets_no_spaces = |letter: Option<char>| {
        letter.is_some_and(|letter| matches!(letter, '\u{3000}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}'))
    };
    if is_hyphenated {
        text.pop();
    } else if !(sets_no_spaces(last) && sets_no_spaces(line.chars().next())) {
        text.push(' ');
    }
    text.push_str(line);
}

/// The size of most of the text, in points.
fn body_size(paragraphs: &[Paragraph]) -> f64 {
    let mut written: BTreeMap<i64, usize> = BTreeMap::new();
    for paragraph in paragraphs {
        *written.entry(half_points(paragraph.size)).or_default() += paragraph.text.len();
    }
    let most = written.into_iter().max_by_key(|(size, length)| (*length, -size));
    most.map_or(0.0, |(size, _)| size as f64 / 2.0)
}

fn half_points(size: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and no letter is that large"
    )]
    let halves = (size * 2.0).round() as i64;
    halves
}

fn bullet(text: &str) -> Option<&str> {
    text.strip_prefix(['•', '▪', '◦', '‣', '●']).map(str::trim_start)
}

/// A paragraph as Markdown without markup.
fn body_text(text: &str) -> String {
    match bullet(text) {
        Some(item) => format!("- {item}"),
        None if text.starts_with(['#', '>', '`', '~', '=']) => format!("\\{text}"),
        None => text.to_owned(),
    }
}
