//! Text of a page, with its places.
//!
//! Owns: running a page's operators for their text. Never: joining it to lines and paragraphs
//! (`layout`), pictures, colours.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::file::{self, File};
use super::font::Font;
use super::object::{Dict, Lexer, Value};
use crate::{TEXT_MAX_BYTES, Unreadable};

/// Maximum depth of nested drawings, and of saved states.
const FORMS_MAX: usize = 8;
const STATES_MAX: usize = 64;
/// Minimum size of visible text, in points.
const VISIBLE_POINTS: f64 = 0.5;

type Matrix = [f64; 6];
const UNIT: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// A run of text along one line. Its coordinates turn with the text: `along` grows in the reading
/// direction, `across` upwards.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) start_along: f64,
    pub(super) end_along: f64,
    pub(super) across: f64,
    /// In points, as drawn.
    pub(super) size: f64,
    /// Right, up, left, down, from 0.
    pub(super) turn: u8,
    is_invisible: bool,
}

#[derive(Clone, Default)]
struct TextState {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    letter_gap: f64,
    word_gap: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
    is_invisible: bool,
}

pub(super) struct PageReader<'a> {
    file: &'a File<'a>,
    fonts: BTreeMap<*const Dict, Rc<Font>>,
    runs: Vec<Run>,
    /// Remaining bytes of text for the pages.
    room: usize,
    state: TextState,
    saved: Vec<TextState>,
    text_matrix: Matrix,
    line_matrix: Matrix,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(file: &'a File<'a>) -> Self {
        Self {
            file,
            fonts: BTreeMap::new(),
            runs: Vec::new(),
            room: TEXT_MAX_BYTES,
            state: TextState::new(),
            saved: Vec::new(),
            text_matrix: UNIT,
            line_matrix: UNIT,
        }
    }

    /// The text of a page in the order of drawing. Invisible text counts only if the page has no
    /// other, as the recognised text of a scanned page.
    pub(super) fn page(&mut self, page: &file::Page<'a>) -> Result<Vec<Run>, Unreadable> {
        self.state = TextState::new();
        self.saved.clear();
        let contents = page.dict.get(&b"Contents"[..]).unwrap_or(&Value::Null);
        let parts = self
            .file
            .resolve(contents)
            .list()
            .unwrap_or(std::slice::from_ref(contents));
        let mut operators = Vec::new();
        for part in parts {
            self.file.steps.take()?;
            if let Some((_, part)) = self.file.stream(part)? {
                operators.extend(part);
                operators.push(b'\n');
            }
        }
        self.run(&operators, page.resources, 0)?;
        let mut runs = std::mem::take(&mut self.runs);
        if runs
            .iter()
            .any(|run| !run.is_invisible && !run.text.trim().is_empty())
        {
            runs.retain(|run| !run.is_invisible);
        }
        Ok(runs)
    }

    fn run(&mut self, operators: &[u8], resources: Option<&'a Dict>, depth: usize) -> Result<(), Unreadable> {
        let file = self.file;
        let mut lexer = Lexer::new(operators, 0, &file.steps);
        let mut operands: Vec<Value> = Vec::new();
        while let Some(value) = lexer.value()? {
            let Value::Word(word) = value else {
                operands.push(value);
                continue;
            };
            match word.as_slice() {
                b"Do" => self.form(&operands, resources, depth)?,
                b"Tf" => self.set_font(&operands, resources)?,
                b"BI" => skip_image(operators, &mut lexer),
                operator => self.operate(operator, &operands)?,
            }
            operands.clear();
        }
        Ok(())
    }

    fn operate(&mut self, operator: &[u8], operands: &[Value]) -> Result<(), Unreadable> {
        let number = |nth: usize| operands.get(nth).and_then(Value::number).unwrap_or(0.0);
        let matrix = || [number(0), number(1), number(2), number(3), number(4), number(5)];
        match operator {
            b"q" if self.saved.len() < STATES_MAX => self.saved.push(self.state.clone()),
            b"Q" => self.state = self.saved.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => self.state.matrix = times(&matrix(), &self.state.matrix),
            b"BT" => self.set_line(UNIT),
            b"Tm" => self.set_line(matrix()),
            b"Td" => self.next_line(number(0), number(1)),
            b"TD" => {
                self.state.leading = -number(1);
                self.next_line(number(0), number(1));
            }
            b"T*" => self.next_line(0.0, -self.state.leading),
            b"Tc" => self.state.letter_gap = number(0),
            b"Tw" => self.state.word_gap = number(0),
            b"Tz" => self.state.stretch = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Ts" => self.state.rise = number(0),
            b"Tr" => self.state.is_invisible = matches!(operands.first().and_then(Value::index), Some(3 | 7)),
            b"Tj" => self.show_all(operands)?,
            b"TJ" => self.show_all(operands.first().and_then(Value::list).unwrap_or_default())?,
            b"'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands)?;
            }
            b"\"" => {
                self.state.word_gap = number(0);
                self.state.letter_gap = number(1);
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn set_line(&mut self, matrix: Matrix) {
        self.line_matrix = matrix;
        self.text_matrix = matrix;
    }

    fn next_line(&mut self, right: f64, up: f64) {
        self.set_line(times(&[1.0, 0.0, 0.0, 1.0, right, up], &self.line_matrix));
    }

    fn form(
        &mut self,
        operands: &[Value],
        resources: Option<&'a Dict>,
        depth: usize,
    ) -> Result<(), Unreadable> {
        let file = self.file;
        let Some(form) = entry(file, resources, b"XObject", operands.first()) else {
            return Ok(());
        };
        let is_form = file
            .resolve(form)
            .dict()
            .is_some_and(|dict| file.get(dict, b"Subtype").name() == Some(b"Form"));
        if !is_form || depth >= FORMS_MAX {
            return Ok(());
        }
        let Some((dict, operators)) = file.stream(form)? else {
            return Ok(());
        };
        let (state, saved) = (self.state.clone(), std::mem::take(&mut self.saved));
        if let Some([a, b, c, d, e, f]) = file.get(dict, b"Matrix").list() {
            let number = |value: &Value| value.number().unwrap_or(0.0);
            let matrix = [number(a), number(b), number(c), number(d), number(e), number(f)];
            self.state.matrix = times(&matrix, &self.state.matrix);
        }
        self.run(
            &operators,
            file.get(dict, b"Resources").dict().or(resources),
            depth + 1,
        )?;
        (self.state, self.saved) = (state, saved);
        Ok(())
    }

    fn set_font(&mut self, operands: &[Value], resources: Option<&'a Dict>) -> Result<(), Unreadable> {
        self.state.size = operands.get(1).and_then(Value::number).unwrap_or(0.0);
        let font = entry(self.file, resources, b"Font", operands.first());
        let Some(dict) = font.and_then(|font| self.file.resolve(font).dict()) else {
            self.state.font = None;
            return Ok(());
        };
        // The file does not change during the work, so a font's address identifies it.
        let place = std::ptr::from_ref(dict);
        let font = match self.fonts.get(&place) {
            Some(font) => Rc::clone(font),
            None => Rc::new(Font::read(self.file, dict)?),
        };
        self.fonts.insert(place, Rc::clone(&font));
        self.state.font = Some(font);
        Ok(())
    }

    /// Shows strings; a number between two of them moves the next one back, in thousandths of the
    /// size.
    fn show_all(&mut self, parts: &[Value]) -> Result<(), Unreadable> {
        for part in parts {
            match part {
                Value::Text(text) => self.show(text)?,
                Value::Number(back) => self.advance(-back / 1000.0 * self.state.size * self.state.stretch),
                _ => {}
            }
        }
        Ok(())
    }

    fn show(&mut self, text: &[u8]) -> Result<(), Unreadable> {
        let Some(font) = self.state.font.clone() else {
            return Ok(());
        };
        let start = self.place();
        let mut shown = String::new();
        let mut length = 0.0;
        for glyph in font.glyphs(text) {
            let letters = glyph.letters.unwrap_or_default();
            self.room = self
                .room
                .checked_sub(letters.len())
                .ok_or(Unreadable::TooMuchText)?;
            shown.push_str(letters);
            length += glyph.width * self.state.size + self.state.letter_gap;
            if glyph.is_space {
                length += self.state.word_gap;
            }
        }
        self.advance(length * self.state.stretch);
        let end = self.place();
        let size = start[2].hypot(start[3]) * self.state.size.abs();
        if shown.is_empty() || size.is_nan() || size < VISIBLE_POINTS {
            return Ok(());
        }
        self.file.values.take()?;
        let (right, up) = (start[0] * self.state.size, start[1] * self.state.size);
        let (turn, along, across): (u8, [f64; 2], [f64; 2]) =
            match (right.abs() >= up.abs(), right >= 0.0, up >= 0.0) {
                (true, true, _) => (0, [1.0, 0.0], [0.0, 1.0]),
                (true, false, _) => (2, [-1.0, 0.0], [0.0, -1.0]),
                (false, _, true) => (1, [0.0, 1.0], [-1.0, 0.0]),
                (false, _, false) => (3, [0.0, -1.0], [1.0, 0.0]),
            };
        let on = |place: &Matrix, axis: [f64; 2]| place[4] * axis[0] + place[5] * axis[1];
        self.runs.push(Run {
            text: shown,
            start_along: on(&start, along),
            end_along: on(&end, along),
            across: on(&start, across),
            size,
            turn,
            is_invisible: self.state.is_invisible,
        });
        Ok(())
    }

    fn advance(&mut self, right: f64) {
        self.text_matrix = times(&[1.0, 0.0, 0.0, 1.0, right, 0.0], &self.text_matrix);
    }

    fn place(&self) -> Matrix {
        let raised = times(&[1.0, 0.0, 0.0, 1.0, 0.0, self.state.rise], &self.text_matrix);
        times(&raised, &self.state.matrix)
    }
}

impl TextState {
    fn new() -> Self {
        Self {
            matrix: UNIT,
            stretch: 1.0,
            ..Self::default()
        }
    }
}

fn entry<'a>(
    file: &'a File<'_>,
    resources: Option<&'a Dict>,
    kind: &[u8],
    name: Option<&Value>,
) -> Option<&'a Value> {
    file.get(resources?, kind).dict()?.get(name?.name()?)
}

/// An image between operators ends at an `EI` that is a word of its own.
fn skip_image(operators: &[u8], lexer: &mut Lexer<'_>) {
    let rest = operators.get(lexer.at..).unwrap_or_default();
    let ends = |window: &[u8]| matches!(window, [before, b'E', b'I', after] if super::object::is_blank(*before) && super::object::is_blank(*after));
    lexer.at += rest.windows(4).position(ends).map_or(rest.len(), |at| at + 3);
}

/// Coordinates transformed by `first`, and then by `then`.
#[expect(
    clippy::many_single_char_names,
    reason = "the letters that the format's own description uses"
)]
fn times(first: &Matrix, then: &Matrix) -> Matrix {
    let [a, b, c, d, e, f] = *first;
    let [p, q, r, s, t, u] = *then;
    [
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    ]
}
