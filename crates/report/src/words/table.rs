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
/// Names are shortened only when other words have no more than so many columns.
const LEAST_WORDS: usize = 30;

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

    /// Says which columns are left out where the width does not do, the first of these first. Then
    /// the last columns go.
    #[must_use]
    pub fn optional(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.optional);
        self
    }

    /// Says which column has the conditions' names.
    #[must_use]
    pub fn named(mut self, column: usize) -> Self {
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

    /// The table as wide as it is, as lines, each ended by a newline, without trailing blanks: for
    /// pages of every figure.
    #[must_use]
    pub(crate) fn render(&self) -> String {
        let columns: Vec<usize> = (0..self.widths().len()).collect();
        self.lines(&columns, &self.widths(), false)
    }

    /// The table for a layout. Unless that is wide, no line is longer than the layout's: names are
    /// shortened, columns left out, then the longest words cut in the middle; numbers never are.
    /// What is not in the rows is told above and below them.
    #[must_use]
    pub fn fit(&self, layout: Layout) -> String {
        let (columns, widths) = (self.columns(layout), self.widths());
        if layout.wide {
            return self.lines(&columns, &widths, layout.colour);
        }
        let most = layout.columns() + GAP.len();
        let least = self.narrowest(layout);
        let (mut table, mut above) = (self.clone(), String::new());
        if let Some(column) = self.names {
            let others = columns.iter().filter(|other| **other != column);
            let others: usize =
                others.map(|other| widths[*other].min(least[*other].max(LEAST_WORDS)) + GAP.len()).sum();
            above = table.shorten(column, most.saturating_sub(others + GAP.len()).max(least[column]));
        }
        let mut widths = table.widths();
        while total(&columns, &widths) > most {
            let least = |column: usize| table.least(column, usize::MAX).min(layout.columns());
            let widest = columns.iter().filter(|column| widths[**column] > least(**column));
            let Some(widest) = widest.max_by_key(|column| widths[**column]) else { break };
            widths[*widest] -= 1;
        }
        let left_out = self.heads_but(&columns);
        let below =
            if left_out.is_empty() { String::new() } else { format!("(--wide shows also: {left_out})\n") };
        layout.wrap(&above) + &table.lines(&columns, &widths, layout.colour) + &layout.wrap(&below)
    }

    /// The columns that a layout has room for.
    pub(crate) fn columns(&self, layout: Layout) -> Vec<usize> {
        let widths = self.widths();
        let mut columns: Vec<usize> = (0..widths.len()).collect();
        if layout.wide {
            return columns;
        }
        let most = layout.columns() + GAP.len();
        let least = self.narrowest(layout);
        // Names are shortened last: a column that is left out is told by its heading, a short name
        // by a line of its own.
        let with_name = |widths: &[usize]| -> Vec<usize> {
            let short = |column| if Some(column) == self.names { least[column] } else { widths[column] };
            (0..widths.len()).map(short).collect()
        };
        for left_out in &self.optional {
            if total(&columns, &with_name(&widths)) <= most {
                break;
            }
            columns.retain(|column| column != left_out);
        }
        while columns.len() > 1 && total(&columns, &least) > most {
            let Some(last) = columns.iter().rposition(|column| Some(*column) != self.names) else { break };
            columns.remove(last);
        }
        columns
    }

    /// How narrow each column can be with its names shortened.
    fn narrowest(&self, layout: Layout) -> Vec<usize> {
        let least = |column| self.least(column, LEAST_NAME).min(layout.columns());
        (0..self.widths().len()).map(least).collect()
    }

    /// To how many columns a column can be narrowed: numbers stay whole, other words keep their
    /// ends. Names are narrowed to `name`.
    fn least(&self, column: usize, name: usize) -> usize {
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        let widest = cells().map(|cell| cell.width()).max().unwrap_or(0);
        let head = self.head.iter().filter_map(|line| line.get(column)).map(|cell| cell.width()).max();
        let narrowed = if Some(column) == self.names {
            widest.min(name)
        } else if cells().any(|cell| begins_with_number(cell)) {
            widest
        } else {
            widest.min(SHORTEST)
        };
        narrowed.max(head.unwrap_or(0).min(SHORTEST))
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
            columns
                .iter()
                .all(|one| is_number(&heading(*one)[0])
                    || (0..*one).all(|other| heading(*one) != heading(other))),
            "two columns of the same words in the heading {:?}",
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

/// How wide these columns are, with a gap after each.
fn total(columns: &[usize], widths: &[usize]) -> usize {
    columns.iter().map(|column| widths[*column] + GAP.len()).sum()
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

/// A number with its unit, an interval, a date.
fn begins_with_number(cell: &str) -> bool {
    cell.trim_start_matches(['+', '-']).starts_with(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
    fn what_a_narrow_table_leaves_out_is_told() {
        let mut table = Table::new(&["condition", "value", "difference", "verdict"]).named(0).optional(&[2]);
        table.row(&["a name that is far too long for a row of it", "1000000", "+12.3", "slower"]);
        table.row(&["b", "7", "-", "baseline"]);
        let narrow = table.fit(Layout { width: 40, ..Layout::PLAIN });
        assert_eq!(
            narrow,
            "  [a] a name that is far too long for a\n    row of it\n\
             condition    value  verdict\n\
             [a]        1000000  slower\n\
             b                7  baseline\n\
             (--wide shows also: difference)\n"
        );
        assert_eq!(table.fit(Layout { width: 40, ..Layout::WIDE }), table.render());
    }

    #[test]
    fn numbers_are_never_cut() {
        let mut table = Table::new(&["parts of a run", "sent by the transmitter", "received", "drops"]);
        table.row(&["a", "12345678 Mbit/s", "-12345 to +87654321", "123456789012345"]);
        assert_eq!(
            table.fit(Layout { width: 44, ..Layout::PLAIN }),
            "par…un  sent by…smitter  received\n\
             a       12345678 Mbit/s  -12345 to +87654321\n\
             (--wide shows also: drops)\n"
        );
    }

    /// Names, values, differences, verdicts and limits as studies may have them.
    fn tables() -> impl Strategy<Value = Table> {
        let name = "[a-zé中=,._]{1,40}( [a-z中=,._-]{1,90}){0,5}";
        let number = prop_oneof![any::<f64>(), -1e6..1e6_f64];
        let difference = (number.clone(), 0..3).prop_map(|(value, form)| match form {
            0 => stats::signed(crate::words::number::percent(value)),
            1 => format!("{} Mbit/s", crate::words::number::figure(value)),
            _ => format!("{} times", crate::words::number::times(value)),
        });
        let interval = (number.clone(), number.clone())
            .prop_map(|ends| crate::words::number::range(Some(ends), crate::words::number::figure));
        let row = (name, number, difference, interval, "[a-z ]{0,30}", "[a-zA-Z0-9 /]{0,30}");
        prop::collection::vec(row, 0..12).prop_map(|rows| {
            let mut table =
                Table::new(&["condition", "Mbit/s", "difference", "interval", "verdict", "limited by"])
                    .named(0)
                    .optional(&[5, 3, 1]);
            for (name, value, difference, interval, verdict, limit) in rows {
                let value = crate::words::number::figure(value);
                table.row(&[&name, &value, &difference, &interval, &verdict, &limit]);
            }
            table
        })
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_its_layout(table in tables(), width in 0_usize..200) {
            let layout = Layout { width, ..Layout::PLAIN };
            let text = table.fit(layout);
            prop_assert!(text.lines().all(|line| line.width() <= layout.columns()), "{width}:\n{text}");
            // Nothing wraps: each row is one line below the heading.
            let heading = text.lines().position(|line| line.contains("verdict") || line.contains("diff"));
            let below = text.lines().skip(heading.unwrap_or(0) + 1).take_while(|line| !line.starts_with("(--wide"));
            prop_assert_eq!(below.count(), table.rows.len(), "{}", text);
        }

        #[test]
        fn other_tables_fit_too(
            head in prop::collection::vec("[a-z]{1,12}( [a-z]{1,12}){0,3}", 1..9),
            cells in prop::collection::vec("[a-z0-9 .+-]{0,60}", 0..40),
            width in 0_usize..200,
        ) {
            let head: Vec<String> = head.iter().enumerate().map(|(place, head)| format!("{head} {place}")).collect();
            let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
            for row in cells.chunks(head.len()) {
                table.row(&row.iter().map(String::as_str).collect::<Vec<_>>());
            }
            let layout = Layout { width, ..Layout::PLAIN };
            let text = table.fit(layout);
            prop_assert!(text.lines().all(|line| line.width() <= layout.columns()), "{width}:\n{text}");
        }
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
