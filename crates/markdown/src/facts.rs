//! Statements that a person wrote without a heading, in a file of facts.
//!
//! Owns: which line is a statement: an item of a list with the lines that continue it, or a line of a paragraph; and what
//! the other lines are. Never: judging a line by its words or by the script that it begins with.

use crate::escape::is_space;
use crate::keys;
use crate::lines::{Line, bullet, is_blank, is_end, turn};
use crate::page::merge_mark;

/// A fact in the lines that it was written in.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub lines: Vec<Line<'a>>,
    pub text: String,
}

/// A line that is no fact, and what it is.
type Other<'a> = (Line<'a>, Option<&'static str>);

/// Indentation from which a line outside of a list is code.
const CODE_COLUMNS: usize = 4;

/// Separates lines outside of entries into facts and others; lines that only order a page are in neither.
pub(crate) fn read<'a>(lines: &[Line<'a>]) -> (Vec<Statement<'a>>, Vec<Other<'a>>) {
    let mut reader = FactReader::default();
    for (n, line) in lines.iter().enumerate() {
        reader.line(*line, lines.get(n + 1));
    }
    let FactReader {
        mut told, mut others, ..
    } = reader;
    told.retain(|fact| {
        let what = no_statement(&fact.text);
        others.extend(
            fact.lines
                .iter()
                .filter(|_| what.is_some())
                .map(|line| (*line, what)),
        );
        what.is_none() && !fact.text.is_empty()
    });
    others.sort_by_key(|(line, _)| line.number);
    (told, others)
}

/// Whether a line has no text of its own: a title, a rule, an end mark or a blank line.
pub(crate) fn is_structure(line: &str) -> bool {
    is_blank(line) || is_end(line) || is_rule(line) || (is_title(line) && turn(line).is_none())
}

#[derive(Debug, Default)]
struct FactReader<'a> {
    told: Vec<Statement<'a>>,
    others: Vec<Other<'a>>,
    /// The number of the line above.
    number: usize,
    /// Whether nothing is right above that the line could continue.
    is_apart: bool,
    /// The column of the open item's text.
    item: Option<usize>,
    /// What the open item, quotation or table is, if it is no fact.
    open: Option<&'static str>,
}

impl<'a> FactReader<'a> {
    fn line(&mut self, line: Line<'a>, below: Option<&Line<'a>>) {
        if line.number != self.number + 1 {
            self.close();
        }
        self.number = line.number;
        let text = line.text.trim_matches(is_space);
        let column = columns(line.text);
        if line.literal.is_some() {
            self.open = line.literal;
            self.is_apart = true;
            self.others.push((line, line.literal));
        } else if is_blank(line.text) {
            self.is_apart = true;
            if self.item.is_none() {
                self.open = None;
            }
        } else if is_structure(line.text) {
            self.close();
        } else if is_underline(text) && self.is_below_paragraph(&line) {
            self.told.pop();
            self.close();
        } else if let Some(content) = bullet(text).filter(|_| column < CODE_COLUMNS || self.item.is_some()) {
            self.item = Some(column + text.len() - content.len());
            self.open = None;
            let is_key = keys::item(line.text).is_some_and(|(name, _)| keys::OF_ENTRY.contains(&name));
            match unboxed(content) {
                _ if is_key => self.refuse(line, "a key of an entry"),
                Ok(content) => self.take(line, content),
                Err(what) => self.refuse(line, what),
            }
        } else if self.continues(column) {
            match self.open.or_else(|| opens_else(text)) {
                Some(what) => self.refuse(line, what),
                None => self.add(line, text),
            }
        } else {
            self.paragraph(line, text, below);
        }
    }

    /// Whether an indented line is of the open item.
    fn continues(&self, column: usize) -> bool {
        let least = if self.is_apart { 2 } else { 1 };
        self.item
            .is_some_and(|item| column >= least && column < item + CODE_COLUMNS)
    }

    fn is_below_paragraph(&self, line: &Line<'a>) -> bool {
        let above = self.told.last().and_then(|fact| fact.lines.last());
        self.item.is_none() && above.is_some_and(|above| above.end == line.start)
    }

    fn paragraph(&mut self, line: Line<'a>, text: &str, below: Option<&Line<'a>>) {
        let open = self.open.filter(|_| !self.is_apart && self.item.is_none());
        self.close();
        let is_head = below.is_some_and(|below| is_delimiter(below.text));
        if columns(line.text) >= CODE_COLUMNS {
            self.refuse(line, "code");
            self.is_apart = true;
        } else if let Some(what) = open {
            self.refuse(line, what);
        } else if is_head {
            self.refuse(line, "a table");
        } else {
            self.take(line, text);
        }
    }

    fn take(&mut self, line: Line<'a>, text: &str) {
        if let Some(what) = opens_else(text) {
            return self.refuse(line, what);
        }
        self.is_apart = false;
        self.told.push(Statement {
            lines: vec![line],
            text: text.to_owned(),
        });
    }

    fn add(&mut self, line: Line<'a>, text: &str) {
        self.is_apart = false;
        if let Some(fact) = self.told.last_mut() {
            if !fact.text.is_empty() {
                fact.text.push(' ');
            }
            fact.text.push_str(text);
            fact.lines.push(line);
        }
    }

    fn refuse(&mut self, line: Line<'a>, what: &'static str) {
        self.is_apart = false;
        self.open = Some(what);
        self.others.push((line, Some(what)));
    }

    fn close(&mut self) {
        (self.item, self.open, self.is_apart) = (None, None, true);
    }
}

/// The columns of a line before its text.
fn columns(line: &str) -> usize {
    let spaces = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    spaces.fold(0, |at, byte| if byte == b'\t' { at / 4 * 4 + 4 } else { at + 1 })
}

/// The text behind a ticked box. What a box that is not ticked says is not so yet.
fn unboxed(text: &str) -> Result<&str, &'static str> {
    let mut chars = text.chars();
    let (open, mark, close) = (chars.next(), chars.next(), chars.next());
    let rest = chars.as_str();
    match mark {
        Some(mark)
            if open == Some('[') && close == Some(']') && (rest.is_empty() || rest.starts_with(is_space)) =>
        {
            let is_done = matches!(mark, 'x' | 'X');
            is_done
                .then(|| rest.trim_start_matches(is_space))
                .ok_or("an open task")
        }
        _ => Ok(text),
    }
}

/// What a line is that begins something else than a statement.
fn opens_else(text: &str) -> Option<&'static str> {
    match () {
        () if text.starts_with('>') => Some("a quotation"),
        () if merge_mark(text).is_some() => Some("a mark of a merge"),
        () if text.starts_with('|') || is_delimiter(text) => Some("a table"),
        () if is_title(text) => Some("a title within a list"),
        () if is_tag(text) => Some("markup"),
        () => None,
    }
}

/// What a whole text is, if it is no statement.
fn no_statement(text: &str) -> Option<&'static str> {
    let struck = text.strip_prefix("~~").and_then(|text| text.strip_suffix("~~"));
    match () {
        () if text.is_empty() => None,
        () if is_images(text) => Some("an image"),
        () if struck.is_some_and(|text| !text.contains("~~")) => Some("a struck-out line"),
        () if !text.contains(char::is_alphanumeric) => Some("a line without a word"),
        () => None,
    }
}

/// Whether a line is a title, `# …` to `###### …`.
fn is_title(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(is_space)
}

/// Whether a line is a rule, `---`, `***` or `_ _ _`.
fn is_rule(line: &str) -> bool {
    let is_of = |mark: char| line.chars().all(|c| c == mark || is_space(c)) && line.matches(mark).count() > 2;
    ['-', '*', '_'].into_iter().any(is_of)
}

/// Whether a line makes a title of the one above.
fn is_underline(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'=')
}

/// Whether a line separates the head of a table from its rows.
fn is_delimiter(line: &str) -> bool {
    let is_part = |c: char| matches!(c, '|' | '-' | ':') || is_space(c);
    line.contains('|') && line.contains('-') && line.chars().all(is_part)
}

/// Whether a text is nothing but one tag of HTML.
fn is_tag(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    inner.is_some_and(|inner| {
        let name = inner.strip_prefix('/').unwrap_or(inner);
        let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let is_whole = rest.is_empty() || rest.starts_with(['/', ' ', '\t']);
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && is_whole && !inner.contains('<')
    })
}

/// Whether a text is nothing but images, `![](cat.png)` or `![[cat.png]]`.
fn is_images(text: &str) -> bool {
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix("![") {
        let end = if inner.starts_with('[') {
            inner.find("]]").map(|at| at + 2)
        } else {
            let target = inner.find("](");
            target.and_then(|at| Some(at + inner[at..].find(')')? + 1))
        };
        let Some(end) = end else { return false };
        rest = inner[end..].trim_start_matches(is_space);
    }
    rest.is_empty()
}
