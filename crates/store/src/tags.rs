//! Tags: names that a person gives to studies.

use std::fmt;
use std::str::FromStr;

use rusqlite::{OptionalExtension, ToSql, params};

use crate::error::{Result, StoreError};
use crate::records::{StudyId, StudyRow};
use crate::store::{Store, require_study};

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
        self.write(|transaction, path| {
            require_study(transaction, path, study)?;
            let holder = transaction
                .query_row("SELECT study FROM tag WHERE name = ?1", [&tag.0], |row| row.get(0).map(StudyId))
                .optional()?;
            if let Some(holder) = holder.filter(|holder| *holder != study && !moves) {
                let (path, tag) = (path.to_owned(), tag.0.clone());
                return Err(StoreError::TagTaken { path, tag, holder }.into());
            }
            transaction.execute(
                "INSERT OR REPLACE INTO tag (name, study) VALUES (?1, ?2)",
                params![tag.0, study.0],
            )?;
            Ok(())
        })
    }

    /// Takes a tag away; the study that had it stays.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTag`]; else what writing can meet.
    pub fn untag(&mut self, tag: &Tag) -> Result<()> {
        self.write(|transaction, path| {
            match transaction.execute("DELETE FROM tag WHERE name = ?1", [&tag.0])? {
                0 => Err(StoreError::NoSuchTag { path: path.to_owned(), tag: tag.0.clone() }.into()),
                _ => Ok(()),
            }
        })
    }

    /// Adds the tags, and the pairs of fleets.
    pub(crate) fn mark(&self, rows: &mut [StudyRow]) -> Result<()> {
        let tags = self.rows("SELECT study, name FROM tag ORDER BY name", [], |row| {
            Ok((StudyId(row.get(0)?), row.get::<_, String>(1)?))
        })?;
        for row in &mut *rows {
            let id = row.id;
            row.tags = tags.iter().filter(|(study, _)| *study == id).map(|(_, tag)| tag.clone()).collect();
        }
        self.name_pairs(rows)
    }
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
