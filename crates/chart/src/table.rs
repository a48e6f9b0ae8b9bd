//! The figures behind a drawing.

use crate::finite::Finite;
use crate::markup::Markup;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number with all its digits, and as it is written for people.
    Number(Finite, String),
    /// Nothing is known.
    Empty,
}

/// Rows of cells; the first of each names it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What each column has, with its unit.
    pub head: Vec<String>,
    /// As many cells in each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|name| text::reason(name)).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// An HTML table.
    #[must_use]
    pub fn html(&self, caption: &str) -> Markup {
        let mut html = Markup::new();
        html.element("table", &[], |table| {
            table.element("caption", &[], |inside| inside.text(&text::reason(caption)));
            table.element("thead", &[], |head| {
                head.element("tr", &[], |row| {
                    for name in &self.head {
                        row.element("th", &[("scope", "col".into())], |inside| inside.text(name));
                    }
                });
            });
            table.element("tbody", &[], |body| {
                for cells in &self.rows {
                    body.element("tr", &[], |row| {
                        for (index, cell) in cells.iter().enumerate() {
                            cell.html(index == 0, row);
                        }
                    });
                }
            });
        });
        html
    }

    /// Comma-separated values (RFC 4180, but lines end in a bare newline); numbers with all their
    /// digits.
    #[must_use]
    pub fn csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let head = line(self.head.iter().map(|name| text::csv_field(name)).collect());
        self.rows.iter().fold(head, |csv, row| csv + &line(row.iter().map(Cell::csv).collect()))
    }
}

impl Cell {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text::reason(text))
    }

    pub(crate) fn number(value: Option<Finite>, show: impl Fn(Finite) -> String) -> Self {
        value.map_or(Self::Empty, |value| Self::Number(value, show(value)))
    }

    fn html(&self, names: bool, row: &mut Markup) {
        match self {
            Self::Text(text) if names => {
                row.element("th", &[("scope", "row".into())], |cell| cell.text(text));
            }
            Self::Text(text) => row.element("td", &[], |cell| cell.text(text)),
            Self::Number(_, shown) => {
                row.element("td", &[("class", "number".into())], |cell| cell.text(shown));
            }
            Self::Empty => row.element("td", &[], |_| {}),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Text(text) => text::csv_field(text),
            Self::Number(value, _) => value.value().to_string(),
            Self::Empty => String::new(),
        }
    }
}
