//! A plain-text table: aligned columns, nothing drawn.

use unicode_width::UnicodeWidthStr as _;

/// Rows of text in columns. Columns whose cells are all numbers stand to the right.
#[derive(Debug, Clone)]
pub struct Table {
    /// Header lines, each with one cell a column; later lines continue the earlier ones.
    head: Vec<Vec<String>>,
    rows: Vec<Vec<String>>,
}

const GAP: &str = "  ";

impl Table {
    /// A table with one header line.
    #[must_use]
    pub fn new(head: &[&str]) -> Self {
        Self { head: vec![owned(head)], rows: Vec::new() }
    }

    /// Adds a header line below the others: units, mostly. Empty cells stay empty.
    #[must_use]
    pub fn under(mut self, head: &[&str]) -> Self {
        self.head.push(owned(head));
        self
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, cells: &[&str]) {
        self.rows.push(owned(cells));
    }

    /// The table as lines, each ended by a newline, without trailing blanks.
    #[must_use]
    pub fn render(&self) -> String {
        let lines: Vec<&Vec<String>> = self.head.iter().chain(&self.rows).collect();
        let columns = lines.iter().map(|line| line.len()).max().unwrap_or(0);
        let cell = |line: &[String], column: usize| line.get(column).cloned().unwrap_or_default();
        let heading = |column| self.head.iter().map(|line| cell(line, column)).collect::<Vec<_>>();
        debug_assert!(
            (0..columns).all(|one| (0..one).all(|other| heading(one) != heading(other))),
            "two columns of the same heading in {:?}",
            self.head
        );
        let widths: Vec<usize> =
            (0..columns).map(|c| lines.iter().map(|line| cell(line, c).width()).max().unwrap_or(0)).collect();
        let right: Vec<bool> =
            (0..columns).map(|c| self.rows.iter().all(|row| is_number(&cell(row, c)))).collect();
        let mut text = String::new();
        for line in lines {
            let mut rendered = String::new();
            for column in 0..columns {
                let cell = cell(line, column);
                let pad = " ".repeat(widths[column] - cell.width());
                let (before, after) = if right[column] { (pad.as_str(), "") } else { ("", pad.as_str()) };
                rendered.push_str(&format!("{before}{cell}{after}{GAP}"));
            }
            text.push_str(rendered.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A cell is one line as wide as it looks, whatever name it holds.
fn owned(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| text::line(cell).into_owned()).collect()
}

/// Numbers, several of them in a cell too, and the dash that stands for one.
fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell.split(" / ").all(|part| part == "-" || part.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let mut table = Table::new(&["condition", "throughput"]).under(&["", "10^6 bits/s"]);
        table.row(&["ipv4", "42.1"]);
        table.row(&["ipv6 offloads=none", "-"]);
        assert_eq!(
            table.render(),
            "condition            throughput\n                    10^6 bits/s\nipv4                       42.1\nipv6 offloads=none            -\n"
        );
    }

    #[test]
    fn a_hostile_cell_stays_in_its_row() {
        let mut table = Table::new(&["name", "value"]);
        table.row(&["a\u{1b}[2K\nverdict", "1"]);
        assert_eq!(table.render(), "name                value\na\\u{1b}[2K verdict      1\n");
    }

    #[test]
    fn an_empty_table_is_its_head() {
        assert_eq!(Table::new(&["a", "b"]).render(), "a  b\n");
    }
}
