//! A text as a row of blocks.
//!
//! Owns: the borders of a paragraph, heading, list, code block or table, and the cuts in one that
//! is too large. Never: grouping blocks. The blocks of a text, joined in order, are the text.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation;

use crate::{BLOCK_MAX_TOKENS, FileKind, TOPIC_MAX_TOKENS, TOPIC_TINY_TOKENS, summary};

/// A block of the text, with the blank lines after it.
#[derive(Debug, Clone)]
pub(crate) struct TextBlock {
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// The level, from 1, and the words of a heading.
    pub(crate) heading: Option<(u8, String)>,
    /// A cut would destroy its meaning: it is a code block, list or table.
    whole: bool,
}

pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
}

/// The number of tokens, estimated at four characters each.
pub(crate) fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// The words of a text's first heading; none for a kind without headings.
pub(crate) fn first_heading(kind: FileKind, text: &str) -> Option<String> {
    if kind == FileKind::Text {
        return None;
    }
    let mut found: Option<String> = None;
    for event in Parser::new_ext(text, options()) {
        match (&mut found, event) {
            (_, Event::Start(Tag::Heading { .. })) => found = Some(String::new()),
            (Some(_), Event::End(TagEnd::Heading(_))) => break,
            (Some(words), Event::Text(text) | Event::Code(text)) => words.push_str(&text),
            _ => {}
        }
    }
    found
}

pub(crate) fn of(kind: FileKind, text: &str) -> Vec<TextBlock> {
    let mut blocks = if kind == FileKind::Text {
        paragraphs(text)
    } else {
        structure(text)
    };
    let mut end = text.len();
    for block in blocks.iter_mut().rev() {
        block.range.end = end;
        end = block.range.start;
    }
    match blocks.first_mut() {
        Some(first) => first.range.start = 0,
        None => blocks.push(TextBlock {
            range: 0..text.len(),
            heading: None,
            whole: false,
        }),
    }
    blocks
}

/// The block, or its pieces if it is too large for one topic.
pub(crate) fn pieces(text: &str, block: TextBlock) -> Vec<TextBlock> {
    let Some(own) = text.get(block.range.clone()) else {
        return Vec::new();
    };
    let most = if block.whole {
        BLOCK_MAX_TOKENS
    } else {
        TOPIC_MAX_TOKENS - TOPIC_TINY_TOKENS
    };
    if tokens(own) <= most {
        return vec![block];
    }
    let piece_max_chars = (TOPIC_MAX_TOKENS - TOPIC_TINY_TOKENS) * 4;
    let mut pieces = Vec::new();
    let mut start = block.range.start;
    while let Some(rest) = text.get(start..block.range.end).filter(|rest| !rest.is_empty()) {
        let end = start + piece(rest, piece_max_chars);
        pieces.push(TextBlock {
            range: start..end,
            heading: None,
            whole: block.whole,
        });
        start = end;
    }
    if let Some(first) = pieces.first_mut() {
        first.heading = block.heading;
    }
    pieces
}

/// The length of a piece at the start of `rest`: to the end of a line, else of a sentence, a word, a grapheme.
fn piece(rest: &str, max_chars: usize) -> usize {
    let Some((limit, _)) = rest.char_indices().nth(max_chars) else {
        return rest.len();
    };
    let window = rest.get(..limit).unwrap_or_default();
    let late = |at: &usize| *at > limit / 2;
    let line = window.rfind('\n').map(|at| at + 1).filter(late);
    let sentence = || {
        window
            .rmatch_indices(['.', '!', '?', '。', '！', '？'])
            .find_map(|(at, mark)| sentence_end(window, at + mark.len()))
    };
    let word = || window.rfind(char::is_whitespace).filter(|at| *at > 0);
    let grapheme = || {
        window
            .grapheme_indices(true)
            .next_back()
            .map(|(at, _)| at)
            .filter(|at| *at > 0)
    };
    line.or_else(|| sentence().filter(late))
        .or_else(word)
        .or_else(grapheme)
        .unwrap_or(limit)
}

fn sentence_end(window: &str, at: usize) -> Option<usize> {
    let wide = window.get(..at)?.ends_with(['。', '！', '？']);
    let spaced = window.get(at..)?.starts_with(char::is_whitespace);
    (wide || spaced).then_some(at)
}

fn paragraphs(text: &str) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    let mut at = 0;
    let mut blank = true;
    for line in text.split_inclusive('\n') {
        if blank && !line.trim().is_empty() {
            blocks.push(TextBlock {
                range: at..at,
                heading: None,
                whole: false,
            });
        }
        blank = line.trim().is_empty();
        at += line.len();
    }
    blocks
}

fn structure(text: &str) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            let line = text
                .get(..range.start)
                .and_then(|before| before.rfind('\n'))
                .map_or(0, |at| at + 1);
            if blocks.last().is_none_or(|last| line > last.range.start) {
                blocks.push(block(line, &event));
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, heading)) = blocks.last_mut().and_then(|block| block.heading.as_mut()) {
                    heading.push_str(&words);
                }
            }
            _ => {}
        }
    }
    for (_, words) in blocks.iter_mut().filter_map(|block| block.heading.as_mut()) {
        *words = summary::name(words);
    }
    blocks
}

fn block(start: usize, event: &Event<'_>) -> TextBlock {
    let heading = match event {
        Event::Start(Tag::Heading { level, .. }) => Some((rank(*level), String::new())),
        _ => None,
    };
    let whole = matches!(
        event,
        Event::Start(Tag::CodeBlock(_) | Tag::List(_) | Tag::Table(_))
    );
    TextBlock {
        range: start..start,
        heading,
        whole,
    }
}

fn rank(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
