//! A plain-text table: aligned columns, nothing drawn.

use std::collections::BTreeMap;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::words::colour::paint;
use crate::words::layout::Layout;
use crate::words::names::Names;

/// Rows of text in columns. Columns whose cells are all numbers stand to the right.
#[derive(Debug, Clone)]
pub struct Table {
    /// Header lines, each with one cell a column; later lines continue the earlier ones.
    head: Vec<Vec<String>>,
    rows: Vec<Vec<String>>,
    /// Cells in colour: row, column, style.
    styles: BTreeMap<(usize, usize), Style>,
    /// The column of the conditions' names.
    names: Option<usize>,
    /// The columns that are left out where the width does not do, the first of these first.
    optional: Vec<usize>,
}

const GAP: &str = "  ";
/// Stands for what was cut from the middle of a cell.
const CUT: &str = "…";
/// No cell is cut to fewer columns.
const SHORTEST: usize = 6;
/// Names have so many columns, if need be at the cost of others.
const LEAST_NAME: usize = 12;

impl Table {
    /// A table with one header line.
    #[must_use]
    pub fn new(head: &[&str]) -> Self {
        Self {
            head: vec![owned(head)],
            rows: Vec::new(),
            styles: BTreeMap::new(),
            names: None,
            optional: Vec::new(),
        }
    }

    /// Adds a header line below the others: units, mostly. Empty cells stay empty.
    #[must_use]
    pub fn under(mut self, head: &[&str]) -> Self {
        self.head.push(owned(head));
        self
    }

    /// Says which columns are left out where the width does not do, the first of these first.
    #[must_use]
    pub(crate) fn optional(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.optional);
        self
    }

    /// Says which column has the conditions' names.
    #[must_use]
    pub(crate) fn named(mut self, column: usize) -> Self {
        self.names = Some(column);
        self
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, cells: &[&str]) {
        self.rows.push(owned(cells));
    }

    /// Colours a cell of the last row.
    pub(crate) fn paint(&mut self, column: usize, style: Option<Style>) {
        if let (Some(row), Some(style)) = (self.rows.len().checked_sub(1), style) {
            self.styles.insert((row, column), style);
        }
    }

    /// The table as wide as it is, as lines, each ended by a newline, without trailing blanks.
    #[must_use]
    pub fn render(&self) -> String {
        let columns: Vec<usize> = (0..self.widths().len()).collect();
        self.lines(&columns, &self.widths(), false)
    }

    /// The table for a layout. Unless that is wide, no row is longer than it is wide: names are shortened (see [`Names`]), columns
    /// left out, then the longest cells cut in the middle. What is not in the rows is told above and below them.
    pub(crate) fn fit(&self, layout: Layout) -> String {
        let widths = self.widths();
        let mut columns: Vec<usize> = (0..widths.len()).collect();
        if layout.wide {
            return self.lines(&columns, &widths, layout.colour);
        }
        let most = layout.width.max(Layout::NARROWEST);
        let others = |columns: &[usize]| -> usize {
            columns
                .iter()
                .filter(|column| Some(**column) != self.names)
                .map(|column| widths[*column] + GAP.len())
                .sum()
        };
        let least = self.names.map_or(0, |column| widths[column].min(LEAST_NAME) + GAP.len());
        for left_out in &self.optional {
            if others(&columns) + least <= most + GAP.len() {
                break;
            }
            columns.retain(|column| column != left_out);
        }
        let (mut table, mut above) = (self.clone(), String::new());
        if let Some(column) = self.names {
            let room = (most + GAP.len()).saturating_sub(others(&columns) + GAP.len()).max(LEAST_NAME);
            above = table.shorten(column, room);
        }
        let left_out = self.heads_but(&columns);
        let below =
            if left_out.is_empty() { String::new() } else { format!("(--wide shows also: {left_out})\n") };
        let widths = narrowed(table.widths(), &mut columns, most);
        above + &table.lines(&columns, &widths, layout.colour) + &below
    }

    /// Shortens the names in a column; what they no longer say, as lines.
    fn shorten(&mut self, column: usize, width: usize) -> String {
        let cells: Vec<&str> =
            self.rows.iter().map(|row| row.get(column).map_or("", String::as_str)).collect();
        let names = Names::within(&cells, width);
        for (row, name) in self.rows.iter_mut().zip(&names.short) {
            if let Some(cell) = row.get_mut(column) {
                cell.clone_from(name);
            }
        }
        if let (false, Some(head)) = (names.keys.is_empty(), self.head[0].get_mut(column)) {
            *head = names.keys.clone();
        }
        names.legend()
    }

    /// The headings of the columns that are not among these, each once.
    fn heads_but(&self, columns: &[usize]) -> String {
        let mut heads: Vec<&str> = Vec::new();
        for (column, head) in self.head[0].iter().enumerate() {
            if !columns.contains(&column) && !heads.contains(&head.as_str()) {
                heads.push(head);
            }
        }
        heads.join(", ")
    }

    /// How wide each column is.
    fn widths(&self) -> Vec<usize> {
        let lines = || self.head.iter().chain(&self.rows);
        let columns = lines().map(Vec::len).max().unwrap_or(0);
        (0..columns)
            .map(|c| lines().filter_map(|line| line.get(c)).map(|cell| cell.width()).max().unwrap_or(0))
            .collect()
    }

    fn lines(&self, columns: &[usize], widths: &[usize], is_coloured: bool) -> String {
        let cell = |line: &[String], column: usize| line.get(column).cloned().unwrap_or_default();
        let heading = |column| self.head.iter().map(|line| cell(line, column)).collect::<Vec<_>>();
        debug_assert!(
            columns.iter().all(|one| (0..*one).all(|other| heading(*one) != heading(other))),
            "two columns of the same heading in {:?}",
            self.head
        );
        let is_right = |column: usize| self.rows.iter().all(|row| is_number(&cell(row, column)));
        let right: Vec<bool> = columns.iter().map(|column| is_right(*column)).collect();
        let mut text = String::new();
        for (index, line) in self.head.iter().chain(&self.rows).enumerate() {
            let row = index.checked_sub(self.head.len());
            let (mut rendered, mut gap) = (String::new(), String::new());
            for (column, right) in columns.iter().zip(&right) {
                let cell = cut(&cell(line, *column), widths[*column]);
                if cell.is_empty() {
                    gap.push_str(&format!("{:width$}{GAP}", "", width = widths[*column]));
                    continue;
                }
                let pad = " ".repeat(widths[*column] - cell.width());
                let style = row.filter(|_| is_coloured).and_then(|row| self.styles.get(&(row, *column)));
                let cell = style.map_or(cell.clone(), |style| paint(&cell, *style));
                // Blanks are written before the next cell, so that none end a line.
                let (before, after) = if *right { (pad.as_str(), "") } else { ("", pad.as_str()) };
                rendered.push_str(&format!("{gap}{before}{cell}"));
                gap = format!("{after}{GAP}");
            }
            text.push_str(rendered.trim_end());
            text.push('\n');
        }
        text
    }
}

/// The widths of columns that together are no wider than `most`: the widest give way, and where that does not do, the last go.
fn narrowed(mut widths: Vec<usize>, columns: &mut Vec<usize>, most: usize) -> Vec<usize> {
    let total = |columns: &[usize], widths: &[usize]| {
        columns.iter().map(|column| widths[*column] + GAP.len()).sum::<usize>()
    };
    while total(columns, &widths) > most + GAP.len() {
        let widest = columns.iter().copied().max_by_key(|column| widths[*column]);
        match widest.filter(|column| widths[*column] > SHORTEST) {
            Some(column) => widths[column] -= 1,
            None => {
                columns.pop();
            }
        }
    }
    widths
}

/// A cell of at most so many columns: beginning and end stay.
fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let room = width.saturating_sub(CUT.width());
    let taken = |letters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        letters
            .take_while(|letter| {
                used += letter.width().unwrap_or(0);
                used <= room
            })
            .collect()
    };
    let start: String = taken(&mut cell.chars(), room - room / 2).into_iter().collect();
    let end: String = taken(&mut cell.chars().rev(), room / 2).into_iter().rev().collect();
    format!("{start}{CUT}{end}")
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
        let mut table = Table::new(&["condition", "throughput"]).under(&["", "Mbit/s"]);
        table.row(&["ipv4", "42.1"]);
        table.row(&["ipv6 offloads=none", "-"]);
        assert_eq!(
            table.render(),
            "condition           throughput\n                        Mbit/s\nipv4                      42.1\nipv6 offloads=none           -\n"
        );
    }

    #[test]
    fn a_hostile_cell_stays_in_its_row() {
        let mut table = Table::new(&["name", "value"]);
        table.row(&["a\u{1b}[2K\nverdict", "1"]);
        assert_eq!(table.render(), "name                value\na\\u{1b}[2K verdict      1\n");
    }

    #[test]
    fn no_row_is_wider_than_its_layout() {
        let mut table = Table::new(&["condition", "value", "difference", "verdict"]).named(0).optional(&[2]);
        table.row(&["a name that is far too long for a row of it", "1000000", "+12.3", "slower"]);
        table.row(&["b", "7", "-", "baseline"]);
        for width in [40, 55, 79, 200] {
            let text = table.fit(Layout { width, ..Layout::PLAIN });
            let rows = text.lines().filter(|line| !line.starts_with("  ["));
            assert!(rows.clone().all(|line| line.width() <= width), "{width}:\n{text}");
            assert!(text.contains("slower") && text.contains("1000000"), "{width}:\n{text}");
            assert_eq!(text.contains("+12.3"), width > 40, "{width}:\n{text}");
        }
        let narrow = table.fit(Layout { width: 40, ..Layout::PLAIN });
        assert_eq!(
            narrow,
            "  [a] a name that is far too long for a row of it\n\
             condition    value  verdict\n\
             [a]        1000000  slower\n\
             b                7  baseline\n\
             (--wide shows also: difference)\n"
        );
        assert_eq!(table.fit(Layout { width: 40, ..Layout::WIDE }), table.render());
    }

    #[test]
    fn a_cell_without_a_name_is_cut_in_its_middle() {
        let mut table = Table::new(&["what", "why"]);
        table.row(&["a", "a reason that is far too long for a row of forty columns"]);
        let text = table.fit(Layout { width: 40, ..Layout::PLAIN });
        assert_eq!(text, "what  why\na     a reason that is …of forty columns\n");
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new(&["a", "verdict", "b"]);
        table.row(&["x", "slower", "y"]);
        table.paint(1, Some(crate::words::colour::WORSE));
        let layout = Layout { colour: true, ..Layout::PLAIN };
        assert_eq!(table.fit(layout), "a  verdict  b\nx  \u{1b}[31mslower\u{1b}[0m   y\n");
        assert_eq!(table.fit(Layout::PLAIN), "a  verdict  b\nx  slower   y\n");
    }

    #[test]
    fn an_empty_table_is_its_head() {
        assert_eq!(Table::new(&["a", "b"]).render(), "a  b\n");
    }
}
