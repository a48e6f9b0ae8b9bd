//! A table that fits the terminal.

use study::Name;
use unicode_width::UnicodeWidthStr as _;

use super::cell::begins_with_number;
use super::{GAP, Table};
use crate::document::layout::Layout;
use crate::document::names::ShortNames;

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
    #[must_use]
    pub fn fit(&self, layout: Layout) -> String {
        if !layout.wide && self.is_stacked(layout) {
            return self.stacked(layout);
        }
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
            let goes = |column: &usize| Some(*column) != self.names && !self.whole.contains(column);
            let Some(last) = columns.iter().rposition(goes) else { break };
            columns.remove(last);
        }
        columns
    }

    /// Whether the columns that are not cut have no room beside each other.
    fn is_stacked(&self, layout: Layout) -> bool {
        let least = self.narrowest(Layout { width: usize::MAX, ..layout });
        self.whole.len() > 1 && total(&self.whole, &least) > layout.columns() + GAP.len()
    }

    /// The first column as lines of its own, each above the rest of its row.
    fn stacked(&self, layout: Layout) -> String {
        let mut rest = self.clone();
        let mut names: Vec<String> = Vec::new();
        for line in rest.head.iter_mut().chain(&mut rest.rows) {
            names.extend((!line.is_empty()).then(|| line.remove(0)));
        }
        let before = |columns: &[usize]| columns.iter().filter_map(|column| column.checked_sub(1)).collect();
        rest.whole = before(&self.whole);
        rest.optional = before(&self.optional);
        rest.tones.clear();
        for ((row, column), tone) in &self.tones {
            rest.tones.extend(column.checked_sub(1).map(|column| ((*row, column), *tone)));
        }
        let rest = rest.fit(Layout { width: layout.columns() - GAP.len(), ..layout });
        let mut text = String::new();
        let mut names = names.iter();
        for line in rest.lines() {
            let name = names.next().filter(|name| !name.is_empty());
            text.push_str(&name.map_or_else(String::new, |name| layout.hang(&format!("{name}\n"), 4)));
            text.push_str(&format!("{GAP}{line}\n"));
        }
        text
    }

    /// The least width of each column, with its names shortened.
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
        if self.whole.contains(&column) {
            return widest.max(head.unwrap_or(0));
        }
        let narrowed = if Some(column) == self.names {
            widest.min(name)
        } else if cells().any(|cell| begins_with_number(cell)) {
            widest
        } else {
            widest.min(SHORTEST)
        };
        narrowed.max(head.unwrap_or(0).min(SHORTEST))
    }

    /// Shortens the names in a column; returns the legend for the shortened parts, as lines.
    fn shorten(&mut self, column: usize, width: usize) -> String {
        let name = |(place, row): (usize, &Vec<String>)| {
            let other = || Name::from(row.get(column).map_or("", String::as_str));
            self.known.get(&place).cloned().unwrap_or_else(other)
        };
        let names: Vec<Name> = self.rows.iter().enumerate().map(name).collect();
        let names = ShortNames::within(&names, width);
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
}

/// The width of these columns, with a gap after each.
fn total(columns: &[usize], widths: &[usize]) -> usize {
    columns.iter().map(|column| widths[*column] + GAP.len()).sum()
}
