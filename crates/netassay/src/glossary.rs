//! Every term of the output and the docs with its definition: for `netassay explain` and
//! `docs/glossary.md`. Keys of traffic, metrics and features come from the tables in `words`; all
//! other terms are in `terms`.

mod terms;

use words::metric::{Better, METRICS, Metric};
use words::{KEYS, Key, Side, feature, suggest};

use terms::{Section, Term};

/// How many near words an unknown word is answered with.
const NEAR: usize = 3;

/// One definition.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Entry {
    /// The title of its section.
    pub(crate) section: &'static str,
    pub(crate) name: String,
    /// Other words that find it.
    pub(crate) also: Vec<String>,
    /// In sentences.
    pub(crate) meaning: String,
}

/// All definitions, section by section, in the order of `docs/glossary.md`.
pub(crate) fn entries() -> Vec<Entry> {
    let written = |section: &'static Section| section.terms.iter().map(|term| written(section, term));
    let mut entries: Vec<Entry> =
        [&terms::STUDY, &terms::TESTBED, &terms::TRAFFIC].into_iter().flat_map(written).collect();
    entries.extend(KEYS.iter().map(of_key));
    entries.extend(
        [&terms::SENDERS, &terms::READERS, &terms::DIRECTIONS, &terms::MEASUREMENT]
            .into_iter()
            .flat_map(written),
    );
    entries.extend(METRICS.iter().filter(|metric| metric.side != Some(Side::Receiver)).map(of_metric));
    entries.extend(
        [&terms::STATISTICS, &terms::VERDICTS, &terms::LIMITS, &terms::WARNINGS]
            .into_iter()
            .flat_map(written),
    );
    entries.extend(terms::FEATURES.terms.iter().map(of_feature));
    entries
}

/// The definitions of a word: one for each meaning that it has.
pub(crate) fn find(word: &str) -> Vec<Entry> {
    let word = fold(word);
    let is_meant = |name: &str| fold(name) == word;
    entries()
        .into_iter()
        .filter(|entry| is_meant(&entry.name) || entry.also.iter().any(|name| is_meant(name)))
        .collect()
}

/// The words nearest to one that has no definition, the nearest first.
pub(crate) fn near(word: &str) -> Vec<String> {
    let mut known: Vec<String> =
        entries().into_iter().flat_map(|entry| [vec![entry.name], entry.also].concat()).collect();
    let mut near = Vec::new();
    while near.len() < NEAR {
        let Some(next) = suggest::nearest(word, known.iter().map(String::as_str)).map(str::to_owned) else {
            break;
        };
        known.retain(|other| *other != next);
        near.push(next);
    }
    near
}

/// Case is no difference, nor the choice between a space, `-` and `_`.
fn fold(word: &str) -> String {
    word.trim().to_lowercase().replace([' ', '_'], "-")
}

fn written(section: &Section, term: &Term) -> Entry {
    Entry {
        section: section.title,
        name: term.name.to_owned(),
        also: term.also.iter().map(|&name| name.to_owned()).collect(),
        meaning: term.meaning.to_owned(),
    }
}

fn of_key(key: &Key) -> Entry {
    let factor = if key.is_factor { "" } else { " It cannot be a factor." };
    Entry {
        section: "Keys of traffic",
        name: key.name.to_owned(),
        also: vec![format!("--{}", key.name.replace('_', "-"))],
        meaning: format!("{} Values: {}.{factor}", key.description(), key.range()),
    }
}

fn of_metric(metric: &Metric) -> Entry {
    let better = match metric.better {
        Better::Higher => " Higher is better.",
        Better::Lower => " Lower is better.",
        Better::Neither => "",
    };
    let quantity = metric.quantity;
    let meaning = format!("{}. Unit: {}.{better}", sentence(quantity), metric.unit);
    // Both sides have the same metrics: one definition serves both.
    let also = metric
        .side
        .map_or_else(Vec::new, |_| Side::BOTH.map(|side| format!("{side}.{}", metric.own)).to_vec());
    Entry { section: "Metrics", name: metric.own.to_owned(), also, meaning }
}

fn of_feature(term: &Term) -> Entry {
    let mut entry = written(&terms::FEATURES, term);
    if let Some(group) = feature::GROUPS.iter().find(|group| group.short == term.name) {
        entry.also.push(group.long.to_owned());
        entry.also.extend(group.members.iter().map(|&member| member.to_owned()));
    }
    entry
}

/// A fragment as the beginning of a sentence.
fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use stats::Verdict;
    use stats::diagnostics::Kind as Flag;
    use words::{Direction, Family, Kind, Reader, Scenario, Sender};

    use super::*;

    /// The names of a section's terms.
    fn names(section: &str) -> HashSet<String> {
        entries().into_iter().filter(|entry| entry.section == section).map(|entry| entry.name).collect()
    }

    #[test]
    fn every_word_of_the_vocabularies_is_defined() {
        let lacks = |section: &Section, words: &[&str]| {
            let names = names(section.title);
            assert!(!words.is_empty());
            for word in words {
                assert!(names.contains(*word), "{} lacks {word}", section.title);
            }
        };
        lacks(&terms::TESTBED, &Scenario::ALL.map(Scenario::word));
        lacks(&terms::TESTBED, &Side::BOTH.map(Side::word));
        lacks(&terms::TRAFFIC, &Kind::ALL.map(Kind::word));
        lacks(&terms::TRAFFIC, &[Family::Ipv4, Family::Ipv6].map(Family::word));
        lacks(&terms::SENDERS, &Sender::ALL.map(Sender::word));
        lacks(&terms::READERS, &Reader::ALL.map(Reader::word));
        lacks(&terms::DIRECTIONS, &Direction::ALL.map(Direction::word));
        use Verdict::{Equivalent, Higher, Inconclusive, Lower, NoDifferenceProven};
        lacks(
            &terms::VERDICTS,
            &[Higher, Lower, NoDifferenceProven, Equivalent, Inconclusive].map(Verdict::as_str),
        );
        lacks(&terms::LIMITS, &words::Label::ALL.map(words::Label::word));
        let groups: Vec<&str> = feature::GROUPS.iter().map(|group| group.short).collect();
        lacks(&terms::FEATURES, &groups);
        for name in KEYS
            .iter()
            .map(|key| key.name)
            .chain(METRICS.iter().map(|metric| metric.key))
            .chain(feature::GROUPS.iter().map(|group| group.long))
        {
            assert!(!find(name).is_empty(), "{name} is not defined");
        }
    }

    #[test]
    fn each_kind_of_warning_is_defined() {
        let defined = names(terms::WARNINGS.title);
        for kind in Flag::ALL {
            let name = match kind {
                Flag::Drift | Flag::DriftInBoots => "drift",
                Flag::SerialCorrelation => "serial correlation",
                Flag::OutlyingBoot | Flag::OutlyingCell => "outlying boot",
                Flag::OutlyingRun => "outlying run",
                Flag::SeveralModes => "several modes",
                Flag::FirstRun => "first run",
                Flag::Saturation => "saturation",
                Flag::Constant => "constant",
            };
            assert!(defined.contains(name), "{kind:?}");
        }
    }

    #[test]
    fn no_section_defines_a_word_twice_and_each_definition_is_sentences() {
        let mut seen = HashSet::new();
        for entry in entries() {
            for name in std::iter::once(&entry.name).chain(&entry.also) {
                assert!(
                    seen.insert((entry.section, fold(name))),
                    "{}: {name} is defined twice",
                    entry.section
                );
            }
            assert!(entry.meaning.ends_with('.') && entry.meaning.len() > 10, "{entry:?}");
            assert!(entry.meaning.starts_with(|c: char| !c.is_lowercase()), "{entry:?}");
        }
    }

    #[test]
    fn a_word_is_found_however_it_is_written() {
        for word in ["false-positive rate", "False positive RATE", "false_positive_rate"] {
            assert_eq!(find(word)[0].name, "false-positive rate");
        }
        let sections: Vec<&str> = find("GRO").iter().map(|entry| entry.section).collect();
        assert_eq!(sections, ["Readers", "Interface features"]);
        assert_eq!(find("receiver.cpu")[0].name, "cpu");
        assert_eq!(find("tx-tcp6-segmentation")[0].name, "tso");
        assert!(find("wombat").is_empty());
    }

    #[test]
    fn an_unknown_word_gets_the_nearest_ones() {
        assert_eq!(near("verdit")[0], "verdict");
        assert!(near("sendmsg").contains(&"sendmmsg".to_owned()));
        assert!(near("qqqqqqqqqqqqqq").is_empty());
    }
}
