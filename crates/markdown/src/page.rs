//! A file's lines as a rendered page shows them.
//!
//! Owns: what comments hide, which lines are code or its like, where an entry in a wrapped line ends, and the marks of a
//! merge. Never: changing the text of an entry that has an id. No mark that lacks its end hides such an entry.

use std::collections::BTreeMap;

use crate::escape::is_space;
use crate::front::is_keys;
use crate::lines::{Line, bullet, heading, is_blank, is_end, item, lines, turn};
use crate::talk;

/// What a rendered page shows of a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The text in place of the written one.
    text: Option<String>,
    /// What comments hide of the line.
    hidden: String,
    literal: Option<&'static str>,
    /// Where an entry in a wrapped line ends.
    end: Option<usize>,
    /// Whether the line is of an entry with an id that nothing cuts off.
    is_own: bool,
}

/// Looks at lines below the front matter.
pub(crate) fn look(lines: &[Line<'_>]) -> Vec<Seen> {
    let mut bounds = vec![lines.len(); lines.len() + 1];
    for n in (0..lines.len()).rev() {
        bounds[n] = if is_bound(lines[n].text) { n } else { bounds[n + 1] };
    }
    let mut page = Page {
        lines,
        bounds,
        seen: vec![Seen::default(); lines.len()],
        failed: BTreeMap::new(),
    };
    let mut n = 0;
    while n < lines.len() {
        n = page.step(n);
    }
    page.seen
}

/// The lines as seen.
pub(crate) fn shown<'a>(lines: &[Line<'a>], seen: &'a [Seen]) -> Vec<Line<'a>> {
    let shown = |(line, seen): (&Line<'a>, &'a Seen)| Line {
        text: seen.text.as_deref().unwrap_or(line.text),
        literal: seen.literal,
        end: seen.end.unwrap_or(line.end),
        ..*line
    };
    lines.iter().zip(seen).map(shown).collect()
}

/// What comments hide of a text that a person wrote, in lines of its own.
pub(crate) fn hidden(text: &str) -> String {
    let seen = look(&lines(text));
    let hidden = seen.iter().map(|seen| seen.hidden.as_str());
    let hidden = hidden.filter(|hidden| !hidden.is_empty());
    hidden.flat_map(|hidden| [hidden, "\n"]).collect()
}

/// The lines, counted from 0, that are marks of merges that nobody resolved. The texts of entries with an id may quote such
/// marks, and so may code: a merge has at least one mark outside of them.
pub(crate) fn conflicts(lines: &[Line<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    if !lines.iter().any(|line| merge_mark(line.text) == Some('<')) {
        return found;
    }
    let seen = look(lines);
    let mut open: Vec<(char, usize)> = Vec::new();
    for (n, line) in lines
        .iter()
        .enumerate()
        .filter(|(n, _)| seen[*n].literal.is_none())
    {
        match (merge_mark(line.text), open.last().map(|(mark, _)| *mark)) {
            (Some('<'), _) => open = vec![('<', n)],
            (Some('|'), Some('<')) => open.push(('|', n)),
            (Some('='), Some('<' | '|')) => open.push(('=', n)),
            (Some('>'), Some('=')) => {
                open.push(('>', n));
                if open.iter().any(|(_, n)| !seen[*n].is_own) {
                    found.extend(open.iter().map(|(_, n)| *n));
                }
                open.clear();
            }
            _ => {}
        }
    }
    found
}

/// Whether a part of a file may be one of a file that takes no writes.
pub fn may_be_unwritable(bytes: &[u8]) -> bool {
    let is_mark = |line: &[u8]| line.starts_with(b"<<<<<<<") || line.starts_with(b">>>>>>>");
    is_utf16(bytes) || bytes.split(|byte| *byte == b'\n').any(is_mark)
}

/// Whether a file begins with the byte order mark of UTF-16.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// The character of which a line is a mark of a merge: `<<<<<<< ours`, `||||||| base`, `=======` and `>>>>>>> theirs`.
pub(crate) fn merge_mark(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(|c| "<|=>".contains(*c))?;
    let rest = line.trim_start_matches(mark);
    let is_label = rest.is_empty() || (mark != '=' && rest.starts_with(' '));
    (line.len() - rest.len() == 7 && is_label).then_some(mark)
}

/// A line that no comment and no code of a person reaches beyond.
fn is_bound(line: &str) -> bool {
    let is_own = heading(line).is_some_and(|head| head.id.is_some()) || item(line).is_some();
    is_own || is_end(line) || line.contains('\0')
}

/// A comment that a rendered page does not show: HTML's, or Obsidian's.
struct Comment {
    open: &'static str,
    close: &'static str,
    unclosed: &'static str,
}

const HTML: Comment = Comment {
    open: "<!--",
    close: "-->",
    unclosed: "a comment without `-->`",
};
const OBSIDIAN: Comment = Comment {
    open: "%%",
    close: "%%",
    unclosed: "a comment without `%%` at its end",
};

impl Comment {
    /// Where the next comment of a line begins; none begins in a code span or behind a backslash.
    fn next(text: &str) -> Option<(usize, &'static Self)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let rest = &bytes[at..];
            at += match byte {
                b'\\' => 2,
                b'`' => code_span(rest),
                b'<' if rest.starts_with(HTML.open.as_bytes()) => return Some((at, &HTML)),
                b'%' if rest.starts_with(OBSIDIAN.open.as_bytes()) => return Some((at, &OBSIDIAN)),
                _ => 1,
            };
        }
        None
    }

    /// Where the comment that begins a text ends within it.
    fn end(&self, text: &str) -> Option<usize> {
        // `<!-->` is a whole comment.
        let from = 2;
        Some(from + text[from..].find(self.close)? + self.close.len())
    }
}

/// The length of the code span that a text begins with, or of its backticks if nothing closes them.
fn code_span(text: &[u8]) -> usize {
    let run = |from: usize| text[from..].iter().take_while(|byte| **byte == b'`').count();
    let opening = run(0);
    let mut at = opening;
    while let Some(more) = text[at..].iter().position(|byte| *byte == b'`') {
        let closing = run(at + more);
        at += more + closing;
        if closing == opening {
            return at;
        }
    }
    opening
}

/// Lines on their way to be seen.
struct Page<'a, 'l> {
    lines: &'l [Line<'a>],
    seen: Vec<Seen>,
    /// For each line, the next one that no comment and no code reaches beyond.
    bounds: Vec<usize>,
    /// Up to which bound an end was looked for in vain.
    failed: BTreeMap<(char, usize), usize>,
}

impl Page<'_, '_> {
    /// Looks at a line and those that it decides about; returns the next one.
    fn step(&mut self, n: usize) -> usize {
        let text = self.lines[n].text;
        if let Some(next) = self.entry(n).or_else(|| self.code(n)) {
            return next;
        }
        let next = self.comments(n);
        if talk::read_line(text).is_some() || turn(text).is_some() {
            self.seen[n].literal = Some("a message");
        }
        next
    }

    /// An entry with an id, or the rest of one.
    fn entry(&mut self, n: usize) -> Option<usize> {
        let lines = self.lines;
        let text = lines[n].text;
        let next = if heading(text).is_some_and(|head| head.id.is_some()) {
            let is_over = |line: &Line<'_>| is_end(line.text) || heading(line.text).is_some();
            let over = lines[n + 1..].iter().position(is_over);
            let over = over.map_or(lines.len(), |more| n + 1 + more);
            over + usize::from(lines.get(over).is_some_and(|line| is_end(line.text)))
        } else if item(text).is_some() || is_end(text) || text.contains('\0') {
            n + 1
        } else {
            let (joined, count) = wrapped(&lines[n..])?;
            for seen in &mut self.seen[n + 1..n + count] {
                seen.text = Some(String::new());
            }
            self.seen[n].text = Some(joined);
            self.seen[n].end = Some(lines[n + count - 1].end);
            n + count
        };
        // A heading within an entry cuts it off.
        let is_own = next == lines.len() || heading(text).is_none() || is_end(lines[next - 1].text);
        for seen in &mut self.seen[n..next] {
            seen.is_own = is_own;
        }
        Some(next)
    }

    /// Code between fences, a formula, or front matter further down.
    fn code(&mut self, n: usize) -> Option<usize> {
        let lines = self.lines;
        let line = lines[n].text.trim_matches(is_space);
        let text = bullet(line).unwrap_or(line);
        if let Some((mark, len)) = fence(text) {
            let closes =
                |line: &str| fence(line).is_some_and(|(c, n)| c == mark && n >= len && n == line.len());
            let end = self.find(n, (mark, len), closes);
            let next = end.map_or_else(|| self.beyond(n), |end| end + 1);
            return Some(self.literal(n, next, "code"));
        }
        if let Some(formula) = text.strip_prefix("$$") {
            let is_one_line = formula.len() > 2 && formula.ends_with("$$");
            let is_alone = formula.is_empty();
            let end = match () {
                () if is_one_line => Some(n),
                () if is_alone => self.find(n, ('$', 0), |line| line.ends_with("$$")).or(Some(n)),
                () => None,
            };
            return end.map(|end| self.literal(n, end + 1, "a formula"));
        }
        let is_apart = n == 0 || is_blank(lines[n - 1].text);
        if line == "---" && is_apart {
            let is_over =
                |line: &Line<'_>| is_blank(line.text) || matches!(line.text.trim_end(), "---" | "...");
            let end = n + 1 + lines[n + 1..self.bounds[n]].iter().position(is_over)?;
            let yaml: Vec<&str> = lines[n + 1..end].iter().map(|line| line.text).collect();
            let is_front = !is_blank(lines[end].text) && is_keys(&yaml.join("\n"));
            return is_front.then(|| self.literal(n, end + 1, "front matter that does not begin the file"));
        }
        None
    }

    /// The line below that one which `ends` what the one began, before the next entry with an id.
    fn find(&mut self, n: usize, key: (char, usize), ends: impl Fn(&str) -> bool) -> Option<usize> {
        let bound = self.bounds[n];
        if self.failed.get(&key) == Some(&bound) {
            return None;
        }
        let below = self.lines.get(n + 1..bound).unwrap_or_default();
        let found = below
            .iter()
            .position(|line| ends(line.text.trim_matches(is_space)));
        if found.is_none() {
            self.failed.insert(key, bound);
        }
        found.map(|more| n + 1 + more)
    }

    /// Where that ends of which nobody wrote the end: at the next heading, or the next entry with an id.
    fn beyond(&self, n: usize) -> usize {
        let bound = self.bounds[n].max(n + 1);
        let next = self.lines[n + 1..bound]
            .iter()
            .position(|line| heading(line.text).is_some());
        next.map_or(bound, |more| n + 1 + more)
    }

    fn literal(&mut self, from: usize, next: usize, what: &'static str) -> usize {
        for seen in &mut self.seen[from..next] {
            seen.literal = Some(what);
        }
        next
    }

    /// Hides the comments of a line, and of those below that the last one reaches.
    fn comments(&mut self, n: usize) -> usize {
        let lines = self.lines;
        // The line that shows the text, and the one that the text is in.
        let (mut target, mut at) = (n, n);
        let (mut from, mut search) = (0, 0);
        let (mut shown, mut hidden) = (String::new(), String::new());
        while let Some((start, comment)) = Comment::next(&lines[at].text[search..]) {
            let text = lines[at].text;
            let start = search + start;
            let opening = &text[start..];
            if let Some(end) = comment.end(opening) {
                push_shown(&mut shown, &text[from..start]);
                hidden.push_str(&opening[..end]);
                (from, search) = (start + end, start + end);
                continue;
            }
            let is_block = at == n && is_blank(&text[..start]);
            if let Some(last) = self.last_line(at, is_block, comment) {
                push_shown(&mut shown, &text[from..start]);
                let end = lines[last].text.find(comment.close).unwrap_or_default() + comment.close.len();
                hidden.push_str(opening);
                for line in &lines[at + 1..last] {
                    hidden.extend(["\n", line.text]);
                }
                hidden.extend(["\n", &lines[last].text[..end]]);
                for seen in &mut self.seen[at + 1..=last] {
                    seen.text = Some(String::new());
                }
                if is_block {
                    self.hide(target, &mut shown, &mut hidden);
                    let is_behind = !is_blank(&lines[last].text[end..]);
                    self.seen[last].literal = is_behind.then_some("text behind a comment");
                    target = last;
                } else {
                    self.seen[target].end = Some(lines[last].end);
                }
                (at, from, search) = (last, end, end);
            } else if is_block {
                return self.literal(at, self.beyond(at), comment.unclosed);
            } else {
                if comment.open == HTML.open && heading(text).is_none() {
                    self.seen[target].literal = Some(comment.unclosed);
                }
                search = start + comment.open.len();
            }
        }
        if from > 0 {
            push_shown(&mut shown, &lines[at].text[from..]);
            self.hide(target, &mut shown, &mut hidden);
        }
        at + 1
    }

    /// The line below in which a comment ends: any for one that begins a line, else one of the same paragraph.
    fn last_line(&mut self, n: usize, is_block: bool, comment: &Comment) -> Option<usize> {
        let ends = |line: &str| line.contains(comment.close);
        if is_block {
            return self.find(n, (comment.open.chars().next()?, 0), ends);
        }
        let below = self.lines.get(n + 1..self.bounds[n]).unwrap_or_default();
        let is_other = |line: &&Line<'_>| !is_continued(line.text);
        let len = below
            .iter()
            .position(|line| is_other(&line))
            .unwrap_or(below.len());
        let found = below[..len].iter().position(|line| ends(line.text));
        found.map(|more| n + 1 + more)
    }

    fn hide(&mut self, n: usize, shown: &mut String, hidden: &mut String) {
        let text = std::mem::take(shown);
        self.seen[n].text = Some(text.trim_end_matches(is_space).to_owned());
        self.seen[n].hidden = std::mem::take(hidden);
    }
}

/// Appends what a line shows behind a comment; the comment takes a space along.
fn push_shown(shown: &mut String, text: &str) {
    let is_apart = shown.ends_with(is_space);
    shown.push_str(if is_apart {
        text.trim_start_matches(is_space)
    } else {
        text
    });
}

/// The fence that a line begins with: its character and its length.
fn fence(text: &str) -> Option<(char, usize)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let len = text.len() - info.len();
    (len >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, len))
}

/// Whether a line can continue the paragraph above it.
fn is_continued(line: &str) -> bool {
    let text = line.trim_matches(is_space);
    !(text.is_empty() || heading(line).is_some() || is_end(line) || bullet(text).is_some())
}

/// An entry of one line that a formatter wrapped, so that its comment is in a later line, and the number of its lines.
fn wrapped(lines: &[Line<'_>]) -> Option<(String, usize)> {
    let first = lines.first()?.text;
    if !first.starts_with(['-', '*']) || bullet(first).is_none() {
        return None;
    }
    let mut joined = first.trim_end_matches(is_space).to_owned();
    for (n, line) in lines.iter().enumerate().skip(1) {
        if !is_continued(line.text) {
            return None;
        }
        joined.push(' ');
        joined.push_str(line.text.trim_matches(is_space));
        if joined.ends_with("-->") && item(&joined).is_some() {
            return Some((joined, n + 1));
        }
    }
    None
}
