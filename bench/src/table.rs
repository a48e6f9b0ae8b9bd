//! A plain table: the first columns to the left, figures to the right.

use std::fmt;

/// Rows under a heading.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// How many of the columns are words.
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose first `words` columns hold words.
    pub(crate) fn new<const N: usize>(words: usize, heading: [&str; N]) -> Self {
        Self { words, rows: vec![heading.map(str::to_owned).to_vec()] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::from(" ");
            for ((column, cell), width) in row.iter().enumerate().zip(&widths) {
                if column < self.words {
                    line.push_str(&format!(" {cell:<width$} "));
                } else {
                    line.push_str(&format!(" {cell:>width$} "));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_figures_right() {
        let mut table = Table::new(1, ["what", "ms"]);
        table.row(["a".to_owned(), "100.5".to_owned()]);
        assert_eq!(table.to_string(), "  what     ms\n  a     100.5\n");
    }
}
