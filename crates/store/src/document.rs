//! JSON documents, each distinct one stored once.

use rusqlite::{Connection, OptionalExtension, Result, params};

/// The row of a document's text, made if needed. Call inside a transaction.
pub(crate) fn intern(connection: &Connection, json: &str) -> Result<i64> {
    let hash = words::fnv1a(json.as_bytes()).cast_signed();
    let known = connection
        .prepare_cached("SELECT id FROM document WHERE hash = ?1 AND json = ?2")?
        .query_row(params![hash, json], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO document (hash, json) VALUES (?1, ?2)")?
        .execute(params![hash, json])?;
    Ok(connection.last_insert_rowid())
}
