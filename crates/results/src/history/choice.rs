//! The choice and order of stored studies in a history.

use std::collections::BTreeSet;

use store::{StudyId, StudyRow};

words::vocabulary! {
    /// The order of a history.
    pub enum HistoryOrder: "an order" {
        /// The time at which they began.
        Time = "time";
        /// The versions in their tags: v6.2 before v6.12.
        Version = "version";
    }
}

/// The choice of studies for a history.
#[derive(Debug, Clone, Default)]
pub struct HistoryChoice {
    /// The name of the studies.
    pub name: String,
    /// Patterns of tags, with `*` for any text and `?` for any character. Empty: all studies.
    pub tags: Vec<String>,
    /// Their order; `None`: by version if tags are asked for, else by time.
    pub order: Option<HistoryOrder>,
    /// The number of studies, the newest in that order.
    pub last: Option<usize>,
}

impl HistoryChoice {
    /// The order that is meant.
    pub fn order(&self) -> HistoryOrder {
        let default = if self.tags.is_empty() { HistoryOrder::Time } else { HistoryOrder::Version };
        self.order.unwrap_or(default)
    }

    /// The chosen studies, oldest first, each with its name: the tag that it was chosen for, else
    /// its first one, else its number. By version, studies without a tag come first, by time.
    pub fn choose(&self, rows: &[StudyRow]) -> Vec<(StudyId, String)> {
        let is_meant = |tag: &str| self.tags.iter().any(|pattern| is_like(tag, pattern));
        let mut found: Vec<(&StudyRow, Option<&str>)> = Vec::new();
        for row in rows.iter().filter(|row| row.name == self.name) {
            let tags = || row.tags.iter().map(String::as_str);
            let tag = if self.tags.is_empty() { tags().next() } else { tags().find(|tag| is_meant(tag)) };
            if tag.is_some() || self.tags.is_empty() {
                found.push((row, tag));
            }
        }
        found.sort_by_key(|(row, _)| (row.started_unix_ms, row.id.0));
        // The sort is stable: studies of one version stay in the order of time.
        if self.order() == HistoryOrder::Version {
            found.sort_by_cached_key(|(_, tag)| tag.map(version));
        }
        let skipped = self.last.map_or(0, |last| found.len().saturating_sub(last));
        let chosen = |(row, tag): &(&StudyRow, Option<&str>)| {
            (row.id, tag.map_or_else(|| format!("study {}", row.id), str::to_owned))
        };
        found[skipped..].iter().map(chosen).collect()
    }
}

/// Whether a text is like a pattern in which `*` stands for any text and `?` for any character.
fn is_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // The lengths of the beginnings of the text that the pattern so far stands for.
    let mut lengths = BTreeSet::from([0]);
    for letter in pattern.chars() {
        lengths = match (letter, lengths.first()) {
            ('*', Some(least)) => (*least..=text.len()).collect(),
            _ => {
                let fits =
                    |length: &&usize| text.get(**length).is_some_and(|own| letter == '?' || *own == letter);
                lengths.iter().filter(fits).map(|length| length + 1).collect()
            }
        };
    }
    lengths.contains(&text.len())
}

// The words that make a version one before the release: `-rc1`.
const BEFORE_RELEASE: [&str; 5] = ["-rc", "-alpha", "-beta", "-pre", "-dev"];

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VersionPart<'v> {
    /// The beginning of a mark like `-rc`: the version comes before its release.
    BeforeRelease,
    /// The version comes before itself with anything else added.
    End,
    /// A letter, or a number by its size: by its first digit beside a letter, by its length and
    /// its digits beside another number.
    Rest(char, usize, &'v str),
}

fn version(tag: &str) -> Vec<VersionPart<'_>> {
    let mut parts = Vec::new();
    let mut rest = tag;
    while let Some(letter) = rest.chars().next() {
        let is_before = BEFORE_RELEASE.iter().any(|mark| rest.starts_with(mark));
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..digits].trim_start_matches('0');
        parts.push(match digits {
            0 if is_before => VersionPart::BeforeRelease,
            0 => VersionPart::Rest(letter, 0, ""),
            _ => VersionPart::Rest('0', number.len(), number),
        });
        rest = &rest[digits.max(letter.len_utf8())..];
    }
    parts.push(VersionPart::End);
    parts
}

#[cfg(test)]
mod tests;
