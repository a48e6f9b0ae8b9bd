//! Tags: names that a person gives to studies.

use std::collections::BTreeMap;
use std::fmt;
use std::slice;
use std::str::FromStr;

use rusqlite::types::Value;
use rusqlite::{Row, ToSql};

use crate::error::{Result, StoreError};
use crate::records::{StudyId, StudyRow};
use crate::store::Store;
use crate::tables::{Rows, require};

const LONGEST_TAG: usize = 64; // bytes

/// A person's name for one study: letters, digits, `.`, `_` and `-`, with something that is no
/// digit, as numbers are the studies' own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(String);

/// Why a word is no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tag has 1 to {LONGEST_TAG} letters, digits, '.', '_' and '-', does not begin with '-', and is not a number"
)]
pub struct TagError;

impl FromStr for Tag {
    type Err = TagError;

    fn from_str(word: &str) -> Result<Tag, TagError> {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        let is_tag = (1..=LONGEST_TAG).contains(&word.len())
            && word.chars().all(allowed)
            && !word.starts_with('-')
            && !is_number(word);
        is_tag.then(|| Tag(word.to_owned())).ok_or(TagError)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Store {
    /// The studies that a word means, oldest first: the one of this number, the one with this tag,
    /// or all of this name. Never empty.
    ///
    /// # Errors
    /// [`StoreError::NoStudyCalled`]; else what reading can meet.
    pub fn called(&self, word: &str) -> Result<Vec<StudyId>> {
        let studies = |query: &str, key: &dyn ToSql| self.rows(query, [key], |row| row.get(0).map(StudyId));
        let mut found = match word.parse::<i64>() {
            Ok(number) if is_number(word) => studies("SELECT id FROM study WHERE id = ?1", &number)?,
            _ => studies("SELECT study FROM tag WHERE name = ?1", &word)?,
        };
        if found.is_empty() {
            found = studies("SELECT id FROM study WHERE name = ?1 ORDER BY id", &word)?;
        }
        if found.is_empty() {
            return Err(StoreError::NoStudyCalled { path: self.place.named.clone(), word: word.to_owned() });
        }
        Ok(found)
    }

    /// Tags a study. `moves`: a tag that names another study is taken from it.
    ///
    /// # Errors
    /// [`StoreError::TagTaken`], [`StoreError::NoSuchStudy`]; else what writing can meet.
    pub fn tag(&mut self, study: StudyId, tag: &Tag, moves: bool) -> Result<()> {
        let name = Value::from(tag.0.clone());
        self.alter(|tables, path| {
            require(tables, path, study)?;
            let holder = tables.ask("SELECT study FROM tag WHERE name = $1", slice::from_ref(&name))?;
            match holder.into_iter().flatten().next().map(StudyId) {
                Some(holder) if holder == study => return Ok(()),
                Some(holder) if !moves => {
                    let (path, tag) = (path.to_owned(), tag.0.clone());
                    return Err(StoreError::TagTaken { path, tag, holder }.into());
                }
                Some(_) => _ = tables.change("DELETE FROM tag WHERE name = $1", slice::from_ref(&name))?,
                None => {}
            }
            let row = Rows::one([("name", name.clone()), ("study", study.0.into())]);
            tables.add("tag", row).map(drop)
        })
    }

    /// Takes a tag away; the study that had it stays.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTag`]; else what writing can meet.
    pub fn untag(&mut self, tag: &Tag) -> Result<()> {
        let name = Value::from(tag.0.clone());
        self.alter(|tables, path| {
            match tables.change("DELETE FROM tag WHERE name = $1", slice::from_ref(&name))? {
                0 => Err(StoreError::NoSuchTag { path: path.to_owned(), tag: tag.0.clone() }.into()),
                _ => Ok(()),
            }
        })
    }

    /// Adds the tags, and the pairs of fleets.
    pub(crate) fn mark(&self, rows: &mut [StudyRow]) -> Result<()> {
        let tags = match rows {
            [only] => self.rows(
                "SELECT study, name FROM tag WHERE study = ?1 ORDER BY name",
                [only.id.0],
                study_and_tag,
            )?,
            _ => self.rows("SELECT study, name FROM tag ORDER BY name", [], study_and_tag)?,
        };
        let mut of_studies: BTreeMap<StudyId, Vec<String>> = BTreeMap::new();
        for (study, tag) in tags {
            of_studies.entry(study).or_default().push(tag);
        }
        for row in &mut *rows {
            row.tags = of_studies.remove(&row.id).unwrap_or_default();
        }
        self.name_pairs(rows)
    }
}

fn study_and_tag(row: &Row<'_>) -> rusqlite::Result<(StudyId, String)> {
    Ok((StudyId(row.get(0)?), row.get(1)?))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_names_and_not_numbers() {
        for word in ["main", "v6.12-rc1", "2026-11-23", "1a", "_", "6.12"] {
            assert_eq!(word.parse::<Tag>().map(|tag| tag.to_string()), Ok(word.to_owned()));
        }
        let long = "a".repeat(65);
        for word in ["", "12", "-x", "a b", "a/b", "a\u{1b}", "é", long.as_str()] {
            assert!(word.parse::<Tag>().is_err(), "{word:?}");
        }
    }
}
