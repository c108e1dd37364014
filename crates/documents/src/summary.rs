//! Summary of a text: its first sentences.
//!
//! Owns: prose without its markup, first sentences, cutting at the end of a word or grapheme.
//! Never: words that are not in the text.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation;

use crate::markdown::one_line;
use crate::{FileKind, NAME_MAX_CHARS, blocks};

/// Bytes of a text that are searched for its first sentences.
const LOOKED_AT_BYTES: usize = 16 << 10;
const ELLIPSIS: &str = "…";

/// The first sentences of `text`, at most `max_chars` characters. Prose is preferred; a text with
/// only headings, code and tables gives an empty summary.
pub(crate) fn of(kind: FileKind, text: &str, max_chars: usize) -> String {
    let head = text
        .get(..text.floor_char_boundary(LOOKED_AT_BYTES))
        .unwrap_or(text);
    let prose = if kind == FileKind::Text {
        one_line(head)
    } else {
        prose(head, max_chars)
    };
    let mut summary = String::new();
    let mut length = 0;
    for sentence in prose.unicode_sentences() {
        let more = sentence.trim_end().chars().count();
        if length + more > max_chars {
            break;
        }
        length += sentence.chars().count();
        summary.push_str(sentence);
    }
    let whole = summary.trim_end();
    if whole.is_empty() {
        cut(&prose, max_chars)
    } else {
        whole.to_owned()
    }
}

/// A title or a heading as a name: one line, at most [`NAME_MAX_CHARS`] characters.
pub(crate) fn name(text: &str) -> String {
    cut(&one_line(text), NAME_MAX_CHARS)
}

/// At most `max_chars` of `text`, with an ellipsis if something is left out: after a word, or
/// inside a word that fills all of it.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    let fits = |text: &str, max: usize| text.chars().nth(max).is_none();
    if fits(text, max_chars) {
        return text.to_owned();
    }
    let room = max_chars.saturating_sub(ELLIPSIS.chars().count());
    let mut used = 0;
    let mut kept = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.chars().count();
        if used > room {
            break;
        }
        kept = at + grapheme.len();
    }
    let word = text
        .split_word_bound_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at <= kept)
        .last();
    let at = word
        .filter(|at| !text.get(..*at).unwrap_or_default().trim().is_empty())
        .unwrap_or(kept);
    format!("{}{ELLIPSIS}", text.get(..at).unwrap_or_default().trim_end())
}

/// The words of the paragraphs; of lists, which are often only links, if there is no paragraph.
fn prose(markdown: &str, max_chars: usize) -> String {
    let mut prose = [String::new(), String::new()];
    let (mut skipped, mut lists) = (0, 0);
    for event in Parser::new_ext(markdown, blocks::options()) {
        let [paragraphs, listed] = &mut prose;
        let words = if lists == 0 { paragraphs } else { listed };
        match event {
            Event::Start(Tag::List(_)) => lists += 1,
            Event::End(TagEnd::List(_)) => lists -= 1,
            Event::Start(Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::Table(_) | Tag::MetadataBlock(_)) => {
                skipped += 1;
            }
            Event::End(TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::Table | TagEnd::MetadataBlock(_)) => {
                skipped -= 1;
            }
            Event::Text(text) | Event::Code(text) if skipped == 0 => words.push_str(&text),
            Event::SoftBreak
            | Event::HardBreak
            | Event::Start(Tag::Item)
            | Event::End(TagEnd::Paragraph | TagEnd::Item) => words.push(' '),
            _ => {}
        }
        // Enough for the summary and one sentence more.
        if prose[0].len() > max_chars * 16 {
            break;
        }
    }
    let [paragraphs, listed] = prose.map(|words| one_line(&words));
    if paragraphs.is_empty() { listed } else { paragraphs }
}
