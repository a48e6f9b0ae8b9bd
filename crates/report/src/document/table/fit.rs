//! A table that fits the terminal.

use study::Name;
use unicode_width::UnicodeWidthStr as _;

use super::cell::cut;
use super::{Cell, Table};
use crate::document::colour::paint;
use crate::document::layout::Layout;
use crate::document::names::ShortNames;

const GAP: &str = "  ";

// No cell is cut to fewer columns.
const SHORTEST: usize = 6;
// The least number of columns for names, if need be at the cost of others.
const LEAST_NAME: usize = 12;
// Names are shortened only when other words have no more than so many columns.
const LEAST_WORDS: usize = 30;

impl Table {
    /// The table for a layout. Unless that is wide, no line is longer than the layout's: names are
    /// shortened, columns left out, then the longest words cut in the middle; numbers and whole
    /// words never are. A legend above or below has the omitted parts.
    pub fn fit(&self, layout: Layout) -> String {
        let widths = self.widths();
        if layout.wide {
            return self.lines(&Vec::from_iter(0..widths.len()), &widths, layout.colour);
        }
        // The columns that are not cut may have no room beside each other.
        let uncut = self.narrowest(Layout { width: usize::MAX, ..layout });
        if self.whole.len() > 1 && total(&self.whole, &uncut) > layout.columns() + GAP.len() {
            return self.stacked(layout);
        }
        let columns = self.columns(layout);
        let most = layout.columns() + GAP.len();
        let least = self.narrowest(layout);
        let (mut table, mut above) = (self.clone(), String::new());
        if let Some(column) = self.names() {
            let others = columns.iter().filter(|other| **other != column);
            let others: usize =
                others.map(|other| widths[*other].min(least[*other].max(LEAST_WORDS)) + GAP.len()).sum();
            above = table.shorten(column, most.saturating_sub(others + GAP.len()).max(least[column]));
        }
        let mut widths = table.widths();
        let least: Vec<usize> =
            (0..widths.len()).map(|column| table.least(column, usize::MAX).min(layout.columns())).collect();
        // The widest column goes first, so that no text is cut while another is longer.
        while total(&columns, &widths) > most {
            let widest = columns.iter().filter(|column| widths[**column] > least[**column]);
            let Some(widest) = widest.max_by_key(|column| widths[**column]) else { break };
            widths[*widest] -= 1;
        }
        let heads = self.head[0].iter().enumerate().filter(|(column, _)| !columns.contains(column));
        let left_out = results::distinct(heads.map(|(_, head)| head.text())).join(", ");
        let below =
            if left_out.is_empty() { String::new() } else { format!("(--wide shows also: {left_out})\n") };
        layout.wrap(&above) + &table.lines(&columns, &widths, layout.colour) + &layout.wrap(&below)
    }

    fn names(&self) -> Option<usize> {
        self.rows.iter().find_map(|row| row.iter().position(|cell| matches!(cell, Cell::Name(_))))
    }

    fn columns(&self, layout: Layout) -> Vec<usize> {
        let widths = self.widths();
        let mut columns = Vec::from_iter(0..widths.len());
        let most = layout.columns() + GAP.len();
        let (least, names) = (self.narrowest(layout), self.names());
        // Names are shortened last: a column that is left out is told by its heading, a short name
        // by a line of its own.
        let with_name = |column: usize| if Some(column) == names { least[column] } else { widths[column] };
        let with_name: Vec<usize> = (0..widths.len()).map(with_name).collect();
        for left_out in &self.optional {
            if total(&columns, &with_name) <= most {
                break;
            }
            columns.retain(|column| column != left_out);
        }
        while columns.len() > 1 && total(&columns, &least) > most {
            let goes = |column: &usize| Some(*column) != names && !self.whole.contains(column);
            let Some(last) = columns.iter().rposition(goes) else { break };
            columns.remove(last);
        }
        columns
    }

    /// The first column as lines of its own, each above the rest of its row.
    fn stacked(&self, layout: Layout) -> String {
        // The rest is a table by itself, which knows how to fit.
        let mut rest = self.clone();
        let names: Vec<Cell> =
            rest.head.iter_mut().chain(&mut rest.rows).map(|line| line.remove(0)).collect();
        let before = |columns: &[usize]| columns.iter().filter_map(|column| column.checked_sub(1)).collect();
        rest.whole = before(&self.whole);
        rest.optional = before(&self.optional);
        let rest = rest.fit(Layout { width: layout.columns() - GAP.len(), ..layout });
        let mut text = String::new();
        let mut names = names.iter();
        for line in rest.lines() {
            let name = names.next().map(Cell::text).filter(|name| !name.is_empty());
            text.push_str(&name.map_or_else(String::new, |name| layout.hang(&format!("{name}\n"), 4)));
            text.push_str(&format!("{GAP}{line}\n"));
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let lines = || self.head.iter().chain(&self.rows);
        let width = |column: usize| lines().map(|line| line[column].width()).max().unwrap_or(0);
        (0..self.head[0].len()).map(width).collect()
    }

    /// The least width of each column, with its names shortened.
    fn narrowest(&self, layout: Layout) -> Vec<usize> {
        let least = |column| self.least(column, LEAST_NAME).min(layout.columns());
        (0..self.head[0].len()).map(least).collect()
    }

    /// The least width of a column, whose names have at least `name` columns.
    fn least(&self, column: usize, name: usize) -> usize {
        let widest = |lines: &[Vec<Cell>]| lines.iter().map(|line| line[column].width()).max().unwrap_or(0);
        let (head, widest) = (widest(&self.head), widest(&self.rows));
        if self.whole.contains(&column) {
            return widest.max(head);
        }
        let narrowed = if Some(column) == self.names() {
            widest.min(name)
        // A number without some of its digits would be another number.
        } else if self.rows.iter().any(|row| row[column].is_measured()) {
            widest
        } else {
            widest.min(SHORTEST)
        };
        narrowed.max(head.min(SHORTEST))
    }

    /// Shortens the names in a column; returns the legend for the shortened parts, as lines.
    fn shorten(&mut self, column: usize, width: usize) -> String {
        let name = |row: &Vec<Cell>| match &row[column] {
            Cell::Name(name) => name.clone(),
            other => Name::from(&*other.text()),
        };
        let names: Vec<Name> = self.rows.iter().map(name).collect();
        let names = ShortNames::within(&names, width);
        for (row, name) in self.rows.iter_mut().zip(&names.short) {
            row[column] = Cell::Name(Name::from(name.as_str()));
        }
        if !names.keys.is_empty() {
            self.head[0][column] = Cell::from(&names.keys);
        }
        names.legend
    }

    fn lines(&self, columns: &[usize], widths: &[usize], is_coloured: bool) -> String {
        debug_assert!(
            columns.iter().all(|one| self.head[0][*one] == Cell::EMPTY
                || (0..*one).all(|other| self.head.iter().any(|line| line[*one] != line[other]))),
            "two columns of the same words in the heading {:?}",
            self.head
        );
        let is_right = |column: &usize| self.rows.iter().all(|row| row[*column].is_number());
        let right: Vec<bool> = columns.iter().map(is_right).collect();
        let mut text = String::new();
        for line in self.head.iter().chain(&self.rows) {
            // Blanks are written before the next cell, so that none end a line.
            let (mut rendered, mut gap) = (String::new(), String::new());
            for (column, right) in columns.iter().zip(&right) {
                let (cell, width) = (&line[*column], widths[*column]);
                let shown = cell.text();
                let shown = cut(&shown, width);
                let pad = " ".repeat(width - shown.width());
                let tone = cell.tone().filter(|_| is_coloured && !shown.is_empty());
                let shown = tone.map_or_else(|| shown.to_string(), |tone| paint(&shown, tone));
                let (before, after) = if *right { (pad.as_str(), "") } else { ("", pad.as_str()) };
                rendered.push_str(&format!("{gap}{before}{shown}"));
                gap = format!("{after}{GAP}");
            }
            text.push_str(rendered.trim_end());
            text.push('\n');
        }
        text
    }
}

fn total(columns: &[usize], widths: &[usize]) -> usize {
    columns.iter().map(|column| widths[*column] + GAP.len()).sum()
}
