//! The choice and order of stored studies in a history.

use std::collections::BTreeSet;

use serde::Serialize;
use store::{StudyId, StudyRow};

/// The order of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryOrder {
    /// By the time at which studies began.
    Time,
    /// By the versions in their tags: v6.2 before v6.12, v6.12-rc1 before v6.12.
    Version,
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
mod tests {
    use store::StudyStatus;

    use super::*;

    #[test]
    fn versions_are_in_the_order_in_which_they_are_released() {
        let sorted = [
            "6.1",
            "6.1.9",
            "6.1.10",
            "6.12-rc1",
            "6.12-rc2",
            "6.12-rc10",
            "6.12",
            "6.12-patched",
            "6.12.1",
            "6.100",
            "v6.1",
            "v6.12",
        ];
        for (place, one) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                assert_eq!(version(one).cmp(&version(other)), place.cmp(&other_place), "{one} and {other}");
            }
        }
        let dates = ["2026-02-03", "2026-11-23", "2026-11-23b"];
        assert!(dates.windows(2).all(|pair| version(pair[0]) < version(pair[1])));
        assert_eq!(version("v6.01"), version("v6.1"));
    }

    #[test]
    fn patterns_stand_for_tags() {
        for (text, pattern) in
            [("v6.12", "v6.*"), ("v6.12", "*"), ("v6.12", "v?.12"), ("a-b-c", "*-c"), ("x", "x")]
        {
            assert!(is_like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [("v7.1", "v6.*"), ("v6", "v6.*"), ("x", ""), ("a-b", "*-c"), ("ab", "?")] {
            assert!(!is_like(text, pattern), "{text} {pattern}");
        }
    }

    fn row(id: i64, name: &str, tags: &[&str], started: i64) -> StudyRow {
        StudyRow {
            id: StudyId(id),
            name: name.to_owned(),
            scenario: "veth".to_owned(),
            seed: 1,
            version: "0.1.0".to_owned(),
            status: StudyStatus::Complete,
            started_unix_ms: started,
            finished_unix_ms: None,
            boots: 3,
            recorded_runs: 36,
            failed_runs: 0,
            invalid_runs: 0,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            pair: None,
            toml: String::new(),
        }
    }

    #[test]
    fn studies_of_one_name_are_chosen_by_time_by_tag_and_by_number() {
        let rows = [
            row(1, "quick", &["v6.12"], 30),
            row(2, "quick", &["main", "v6.2"], 20),
            row(3, "other", &["v6.3"], 25),
            row(4, "quick", &[], 10),
        ];
        let of = |choice: HistoryChoice| -> Vec<String> {
            choice.choose(&rows).into_iter().map(|(_, label)| label).collect()
        };
        let quick = HistoryChoice { name: "quick".to_owned(), ..HistoryChoice::default() };
        assert_eq!(of(quick.clone()), ["study 4", "main", "v6.12"]);
        let tagged = HistoryChoice { tags: vec!["v6.*".to_owned()], ..quick.clone() };
        assert_eq!(of(tagged.clone()), ["v6.2", "v6.12"]);
        assert_eq!(of(HistoryChoice { last: Some(1), ..tagged }), ["v6.12"]);
        let versions = HistoryChoice { order: Some(HistoryOrder::Version), ..quick };
        assert_eq!(of(versions), ["study 4", "main", "v6.12"]);
    }
}
