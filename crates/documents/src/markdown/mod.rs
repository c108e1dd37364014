//! Markdown, block by block.
//!
//! Owns: paragraphs, headings, lists, quotes, code, links; escaping text that would be read as
//! markup. Never: HTML.

mod table;

pub(crate) use table::CELL_BYTES;
use table::Table;

/// Maximum depth of lists and quotes; deeper ones are written at this depth, so that no line is
/// mostly indent.
const INDENTS_MAX: usize = 12;

/// Maximum length of an address; a longer one is no help to a reader and is left out.
const ADDRESS_MAX_BYTES: usize = 2_000;

enum Container {
    Quote,
    Item { marker: String, is_new: bool },
}

enum InlineMark {
    Link(String),
    Code,
    /// Code inside code.
    Nothing,
}

#[derive(Default)]
pub(crate) struct Writer {
    out: String,
    /// The current block, without its prefix.
    line: String,
    /// Open links and code, each with its start in `line`.
    marks: Vec<(InlineMark, usize)>,
    heading: Option<u8>,
    pre: Option<Pre>,
    lists: Vec<Option<u64>>,
    containers: Vec<Container>,
    tables: Vec<Table>,
    was_in_list: bool,
}

#[derive(Default)]
struct Pre {
    language: String,
    text: String,
}

impl Writer {
    /// Bytes of the text so far, including open tables.
    pub(crate) fn len(&self) -> usize {
        let tables = self.tables.iter().map(|table| table.bytes);
        self.out.len() + self.line.len() + tables.sum::<usize>()
    }

    pub(crate) fn finish(mut self) -> String {
        self.break_block();
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    pub(crate) fn text(&mut self, text: &str) {
        if let Some(pre) = &mut self.pre {
            pre.text.push_str(text);
            return;
        }
        let in_code = self.in_code();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c.is_whitespace() && c != '\u{a0}' {
                self.space();
                continue;
            }
            let opens_tag = c == '<'
                && chars
                    .peek()
                    .is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next));
            if opens_tag && !in_code {
                self.line.push('\\');
            }
            self.line.push(if c == '\u{a0}' { ' ' } else { c });
        }
    }

    pub(crate) fn line_break(&mut self) {
        if let Some(pre) = &mut self.pre {
            pre.text.push('\n');
        } else if self.heading.is_some() || self.in_cell() {
            self.space();
        } else {
            self.line.truncate(self.line.trim_end_matches(' ').len());
            self.line.push('\n');
        }
    }

    pub(crate) fn image(&mut self, alt: &str, source: &str) {
        if alt.is_empty() {
            return;
        }
        match address(source) {
            Some(source) => self.line.extend(["![", &one_line(alt), "](", &source, ")"]),
            None => self.text(alt),
        }
    }

    pub(crate) fn start_link(&mut self, href: &str) {
        self.marks.push((
            InlineMark::Link(address(href).unwrap_or_default()),
            self.line.len(),
        ));
    }

    pub(crate) fn start_code(&mut self, class: &str) {
        if let Some(pre) = &mut self.pre
            && pre.language.is_empty()
        {
            pre.language = language(class);
        }
        let mark = if self.in_code() {
            InlineMark::Nothing
        } else {
            InlineMark::Code
        };
        self.marks.push((mark, self.line.len()));
    }

    pub(crate) fn end_mark(&mut self) {
        if let Some((mark, from)) = self.marks.pop() {
            self.wrap(&mark, from);
        }
    }

    pub(crate) fn start_heading(&mut self, level: u8) {
        self.lay_out();
        self.break_block();
        self.heading = Some(level);
    }

    pub(crate) fn end_heading(&mut self) {
        self.break_block();
        self.heading = None;
    }

    pub(crate) fn start_pre(&mut self, class: &str) {
        self.end_pre();
        self.lay_out();
        self.break_block();
        self.pre = Some(Pre {
            language: language(class),
            text: String::new(),
        });
    }

    pub(crate) fn end_pre(&mut self) {
        let Some(Pre { language, text }) = self.pre.take() else {
            return;
        };
        if text.trim().is_empty() {
            return;
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        self.emit(&format!("{fence}{language}\n{text}\n{fence}"));
    }

    pub(crate) fn start_list(&mut self, first: Option<u64>) {
        self.break_block();
        self.lists.push(first);
    }

    pub(crate) fn end_list(&mut self) {
        self.break_block();
        self.lists.pop();
    }

    pub(crate) fn start_item(&mut self) {
        self.break_block();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "- ".to_owned(),
        };
        self.containers.push(Container::Item { marker, is_new: true });
    }

    pub(crate) fn start_quote(&mut self) {
        self.break_block();
        self.containers.push(Container::Quote);
    }

    /// Ends an item or a quote.
    pub(crate) fn end_container(&mut self) {
        self.break_block();
        self.containers.pop();
    }

    pub(crate) fn start_table(&mut self) {
        self.lay_out();
        self.break_block();
        self.tables.push(Table::default());
    }

    pub(crate) fn start_row(&mut self) {
        self.break_block();
        if let Some(table) = self.tables.last_mut() {
            table.start_row();
        }
    }

    pub(crate) fn start_cell(&mut self) {
        self.break_block();
        if let Some(table) = self.tables.last_mut() {
            table.start_cell();
        }
    }

    pub(crate) fn end_cell(&mut self) {
        if !self.in_cell() {
            return self.break_block();
        }
        let cell = self.take_line();
        if let Some(table) = self.tables.last_mut() {
            table.end_cell(one_line(&cell));
        }
    }

    pub(crate) fn end_table(&mut self) {
        self.end_cell();
        if let Some(table) = self.tables.pop() {
            self.emit_all(&table.blocks());
        }
    }

    /// Ends a paragraph; in a cell, which has no paragraphs, a word.
    pub(crate) fn break_block(&mut self) {
        if self.in_cell() {
            return self.space();
        }
        let line = self.take_line();
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        match self.heading {
            Some(level) => self.emit(&format!("{} {}", "#".repeat(usize::from(level)), one_line(line))),
            None => self.emit(
                &line
                    .lines()
                    .map(|line| escape(line.trim()))
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        }
    }

    fn in_code(&self) -> bool {
        self.marks
            .iter()
            .any(|(mark, _)| matches!(mark, InlineMark::Code))
    }

    fn in_cell(&self) -> bool {
        self.tables.last().is_some_and(|table| table.is_in_cell)
    }

    /// A table with blocks in its cells is a page's layout: its content becomes paragraphs.
    fn lay_out(&mut self) {
        if !self.in_cell() {
            return;
        }
        if let Some(table) = self.tables.last_mut() {
            let cells = table.lay_out();
            self.emit_all(&cells);
        }
    }

    fn space(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
            self.line.push(' ');
        }
    }

    /// The text so far, with complete links and code; open ones continue in the next block.
    fn take_line(&mut self) -> String {
        let marks = std::mem::take(&mut self.marks);
        for (mark, from) in marks.iter().rev() {
            self.wrap(mark, *from);
        }
        self.marks = marks.into_iter().map(|(mark, _)| (mark, 0)).collect();
        std::mem::take(&mut self.line)
    }

    fn wrap(&mut self, mark: &InlineMark, from: usize) {
        let Some(inside) = self.line.get(from..).filter(|inside| !inside.trim().is_empty()) else {
            return;
        };
        let lead = inside.len() - inside.trim_start().len();
        let trimmed = inside.trim();
        let wrapped = match mark {
            InlineMark::Nothing => return,
            InlineMark::Link(address) if address.is_empty() => return,
            InlineMark::Link(address) => format!("[{trimmed}]({address})"),
            InlineMark::Code if trimmed.contains('`') => return,
            InlineMark::Code => format!("`{trimmed}`"),
        };
        let ends_in_space = inside.ends_with(' ');
        self.line.truncate(from + lead);
        self.line.push_str(&wrapped);
        if ends_in_space {
            self.line.push(' ');
        }
    }

    fn emit_all(&mut self, blocks: &[String]) {
        for block in blocks {
            self.emit(block);
        }
    }

    fn emit(&mut self, block: &str) {
        let is_new = self
            .containers
            .iter()
            .any(|container| matches!(container, Container::Item { is_new: true, .. }));
        let is_in_list = self
            .containers
            .iter()
            .any(|container| matches!(container, Container::Item { .. }));
        if !self.out.is_empty() {
            self.out
                .push_str(if is_new && self.was_in_list { "\n" } else { "\n\n" });
        }
        self.was_in_list = is_in_list;
        for (nth, line) in block.split('\n').enumerate() {
            if nth > 0 {
                self.out.push('\n');
            }
            for container in self.containers.iter_mut().take(INDENTS_MAX) {
                match container {
                    Container::Quote => self.out.push_str("> "),
                    Container::Item { marker, is_new } => {
                        let blank = " ".repeat(marker.len());
                        self.out.push_str(if *is_new { marker } else { &blank });
                        *is_new = false;
                    }
                }
            }
            self.out.push_str(line);
        }
        for container in &mut self.containers {
            if let Container::Item { is_new, .. } = container {
                *is_new = false;
            }
        }
    }
}

/// A text on one line, with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An address as Markdown writes it; none for scripts, embedded data and places in the same page.
fn address(href: &str) -> Option<String> {
    let href: String = href.chars().filter(|c| !c.is_control()).collect();
    let scheme = href
        .split_once(':')
        .map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    if href.is_empty()
        || href.len() > ADDRESS_MAX_BYTES
        || href.starts_with('#')
        || scheme.is_some_and(|s| matches!(s.as_str(), "javascript" | "data" | "vbscript"))
    {
        return None;
    }
    let plain = !href.contains([' ', '(', ')', '<', '>']);
    Some(if plain {
        href
    } else {
        format!("<{}>", href.replace('<', "%3C").replace('>', "%3E"))
    })
}

/// The language in a class attribute: `language-rust`, `lang-rust`.
fn language(class: &str) -> String {
    let named = class.split_whitespace().find_map(|class| {
        class
            .strip_prefix("language-")
            .or_else(|| class.strip_prefix("lang-"))
    });
    named
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_alphanumeric() || "+-#".contains(*c))
        .take(20)
        .collect()
}

/// Escapes a line of prose that looks like a heading, list, quote or fence.
fn escape(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=9).contains(&digits) && line[digits..].starts_with(['.', ')']);
    let mark = line.trim_start_matches('#');
    let heading = mark.len() < line.len() && (mark.is_empty() || mark.starts_with(' '));
    let listed = ["- ", "+ ", "* "].iter().any(|mark| line.starts_with(mark));
    let fence = line.starts_with("```") || line.starts_with("~~~");
    let ruled = !line.is_empty() && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'));
    if numbered {
        format!("{}\\{}", &line[..digits], &line[digits..])
    } else if heading || listed || fence || ruled || line.starts_with('>') {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}
