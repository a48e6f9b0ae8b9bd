//! A table with its title and notes.

use crate::words::table::Table;

/// A table with its title and notes.
#[derive(Debug, Clone)]
pub struct TitledTable {
    /// The subject of the table.
    pub title: String,
    /// The table.
    pub table: Table,
    /// Notes below the table, as sentences.
    pub notes: Vec<String>,
}

impl TitledTable {
    /// As a part of a wide page of text; empty without a row.
    pub(crate) fn text(&self) -> String {
        if self.table.is_empty() {
            return String::new();
        }
        let notes: String = self.notes.iter().map(|note| format!("{note}\n")).collect();
        format!("\n{}:\n{}{notes}", self.title, self.table.render())
    }
}
