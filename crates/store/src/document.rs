//! JSON documents, each distinct one stored once.

use rusqlite::{Connection, OptionalExtension, Result, params};

/// The row of a document's text, made if it is new. Call inside a transaction.
pub(crate) fn intern(connection: &Connection, json: &str) -> Result<i64> {
    let hash = fnv1a(json.as_bytes()).cast_signed();
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

/// FNV-1a, 64 bits (Fowler, Noll, Vo): short, and the same in every version of the program, which
/// the standard library's hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_equals_the_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
