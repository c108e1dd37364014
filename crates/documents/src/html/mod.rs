//! A page of HTML to Markdown.
//!
//! Owns: open elements, implied ends, hidden elements. Never: the form of a block (`markdown`),
//! rules in style sheets, scripts. The standard's tree is not built: a page is read in one pass
//! with a stack, so its cost is bounded by its size.

mod hidden;

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use crate::markdown::Writer;
use crate::{NESTING_MAX, TEXT_MAX_BYTES, Unreadable};

pub(crate) struct Page {
    pub(crate) title: Option<String>,
    pub(crate) markdown: String,
}

/// Maximum distance of a page's first tag from its start, in bytes.
const SNIFFED_BYTES: usize = 1024;

/// Elements that have no content.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
/// Elements that begin and end a paragraph, besides headings and cells.
const BLOCKS: [&str; 43] = [
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "head", "header",
    "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "ol", "p", "plaintext", "pre",
    "search", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "xmp",
];

/// Whether the content looks like an HTML page.
pub(crate) fn is_page(text: &str) -> bool {
    let head = text
        .get(..text.floor_char_boundary(SNIFFED_BYTES))
        .unwrap_or(text);
    let mut head = head.trim_start();
    while let Some(after) = after(head, "<!--", "-->").or_else(|| after(head, "<?xml", "?>")) {
        head = after.trim_start();
    }
    let head: String = head.chars().take(15).collect::<String>().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head>", "<body"]
        .iter()
        .any(|tag| head.starts_with(tag))
}

fn after<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.strip_prefix(start)?.split_once(end)?.1)
}

pub(crate) fn markdown(html: &str) -> Result<Page, Unreadable> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = HtmlReader::default();
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => reader.start(&tag)?,
            Token::EndTag(tag) => reader.end(&tag.name),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if reader.writer.len() > TEXT_MAX_BYTES {
            return Err(Unreadable::TooMuchText);
        }
    }
    while let Some(element) = reader.open.pop() {
        reader.close(&element);
    }
    Ok(Page {
        title: reader.title.filter(|title| !title.trim().is_empty()),
        markdown: reader.writer.finish(),
    })
}

struct Element {
    name: Vec<u8>,
    is_hidden: bool,
}

#[derive(Default)]
struct HtmlReader {
    open: Vec<Element>,
    writer: Writer,
    title: Option<String>,
}

impl HtmlReader {
    fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|element| element.is_hidden)
    }

    fn start(&mut self, tag: &StartTag<()>) -> Result<(), Unreadable> {
        let name: &[u8] = &tag.name;
        self.imply_ends(name);
        let is_hidden = self.is_hidden() || hidden::is_hidden(tag);
        if is_in(&VOID, name) {
            if !is_hidden {
                self.void(tag);
            }
            return Ok(());
        }
        if self.open.len() >= NESTING_MAX {
            return Err(Unreadable::TooComplex);
        }
        self.open.push(Element {
            name: name.to_vec(),
            is_hidden,
        });
        if !is_hidden {
            self.enter(tag);
        }
        Ok(())
    }

    fn void(&mut self, tag: &StartTag<()>) {
        match &tag.name[..] {
            b"br" => self.writer.line_break(),
            b"img" => self
                .writer
                .image(&attribute(tag, b"alt"), &attribute(tag, b"src")),
            b"hr" => self.writer.break_block(),
            _ => {}
        }
    }

    fn enter(&mut self, tag: &StartTag<()>) {
        let writer = &mut self.writer;
        match &tag.name[..] {
            [b'h', level @ b'1'..=b'6'] => writer.start_heading(level - b'0'),
            b"a" => writer.start_link(&attribute(tag, b"href")),
            b"code" | b"kbd" | b"samp" | b"tt" => writer.start_code(&attribute(tag, b"class")),
            b"pre" | b"listing" | b"xmp" | b"plaintext" => writer.start_pre(&attribute(tag, b"class")),
            b"ul" | b"menu" | b"dir" => writer.start_list(None),
            b"ol" => writer.start_list(Some(attribute(tag, b"start").parse().unwrap_or(1))),
            b"li" => writer.start_item(),
            b"blockquote" => writer.start_quote(),
            b"table" => writer.start_table(),
            b"tr" => writer.start_row(),
            b"td" | b"th" => writer.start_cell(),
            name if is_block(name) => writer.break_block(),
            _ => {}
        }
    }

    fn close(&mut self, element: &Element) {
        if element.is_hidden {
            return;
        }
        let writer = &mut self.writer;
        match &element.name[..] {
            [b'h', b'1'..=b'6'] => writer.end_heading(),
            b"a" | b"code" | b"kbd" | b"samp" | b"tt" => writer.end_mark(),
            b"pre" | b"listing" | b"xmp" | b"plaintext" => writer.end_pre(),
            b"ul" | b"ol" | b"menu" | b"dir" => writer.end_list(),
            b"li" | b"blockquote" => writer.end_container(),
            b"table" => writer.end_table(),
            b"td" | b"th" => writer.end_cell(),
            name if is_block(name) => writer.break_block(),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        let crosses_cells = matches!(
            name,
            b"td" | b"th" | b"tr" | b"thead" | b"tbody" | b"tfoot" | b"table" | b"body" | b"html"
        );
        let found = self
            .open
            .iter()
            .rev()
            .take_while(|element| crosses_cells || !is_cell(&element.name) || element.name == name);
        if let Some(above) = found.map(|element| element.name == name).position(|is_it| is_it) {
            self.pop(above + 1);
        }
    }

    fn text(&mut self, text: &str) {
        match self.open.last() {
            Some(element) if element.is_hidden => {}
            Some(element) if element.name == b"title" => self.title.get_or_insert_default().push_str(text),
            _ => self.writer.text(text),
        }
    }

    /// Ends the elements that a new one ends implicitly: `<li>` ends the item before it, a block
    /// ends the paragraph before it.
    fn imply_ends(&mut self, name: &[u8]) {
        let (ended, within): (&[&[u8]], &[&[u8]]) = match name {
            b"li" => (&[b"li"], &[b"ul", b"ol", b"menu", b"dir", b"table"]),
            b"a" => (&[b"a"], &[b"td", b"th", b"table"]),
            b"dt" | b"dd" => (&[b"dt", b"dd"], &[b"dl", b"table"]),
            b"td" | b"th" => (&[b"td", b"th"], &[b"tr", b"table"]),
            b"tr" => (&[b"tr"], &[b"table"]),
            b"thead" | b"tbody" | b"tfoot" => (&[b"thead", b"tbody", b"tfoot"], &[b"table"]),
            name if is_block(name) => (&[b"p"], &[]),
            _ => return,
        };
        let mut up = self.open.iter().rev().take_while(|element| {
            let name = element.name.as_slice();
            !within.contains(&name) && (!within.is_empty() || name == b"p" || !is_block(name))
        });
        if let Some(above) = up.position(|element| ended.contains(&element.name.as_slice())) {
            self.pop(above + 1);
        }
    }

    fn pop(&mut self, count: usize) {
        for element in self
            .open
            .split_off(self.open.len().saturating_sub(count))
            .iter()
            .rev()
        {
            self.close(element);
        }
    }
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> String {
    tag.attributes
        .get(name)
        .map(|value| String::from_utf8_lossy(value).trim().to_owned())
        .unwrap_or_default()
}

fn is_cell(name: &[u8]) -> bool {
    matches!(name, b"td" | b"th")
}

/// Whether a list has the name of an element.
fn is_in(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes() == name)
}

fn is_block(name: &[u8]) -> bool {
    matches!(name, [b'h', b'1'..=b'6']) || is_cell(name) || is_in(&BLOCKS, name)
}
