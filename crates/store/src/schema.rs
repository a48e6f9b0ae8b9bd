//! The tables, and how older files become newer ones.

use rusqlite::{Connection, Result};
use rusqlite_migration::{M, Migrations};

/// What SQLite's `application_id` says in a file of netassay: the letters "NASY" (they show in
/// `file netassay.db`).
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"NASY");

/// The newest schema this program knows; SQLite's `user_version` holds the file's.
pub const SCHEMA_VERSION: i32 = STEPS.len() as i32;

/// One step per schema version, each applied in one transaction. A published step is never edited:
/// add another.
const STEPS: &[M<'static>] = &[M::up(include_str!("schema/1.sql")).foreign_key_check()];

/// The way from any older schema, an empty file included, to [`SCHEMA_VERSION`].
pub(crate) const MIGRATIONS: Migrations<'static> = Migrations::from_slice(STEPS);

/// How the file's schema differs from that of `version` as this program makes it; none if it is the
/// same to the letter.
///
/// Anything else in a file is work for SQLite that somebody else thought of: a view in a table's
/// place can be endless.
pub(crate) fn difference(connection: &Connection, version: i32) -> Result<Option<String>> {
    let mut own = Connection::open_in_memory()?;
    let steps = usize::try_from(version).unwrap_or(0);
    MIGRATIONS.to_version(&mut own, steps).expect("every step is valid: a test says so");
    let (own, found) = (objects(&own)?, objects(connection)?);
    let name = |object: &Object| format!("{} {:?}", object.kind, shortened(&object.name));
    Ok(match (own.iter().find(|one| !found.contains(one)), found.iter().find(|one| !own.contains(one))) {
        (None, None) if own.len() == found.len() => None,
        (None, None) => Some("it holds an object twice".to_owned()),
        (_, Some(other)) => Some(format!("its {} is not of netassay's making", name(other))),
        (Some(missing), None) => Some(format!("it has no {}", name(missing))),
    })
}

/// A table, an index, or what else a schema may hold.
#[derive(PartialEq)]
struct Object {
    kind: String,
    name: String,
    table: String,
    /// None for an index that SQLite made itself.
    sql: Option<String>,
}

fn objects(connection: &Connection) -> Result<Vec<Object>> {
    connection
        // More than any version has, so that a file cannot make the list long.
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type = 'index' LIMIT 100")?
        .query_map([], |row| {
            Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
        })?
        .collect()
}

/// A name that somebody else chose, as much of it as a message can hold.
fn shortened(name: &str) -> String {
    name.chars().take(40).collect()
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
