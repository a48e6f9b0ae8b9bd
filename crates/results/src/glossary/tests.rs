use std::collections::HashSet;

use stats::Verdict;
use stats::diagnostics::FlagKind as Flag;

use super::*;

fn names(section: &str) -> HashSet<String> {
    entries().into_iter().filter(|entry| entry.section == section).map(|entry| entry.name).collect()
}

#[test]
fn every_word_of_the_vocabularies_is_defined() {
    let lacks = |section: &str, words: &[&str]| {
        let names = names(section);
        assert!(!words.is_empty());
        for word in words {
            assert!(names.contains(*word), "{section} lacks {word}");
        }
    };
    lacks("Testbed", &Scenario::ALL.map(Scenario::word));
    lacks("Testbed", &Side::BOTH.map(Side::word));
    lacks("Traffic", &Kind::ALL.map(Kind::word));
    lacks("Traffic", &[Family::Ipv4, Family::Ipv6].map(Family::word));
    lacks("Senders", &Sender::ALL.map(Sender::word));
    lacks("Readers", &Reader::ALL.map(Reader::word));
    lacks("Directions", &Direction::ALL.map(Direction::word));
    use Verdict::{Equivalent, Higher, Inconclusive, Lower, NoDifferenceProven};
    let verdicts = [Higher, Lower, NoDifferenceProven, Equivalent, Inconclusive];
    lacks("Verdicts", &verdicts.map(Verdict::as_str));
    lacks("Limits", &Label::ALL.map(Label::word));
    let groups: Vec<&str> = feature::GROUPS.iter().map(|group| group.short).collect();
    lacks("Interface features", &groups);
    for name in KEYS
        .iter()
        .map(|key| key.name)
        .chain(METRICS.iter().map(|metric| metric.key))
        .chain(feature::GROUPS.iter().map(|group| group.long))
        .chain(Label::ALL.map(Label::short))
        .chain(["not proven", "slower", "less CPU", "worse", "not measured", "trade-off", "holds"])
    {
        assert!(!find(name).is_empty(), "{name} is not defined");
    }
}

#[test]
fn each_kind_of_warning_is_defined() {
    let defined = names("Data-quality warnings");
    for kind in [
        Flag::Drift,
        Flag::DriftInBoots,
        Flag::OutlyingBoot,
        Flag::OutlyingRun,
        Flag::SeveralModes,
        Flag::FirstRun,
        Flag::Constant,
    ] {
        let name = match kind {
            Flag::Drift | Flag::DriftInBoots => "drift",
            Flag::OutlyingBoot => "outlying boot",
            Flag::OutlyingRun => "outlying run",
            Flag::SeveralModes => "several modes",
            Flag::FirstRun => "first run",
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
            assert!(seen.insert((entry.section, fold(name))), "{}: {name} is defined twice", entry.section);
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
fn an_unknown_word_gets_the_nearest_one() {
    assert_eq!(nearest("verdit").as_deref(), Some("verdict"));
    assert_eq!(nearest("qqqqqqqqqqqqqq"), None);
}
