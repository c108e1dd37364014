//! A workbook to Markdown: a heading for each sheet, and a table for each block of its cells.
//!
//! Owns: grouping rows and columns into tables; leaving out hidden sheets, rows and columns. Never:
//! formulas, charts, comments. A sheet is read cell by cell: its size is that of its cells,
//! whatever it declares.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::events::BytesStart;

use super::number::NumberFormat;
use super::package::{Package, Relations};
use super::pen::{ParagraphKind, Pen};
use super::xml::{Xml, XmlPiece, attribute, is_set, number, relationship};
use crate::markdown::CELL_BYTES;
use crate::{PAGES_MAX, TEXT_MAX_BYTES, Unreadable};

const SHEET_LEVEL: u8 = 2;
/// Maximum number of columns of a sheet.
const COLUMNS_MAX: usize = 16_384;

/// Data common to the sheets of a workbook.
#[derive(Debug, Default)]
struct Workbook {
    /// All shared texts in one string, and the end of each.
    texts: String,
    ends: Vec<usize>,
    formats: Vec<NumberFormat>,
    counts_from_1904: bool,
}

pub(super) fn markdown(package: &mut Package<'_>, main: &str, text: &str) -> Result<String, Unreadable> {
    let relations = package.relations(main)?;
    let mut workbook = Workbook::default();
    if let Some(text) = package.related(&relations, "sharedStrings")? {
        workbook.read_texts(&text)?;
    }
    if let Some(text) = package.related(&relations, "styles")? {
        workbook.read_formats(&text)?;
    }
    let mut pen = Pen::default();
    for (name, part) in workbook.sheets(text, &relations)? {
        if let Some(sheet) = package.part(&part)? {
            Sheet::new(name, &workbook, &mut pen).read(&sheet)?;
        }
    }
    Ok(pen.finish())
}

impl Workbook {
    fn read_texts(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut xml = Xml::new(text);
        while let Some(piece) = xml.next()? {
            match piece {
                // The pronunciation of a word.
                XmlPiece::Start(tag) if tag.local_name().into_inner() == "rPh" => xml.skip()?,
                XmlPiece::End(tag) if tag.local_name().into_inner() == "si" => self.end_text(),
                XmlPiece::Text(text) => self.texts.push_str(&text),
                XmlPiece::Start(_) | XmlPiece::End(_) => {}
            }
        }
        Ok(())
    }

    /// Ends a shared text. A blank one is stored as empty, so that a reference to it costs nothing.
    fn end_text(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        if self.texts[start..].trim().is_empty() {
            self.texts.truncate(start);
        }
        self.ends.push(self.texts.len());
    }

    fn read_formats(&mut self, text: &str) -> Result<(), Unreadable> {
        let mut own = BTreeMap::new();
        let mut is_of_cells = false;
        let mut xml = Xml::new(text);
        while let Some(tag) = xml.next_start()? {
            let id = || number(&tag, "numFmtId").unwrap_or(0);
            match tag.local_name().into_inner() {
                "numFmt" => {
                    let code = attribute(&tag, "formatCode").unwrap_or_default();
                    own.insert(id(), NumberFormat::of_code(&code));
                }
                "cellXfs" => is_of_cells = true,
                "cellStyles" | "cellStyleXfs" | "dxfs" => is_of_cells = false,
                "xf" if is_of_cells => {
                    let format = own.get(&id()).copied();
                    self.formats
                        .push(format.unwrap_or_else(|| NumberFormat::built_in(id())));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name and the part of each visible sheet.
    fn sheets(&mut self, text: &str, relations: &Relations) -> Result<Vec<(String, String)>, Unreadable> {
        let mut sheets = Vec::new();
        let mut xml = Xml::new(text);
        while let Some(tag) = xml.next_start()? {
            match tag.local_name().into_inner() {
                "workbookPr" => self.counts_from_1904 = is_set(&tag, "date1904"),
                "sheet" if sheets.len() == PAGES_MAX => return Err(Unreadable::TooManyPages),
                "sheet" if attribute(&tag, "state").is_none_or(|state| state == "visible") => {
                    let related = relationship(&tag).and_then(|id| relations.get(&id));
                    let name = attribute(&tag, "name").unwrap_or_default();
                    sheets.extend(related.map(|related| (name, related.target.clone())));
                }
                _ => {}
            }
        }
        Ok(sheets)
    }

    fn text(&self, number: &str) -> &str {
        let Ok(at) = number.trim().parse::<usize>() else {
            return "";
        };
        let start = at
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied();
        let end = self.ends.get(at).copied();
        end.and_then(|end| self.texts.get(start.unwrap_or(0)..end))
            .unwrap_or_default()
    }
}

/// The state of a sheet while it is read.
struct Sheet<'s> {
    /// Its name, until its first cell.
    name: Option<String>,
    workbook: &'s Workbook,
    pen: &'s mut Pen,
    hidden_columns: Vec<bool>,
    /// The rows since the last empty one, each with its filled cells, and their size in bytes.
    block: Vec<Vec<(usize, String)>>,
    block_bytes: usize,
    /// Number of the last row, and of the last cell.
    row: usize,
    column: usize,
}

/// The state of a cell while it is read.
#[derive(Debug, Default)]
struct SheetCell {
    kind: String,
    format: NumberFormat,
    value: String,
}

impl<'s> Sheet<'s> {
    fn new(name: String, workbook: &'s Workbook, pen: &'s mut Pen) -> Self {
        Self {
            name: Some(name),
            workbook,
            pen,
            hidden_columns: vec![false; COLUMNS_MAX + 1],
            block: Vec::new(),
            block_bytes: 0,
            row: 0,
            column: 0,
        }
    }

    fn read(mut self, text: &str) -> Result<(), Unreadable> {
        let mut columns = 0;
        let mut cell = SheetCell::default();
        let mut xml = Xml::with_holders(text, &["v", "t"]);
        while let Some(piece) = xml.next()? {
            match piece {
                XmlPiece::Start(tag) => match tag.local_name().into_inner() {
                    "col" if columns == COLUMNS_MAX => return Err(Unreadable::TooComplex),
                    "col" => {
                        columns += 1;
                        self.column(&tag);
                    }
                    "row" => {
                        let before = self.row;
                        self.row = number(&tag, "r").unwrap_or(before.saturating_add(1));
                        if is_set(&tag, "hidden") {
                            xml.skip()?;
                        } else {
                            self.start_row(self.row == before.saturating_add(1))?;
                        }
                    }
                    "c" => cell = self.start_cell(&tag),
                    "rPh" => xml.skip()?,
                    _ => {}
                },
                XmlPiece::End(tag) if tag.local_name().into_inner() == "c" => {
                    self.end_cell(&std::mem::take(&mut cell))?;
                }
                XmlPiece::End(_) => {}
                XmlPiece::Text(text) => cell.value.push_str(&text),
            }
        }
        self.end_block()
    }

    fn column(&mut self, tag: &BytesStart<'_>) {
        let edge = |name| number(tag, name).unwrap_or(0);
        let (first, last): (usize, usize) = (edge("min"), edge("max"));
        if is_set(tag, "hidden")
            && let Some(hidden) = self.hidden_columns.get_mut(first..=last.min(COLUMNS_MAX))
        {
            hidden.fill(true);
        }
    }

    /// Begins a row. It starts another table if it does not follow the one before, or follows an
    /// empty one.
    fn start_row(&mut self, is_next: bool) -> Result<(), Unreadable> {
        self.column = 0;
        if !is_next || self.block.last().is_some_and(Vec::is_empty) {
            self.end_block()?;
        }
        self.block_bytes += CELL_BYTES;
        self.block.push(Vec::new());
        Ok(())
    }

    fn start_cell(&mut self, tag: &BytesStart<'_>) -> SheetCell {
        let place = attribute(tag, "r").and_then(|place| column(&place));
        self.column = place.unwrap_or(self.column.saturating_add(1));
        let style = number(tag, "s");
        let format = style.and_then(|style: usize| self.workbook.formats.get(style));
        SheetCell {
            kind: attribute(tag, "t").unwrap_or_default(),
            format: format.copied().unwrap_or_default(),
            value: String::new(),
        }
    }

    fn end_cell(&mut self, cell: &SheetCell) -> Result<(), Unreadable> {
        if self.hidden_columns.get(self.column) != Some(&false) {
            return Ok(());
        }
        let value = cell.value.as_str();
        let shown = match cell.kind.as_str() {
            "s" => self.workbook.text(value).to_owned(),
            "b" if value.trim() == "1" => "TRUE".to_owned(),
            "b" => "FALSE".to_owned(),
            "str" | "inlineStr" | "e" | "d" => value.to_owned(),
            _ => cell.format.formatted(value, self.workbook.counts_from_1904),
        };
        if self.block_bytes > TEXT_MAX_BYTES {
            return Err(Unreadable::TooMuchText);
        }
        if let Some(row) = self.block.last_mut().filter(|_| !shown.trim().is_empty()) {
            self.block_bytes += CELL_BYTES + shown.len();
            row.push((self.column, shown));
        }
        Ok(())
    }

    /// Writes the rows since the last empty one as a table, with the columns that have text.
    fn end_block(&mut self) -> Result<(), Unreadable> {
        self.block_bytes = 0;
        let mut rows = std::mem::take(&mut self.block);
        let columns: BTreeSet<usize> = rows.iter().flatten().map(|(column, _)| *column).collect();
        if columns.is_empty() {
            return Ok(());
        }
        if let Some(name) = self.name.take() {
            self.pen.heading(SHEET_LEVEL, &name)?;
        }
        self.pen.start_table();
        for row in &mut rows {
            self.pen.start_row()?;
            row.sort_by_key(|(column, _)| *column);
            let mut cells = row.iter().peekable();
            for column in &columns {
                // A table's row may end early.
                if cells.peek().is_none() {
                    break;
                }
                self.pen.start_cell()?;
                while let Some((_, text)) = cells.next_if(|(place, _)| place <= column) {
                    self.pen.paragraph(ParagraphKind::Plain);
                    self.pen.text(text)?;
                }
                self.pen.end_cell();
            }
        }
        self.pen.end_table();
        Ok(())
    }
}

/// The column of a cell reference, from 1: 28 for `AB7`.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0_usize, |number, letter| {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        number.saturating_mul(26).saturating_add(digit)
    });
    (1..=COLUMNS_MAX).contains(&number).then_some(number)
}
