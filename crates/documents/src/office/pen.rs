//! The visible text of an office file, as Markdown.
//!
//! Owns: paragraphs that become headings and items of nested lists, cells, the limit on the text.
//! Never: XML.

use crate::markdown::Writer;
use crate::{TEXT_MAX_BYTES, Unreadable};

/// Maximum level of a list in the programs that write these files, from 0.
const LEVEL_MAX: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParagraphKind {
    Plain,
    /// The level, from 1.
    Heading(u8),
    /// An item of a list inside `level` others.
    Item {
        level: usize,
        is_ordered: bool,
    },
}

#[derive(Default)]
pub(super) struct Pen {
    writer: Writer,
    /// Whether each open list is ordered; every one has an open item.
    lists: Vec<bool>,
    cells: usize,
    /// The kind of paragraph that begins with the next text, so that an empty one has no effect.
    coming: Option<ParagraphKind>,
    is_in_heading: bool,
}

impl Pen {
    pub(super) fn finish(self) -> String {
        self.writer.finish()
    }

    /// Begins a paragraph, and ends the one around it, as for a text box.
    pub(super) fn paragraph(&mut self, kind: ParagraphKind) {
        self.end_paragraph();
        self.coming = Some(if self.cells > 0 {
            ParagraphKind::Plain
        } else {
            kind
        });
    }

    pub(super) fn end_paragraph(&mut self) {
        if std::mem::take(&mut self.is_in_heading) {
            self.writer.end_heading();
        } else {
            self.writer.break_block();
        }
        self.coming = None;
    }

    pub(super) fn heading(&mut self, level: u8, text: &str) -> Result<(), Unreadable> {
        self.paragraph(ParagraphKind::Heading(level));
        self.text(text)?;
        self.end_paragraph();
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), Unreadable> {
        if !text.trim().is_empty() {
            self.begin();
        }
        self.writer.text(text);
        self.check()
    }

    pub(super) fn line_break(&mut self) {
        self.writer.line_break();
    }

    pub(super) fn start_link(&mut self, address: &str) {
        self.begin();
        self.writer.start_link(address);
    }

    pub(super) fn end_link(&mut self) {
        self.writer.end_mark();
    }

    pub(super) fn start_table(&mut self) {
        self.end_paragraph();
        if self.cells == 0 {
            self.end_lists(0);
        }
        self.writer.start_table();
    }

    pub(super) fn start_row(&mut self) -> Result<(), Unreadable> {
        self.writer.start_row();
        self.check()
    }

    pub(super) fn start_cell(&mut self) -> Result<(), Unreadable> {
        self.cells += 1;
        self.writer.start_cell();
        self.check()
    }

    pub(super) fn end_cell(&mut self) {
        self.cells = self.cells.saturating_sub(1);
        self.writer.end_cell();
    }

    pub(super) fn end_table(&mut self) {
        self.writer.end_table();
    }

    /// Closes the open elements of the previous paragraph, and begins the coming one.
    fn begin(&mut self) {
        let Some(kind) = self.coming.take() else {
            return;
        };
        if self.cells > 0 {
            return;
        }
        match kind {
            ParagraphKind::Plain => self.end_lists(0),
            ParagraphKind::Heading(level) => {
                self.end_lists(0);
                self.writer.start_heading(level);
                self.is_in_heading = true;
            }
            ParagraphKind::Item { level, is_ordered } => self.item(level, is_ordered),
        }
    }

    fn item(&mut self, level: usize, is_ordered: bool) {
        // A skipped level makes no list of its own.
        let depth = level.min(LEVEL_MAX).min(self.lists.len()) + 1;
        self.end_lists(depth);
        if self.lists.len() == depth {
            self.writer.end_container();
            if self.lists.last() != Some(&is_ordered) {
                self.writer.end_list();
                self.lists.pop();
            }
        }
        if self.lists.len() < depth {
            self.writer.start_list(is_ordered.then_some(1));
            self.lists.push(is_ordered);
        }
        self.writer.start_item();
    }

    /// Ends lists until `open` remain.
    fn end_lists(&mut self, open: usize) {
        while self.lists.len() > open {
            self.writer.end_container();
            self.writer.end_list();
            self.lists.pop();
        }
    }

    fn check(&self) -> Result<(), Unreadable> {
        if self.writer.len() > TEXT_MAX_BYTES {
            return Err(Unreadable::TooMuchText);
        }
        Ok(())
    }
}
