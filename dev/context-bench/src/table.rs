//! Results as tables: Markdown for people, cells for programs.
//!
//! Owns: the form. Never: the meaning of a number.

use std::fmt;

/// One measure's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The measure's id, such as `B1`.
    pub id: &'static str,
    pub title: String,
    pub columns: Vec<String>,
    /// Each row has as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Text(String),
    /// A number and the decimals to print.
    Number(f64, usize),
    Empty,
}

impl Table {
    pub fn new<S: Into<String>>(
        id: &'static str,
        title: &str,
        columns: impl IntoIterator<Item = S>,
        rows: Vec<Vec<Cell>>,
    ) -> Self {
        Self {
            id,
            title: title.to_owned(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows,
        }
    }
}

/// A text.
pub fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// A whole number.
pub fn count(count: usize) -> Cell {
    Cell::Number(count as f64, 0)
}

/// A number with so many decimals.
pub fn number(value: f64, decimals: usize) -> Cell {
    if value.is_finite() {
        Cell::Number(value, decimals)
    } else {
        Cell::Empty
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(value, decimals) => write!(f, "{value:.decimals$}"),
            Self::Empty => f.write_str("–"),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}\n", self.id, self.title)?;
        writeln!(f, "| {} |", self.columns.join(" | "))?;
        writeln!(f, "|{}", "---|".repeat(self.columns.len()))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::to_string).collect();
            writeln!(f, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}
