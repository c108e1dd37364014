//! The state of a table while it is read.
//!
//! Owns: its cells, and whether it is data or a page's layout. Never: its place.

/// Memory of a row or a cell besides its text, in bytes.
pub(crate) const CELL_BYTES: usize = 8;

#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// Memory of the rows, in bytes.
    pub(super) bytes: usize,
    is_layout: bool,
    /// Whether a cell is open for text.
    pub(super) is_in_cell: bool,
}

impl Table {
    pub(super) fn start_row(&mut self) {
        if !self.is_layout {
            self.bytes += CELL_BYTES;
            self.rows.push(Vec::new());
        }
    }

    pub(super) fn start_cell(&mut self) {
        self.is_in_cell = !self.is_layout;
    }

    pub(super) fn end_cell(&mut self, cell: String) {
        self.is_in_cell = false;
        self.bytes += CELL_BYTES + cell.len();
        match self.rows.last_mut() {
            Some(row) => row.push(cell),
            None => self.rows.push(vec![cell]),
        }
    }

    /// Turns the table into a layout; returns its cells so far, in order.
    pub(super) fn lay_out(&mut self) -> Vec<String> {
        self.is_layout = true;
        self.is_in_cell = false;
        self.bytes = 0;
        std::mem::take(&mut self.rows)
            .into_iter()
            .flatten()
            .filter(|cell| !cell.is_empty())
            .collect()
    }

    /// One block for a table of data; for a table with a single column, a block for each cell.
    pub(super) fn blocks(mut self) -> Vec<String> {
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns < 2 {
            return self.rows.into_iter().flatten().collect();
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        for (nth, row) in self.rows.into_iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            // A table is as wide as its first row; later rows may be shorter.
            let missing = if nth == 0 {
                " |".repeat(columns - cells.len())
            } else {
                String::new()
            };
            lines.push(format!("| {} |{missing}", cells.join(" | ")));
            if nth == 0 {
                lines.push(format!("|{}", "---|".repeat(columns)));
            }
        }
        vec![lines.join("\n")]
    }
}
