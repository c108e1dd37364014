//! Extras for a terminal: colour, and tables with a heading.
//!
//! Owns: when they are shown. Never: the content. A pipe or a file gets the same text without them.

use std::fmt::Display;
use std::io::{IsTerminal, stderr, stdout};

use super::layout::columns;
use super::say;
use crate::environment;
use crate::error::Failure;

/// Emphasis of a word.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Strong,
    Bad,
}

/// Whether to use colour: only on a terminal, and only if neither `NO_COLOR` nor the terminal forbids it.
pub(crate) fn is_coloured(is_terminal: bool) -> bool {
    may_colour(is_terminal, environment::variable)
}

fn may_colour(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    is_terminal
        && variable("NO_COLOR").is_none_or(|value| value.is_empty())
        && variable("TERM").is_none_or(|term| term != "dumb")
}

/// A word with its colour for standard output.
pub(crate) fn out(tone: Tone, word: &str) -> String {
    painted(is_coloured(stdout().is_terminal()), tone, word)
}

/// A word with its colour for standard error.
pub(crate) fn err(tone: Tone, word: &str) -> String {
    painted(is_coloured(stderr().is_terminal()), tone, word)
}

fn painted(coloured: bool, tone: Tone, word: &str) -> String {
    match (coloured, tone) {
        (false, _) => word.to_owned(),
        (true, Tone::Strong) => format!("\x1b[1m{word}\x1b[0m"),
        (true, Tone::Bad) => format!("\x1b[1;31m{word}\x1b[0m"),
    }
}

/// One cell of a table.
#[derive(Debug)]
pub(crate) struct TableCell {
    text: String,
    is_number: bool,
}

impl TableCell {
    /// Text, aligned left.
    pub(crate) fn text(text: impl Display) -> Self {
        Self {
            text: harmless(&text.to_string()),
            is_number: false,
        }
    }

    /// A number with or without a unit, aligned right.
    pub(crate) fn number(number: impl Display) -> Self {
        Self {
            is_number: true,
            ..Self::text(number)
        }
    }
}

/// Prints rows under a heading, aligned; without a terminal, each row on its own with two spaces between cells.
pub(crate) fn table<const N: usize>(
    heads: [&str; N],
    rows: impl IntoIterator<Item = [TableCell; N]>,
) -> Result<(), Failure> {
    let rows: Vec<[TableCell; N]> = rows.into_iter().collect();
    let shown = if !rows.is_empty() && stdout().is_terminal() {
        aligned(heads, &rows)
    } else {
        plain(&rows)
    };
    shown.iter().try_for_each(|row| say!("{row}"))
}

fn plain<const N: usize>(rows: &[[TableCell; N]]) -> Vec<String> {
    let words = |row: &[TableCell; N]| row.each_ref().map(|cell| cell.text.as_str()).join("  ");
    rows.iter().map(words).collect()
}

fn aligned<const N: usize>(heads: [&str; N], rows: &[[TableCell; N]]) -> Vec<String> {
    let widths: [usize; N] = std::array::from_fn(|at| {
        let cells = rows.iter().map(|row| columns(&row[at].text));
        cells.chain([columns(heads[at])]).max().unwrap_or(0)
    });
    let row = |cells: [(&str, bool); N]| {
        let mut text = String::new();
        for ((cell, is_number), width) in cells.into_iter().zip(widths) {
            let space = " ".repeat(width - columns(cell));
            let parts = if is_number {
                [&*space, cell, "  "]
            } else {
                [cell, &*space, "  "]
            };
            text.extend(parts);
        }
        text.trim_end().to_owned()
    };
    // The first row shows which columns have numbers; their headings are aligned like the numbers.
    let numbers: [bool; N] = std::array::from_fn(|at| rows.first().is_some_and(|row| row[at].is_number));
    let head = row(std::array::from_fn(|at| (heads[at], numbers[at])));
    let cells =
        |cells: &[TableCell; N]| row(cells.each_ref().map(|cell| (cell.text.as_str(), cell.is_number)));
    std::iter::once(out(Tone::Strong, &head))
        .chain(rows.iter().map(cells))
        .collect()
}

/// A text without control characters, except line ends and tabs.
pub(crate) fn harmless(text: &str) -> String {
    let is_shown = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(is_shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_needs_a_terminal_and_no_objection() {
        let asked = |is_terminal, name: &'static str, value: &'static str| {
            may_colour(is_terminal, |asked| (asked == name).then(|| value.to_owned()))
        };
        assert!(asked(true, "TERM", "xterm"));
        assert!(asked(true, "NO_COLOR", ""), "an empty one says nothing");
        assert!(!asked(false, "TERM", "xterm"), "a pipe");
        assert!(!asked(true, "NO_COLOR", "1"));
        assert!(!asked(true, "TERM", "dumb"));
        assert_eq!(painted(false, Tone::Bad, "error:"), "error:");
        assert_eq!(painted(true, Tone::Bad, "error:"), "\x1b[1;31merror:\x1b[0m");
    }

    #[test]
    fn a_table_is_aligned_at_a_terminal_and_plain_in_a_pipe() {
        let rows = [
            [TableCell::text("ana"), TableCell::number(7)],
            [TableCell::text("猫\u{7}"), TableCell::number(1_300)],
        ];
        assert_eq!(
            aligned(["id", "memories"], &rows),
            ["id   memories", "ana         7", "猫       1300"]
        );
        assert_eq!(plain(&rows), ["ana  7", "猫  1300"]);
    }
}
