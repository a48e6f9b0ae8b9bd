//! The tables, and the steps that update older files.

use rusqlite::{Connection, Result};
use rusqlite_migration::{M, Migrations};

/// SQLite's `application_id` in a file of netassay: the letters "NASY" (`file netassay.db` shows
/// them).
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"NASY");

/// The newest schema this program knows; SQLite's `user_version` holds the file's.
pub const SCHEMA_VERSION: i32 = STEPS.len() as i32;

// One step per schema version, each applied in one transaction. A published step never changes,
// but for [`SAME_CONSTRAINT`]: add another.
const STEPS: &[M<'static>] = &[
    M::up(include_str!("schema/1.sql")).foreign_key_check(),
    M::up(include_str!("schema/2.sql")).foreign_key_check(),
];

pub(crate) const MIGRATIONS: Migrations<'static> = Migrations::from_slice(STEPS);

// Both accept the same rows, but in SQLite before 3.45 `json_valid(NULL)` is 0, so that `PRAGMA
// integrity_check` fails with the first, of earlier versions.
const SAME_CONSTRAINT: [&str; 2] =
    ["(json_valid(evidence) AND", "((evidence IS NULL OR json_valid(evidence)) AND"];

/// The first difference from the schema of `version`; `None` if identical.
pub(crate) fn difference(connection: &Connection, version: i32) -> Result<Option<String>> {
    let mut own = Connection::open_in_memory()?;
    let steps = usize::try_from(version).unwrap_or(0);
    MIGRATIONS.to_version(&mut own, steps).expect("every step is valid: a test says so");
    // Another schema may keep SQLite busy for ever: a table may be a view with an endless query.
    let (own, found) = (objects(&own)?, objects(connection)?);
    // The file chose the name: short enough for a message.
    let name = |[kind, name, ..]: &Object| {
        let [kind, name] = [kind, name].map(|text| text.as_deref().unwrap_or_default());
        format!("{kind} {:?}", name.chars().take(40).collect::<String>())
    };
    Ok(match (own.iter().find(|one| !found.contains(one)), found.iter().find(|one| !own.contains(one))) {
        (None, None) if own.len() == found.len() => None,
        (None, None) => Some("it holds an object twice".to_owned()),
        (_, Some(other)) => Some(format!("its {} is not of netassay's making", name(other))),
        (Some(missing), None) => Some(format!("it has no {}", name(missing))),
    })
}

/// Its kind, its name, its table and its SQL, which an index that SQLite made itself does not have.
type Object = [Option<String>; 4];

fn objects(connection: &Connection) -> Result<Vec<Object>> {
    connection
        // More objects than any version has, to bound the list.
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type = 'index' LIMIT 100")?
        .query_map([], |row| {
            let sql: Option<String> = row.get(3)?;
            let sql = sql.map(|sql| sql.replacen(SAME_CONSTRAINT[0], SAME_CONSTRAINT[1], 1));
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, sql])
        })?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_valid_sql() {
        MIGRATIONS.validate().unwrap();
    }

    /// `json_valid(NULL)` is 0 in some versions of SQLite, and NULL in others.
    #[test]
    fn no_constraint_asks_whether_null_is_json() {
        let tables = include_str!("schema/1.sql");
        for line in tables.lines().filter(|line| line.contains("json_valid(")) {
            assert!(line.contains("NOT NULL") || line.contains("IS NULL OR json_valid("), "{line}");
        }
        let before = tables.replace(SAME_CONSTRAINT[1], SAME_CONSTRAINT[0]);
        assert_ne!(before, tables);
        let earlier = Connection::open_in_memory().unwrap();
        earlier.execute_batch(&before).unwrap();
        assert_eq!(difference(&earlier, 1).unwrap(), None, "an earlier file is refused");
    }

    #[test]
    fn the_first_step_writes_the_application_id() {
        assert!(include_str!("schema/1.sql").contains(&format!("PRAGMA application_id = {APPLICATION_ID};")));
    }
}
