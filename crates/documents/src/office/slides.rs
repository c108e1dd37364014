//! A presentation to Markdown: a heading for each slide, its text, its tables, its speaker's notes.
//!
//! Owns: the order of slides; leaving out hidden slides and shapes. Never: text repeated on each
//! slide, pictures, charts.

use super::package::{Package, Relations};
use super::pen::{ParagraphKind, Pen};
use super::xml::{Xml, XmlPiece, attribute, is_set, number, relationship};
use crate::{PAGES_MAX, Unreadable};

const SLIDE_LEVEL: u8 = 2;
const NOTES_LEVEL: u8 = 3;

/// Role of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShapeRole {
    Title,
    /// The text placeholder of a slide's layout: its paragraphs are items of a list.
    Body,
    /// A text box, a table.
    Free,
    /// Hidden, or the same on every slide: a date, a number.
    Unread,
}

pub(super) fn markdown(package: &mut Package<'_>, main: &str, text: &str) -> Result<String, Unreadable> {
    let relations = package.relations(main)?;
    let mut pen = Pen::default();
    for (part, number) in slides(text, &relations)?.iter().zip(1..) {
        let Some(slide) = package.part(part)? else {
            continue;
        };
        if is_hidden(&slide)? {
            continue;
        }
        let relations = package.relations(part)?;
        let notes = package.related(&relations, "notesSlide")?.unwrap_or_default();
        let has_notes = !shape_text(&notes, &[ShapeRole::Body])?.trim().is_empty();
        let has_text = !shape_text(&slide, &[ShapeRole::Title, ShapeRole::Body, ShapeRole::Free])?
            .trim()
            .is_empty();
        if !has_notes && !has_text {
            continue;
        }
        let title = shape_text(&slide, &[ShapeRole::Title])?;
        let title = if title.trim().is_empty() {
            format!("Slide {number}")
        } else {
            title
        };
        pen.heading(SLIDE_LEVEL, &title)?;
        write(&slide, &mut pen, &[ShapeRole::Body, ShapeRole::Free])?;
        if has_notes {
            pen.heading(NOTES_LEVEL, "Notes")?;
            write(&notes, &mut pen, &[ShapeRole::Body])?;
        }
    }
    Ok(pen.finish())
}

/// The names of the slides' parts, in order.
fn slides(text: &str, relations: &Relations) -> Result<Vec<String>, Unreadable> {
    let mut slides = Vec::new();
    let mut xml = Xml::new(text);
    while let Some(tag) = xml.next_start()? {
        if tag.local_name().into_inner() != "sldId" {
            continue;
        }
        if slides.len() == PAGES_MAX {
            return Err(Unreadable::TooManyPages);
        }
        let related = relationship(&tag).and_then(|id| relations.get(&id));
        slides.extend(related.map(|related| related.target.clone()));
    }
    Ok(slides)
}

fn is_hidden(slide: &str) -> Result<bool, Unreadable> {
    let show = Xml::new(slide)
        .next_start()?
        .and_then(|tag| attribute(&tag, "show"));
    Ok(show.is_some_and(|show| matches!(show.as_str(), "0" | "false")))
}

/// The role of a shape, from its properties.
fn shape(xml: &mut Xml<'_>) -> Result<ShapeRole, Unreadable> {
    let mut shape = ShapeRole::Free;
    let mut is_hidden = false;
    xml.each_inside(|tag| {
        match tag.local_name().into_inner() {
            "cNvPr" => is_hidden = is_set(tag, "hidden"),
            "ph" => {
                shape = match attribute(tag, "type").as_deref() {
                    Some("title" | "ctrTitle") => ShapeRole::Title,
                    None | Some("body" | "obj") => ShapeRole::Body,
                    Some("dt" | "ftr" | "hdr" | "sldNum" | "sldImg") => ShapeRole::Unread,
                    Some(_) => ShapeRole::Free,
                }
            }
            _ => {}
        }
        true
    })?;
    Ok(if is_hidden { ShapeRole::Unread } else { shape })
}

/// The words in shapes with these roles.
fn shape_text(slide: &str, wanted: &[ShapeRole]) -> Result<String, Unreadable> {
    let mut words = String::new();
    let mut xml = Xml::new(slide);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Start(tag) => match tag.local_name().into_inner() {
                "p" | "br" => words.push(' '),
                "Fallback" => xml.skip()?,
                "nvSpPr" | "nvGraphicFramePr" if !wanted.contains(&shape(&mut xml)?) => xml.skip()?,
                "nvGrpSpPr" if shape(&mut xml)? == ShapeRole::Unread => xml.skip()?,
                _ => {}
            },
            XmlPiece::End(_) => {}
            XmlPiece::Text(text) => words.push_str(&text),
        }
    }
    Ok(words)
}

/// Writes the text of shapes with these roles. Text in a placeholder is a list only if other roles
/// are wanted too.
fn write(slide: &str, pen: &mut Pen, wanted: &[ShapeRole]) -> Result<(), Unreadable> {
    let mut is_list = false;
    let mut xml = Xml::new(slide);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Start(tag) => match tag.local_name().into_inner() {
                "nvSpPr" | "nvGraphicFramePr" => {
                    let shape = shape(&mut xml)?;
                    if !wanted.contains(&shape) {
                        xml.skip()?;
                    }
                    is_list = shape == ShapeRole::Body && wanted.len() > 1;
                }
                "nvGrpSpPr" if shape(&mut xml)? == ShapeRole::Unread => xml.skip()?,
                // A field is a number or a date.
                "Fallback" | "fld" => xml.skip()?,
                "p" => pen.paragraph(paragraph(is_list, 0, false)),
                "pPr" => {
                    let level = number(&tag, "lvl");
                    let (mut is_item, mut is_ordered) = (is_list, false);
                    xml.each_inside(|tag| {
                        let mark = tag.local_name().into_inner();
                        is_ordered |= mark == "buAutoNum";
                        is_item = (is_item || matches!(mark, "buChar" | "buAutoNum")) && mark != "buNone";
                        true
                    })?;
                    pen.paragraph(paragraph(is_item, level.unwrap_or(0), is_ordered));
                }
                "br" => pen.line_break(),
                "tbl" => pen.start_table(),
                "tr" => pen.start_row()?,
                "tc" => pen.start_cell()?,
                _ => {}
            },
            XmlPiece::End(tag) => match tag.local_name().into_inner() {
                "p" => pen.end_paragraph(),
                "tc" => pen.end_cell(),
                "tbl" => pen.end_table(),
                _ => {}
            },
            XmlPiece::Text(text) => pen.text(&text)?,
        }
    }
    Ok(())
}

fn paragraph(is_item: bool, level: usize, is_ordered: bool) -> ParagraphKind {
    if is_item {
        ParagraphKind::Item { level, is_ordered }
    } else {
        ParagraphKind::Plain
    }
}
