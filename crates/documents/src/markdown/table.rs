//! A table while it is read.
//!
//! Owns: its cells, and whether it is data or a page's layout. Never: its place.

/// What a row or a cell takes besides its text.
pub(crate) const CELL_BYTES: usize = 8;

#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// What the rows take.
    pub(super) bytes: usize,
    is_layout: bool,
    /// Whether text belongs to a cell.
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

    /// From here on a layout: its cells so far, in order.
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

    /// One block for a table of data, a block for each cell of one with a single column.
    pub(super) fn blocks(mut self) -> Vec<String> {
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns < 2 {
            return self.rows.into_iter().flatten().collect();
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        for (nth, row) in self.rows.into_iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            // A table is as wide as its first row, later ones may be shorter.
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
