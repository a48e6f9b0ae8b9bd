//! The figures behind a drawing.

use crate::chart::finite::Finite;
use crate::chart::markup::Markup;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureCell {
    /// Words.
    Text(String),
    /// A number with all its digits, and as it is written for people.
    Number(Finite, String),
    /// An empty cell: the value is unknown.
    Empty,
}

/// Rows of cells; the first of each names it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigureTable {
    /// The head of each column, with its unit.
    pub head: Vec<String>,
    /// The rows: each has a cell for each column.
    pub rows: Vec<Vec<FigureCell>>,
}

/// The number of columns that [`columns`] can name as columns of numbers.
pub(crate) const NAMED: usize = 16;

/// The classes of a table that say which of its columns are numbers, so that no cell needs to:
/// `n2 n4`. The rules for them are in [`rules_of_pages`](crate::chart::rules_of_pages); a column
/// that [`beyond`] names needs the class `number` in each cell.
#[must_use]
pub fn columns(numeric: &[bool]) -> String {
    let named = numeric.iter().take(NAMED).zip(1..).filter(|(numeric, _)| **numeric);
    named.map(|(_, place)| format!("n{place}")).collect::<Vec<_>>().join(" ")
}

/// Whether each column has numbers that [`columns`] cannot name.
pub fn beyond(numeric: &[bool]) -> impl Iterator<Item = bool> {
    numeric.iter().zip(0..).map(|(numeric, place)| *numeric && place >= NAMED)
}

impl FigureTable {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|name| words::shortened_reason(name)).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = FigureCell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// An HTML table.
    #[must_use]
    pub fn html(&self, caption: &str) -> Markup {
        let numeric: Vec<bool> = (0..self.head.len()).map(|column| self.is_numeric(column)).collect();
        let class = columns(&numeric);
        let attributes = [("class", class.as_str().into())];
        let mut html = Markup::new();
        html.element("table", &attributes[..usize::from(!class.is_empty())], |table| {
            table.element("caption", &[], |inside| inside.text(&words::shortened_reason(caption)));
            table.element("thead", &[], |head| {
                head.element("tr", &[], |row| {
                    for (name, number) in self.head.iter().zip(beyond(&numeric)) {
                        let attributes = [("scope", "col".into()), ("class", "number".into())];
                        row.element("th", &attributes[..1 + usize::from(number)], |inside| inside.text(name));
                    }
                });
            });
            table.element("tbody", &[], |body| {
                for cells in &self.rows {
                    body.element("tr", &[], |row| {
                        for ((index, cell), number) in cells.iter().enumerate().zip(beyond(&numeric)) {
                            cell.html(index == 0, number, row);
                        }
                    });
                }
            });
        });
        html
    }

    /// Whether a column has numbers and no words.
    #[must_use]
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        let has_numbers = cells.clone().any(|cell| matches!(cell, FigureCell::Number(..)));
        has_numbers && cells.all(|cell| !matches!(cell, FigureCell::Text(_)))
    }

    /// Comma-separated values (RFC 4180, but lines end in a bare newline); numbers with all their
    /// digits.
    #[must_use]
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let head = line(self.head.iter().map(|name| words::csv_field(name)).collect());
        self.rows.iter().fold(head, |csv, row| csv + &line(row.iter().map(FigureCell::csv).collect()))
    }
}

impl FigureCell {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(words::shortened_reason(text))
    }

    pub(crate) fn number(value: Option<Finite>, show: impl Fn(Finite) -> String) -> Self {
        value.map_or(Self::Empty, |value| Self::Number(value, show(value)))
    }

    /// `number`: nothing says of its column that it is one of numbers.
    fn html(&self, names: bool, number: bool, row: &mut Markup) {
        let attributes = [("class", "number".into())];
        let attributes = &attributes[..usize::from(number)];
        match self {
            // The first of a row of a body is its name, so its scope needs no word.
            Self::Text(text) if names => row.element("th", attributes, |cell| cell.text(text)),
            Self::Text(text) | Self::Number(_, text) => row.element("td", attributes, |cell| cell.text(text)),
            Self::Empty => row.element("td", attributes, |_| {}),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Text(text) => words::csv_field(text),
            Self::Number(value, _) => value.value().to_string(),
            Self::Empty => String::new(),
        }
    }
}
