//! A text as a tree of topics.
//!
//! Owns: grouping blocks by headings or by size; names, paths, numbers. Never: repeating or losing
//! a word.

use std::ops::Range;

use crate::blocks::{self, TextBlock, tokens};
use crate::{
    HEADINGS_MAX, Source, TOPIC_MAX_TOKENS, TOPIC_MIN_TOKENS, TOPIC_SUMMARY_MAX_CHARS, TOPIC_TINY_TOKENS,
    labels, summary,
};

/// Separator of the names in a path; it occurs in no name.
pub const PATH_SEPARATOR: &str = " > ";

/// Maximum characters of a name made from a topic's first words.
const OPENING_MAX_CHARS: usize = 60;

/// A part of a document that can be read by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its place in the document, from 1. Equal text gives equal numbers.
    pub number: usize,
    /// Its heading, else its first words; `Heading (2)` for the second part of a long section.
    pub name: String,
    /// The names from the root down to its own, with [`PATH_SEPARATOR`] between them:
    /// `Guide > Install > Linux`.
    pub path: String,
    /// Number of names in its path.
    pub depth: usize,
    /// The number of its parent topic.
    pub parent: Option<usize>,
    /// Its first sentences, at most [`TOPIC_SUMMARY_MAX_CHARS`] characters; empty if there is no
    /// prose.
    pub summary: String,
    /// Its Markdown as in the text, with its heading, without the topics below it.
    pub content: String,
    /// A few words that occur in it more than once, most frequent first; can be empty.
    pub labels: Vec<String>,
}

/// The blocks under one heading, or before the first.
#[derive(Debug)]
struct HeadingSection {
    /// The heading's level; 0 without one.
    level: u8,
    name: String,
    /// Index of the parent section.
    parent: Option<usize>,
    is_leaf: bool,
    is_tiny: bool,
    blocks: Range<usize>,
}

impl HeadingSection {
    fn of_all(blocks: usize) -> Self {
        Self {
            level: 0,
            name: String::new(),
            parent: None,
            is_leaf: true,
            is_tiny: false,
            blocks: 0..blocks,
        }
    }
}

/// The topics of a document, in its order. Every word of its text is in the content of exactly one of them.
pub fn topics(source: &Source) -> Vec<Topic> {
    let text = source.markdown.as_str();
    let blocks: Vec<TextBlock> = blocks::of(source.kind, text)
        .into_iter()
        .flat_map(|block| blocks::pieces(text, block))
        .collect();
    let mut sections = sections(text, &blocks);
    if sections.len() > HEADINGS_MAX {
        sections = vec![HeadingSection::of_all(blocks.len())];
    }
    let mut topics: Vec<Topic> = Vec::new();
    let mut first_of: Vec<usize> = Vec::with_capacity(sections.len());
    for section in &sections {
        let parent = section.parent.and_then(|above| first_of.get(above)).copied();
        first_of.push(topics.len() + 1);
        let own = blocks.get(section.blocks.clone()).unwrap_or_default();
        for (part, range) in pack(text, own).into_iter().enumerate() {
            let content = text.get(range).unwrap_or_default();
            let content = content.trim_end().trim_start_matches('\n');
            if content.is_empty() {
                continue;
            }
            let short = summary::of(source.kind, content, TOPIC_SUMMARY_MAX_CHARS);
            let name = match part {
                _ if section.name.is_empty() && !short.is_empty() => summary::cut(&short, OPENING_MAX_CHARS),
                _ if section.name.is_empty() => source.title.clone(),
                0 => section.name.clone(),
                part => format!("{} ({})", section.name, part + 1),
            };
            let name = name.replace(PATH_SEPARATOR, " › ");
            let above = parent.and_then(|parent| topics.get(parent - 1));
            topics.push(Topic {
                number: topics.len() + 1,
                path: above.map_or_else(
                    || name.clone(),
                    |above| format!("{}{PATH_SEPARATOR}{name}", above.path),
                ),
                depth: above.map_or(1, |above| above.depth + 1),
                name,
                parent,
                summary: short,
                labels: labels::of(content),
                content: content.to_owned(),
            });
        }
    }
    topics
}

fn sections(text: &str, blocks: &[TextBlock]) -> Vec<HeadingSection> {
    let mut starts: Vec<usize> = (0..blocks.len())
        .filter(|at| blocks[*at].heading.is_some())
        .collect();
    let before = starts.first().map_or(text.len(), |at| blocks[*at].range.start);
    if !text.get(..before).unwrap_or_default().trim().is_empty() {
        starts.insert(0, 0);
    }
    let level_of = |at: usize| {
        blocks
            .get(at)
            .and_then(|block| block.heading.as_ref())
            .map_or(0, |(level, _)| *level)
    };
    let mut sections: Vec<HeadingSection> = Vec::new();
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (nth, &start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied();
        let level = level_of(start);
        while open
            .last()
            .is_some_and(|(above, _)| *above >= level || *above == 0)
        {
            open.pop();
        }
        let range = start..end.unwrap_or(blocks.len());
        let section = HeadingSection {
            level,
            name: blocks[start]
                .heading
                .as_ref()
                .map(|(_, name)| name.clone())
                .unwrap_or_default(),
            parent: open.last().map(|(_, above)| *above),
            is_leaf: level == 0 || end.is_none_or(|next| level_of(next) <= level),
            is_tiny: tokens(span(text, blocks.get(range.clone()).unwrap_or_default())) < TOPIC_TINY_TOKENS,
            blocks: range,
        };
        match sections.last_mut() {
            Some(last) if joins(text, blocks, last, &section) => {
                let names = [last.name.as_str(), section.name.as_str()];
                let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
                last.name = summary::name(&names.join("; "));
                last.blocks.end = section.blocks.end;
            }
            _ => sections.push(section),
        }
        open.push((level, sections.len() - 1));
    }
    sections
}

/// Two tiny neighbours on one level make one useful topic.
fn joins(text: &str, blocks: &[TextBlock], last: &HeadingSection, next: &HeadingSection) -> bool {
    let tiny = |section: &HeadingSection| section.is_tiny && section.is_leaf && section.level > 0;
    let both = blocks.get(last.blocks.start..next.blocks.end).unwrap_or_default();
    tiny(last) && tiny(next) && last.parent == next.parent && tokens(span(text, both)) <= TOPIC_MIN_TOKENS
}

fn span<'a>(text: &'a str, blocks: &[TextBlock]) -> &'a str {
    match (blocks.first(), blocks.last()) {
        (Some(first), Some(last)) => text.get(first.range.start..last.range.end).unwrap_or_default(),
        _ => "",
    }
}

/// Groups of blocks, as few as possible, each large enough to be useful and small enough to read.
fn pack(text: &str, blocks: &[TextBlock]) -> Vec<Range<usize>> {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Vec::new();
    };
    let has_heading = first.heading.is_some();
    let all = first.range.start..last.range.end;
    if has_heading && tokens(span(text, blocks)) <= TOPIC_MAX_TOKENS {
        return vec![all];
    }
    let middle = usize::midpoint(TOPIC_MIN_TOKENS, TOPIC_MAX_TOKENS);
    let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
    for block in blocks {
        let more = tokens(text.get(block.range.clone()).unwrap_or_default());
        match parts.last_mut() {
            // A heading, or a block as small, goes with the block after it.
            Some((part, size))
                if *size + more <= middle
                    || *size + more <= TOPIC_MAX_TOKENS && *size < TOPIC_MIN_TOKENS
                    || *size <= TOPIC_TINY_TOKENS =>
            {
                part.end = block.range.end;
                *size += more;
            }
            _ => parts.push((block.range.clone(), more)),
        }
    }
    if let [.., (before, size), (rest, left)] = parts.as_mut_slice()
        && *left < TOPIC_MIN_TOKENS
        && *size + *left <= TOPIC_MAX_TOKENS
    {
        before.end = rest.end;
        parts.pop();
    }
    parts.into_iter().map(|(part, _)| part).collect()
}
