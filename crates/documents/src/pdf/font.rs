//! Characters and widths of a font's codes.
//!
//! Owns: `ToUnicode` maps, encodings with their differences, widths. Never: a font's program, or a
//! guess from its shapes.

use std::collections::BTreeMap;

use super::file::File;
use super::glyphs::{self, Base};
use super::object::{Dict, Lexer, Value};
use crate::Unreadable;

/// The width of a glyph without a width in any table, relative to the font's size.
const WIDTH: f64 = 0.5;
/// Steps that a font costs, because it takes far more memory than its source.
const STEPS: usize = 2_048;
/// Maximum length of one glyph's text in units of UTF-16; the longest ligature of Arabic has 18 letters.
const LETTERS_MAX: usize = 32;
/// Number of one-byte codes. Many fonts may share one list that is longer.
const CODES: usize = 256;

#[derive(Default)]
pub(super) struct Font {
    is_wide: bool,
    letters: BTreeMap<u32, String>,
    widths: BTreeMap<u32, f64>,
    width: f64,
}

/// The glyph of one code in a drawn string.
pub(super) struct Glyph<'a> {
    /// None if the file does not define them.
    pub(super) letters: Option<&'a str>,
    /// Relative to the font's size.
    pub(super) width: f64,
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn read(file: &File<'_>, dict: &Dict) -> Result<Self, Unreadable> {
        file.steps.take_many(STEPS)?;
        let mut font = match file.get(dict, b"Subtype").name() {
            Some(b"Type0") => Self::wide(file, dict)?,
            _ => Self::simple(file, dict)?,
        };
        if let Some((_, map)) = dict
            .get(&b"ToUnicode"[..])
            .map_or(Ok(None), |map| file.stream(map))?
        {
            font.letters.extend(to_unicode(&map, file)?);
        }
        Ok(font)
    }

    pub(super) fn glyphs<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Glyph<'a>> {
        text.chunks(if self.is_wide { 2 } else { 1 }).map(|bytes| {
            let code = bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
            Glyph {
                letters: self.letters.get(&code).map(String::as_str),
                width: self.widths.get(&code).copied().unwrap_or(self.width),
                is_space: code == 0x20 && !self.is_wide,
            }
        })
    }

    fn simple(file: &File<'_>, dict: &Dict) -> Result<Self, Unreadable> {
        let encoding = file.get(dict, b"Encoding");
        let named = encoding
            .name()
            .or_else(|| file.get(encoding.dict()?, b"BaseEncoding").name());
        let font_name = file.get(dict, b"BaseFont").name().unwrap_or_default();
        let base = match named {
            Some(b"WinAnsiEncoding") => Base::Windows,
            Some(b"MacRomanEncoding") => Base::Mac,
            None if is_tex(font_name) => Base::Tex,
            None if file.get(dict, b"Subtype").name() == Some(b"TrueType") => Base::Windows,
            _ => Base::Standard,
        };
        let mut letters: BTreeMap<u32, String> = (0..=u8::MAX)
            .filter_map(|code| Some((u32::from(code), glyphs::by_code(base, code)?)))
            .collect();
        let differences = encoding
            .dict()
            .and_then(|encoding| file.get(encoding, b"Differences").list())
            .unwrap_or_default();
        let mut code = 0;
        for difference in differences.iter().take(2 * CODES) {
            match file.resolve(difference) {
                Value::Name(name) => {
                    // Many fonts may share one long name.
                    file.steps.take_many(name.len())?;
                    match glyphs::by_name(name).and_then(|text| glyphs::letters(&text)) {
                        Some(text) => letters.insert(code, text),
                        None => letters.remove(&code),
                    };
                    code = code.saturating_add(1);
                }
                start => {
                    code = start
                        .index()
                        .and_then(|start| u32::try_from(start).ok())
                        .unwrap_or(code);
                }
            }
        }
        // Only Type 3 fonts have a matrix of their own.
        let matrix = file
            .get(dict, b"FontMatrix")
            .list()
            .and_then(|matrix| matrix.first()?.number());
        let unit = matrix.unwrap_or(0.001);
        let first = file.get(dict, b"FirstChar").index().unwrap_or(0);
        let widths = file.get(dict, b"Widths").list().unwrap_or_default();
        let widths = widths
            .iter()
            .take(CODES)
            .zip(first..)
            .filter_map(|(width, code)| {
                Some((u32::try_from(code).ok()?, file.resolve(width).number()? * unit))
            });
        Ok(Self {
            is_wide: false,
            letters,
            widths: widths.collect(),
            width: WIDTH,
        })
    }

    fn wide(file: &File<'_>, dict: &Dict) -> Result<Self, Unreadable> {
        let mut font = Self {
            is_wide: true,
            width: 1.0,
            ..Self::default()
        };
        let descendant = file
            .get(dict, b"DescendantFonts")
            .list()
            .and_then(|fonts| file.resolve(fonts.first()?).dict());
        let Some(descendant) = descendant else {
            return Ok(font);
        };
        if let Some(width) = file.get(descendant, b"DW").number() {
            font.width = width / 1000.0;
        }
        // The codes of these encodings are UTF-16.
        let encoding = file.get(dict, b"Encoding").name().unwrap_or_default();
        if encoding.starts_with(b"Uni") {
            file.values.take_many(usize::from(u16::MAX))?;
            for code in 0x20..=0xffff {
                if let Some(letter) = char::from_u32(code) {
                    font.letters.insert(code, letter.to_string());
                }
            }
        }
        let mut entries = file
            .get(descendant, b"W")
            .list()
            .unwrap_or_default()
            .iter()
            .map(|entry| file.resolve(entry));
        while let (Some(first), Some(next)) = (entries.next().and_then(Value::index), entries.next()) {
            file.steps.take()?;
            let first = u32::try_from(first).unwrap_or(u32::MAX);
            if let Some(widths) = next.list() {
                for (width, code) in widths.iter().zip(first..=u32::MAX) {
                    font.set_width(file, code, file.resolve(width))?;
                }
            } else if let (Some(last), Some(width)) = (next.index(), entries.next()) {
                for code in first..=u32::try_from(last).unwrap_or(0).min(0xffff) {
                    font.set_width(file, code, width)?;
                }
            }
        }
        Ok(font)
    }

    fn set_width(&mut self, file: &File<'_>, code: u32, width: &Value) -> Result<(), Unreadable> {
        file.values.take()?;
        if let Some(width) = width.number() {
            self.widths.insert(code, width / 1000.0);
        }
        Ok(())
    }
}

/// Whether a font is one of Computer Modern's text fonts, such as `CMR10` and `ABCDEF+CMBX12`, not
/// its mathematics or symbols.
fn is_tex(name: &[u8]) -> bool {
    let name = name.rsplit(|byte| *byte == b'+').next().unwrap_or_default();
    let kinds: [&[u8]; 8] = [
        b"CMR", b"CMB", b"CMTI", b"CMSL", b"CMSS", b"CMCSC", b"CMDUNH", b"CMU",
    ];
    kinds.iter().any(|kind| name.starts_with(kind))
}

fn to_unicode(map: &[u8], file: &File<'_>) -> Result<BTreeMap<u32, String>, Unreadable> {
    let mut letters = BTreeMap::new();
    let mut operands: Vec<Value> = Vec::new();
    let mut lexer = Lexer::new(map, 0, &file.steps);
    while let Some(value) = lexer.value()? {
        match value {
            Value::Word(word) => {
                match word.as_slice() {
                    b"endbfchar" => {
                        for pair in operands.chunks_exact(2) {
                            if let [Value::Text(code), Value::Text(text)] = pair {
                                set(&mut letters, number(code), &utf16(text, 0), file)?;
                            }
                        }
                    }
                    b"endbfrange" => {
                        for range in operands.chunks_exact(3) {
                            if let [Value::Text(first), Value::Text(last), texts] = range {
                                set_range(
                                    &mut letters,
                                    number(first)..=number(last).min(0xffff),
                                    texts,
                                    file,
                                )?;
                            }
                        }
                    }
                    _ => {}
                }
                operands.clear();
            }
            value => operands.push(value),
        }
    }
    Ok(letters)
}

fn set_range(
    letters: &mut BTreeMap<u32, String>,
    codes: std::ops::RangeInclusive<u32>,
    texts: &Value,
    file: &File<'_>,
) -> Result<(), Unreadable> {
    for (code, nth) in codes.zip(0..=u16::MAX) {
        file.steps.take()?;
        let text = match texts {
            Value::Text(text) => utf16(text, nth),
            Value::List(texts) => match texts.get(usize::from(nth)) {
                Some(Value::Text(text)) => utf16(text, 0),
                _ => continue,
            },
            _ => break,
        };
        set(letters, code, &text, file)?;
    }
    Ok(())
}

fn set(
    letters: &mut BTreeMap<u32, String>,
    code: u32,
    text: &str,
    file: &File<'_>,
) -> Result<(), Unreadable> {
    file.values.take()?;
    if let Some(text) = glyphs::letters(text) {
        letters.insert(code, text);
    }
    Ok(())
}

fn number(code: &[u8]) -> u32 {
    code.iter()
        .take(4)
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// UTF-16, its last unit increased by `nth`; cut at the maximum length of a glyph's text.
fn utf16(text: &[u8], nth: u16) -> String {
    let mut units: Vec<u16> = text
        .chunks(2)
        .take(LETTERS_MAX)
        .map(|pair| pair.iter().fold(0, |unit, byte| unit << 8 | u16::from(*byte)))
        .collect();
    if let Some(last) = units.last_mut() {
        *last = last.saturating_add(nth);
    }
    char::decode_utf16(units).filter_map(Result::ok).collect()
}
