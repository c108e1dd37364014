//! Statements that a person wrote without a heading, in a file of facts.
//!
//! Owns: the lines that are a statement (an item of a list with its continuation, or a line of a
//! paragraph), and the kinds of the other lines. Never: judging a line by its words or its script.

use crate::escape::is_space;
use crate::keys;
use crate::lines::{Line, bullet, is_blank, is_end, merge_mark, turn};

/// A fact with the lines that contain it.
#[derive(Debug)]
pub(crate) struct WrittenFact<'a> {
    pub lines: Vec<Line<'a>>,
    pub text: String,
}

/// A line that is no fact, and its kind.
type Other<'a> = (Line<'a>, Option<&'static str>);

/// Indentation at which a line outside of a list is code.
pub(crate) const CODE_COLUMNS: usize = 4;

/// Kind of the lines between HTML tags.
pub(crate) const MARKUP: &str = "markup";

const DEFINITION: Option<&str> = Some("a definition");

/// Divides lines outside of entries into facts and others; lines that only structure a page are in
/// neither.
pub(crate) fn read<'a>(lines: &[Line<'a>]) -> (Vec<WrittenFact<'a>>, Vec<Other<'a>>) {
    let mut reader = FactReader::default();
    for line in lines {
        reader.line(*line);
    }
    let FactReader {
        mut told, mut others, ..
    } = reader;
    told.retain(|fact| {
        let what = no_statement(&fact.text);
        if what.is_some() {
            others.extend(fact.lines.iter().map(|line| (*line, what)));
        }
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
    told: Vec<WrittenFact<'a>>,
    others: Vec<Other<'a>>,
    /// End of the previous line.
    end: usize,
    /// Whether the previous line cannot be continued.
    is_apart: bool,
    /// The column of the open item's text.
    item: Option<usize>,
    /// The kind of the open item, quotation or table, if it is no fact.
    open: Option<&'static str>,
    /// The character that ends the title of the link target above; a space if no title has begun.
    title: Option<char>,
}

impl<'a> FactReader<'a> {
    fn line(&mut self, line: Line<'a>) {
        if line.start != self.end {
            self.close();
        }
        self.end = line.end;
        let text = line.text.trim_matches(is_space);
        let column = columns(line.text);
        let content = bullet(text).filter(|_| column < CODE_COLUMNS || self.item.is_some());
        // After a blank line, an item continues only at the indentation of its text.
        let least = if self.is_apart { 2 } else { 1 };
        let continues = self
            .item
            .is_some_and(|item| (least..item + CODE_COLUMNS).contains(&column));
        let title = self.title.take().filter(|_| content.is_none());
        let goes_on = title.is_some_and(|title| title != ' ' || text.starts_with(['(', '"', '\'']));
        let is_alone = self.is_apart || (self.item, self.open) == (None, None);
        if line.literal.is_some() {
            self.refuse(line, line.literal);
            self.is_apart = true;
        } else if is_blank(line.text) {
            self.is_apart = true;
            self.open = self.open.filter(|_| self.item.is_some());
        } else if is_structure(line.text) {
            self.close();
        } else if is_underline(text) && self.item.is_none() && !self.is_apart {
            // The line makes the one above a title or the head of a table.
            let above = self
                .told
                .pop_if(|fact| fact.lines.last().is_some_and(|above| above.end == line.start));
            self.close();
            if is_delimiter(text) {
                let above = above.map(|fact| fact.lines).unwrap_or_default();
                let table = Some("a table");
                self.others.extend(above.into_iter().map(|line| (line, table)));
                self.refuse(line, table);
            }
        } else if self.open == Some(MARKUP) && !self.is_apart && self.item.is_none() {
            // Up to a blank line, text between tags is no Markdown.
            self.refuse(line, self.open);
        } else if goes_on || (is_alone && is_target(text)) {
            self.item = self.item.filter(|_| continues);
            self.title = match title {
                Some(end) if goes_on && end != ' ' => title.filter(|_| !text.ends_with(end)),
                _ => open_title(text),
            };
            self.others.push((line, DEFINITION));
            self.is_apart = true;
        } else if let Some(content) = content {
            self.item = Some(column + text.len() - content.len());
            let is_key = keys::item(line.text).is_some_and(|(name, _)| keys::OF_ENTRY.contains(&name));
            match unboxed(content) {
                _ if is_key => self.refuse(line, Some("a key of an entry")),
                Some(content) => self.take(line, content, None),
                None => self.refuse(line, Some("an open task")),
            }
        } else if continues {
            match self.open.or_else(|| opens_else(text)) {
                None => self.add(line, text),
                what => self.refuse(line, what),
            }
        } else {
            let open = self.open.filter(|_| !self.is_apart && self.item.is_none());
            self.close();
            let is_code = column >= CODE_COLUMNS;
            self.take(line, text, open.or(is_code.then_some("code")));
            self.is_apart |= is_code;
        }
    }

    /// Takes the first line of a fact, or of the kind `other`.
    fn take(&mut self, line: Line<'a>, text: &str, other: Option<&'static str>) {
        let other = other.or_else(|| opens_else(text));
        if other.is_some() {
            return self.refuse(line, other);
        }
        (self.open, self.is_apart) = (None, false);
        self.told.push(WrittenFact {
            lines: vec![line],
            text: text.to_owned(),
        });
    }

    /// Adds a line to the open fact.
    fn add(&mut self, line: Line<'a>, text: &str) {
        self.is_apart = false;
        if let Some(fact) = self.told.last_mut() {
            let space = if fact.text.is_empty() { "" } else { " " };
            fact.text.extend([space, text]);
            fact.lines.push(line);
        }
    }

    fn refuse(&mut self, line: Line<'a>, what: Option<&'static str>) {
        (self.open, self.is_apart) = (what, false);
        self.others.push((line, what));
    }

    fn close(&mut self) {
        (self.item, self.open, self.is_apart) = (None, None, true);
    }
}

/// The indentation of a line, in columns.
pub(crate) fn columns(line: &str) -> usize {
    let spaces = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    spaces
        .map(|byte| if byte == b'\t' { CODE_COLUMNS } else { 1 })
        .sum()
}

/// The text of an item without a ticked box; none for an open task, marked by a box or an editor's
/// sign.
fn unboxed(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let (open, mark, close) = (chars.next(), chars.next(), chars.next());
    let rest = chars.as_str();
    let is_box = open == Some('[') && close == Some(']') && (rest.is_empty() || rest.starts_with(is_space));
    match mark {
        Some('x' | 'X') if is_box => Some(rest.trim_start_matches(is_space)),
        Some(_) if is_box => None,
        _ => Some(text),
    }
}

/// The kind of a line that begins no statement.
fn opens_else(text: &str) -> Option<&'static str> {
    match () {
        () if text.starts_with('>') => Some("a quotation"),
        () if text.starts_with('|') || is_delimiter(text) => Some("a table"),
        () if is_title(text) => Some("a title within a list"),
        () if text.starts_with('<') && text.ends_with('>') => Some(MARKUP),
        () => None,
    }
}

/// Whether a text is the target of a link, `[1]: https://…`.
fn is_target(text: &str) -> bool {
    text.starts_with('[') && text.contains("]: ")
}

/// The character that ends the title of a link's target, if a later line contains it; a space if no
/// title has begun.
fn open_title(text: &str) -> Option<char> {
    let target = text.split_once("]: ").filter(|_| is_target(text));
    let behind = target.map(|(_, target)| target.trim_start().split_once(is_space).unwrap_or_default().1);
    let title = behind.unwrap_or(text).trim_matches(is_space);
    let end = match title.chars().next() {
        None => ' ',
        Some('(') => ')',
        Some(mark @ ('"' | '\'')) => mark,
        Some(_) => return None,
    };
    (title.len() < 2 || !title.ends_with(end)).then_some(end)
}

/// The kind of a complete text, if it is no statement.
fn no_statement(text: &str) -> Option<&'static str> {
    let within = |mark: &str| {
        let inner = text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
        inner.is_some_and(|inner| !inner.contains(mark))
    };
    match () {
        () if text.is_empty() => None,
        () if merge_mark(text).is_some() => Some("a mark of a merge"),
        () if is_target(text) => DEFINITION,
        () if text.trim_start_matches('[').starts_with("![") && text.ends_with([')', ']']) => {
            Some("an image")
        }
        () if within("~~") => Some("a struck-out line"),
        () if within("$$") => Some("a formula"),
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

/// Whether a line makes the one above a title or a table.
fn is_underline(text: &str) -> bool {
    is_delimiter(text) || text.bytes().all(|byte| byte == b'=')
}

/// Whether a line separates the head of a table from its rows.
fn is_delimiter(line: &str) -> bool {
    let is_part = |c: char| matches!(c, '|' | '-' | ':') || is_space(c);
    line.contains('|') && line.contains('-') && line.chars().all(is_part)
}
