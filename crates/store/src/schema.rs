//! The tables, and how older files become newer ones.

use rusqlite_migration::{M, Migrations};

/// What SQLite's `application_id` says in a file of netassay: the letters "NASY" (they show in `file netassay.db`).
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"NASY");

/// The newest schema this program knows; SQLite's `user_version` holds the file's.
pub const SCHEMA_VERSION: i32 = STEPS.len() as i32;

/// One step per schema version, each applied in one transaction. A published step is never edited: add another.
const STEPS: &[M<'static>] = &[
    M::up(include_str!("schema/1.sql")).foreign_key_check(),
    M::up(include_str!("schema/2.sql")).foreign_key_check(),
];

/// The way from any older schema, an empty file included, to [`SCHEMA_VERSION`].
pub(crate) const MIGRATIONS: Migrations<'static> = Migrations::from_slice(STEPS);

/// What makes a file of `version`, which is only read and so keeps its schema, look like one of [`SCHEMA_VERSION`].
pub(crate) fn as_newest(version: i32) -> Option<&'static str> {
    (version == 1).then_some(include_str!("schema/1-as-2.sql"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_valid_sql() {
        MIGRATIONS.validate().unwrap();
    }

    #[test]
    fn the_first_step_writes_the_application_id() {
        assert!(include_str!("schema/1.sql").contains(&format!("PRAGMA application_id = {APPLICATION_ID};")));
    }
}
