//! Whatever the text: a study or diagnostics, never a panic; and what every plan must satisfy.

mod grammar;
mod hostile;
mod plans;
mod set;

use std::collections::HashSet;

use netassay_study::{Diagnostics, Plan, Study, bundled, expected_duration, starter};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Reads a text and uses whatever comes of it.
pub(crate) fn digest(text: &str) -> Result<Plan, Diagnostics> {
    match Study::parse("any.toml", text) {
        Ok(study) => {
            let plan = study.plan();
            let _ = expected_duration(&plan, &study.protocol);
            check(&plan);
            Ok(plan)
        }
        Err(diagnostics) => {
            let lines = text.split('\n').count();
            assert!(!diagnostics.problems.is_empty());
            assert!(diagnostics.problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
            assert!(!diagnostics.render(false).is_empty() && !diagnostics.render(true).is_empty());
            Err(diagnostics)
        }
    }
}

/// Checks the properties of every plan.
pub(crate) fn check(plan: &Plan) {
    assert!(!plan.conditions.is_empty());
    let mut slugs = HashSet::new();
    for (index, condition) in plan.conditions.iter().enumerate() {
        assert_eq!(condition.index, index);
        assert!(!condition.label.is_empty());
        assert!(slugs.insert(&condition.slug), "{} twice", condition.slug);
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        assert!(condition.slug.chars().all(allowed), "{}", condition.slug);
        assert!(condition.workload.traffic.kind.is_rr() == (condition.workload.traffic.response > 0));
    }
    for comparison in &plan.comparisons {
        assert!(!comparison.conditions.is_empty());
        assert!(comparison.conditions.is_sorted_by(|one, next| one < next), "in plan order, each once");
        assert!(!comparison.conditions.contains(&comparison.baseline));
        for index in comparison.conditions.iter().chain([&comparison.baseline]) {
            assert_eq!(plan.conditions[*index].workload.name, comparison.workload);
        }
    }
}

/// A valid file to start from.
fn valid() -> impl Strategy<Value = String> {
    let mut texts: Vec<String> = bundled::list().iter().map(|study| study.text.to_owned()).collect();
    texts.push(starter("start"));
    select(texts)
}

/// Pieces that mean something to a study file.
fn piece() -> impl Strategy<Value = &'static str> {
    select(vec![
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        "\"",
        "'",
        ",",
        ".",
        "#",
        "\n",
        "\r\n",
        "\t",
        "\u{0}",
        "\u{1b}",
        "\u{feff}",
        "ä",
        "💥",
        "\"\"\"",
        "0x",
        "1e9",
        "-1",
        "99999999999999999999",
        "1500",
        "true",
        "[[exclude]]\n",
        "[factors]\n",
        "[[workload]]\n",
        "[[comparison]]\n",
        "family = ",
        "offloads = ",
        "transmitter.",
        "receiver",
        "tso = ",
        "gso",
        "\"ipv4\"",
        "[\"on\", \"off\"]",
        "baseline = {",
        "kind = \"udp_rr\"\n",
        "message = ",
        "mtu = [68, 1280]\n",
        "checksum = \"off\"\n",
        "loopback",
        "duration = \"1ms\"\n",
        "workload = []\n",
        "exclude = [{}]\n",
        "[]\n",
        "factors = {}\n",
        "boots = 1000\n",
        "inf",
        "nan",
        "1979-05-27",
    ])
}

#[derive(Debug, Clone)]
enum Edit {
    Insert(Index, &'static str),
    Remove(Index, usize),
    Repeat(Index, usize),
    Swap(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), piece()).prop_map(|(place, piece)| Edit::Insert(place, piece)),
        (any::<Index>(), 1..40_usize).prop_map(|(place, length)| Edit::Remove(place, length)),
        (any::<Index>(), 1..200_usize).prop_map(|(place, length)| Edit::Repeat(place, length)),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Edit::Swap(one, other)),
    ]
}

fn apply(text: &str, edit: &Edit) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return piece_or_nothing(edit);
    }
    let length = characters.len();
    match edit {
        Edit::Insert(place, piece) => {
            let place = place.index(length);
            characters.splice(place..place, piece.chars());
        }
        Edit::Remove(place, count) => {
            let place = place.index(length);
            characters.drain(place..(place + count).min(length));
        }
        Edit::Repeat(place, count) => {
            let place = place.index(length);
            let again: Vec<char> = characters[place..(place + count).min(length)].to_vec();
            characters.splice(place..place, again);
        }
        // Lines, so that keys land in other tables.
        Edit::Swap(one, other) => {
            let mut lines: Vec<&str> = text.split('\n').collect();
            let count = lines.len();
            lines.swap(one.index(count), other.index(count));
            return lines.join("\n");
        }
    }
    characters.into_iter().collect()
}

fn piece_or_nothing(edit: &Edit) -> String {
    match edit {
        Edit::Insert(_, piece) => (*piece).to_owned(),
        _ => String::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}|[\\x00-\\x7f]{0,200}") {
        let _ = digest(&text);
    }

    #[test]
    fn pieces_of_study_files_are_read_or_refused(pieces in proptest::collection::vec(piece(), 0..60)) {
        let _ = digest(&pieces.concat());
    }

    #[test]
    fn damaged_study_files_are_read_or_refused(text in valid(), edits in proptest::collection::vec(edit(), 1..8)) {
        let damaged = edits.iter().fold(text, |text, edit| apply(&text, edit));
        let _ = digest(&damaged);
    }
}
