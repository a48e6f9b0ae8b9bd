//! Tables: rows of cells under headings.

mod cell;
mod fit;

pub use cell::Cell;

/// Rows of cells under headings. Columns of numbers are aligned at the right.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The subject of the table; empty where the figure above it has one.
    pub title: String,
    /// Notes below the table, as sentences.
    pub notes: Vec<String>,
    /// Header lines; later lines continue the earlier ones.
    head: Vec<Vec<Cell>>,
    /// Each with as many cells as a header line.
    rows: Vec<Vec<Cell>>,
    /// The columns that are left out where the width does not do, the first of these first.
    optional: Vec<usize>,
    /// The columns whose words are useless when they are cut, as names of functions.
    whole: Vec<usize>,
}

impl Table {
    /// A table with one header line.
    pub fn new<S: AsRef<str>>(head: impl IntoIterator<Item = S>) -> Self {
        Self::default().units(head)
    }

    /// A table with these rows.
    pub fn with_rows<S: AsRef<str>>(
        head: impl IntoIterator<Item = S>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let mut table = Self::new(head);
        rows.into_iter().for_each(|cells| table.row(cells));
        table
    }

    /// Adds a header line below the others: units, mostly. Empty cells stay empty.
    pub fn units<S: AsRef<str>>(mut self, head: impl IntoIterator<Item = S>) -> Self {
        let mut line: Vec<Cell> = head.into_iter().map(|cell| Cell::from(cell.as_ref())).collect();
        line.resize(self.head.first().map_or(line.len(), Vec::len), Cell::EMPTY);
        self.head.push(line);
        self
    }

    /// Gives the table a title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds notes below the table.
    #[must_use]
    pub fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Columns to leave out where the width does not do, first these in order, then the last ones.
    #[must_use]
    pub fn optional(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.optional);
        self
    }

    /// Sets the columns that are never cut: names of functions, or verdicts. If they have no room
    /// beside each other, the first column is written above the others.
    #[must_use]
    pub fn uncut(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.whole);
        self
    }

    /// Adds a row. Cells that are not given are empty.
    pub fn row(&mut self, mut cells: Vec<Cell>) {
        cells.resize(self.head[0].len(), Cell::EMPTY);
        self.rows.push(cells);
    }

    /// The table without the columns in which no row has anything to say.
    #[must_use]
    pub fn compact(mut self) -> Self {
        let is_known = |cell: &Cell| ![Cell::EMPTY, Cell::Missing].contains(cell);
        let is_used =
            |column: &usize| self.rows.is_empty() || self.rows.iter().any(|row| is_known(&row[*column]));
        let used: Vec<usize> = (0..self.head[0].len()).filter(is_used).collect();
        for line in self.head.iter_mut().chain(&mut self.rows) {
            *line = used.iter().map(|column| line[*column].clone()).collect();
        }
        for columns in [&mut self.optional, &mut self.whole] {
            *columns = columns.iter().filter_map(|old| used.iter().position(|own| own == old)).collect();
        }
        self
    }

    /// The table, unless it has no row.
    pub fn filled(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// The heading of each column, with the lines of a heading joined.
    pub fn heads(&self) -> Vec<String> {
        let lines = |column: usize| self.head.iter().map(move |line| line[column].text());
        let joined = |column| lines(column).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        (0..self.head[0].len()).map(joined).collect()
    }

    /// The rows, each with a cell for every heading.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// Whether a column holds numbers, with their units or intervals, and nothing else.
    pub fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().map(|row| &row[column]);
        cells().all(|cell| cell.is_number() || cell.is_measured()) && cells().any(Cell::is_measured)
    }
}

#[cfg(test)]
mod tests;
