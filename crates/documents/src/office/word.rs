//! A document of Word to Markdown.
//!
//! Owns: headings, paragraphs, lists, tables, links, notes; leaving out deleted and moved text,
//! hidden text and hidden rows. Never: headers, footers, comments, fields.

use quick_xml::events::BytesStart;

use super::package::{Package, Relations};
use super::pen::{ParagraphKind, Pen};
use super::styles::{Formatting, Styles};
use super::xml::{Xml, XmlPiece, attribute, is_on, relationship};
use crate::Unreadable;

pub(super) fn markdown(package: &mut Package<'_>, main: &str, text: &str) -> Result<String, Unreadable> {
    let relations = package.relations(main)?;
    let styles = Styles::read(package, &relations)?;
    let mut word = WordReader {
        pen: Pen::default(),
        styles,
        relations,
        note: String::new(),
    };
    word.read(text)?;
    for notes in ["footnotes", "endnotes"] {
        if let Some(text) = package.related(&word.relations, notes)? {
            word.read(&text)?;
        }
    }
    Ok(word.pen.finish())
}

struct WordReader {
    pen: Pen,
    styles: Styles,
    relations: Relations,
    /// The mark of a note before the first word of its text.
    note: String,
}

impl WordReader {
    fn read(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut xml = Xml::new(text);
        while let Some(piece) = xml.next()? {
            match piece {
                XmlPiece::Start(tag) => self.start(&tag, &mut xml)?,
                XmlPiece::End(tag) => self.end(tag.local_name().into_inner()),
                XmlPiece::Text(text) => {
                    let note = std::mem::take(&mut self.note);
                    self.pen.text(&(note + &text))?;
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, tag: &BytesStart<'_>, xml: &mut Xml<'_>) -> Result<(), Unreadable> {
        match tag.local_name().into_inner() {
            // Deleted or moved text, an alternative form of the same content, settings.
            "del" | "moveFrom" | "Fallback" | "sdtPr" => xml.skip()?,
            "p" => self.pen.paragraph(ParagraphKind::Plain),
            "pPr" => self.paragraph(xml)?,
            "rPr" => {
                let mut formatting = Formatting::default();
                xml.each_inside(|tag| formatting.take(tag))?;
                if self.styles.is_hidden(&formatting) {
                    xml.skip()?;
                }
            }
            "tab" => self.pen.text(" ")?,
            "br" | "cr" => self.pen.line_break(),
            "noBreakHyphen" => self.pen.text("-")?,
            "hyperlink" => {
                let related = relationship(tag).and_then(|id| self.relations.get(&id));
                let address = related
                    .filter(|related| related.is_outside)
                    .map(|related| related.target.clone());
                self.pen.start_link(&address.unwrap_or_default());
            }
            "footnoteReference" | "endnoteReference" => self.pen.text(note(tag).trim_end())?,
            "footnote" | "endnote" => {
                // Lines that separate notes from the text have a type.
                if attribute(tag, "type").is_some() {
                    return xml.skip();
                }
                self.note = note(tag);
            }
            "tbl" => self.pen.start_table(),
            "tr" => self.pen.start_row()?,
            "trPr" => row(xml)?,
            "tc" => self.pen.start_cell()?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" => self.pen.end_paragraph(),
            "hyperlink" => self.pen.end_link(),
            "tc" => self.pen.end_cell(),
            "tbl" => self.pen.end_table(),
            _ => {}
        }
    }

    fn paragraph(&mut self, xml: &mut Xml<'_>) -> Result<(), Unreadable> {
        let mut formatting = Formatting::default();
        // The format of the paragraph mark does not apply to the text.
        xml.each_inside(|tag| tag.local_name().into_inner() != "rPr" && formatting.take(tag))?;
        if self.styles.is_hidden(&formatting) {
            return xml.skip();
        }
        if let Some(level) = self.styles.heading(&formatting) {
            self.pen.paragraph(ParagraphKind::Heading(level));
        } else if let Some((level, is_ordered)) = self.styles.item(&formatting) {
            self.pen.paragraph(ParagraphKind::Item { level, is_ordered });
        }
        Ok(())
    }
}

/// Skips a deleted or hidden row.
fn row(xml: &mut Xml<'_>) -> Result<(), Unreadable> {
    let mut is_gone = false;
    xml.each_inside(|tag| {
        let name = tag.local_name().into_inner();
        is_gone |= matches!(name, "del" | "hidden") && is_on(tag);
        name != "trPrChange"
    })?;
    if is_gone { xml.skip() } else { Ok(()) }
}

/// The mark of a note, in the text and before the note.
fn note(tag: &BytesStart<'_>) -> String {
    format!("[^{}] ", attribute(tag, "id").unwrap_or_default())
}
