//! Tables as HTML.

use crate::chart::markup::{Attribute, Id, Markup};
use crate::document::bounded::line;
use crate::document::{Cell, Table, Tone};

/// The number of columns that the class of a table can name as columns of numbers.
pub(crate) const NAMED: usize = 16;

/// Adds a table with this caption; a table of a page, not of a figure, has a name. Its classes say
/// which of its columns are numbers, so that no cell needs to: `n2 n4`. Only columns beyond those
/// that a class can name ([`rules_of_pages`](crate::chart::rules_of_pages)) say it in each cell.
pub fn write_table(to: &mut Markup, id: Option<&Id>, table: &Table, caption: impl FnOnce(&mut Markup)) {
    // What a figure is about has few words.
    let shown = |text: &str| if id.is_some() { line(text) } else { words::shortened_reason(text) };
    let heads = table.heads();
    let is_numeric = |column: &usize| table.is_numeric(*column);
    let numeric: Vec<usize> = (0..heads.len()).filter(is_numeric).collect();
    let named = numeric.iter().filter(|column| **column < NAMED).map(|column| format!("n{}", column + 1));
    let classes: Vec<String> = id.map(|_| "data".to_owned()).into_iter().chain(named).collect();
    let cell_class = |column: usize| if column >= NAMED && numeric.contains(&column) { "number" } else { "" };
    let class = classes.join(" ");
    let mut attributes: Vec<(&'static str, Attribute<'_>)> = vec![("class", class.as_str().into())];
    attributes.extend(id.map(|id| ("id", id.as_str().into())));
    to.element("table", &attributes, |to| {
        to.element("caption", &[], caption);
        to.element("thead", &[], |head| {
            head.element("tr", &[], |row| {
                for (column, name) in heads.iter().enumerate() {
                    let attributes = [("scope", "col".into()), ("class", cell_class(column).into())];
                    row.element("th", &attributes, |cell| cell.text(&shown(name)));
                }
            });
        });
        to.element("tbody", &[], |body| {
            for cells in table.rows() {
                body.element("tr", &[], |row| {
                    for (column, cell) in cells.iter().enumerate() {
                        // The first of a row of a body is its name, so its scope needs no word;
                        // without one it is none.
                        let name = if column == 0 && !cell.text().trim().is_empty() { "th" } else { "td" };
                        let class = cell.tone().map_or(cell_class(column), Tone::word);
                        row.element(name, &[("class", class.into())], |to| write_cell(to, cell, shown));
                    }
                });
            }
        });
    });
}

pub(crate) fn write_cell(to: &mut Markup, cell: &Cell, shown: impl Fn(&str) -> String) {
    let text = shown(&cell.text());
    match cell {
        Cell::Command(_) => to.element("code", &[], |to| to.text(&text)),
        _ => to.text(&text),
    }
}
