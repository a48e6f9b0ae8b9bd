//! A plain-text table: aligned columns, nothing drawn.

mod cell;
mod fit;

use std::collections::BTreeMap;

use study::Name;
use unicode_width::UnicodeWidthStr as _;

use self::cell::{begins_with_number, cut, is_number, owned};
use crate::document::colour::{Tone, paint};

/// Rows of text in columns. Columns of numbers are aligned at the right.
#[derive(Debug, Clone)]
pub struct Table {
    /// Header lines, each with one cell a column; later lines continue the earlier ones.
    head: Vec<Vec<String>>,
    rows: Vec<Vec<String>>,
    /// Cells in colour: row, column, tone.
    tones: BTreeMap<(usize, usize), Tone>,
    /// The column of the conditions' names.
    names: Option<usize>,
    /// The known names in it, by row.
    known: BTreeMap<usize, Name>,
    /// The columns that are left out where the width does not do, the first of these first.
    optional: Vec<usize>,
    /// The columns whose words are useless when they are cut, as names of functions.
    whole: Vec<usize>,
}

const GAP: &str = "  ";

impl Table {
    /// A table with one header line.
    #[must_use]
    pub fn new(head: &[&str]) -> Self {
        Self {
            head: vec![owned(head)],
            rows: Vec::new(),
            tones: BTreeMap::new(),
            names: None,
            known: BTreeMap::new(),
            optional: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// Adds a header line below the others: units, mostly. Empty cells stay empty.
    #[must_use]
    pub fn units(mut self, head: &[&str]) -> Self {
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

    /// Sets the columns that are never cut: their words are names of functions, or verdicts. If
    /// these columns have no room beside each other, the first of them, the first column, is
    /// written above the others.
    #[must_use]
    pub fn uncut(mut self, columns: &[usize]) -> Self {
        columns.clone_into(&mut self.whole);
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

    /// Says which condition the last row is about.
    pub fn is_of(&mut self, name: &Name) {
        if let Some(row) = self.rows.len().checked_sub(1) {
            self.known.insert(row, name.clone());
        }
    }

    /// Colours a cell of the last row.
    pub fn paint(&mut self, column: usize, tone: Option<Tone>) {
        if let (Some(row), Some(tone)) = (self.rows.len().checked_sub(1), tone) {
            self.tones.insert((row, column), tone);
        }
    }

    /// The heading of each column, with the lines of a heading joined.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        let cells = |column: usize| self.head.iter().filter_map(move |line| line.get(column));
        let words = |column| cells(column).filter(|cell| !cell.is_empty()).map(String::as_str);
        (0..self.widths().len()).map(|column| words(column).collect::<Vec<_>>().join(" ")).collect()
    }

    /// The rows, each with as many cells as were given.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// The tone of the verdict in a cell; `None` for a cell without one.
    #[must_use]
    pub fn tone(&self, row: usize, column: usize) -> Option<Tone> {
        self.tones.get(&(row, column)).copied()
    }

    /// Whether a column holds numbers, with their units or intervals, and nothing else.
    #[must_use]
    pub fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        cells().all(|cell| is_number(cell) || begins_with_number(cell))
            && cells().any(|cell| begins_with_number(cell))
    }

    /// The first rows.
    #[must_use]
    pub fn first(mut self, rows: usize) -> Self {
        self.rows.truncate(rows);
        self
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

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
                let tone = row.filter(|_| is_coloured).and_then(|row| self.tone(row, *column));
                let cell = tone.map_or(cell.clone(), |tone| paint(&cell, tone));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::layout::Layout;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let mut table = Table::new(&["condition", "throughput"]).units(&["", "Mbit/s"]);
        table.row(&["ipv4", "42.1"]);
        table.row(&["ipv6 offloads=none", "-"]);
        assert_eq!(
            table.fit(Layout::WIDE),
            "condition           throughput\n                        Mbit/s\nipv4                      42.1\nipv6 offloads=none           -\n"
        );
    }

    #[test]
    fn a_hostile_cell_stays_in_its_row() {
        let mut table = Table::new(&["name", "value"]);
        table.row(&["a\u{1b}[2K\nverdict", "1"]);
        assert_eq!(table.fit(Layout::WIDE), "name                value\na\\u{1b}[2K verdict      1\n");
    }

    #[test]
    fn what_a_narrow_table_leaves_out_is_reported() {
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
        assert_eq!(table.fit(Layout { width: 40, ..Layout::WIDE }), table.fit(Layout::WIDE));
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
            0 => stats::signed(results::percent(value)),
            1 => format!("{} Mbit/s", results::figure(value)),
            _ => format!("{} times", results::times(value)),
        });
        let interval =
            (number.clone(), number.clone()).prop_map(|ends| results::range(Some(ends), results::figure));
        let row = (name, number, difference, interval, "[a-z ]{0,30}", "[a-zA-Z0-9 /]{0,30}");
        prop::collection::vec(row, 0..12).prop_map(|rows| {
            let mut table =
                Table::new(&["condition", "Mbit/s", "difference", "interval", "verdict", "limited by"])
                    .named(0)
                    .optional(&[5, 3, 1]);
            for (name, value, difference, interval, verdict, limit) in rows {
                let value = results::figure(value);
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
    fn a_column_of_whole_words_stays_and_others_go() {
        let mut table =
            Table::new(&["stage", "baseline", "diff.", "verdict"]).optional(&[1]).uncut(&[0, 2, 3]);
        table.row(&["__skb_wait_for_more_packets to udp_recvmsg", "1234.5", "-12.5", "not proven"]);
        table.row(&["whole", "1234567.5", "0", "more"]);
        let at = |width| table.fit(Layout { width, ..Layout::PLAIN });
        assert_eq!(at(90), table.fit(Layout::WIDE));
        assert_eq!(
            at(64),
            format!(
                "{:42}  diff.  verdict\n\
                 __skb_wait_for_more_packets to udp_recvmsg  -12.5  not proven\n\
                 {:42}      0  more\n\
                 (--wide shows also: baseline)\n",
                "stage", "whole"
            )
        );
        assert_eq!(
            at(40),
            "stage\n   baseline  diff.  verdict\n\
             __skb_wait_for_more_packets to\n    udp_recvmsg\n     1234.5  -12.5  not proven\n\
             whole\n  1234567.5      0  more\n"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new(&["a", "verdict", "b"]);
        table.row(&["x", "slower", "y"]);
        table.paint(1, Some(Tone::Worse));
        let layout = Layout { colour: true, ..Layout::PLAIN };
        assert_eq!(table.fit(layout), "a  verdict  b\nx  \u{1b}[31mslower\u{1b}[0m   y\n");
        assert_eq!(table.fit(Layout::PLAIN), "a  verdict  b\nx  slower   y\n");
    }

    #[test]
    fn an_empty_table_is_its_head() {
        assert_eq!(Table::new(&["a", "b"]).fit(Layout::WIDE), "a  b\n");
    }
}
