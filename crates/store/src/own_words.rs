//! Names of hosts and users that studies have as words of their own: a host called `veth`, a user
//! called `tcp`. A document in which such a word is replaced is no document of ours any more, and
//! as the word is in every study, it tells nothing of anybody.

use record::{Detail, Environment, Evidence};
use serde_json::Value;
use study::{Plan, Study};

use crate::error::StoreError;
use crate::record::StudyId;
use crate::redact::Identities;
use crate::store::Store;

/// What is tried in the place of a name: no word of a study.
const OTHER: &str = "host-1";

/// Whether a document can be read.
type IsReadable = fn(&str) -> bool;

/// The documents of a study, by the query that gives them.
const DOCUMENTS: [(&str, IsReadable); 5] = [
    ("SELECT plan FROM study WHERE id = ?1", |json| Plan::read(json).is_ok()),
    ("SELECT toml FROM study WHERE id = ?1", |toml| Study::parse("study", toml).is_ok()),
    (
        "SELECT json FROM document WHERE id IN (SELECT environment FROM boot WHERE study = ?1
         UNION SELECT environment_after FROM boot WHERE study = ?1)",
        |json| serde_json::from_str::<Environment>(json).is_ok(),
    ),
    ("SELECT detail FROM run WHERE study = ?1", |json| Detail::read(json).is_ok()),
    ("SELECT evidence FROM run WHERE study = ?1 AND evidence IS NOT NULL", |json| {
        serde_json::from_str::<Vec<Evidence>>(json).is_ok()
    }),
];

/// The identities without the names that these studies need, and those names.
///
/// # Errors
/// What reading can meet.
pub(crate) fn divide(
    source: &Store,
    studies: &[StudyId],
    known: Identities,
) -> Result<(Identities, Vec<String>), StoreError> {
    let mut kept = Vec::new();
    let mut without = |names: Vec<String>| -> Result<Vec<String>, StoreError> {
        let mut others = Vec::new();
        for name in names {
            if is_needed(source, studies, &name)? {
                kept.push(name);
            } else {
                others.push(name);
            }
        }
        Ok(others)
    };
    let known = Identities { hosts: without(known.hosts)?, users: without(known.users)? };
    kept.sort_unstable();
    kept.dedup();
    Ok((known, kept))
}

/// Whether a document of these studies cannot be read with another word in the place of this one.
fn is_needed(source: &Store, studies: &[StudyId], name: &str) -> Result<bool, StoreError> {
    for study in studies {
        for (query, is_readable) in DOCUMENTS {
            let documents = source.rows(query, [study.0], |row| row.get::<_, String>(0))?;
            // Most documents of a study differ in figures only, and few hold the name.
            let mut holding = documents.iter().filter(|document| document.contains(name));
            if holding.any(|document| {
                replaced(document, name).is_some_and(|other| is_readable(document) && !is_readable(&other))
            }) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A document with the name replaced where it is a whole text; `None` if it is none.
fn replaced(document: &str, name: &str) -> Option<String> {
    let quoted = |text: &str| format!("{text:?}");
    match serde_json::from_str::<Value>(document) {
        Ok(mut value) => replace(&mut value, name).then(|| value.to_string()),
        // A study file.
        Err(_) => document.contains(&quoted(name)).then(|| document.replace(&quoted(name), &quoted(OTHER))),
    }
}

fn replace(value: &mut Value, name: &str) -> bool {
    match value {
        Value::String(text) if text == name => {
            OTHER.clone_into(text);
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| replace(item, name) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, field| replace(field, name) | any),
        _ => false,
    }
}
