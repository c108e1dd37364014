//! A file's lines as a rendered page shows them.
//!
//! Owns: text hidden by comments, lines of code and similar kinds, lines that a formatter wrapped,
//! and the marks of a merge. Never: changing the text of an entry with an id. An opening mark
//! without its end hides no such entry.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::escape::is_space;
use crate::facts::{CODE_COLUMNS, MARKUP, columns, is_structure};
use crate::lines::{Heading, Line, bullet, heading, is_blank, is_cut, is_end, item, merge_mark};
use crate::talk;

/// A visible line. It covers several lines of the file if a formatter wrapped it or a comment spans
/// them.
#[derive(Debug)]
pub(crate) struct SeenLine<'a> {
    line: Line<'a>,
    /// The visible text, if it differs from the written one.
    text: Option<String>,
    /// Whether it belongs to a complete entry with an id.
    is_own: bool,
}

impl SeenLine<'_> {
    pub(crate) fn line(&self) -> Line<'_> {
        Line {
            text: self.text.as_deref().unwrap_or(self.line.text),
            ..self.line
        }
    }
}

/// The visible lines below the front matter.
#[derive(Debug, Default)]
pub(crate) struct SeenPage<'a> {
    pub seen: Vec<SeenLine<'a>>,
    /// Spans of the comments, in bytes of the file.
    pub hidden: Vec<Range<usize>>,
    /// The first line of each merge conflict.
    pub conflicts: Vec<usize>,
}

/// Reads the lines below the front matter.
pub(crate) fn look<'a>(lines: &[Line<'a>]) -> SeenPage<'a> {
    let (mut bound, mut paragraph) = (lines.len(), lines.len());
    let mut borders = vec![(bound, paragraph); lines.len()];
    for (n, line) in lines.iter().enumerate().rev() {
        borders[n] = (bound, paragraph.min(bound));
        if is_bound(&lines[n..]) {
            bound = n;
        }
        if !is_continued(line.text) {
            paragraph = n;
        }
    }
    let elements = elements(lines);
    let mut reader = PageLooker {
        lines,
        borders,
        markup: 0,
        failed: BTreeMap::new(),
        page: SeenPage::default(),
    };
    let mut n = 0;
    while n < lines.len() {
        // An element inside a paragraph is part of its text.
        if let Some(&end) = elements.get(&n)
            && (end > reader.borders[n].1 || !lines[n].text.contains('>'))
        {
            reader.markup = reader.markup.max(end + 1);
        }
        n = reader
            .own(n)
            .or_else(|| reader.code(n))
            .unwrap_or_else(|| reader.comments(n));
    }
    reader.page.unmark();
    reader.page
}

impl SeenPage<'_> {
    /// Finds the conflicts of merges. Their marks are no text, unless one entry contains the whole
    /// conflict.
    fn unmark(&mut self) {
        let mut open: Vec<(char, usize)> = Vec::new();
        for n in 0..self.seen.len() {
            let line = self.seen[n].line();
            let mark = merge_mark(line.text).filter(|_| line.literal.is_none());
            match mark {
                Some('<') => open = vec![('<', n)],
                Some(mark) if !open.is_empty() => open.push((mark, n)),
                _ => {}
            }
            if mark != Some('>') {
                continue;
            }
            let marks = std::mem::take(&mut open);
            if !marks.iter().any(|(mark, _)| *mark == '=') {
                continue;
            }
            self.conflicts.push(self.seen[marks[0].1].line.number);
            if marks.iter().any(|(_, n)| !self.seen[*n].is_own) {
                for (_, n) in marks {
                    self.seen[n].text = Some(String::new());
                }
            }
        }
    }
}

/// Whether a person's comment or code must end before the first of these lines.
fn is_bound(lines: &[Line<'_>]) -> bool {
    let line = lines[0].text;
    let is_own = |head: Heading<'_>| head.id.is_some() || is_cut(line) || wrapped(lines).is_some();
    heading(line).is_some_and(is_own) || is_end(line) || line.contains('\0')
}

/// Whether a line can continue the paragraph above it.
fn is_continued(line: &str) -> bool {
    let text = line.trim_matches(is_space);
    !(text.is_empty() || heading(line).is_some() || is_end(line) || bullet(text).is_some())
}

/// The first line of an entry or a message that a formatter wrapped, joined, and the number of its
/// lines.
fn wrapped(lines: &[Line<'_>]) -> Option<(String, usize)> {
    let is_whole = |line: &str| {
        let is_head = heading(line).is_some_and(|head| head.id.is_some());
        is_head || item(line).is_some() || talk::read_line(line).is_some()
    };
    let first = lines.first()?.text;
    let text = first.trim_matches(is_space);
    let content = bullet(text);
    let begins = content.is_some() || heading(first).is_some() || talk::is_head(first);
    if !begins || is_whole(first) {
        return None;
    }
    // Inside the text of an item, only the number 1 begins another item.
    let column = content.map(|content| columns(first) + text.len() - content.len());
    let is_number = |line: &str| {
        let text = line.trim_matches(is_space);
        let is_later = text.starts_with(|c: char| c.is_ascii_digit())
            && !(text.starts_with("1.") || text.starts_with("1)"));
        is_later && column.is_some_and(|at| (at..at + CODE_COLUMNS).contains(&columns(line)))
    };
    let mut joined = first.trim_end_matches(is_space).to_owned();
    for (n, line) in lines.iter().enumerate().skip(1) {
        if !(is_continued(line.text) || is_number(line.text)) || talk::is_head(line.text) {
            return None;
        }
        joined.push(' ');
        joined.push_str(line.text.trim_matches(is_space));
        if joined.ends_with("-->") {
            return is_whole(&joined).then_some((joined, n + 1));
        }
    }
    None
}

const UNCLOSED: &str = "a comment without its end";

/// The comments that a rendered page hides, HTML's and Obsidian's.
const COMMENTS: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("%%", "%%")];

/// The place and the marks of a text's next comment; none in a code span or after a backslash.
fn next_comment(text: &str) -> Option<(usize, (&'static str, &'static str))> {
    let mut at = 0;
    while let Some(more) = text[at..].find(['\\', '`', '<', '%']) {
        at += more;
        let rest = &text[at..];
        if let Some(comment) = COMMENTS.into_iter().find(|(open, _)| rest.starts_with(open)) {
            return Some((at, comment));
        }
        let mut chars = rest.chars();
        at += match chars.next() {
            Some('\\') => 1 + chars.next().map_or(0, char::len_utf8),
            Some('`') => rest[1..].find('`').map_or(1, |end| end + 2),
            _ => 1,
        };
    }
    None
}

/// The fence at the start of a line: of code, of a formula or of front matter in TOML.
fn fence(text: &str) -> Option<&str> {
    let mark = text
        .chars()
        .next()
        .filter(|c| matches!(c, '`' | '~' | '$' | '+'))?;
    let (fence, info) = text.split_at(text.len() - text.trim_start_matches(mark).len());
    let is_fence = match mark {
        '`' => fence.len() > 2 && !info.contains('`'),
        '~' => fence.len() > 2,
        _ => info.is_empty() && matches!(fence, "$$" | "+++"),
    };
    is_fence.then_some(fence)
}

/// The HTML elements that begin a line, with their last lines. No element spans a heading.
fn elements(lines: &[Line<'_>]) -> BTreeMap<usize, usize> {
    let mut elements = BTreeMap::new();
    // For each name, the open tags: their line, if the tag begins it.
    let mut open: BTreeMap<String, Vec<Option<usize>>> = BTreeMap::new();
    for (n, line) in lines.iter().enumerate() {
        if heading(line.text).is_some() || is_end(line.text) {
            open.clear();
        }
        let text = line.text.trim_matches(is_space);
        let text = bullet(text).unwrap_or(text);
        for (at, _) in text.match_indices('<') {
            let tag = &text[at + 1..];
            let name = tag.trim_start_matches('/');
            let length = name
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(name.len());
            let tags = open.entry(name[..length].to_ascii_lowercase()).or_default();
            if !tag.starts_with('/') {
                let begins = at == 0 && tag.starts_with(|c: char| c.is_ascii_alphabetic());
                tags.push(begins.then_some(n));
            } else if let Some(Some(first)) = tags.pop() {
                elements.insert(first, n);
            }
        }
    }
    elements
}

/// Turns lines of a file into visible ones.
struct PageLooker<'a, 'l> {
    lines: &'l [Line<'a>],
    /// For each line, the next one that ends every comment and code block, and the next one of
    /// another paragraph.
    borders: Vec<(usize, usize)>,
    /// Lines before this one are inside an HTML element.
    markup: usize,
    /// For each mark, the limit up to which its end was searched for in vain.
    failed: BTreeMap<&'a str, usize>,
    page: SeenPage<'a>,
}

impl<'a> PageLooker<'a, '_> {
    /// Adds a visible line for the lines from `from` up to `next`.
    fn push(&mut self, from: usize, next: usize, text: Option<String>, literal: Option<&'static str>) {
        let line = Line {
            end: self.lines[next - 1].end,
            ended: self.lines[next - 1].ended,
            literal: literal.or((from < self.markup).then_some(MARKUP)),
            ..self.lines[from]
        };
        let is_own = false;
        self.page.seen.push(SeenLine { line, text, is_own });
    }

    fn literal(&mut self, from: usize, next: usize, what: &'static str) -> usize {
        (from..next).for_each(|n| self.push(n, n + 1, None, Some(what)));
        next
    }

    /// An entry with an id, or the rest of one. Returns the next line.
    fn own(&mut self, n: usize) -> Option<usize> {
        let lines = self.lines;
        let first = self.page.seen.len();
        let (joined, count) = wrapped(&lines[n..]).unzip();
        let text = joined.as_deref().unwrap_or(lines[n].text);
        let head = heading(text).filter(|head| head.id.is_some());
        if head.is_none() && item(text).is_none() && !is_end(text) && !text.contains('\0') {
            return None;
        }
        let is_two = head.is_some_and(|head| head.marks.is_some());
        let mut at = n + count.unwrap_or(1);
        let is_over = |line: &Line<'_>| is_end(line.text) || heading(line.text).is_some();
        let over = lines[at..]
            .iter()
            .position(is_over)
            .map_or(lines.len(), |more| at + more);
        let over = if head.is_some() { over } else { at };
        self.push(n, at, joined.clone(), None);
        while at < over {
            let message = is_two && talk::is_head(lines[at].text);
            let (joined, count) = message.then(|| wrapped(&lines[at..])).flatten().unzip();
            let next = at + count.unwrap_or(1);
            self.push(at, next, joined, None);
            at = next;
        }
        // A heading within an entry cuts it off.
        let is_own = head.is_none() || lines.get(over).is_none_or(|line| is_end(line.text));
        self.page.seen[first..]
            .iter_mut()
            .for_each(|seen| seen.is_own = is_own);
        Some(over)
    }

    /// Code between fences, a formula, or front matter inside the file.
    fn code(&mut self, n: usize) -> Option<usize> {
        let lines = self.lines;
        let line = lines[n].text.trim_matches(is_space);
        if let Some(fence) = fence(bullet(line).unwrap_or(line)) {
            let closes = |line: &str| {
                let rest = line.trim_matches(is_space).strip_prefix(fence)?;
                rest.trim_start_matches(&fence[..1]).is_empty().then_some(0)
            };
            let end = self.find(n, self.borders[n].0, fence, closes);
            let next = end.map_or_else(|| self.beyond(n), |(end, _)| end + 1);
            let what = match fence {
                "$$" => "a formula",
                "+++" => "front matter",
                _ => "code",
            };
            return Some(self.literal(n, next, what));
        }
        let above = self.page.seen.last().map(SeenLine::line);
        let is_apart = above.is_none_or(|above| above.literal.is_some() || is_structure(above.text));
        let key = lines.get(n + 1)?.text.split_once(':')?.0;
        if line == "---" && is_apart && !key.contains(' ') {
            let is_over = |line: &Line<'_>| is_blank(line.text) || line.text.trim_end() == "---";
            let end = n + 1 + lines[n + 1..self.borders[n].0].iter().position(is_over)?;
            let is_front = !is_blank(lines[end].text);
            return is_front.then(|| self.literal(n, end + 1, "front matter that does not begin the file"));
        }
        None
    }

    /// The next line before `limit` that contains the end of what `mark` opened, and the place of
    /// that end.
    fn find(
        &mut self,
        n: usize,
        limit: usize,
        mark: &'a str,
        ends: impl Fn(&str) -> Option<usize>,
    ) -> Option<(usize, usize)> {
        // Searching no line twice keeps hostile text linear.
        if self.failed.get(mark) == Some(&limit) {
            return None;
        }
        let found = (n + 1..limit).find_map(|at| Some((at, ends(self.lines[at].text)?)));
        if found.is_none() {
            self.failed.insert(mark, limit);
        }
        found
    }

    /// The end of a block without its closing mark: the next heading, or the next entry with an id.
    fn beyond(&self, n: usize) -> usize {
        let next = (n + 1..self.borders[n].0).find(|at| heading(self.lines[*at].text).is_some());
        next.unwrap_or(self.borders[n].0)
    }

    /// Hides the comments of a line, and of the following lines that the last comment spans.
    fn comments(&mut self, n: usize) -> usize {
        let lines = self.lines;
        // The current line, the place from which its text is visible, and the place of the search.
        let (mut at, mut from, mut search) = (n, 0, 0);
        let (mut shown, mut missing) = (String::new(), Vec::new());
        while let Some((start, (open, close))) = next_comment(&lines[at].text[search..]) {
            let text = lines[at].text;
            let start = search + start;
            search = start + open.len();
            if missing.contains(&open) {
                continue;
            }
            // A comment at the start of a line may span paragraphs.
            let is_block = at == n && is_blank(&text[..start]);
            let (bound, paragraph) = self.borders[at];
            let (limit, key) = if is_block { (bound, 0) } else { (paragraph, 1) };
            // `<!-->` is a complete comment.
            let here = text[start + 2..].find(close);
            let here = here.map(|end| (at, start + 2 + end + close.len()));
            // The mark of an entry on one line ends no comment.
            let ends = |line: &str| Some(line.find(close).filter(|_| item(line).is_none())? + close.len());
            if let Some((last, end)) = here.or_else(|| self.find(at, limit, &close[key..], ends)) {
                push_shown(&mut shown, &text[from..start]);
                self.page
                    .hidden
                    .push(lines[at].start + start..lines[last].start + end);
                (at, from, search) = (last, end, end);
            } else if is_block {
                return self.literal(n, self.beyond(n), UNCLOSED);
            } else {
                missing.push(open);
            }
        }
        push_shown(&mut shown, &lines[at].text[from..]);
        let text = (from > 0).then(|| shown.trim_end_matches(is_space).to_owned());
        let is_cut = missing.contains(&"<!--") && heading(lines[n].text).is_none();
        self.push(n, at + 1, text, is_cut.then_some(UNCLOSED));
        at + 1
    }
}

/// Appends the visible text after a comment; the comment also removes a space.
fn push_shown(shown: &mut String, text: &str) {
    let is_apart = shown.ends_with(is_space);
    shown.push_str(if is_apart {
        text.trim_start_matches(is_space)
    } else {
        text
    });
}
