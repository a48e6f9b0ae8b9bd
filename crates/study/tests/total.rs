//! Whatever the text: a study or diagnostics, never a panic; and what every plan must satisfy.

use std::collections::HashSet;

use netassay_study::{Diagnostics, Plan, Study, bundled, expected_duration, schedule, starter};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Reads a text and uses whatever comes of it.
fn digest(text: &str) -> Result<Plan, Diagnostics> {
    match Study::parse("any.toml", text) {
        Ok(study) => {
            let plan = study.plan();
            let _ = expected_duration(&plan, study.protocol());
            check(&plan);
            Ok(plan)
        }
        Err(diagnostics) => {
            let lines = text.split('\n').count();
            assert!(!diagnostics.problems().is_empty());
            assert!(diagnostics.problems().iter().all(|problem| (1..=lines).contains(&problem.line)));
            assert!(!diagnostics.render(false).is_empty() && !diagnostics.render(true).is_empty());
            Err(diagnostics)
        }
    }
}

/// What holds of every plan.
fn check(plan: &Plan) {
    assert!(!plan.conditions.is_empty());
    let mut slugs = HashSet::new();
    for (index, condition) in plan.conditions.iter().enumerate() {
        assert_eq!(condition.index, index);
        assert!(!condition.label.is_empty());
        assert!(slugs.insert(&condition.slug), "{} twice", condition.slug);
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        assert!(condition.slug.chars().all(allowed), "{}", condition.slug);
        assert!(condition.workload.kind.is_rr() == (condition.workload.response > 0));
    }
    for comparison in &plan.comparisons {
        assert!(!comparison.conditions.is_empty());
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

/// Levels of a factor that are valid together, as TOML.
fn levels(known: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(known.to_vec(), 1..=known.len()).prop_shuffle()
}

fn factor(
    name: &'static str,
    known: &'static [&'static str],
) -> impl Strategy<Value = Option<(&'static str, Vec<&'static str>)>> {
    proptest::option::of(levels(known).prop_map(move |levels| (name, levels)))
}

/// The factors of a valid study in any order.
fn factors() -> impl Strategy<Value = Vec<(&'static str, Vec<&'static str>)>> {
    const SWITCH: &[&str] = &["\"on\"", "\"off\""];
    let all = (
        factor("family", &["\"ipv4\"", "\"ipv6\""]),
        factor("offloads", &["\"default\"", "\"none\""]),
        factor("checksum", &["\"on\"", "false"]),
        factor("mtu", &["1000", "1500", "\"default\""]),
        factor("message", &["1", "64", "1400"]),
        factor("transmitter.tso", SWITCH),
        factor("tso", SWITCH),
        factor("receiver.gro", SWITCH),
    );
    all.prop_map(|(a, b, c, d, e, f, g, h)| {
        [a, b, c, d, e, f, g, h].into_iter().flatten().collect::<Vec<_>>()
    })
    .prop_shuffle()
}

fn file(kind: &str, factors: &[(&str, Vec<&str>)]) -> String {
    let mut text = format!(
        "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"{kind}\"\n[factors]\n"
    );
    for (name, levels) in factors {
        text.push_str(&format!("{name} = [{}]\n", levels.join(", ")));
    }
    text
}

fn kind() -> impl Strategy<Value = &'static str> {
    select(vec!["tcp_stream", "udp_stream", "tcp_rr", "udp_rr"])
}

proptest! {
    #[test]
    fn every_combination_is_planned_or_excluded_once(kind in kind(), factors in factors()) {
        let text = file(kind, &factors);
        let combinations: usize = factors.iter().map(|(_, levels)| levels.len()).product();
        match digest(&text) {
            Ok(plan) => {
                prop_assert_eq!(plan.conditions.len() + plan.excluded.len(), combinations);
                let order: Vec<Vec<usize>> = plan.conditions.iter().map(|condition| {
                    condition.levels.iter().zip(&factors).map(|((name, level), (written, levels))| {
                        assert_eq!(name, written);
                        let same = |written: &&str| {
                            written.trim_matches('"') == level || (*written == "false" && level == "off")
                        };
                        levels.iter().position(same).unwrap()
                    }).collect()
                }).collect();
                prop_assert!(order.is_sorted(), "factors in file order, the last varies fastest");
            }
            // Only rules can leave nothing, and they leave nothing only without checksums or with a small MTU.
            Err(diagnostics) => {
                let text = diagnostics.to_string();
                prop_assert!(text.contains("no condition is left"), "{}", text);
            }
        }
    }

    #[test]
    fn a_plan_is_the_same_every_time(kind in kind(), factors in factors()) {
        let text = file(kind, &factors);
        if let Ok(study) = Study::parse("x.toml", &text) {
            prop_assert_eq!(study.plan(), study.plan());
            prop_assert_eq!(Study::parse("y.toml", &text).unwrap().plan(), study.plan());
            let boots = schedule(study.plan().conditions.len(), study.protocol());
            let runs = (study.protocol().warmup + study.protocol().runs) as usize;
            prop_assert!(boots.iter().all(|boot| boot.len() == runs * study.plan().conditions.len()));
        }
    }

    #[test]
    fn merging_keeps_one_of_each_state(
        kind in kind(), factors in factors(), states in proptest::collection::vec(0..4_u8, 0..600)
    ) {
        let Ok(study) = Study::parse("x.toml", &file(kind, &factors)) else { return Ok(()) };
        let before = study.plan();
        let fingerprints: Vec<String> = states.iter().map(u8::to_string).collect();
        let plan = before.clone().merge(&fingerprints);
        check(&plan);
        prop_assert_eq!(plan.conditions.len() + plan.merged.len(), before.conditions.len());
        prop_assert_eq!(&plan.excluded, &before.excluded);

        let state = |label: &str| {
            let old = before.conditions.iter().find(|condition| condition.label == label).unwrap();
            let fingerprint = fingerprints.get(old.index).cloned().unwrap_or(format!("own {}", old.index));
            (fingerprint, format!("{:?} {} {}", old.workload, old.family, old.checksum))
        };
        let kept: Vec<_> = plan.conditions.iter().map(|condition| state(&condition.label)).collect();
        let unique: HashSet<_> = kept.iter().collect();
        prop_assert_eq!(unique.len(), kept.len(), "no two conditions share state and traffic");
        for dropped in &plan.merged {
            prop_assert!(kept.contains(&state(&dropped.label)), "what is merged away is still represented");
        }
        // The first of each state stays, in the old order and unchanged but for its number.
        let mut last = 0;
        for condition in &plan.conditions {
            let old = before.conditions.iter().find(|old| old.label == condition.label).unwrap();
            prop_assert!(old.index >= last);
            last = old.index;
            let mut renumbered = old.clone();
            renumbered.index = condition.index;
            prop_assert_eq!(condition, &renumbered);
            let first = before.conditions.iter().position(|other| state(&other.label) == state(&old.label));
            prop_assert_eq!(first, Some(old.index));
        }
        prop_assert_eq!(plan.clone().merge(&[]), plan, "without fingerprints nothing is merged");
    }
}

/// Files made to take long or much. What bounds them is in `read::limit`; the time is nextest's to judge.
#[test]
fn hostile_files_are_refused_or_planned_within_bounds() {
    const ROOM: usize = 1 << 20;
    let head = "name = \"x\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n";
    let fill = |head: &str, piece: &dyn Fn(usize) -> String, tail: &str| {
        let mut text = head.to_owned();
        for number in 0.. {
            let piece = piece(number);
            if text.len() + piece.len() + tail.len() > ROOM {
                break;
            }
            text.push_str(&piece);
        }
        text + tail
    };
    let factors = format!("{head}[factors]\n");
    let levels: String = (0..1_000).map(|number| format!("{},", 1_000 + number)).collect();
    let grid = format!("{factors}mtu = [{levels}]\nflows = [1,2,3,4,5,6,7,8,9,10]\n");
    let all: String = (0..1_000).map(|number| format!("{},", 1_000 + number)).collect();
    let files = [
        fill(head, &|number| format!("transmitter-segmentation-offloads-of-every-kind-{number} = 1\n"), ""),
        fill(&factors, &|number| format!("tx-segmentation-of-every-kind-{number} = [1]\n"), ""),
        fill(&format!("{factors}mtu = ["), &|number| format!("{number},"), "]\n"),
        fill(&format!("{factors}tso = ["), &|_| "\"on\",".to_owned(), "]\n"),
        fill(
            &grid,
            &|number| {
                format!("[[exclude]]\nmtu = {}\nreason = \"{}\"\n", 1_000 + number % 1_000, "y".repeat(400))
            },
            "",
        ),
        fill(&grid, &|_| format!("[[exclude]]\nflows = 1\nmtu = [{all}]\n"), ""),
        fill(&grid, &|_| "[[comparison]]\n".to_owned(), ""),
        fill(&format!("{grid}[[exclude]]\nmtu = [1000]\nreason = \""), &|_| "z".to_owned(), "\"\n"),
        fill(&format!("{grid}[[comparison]]\nmetric = \""), &|_| "z".to_owned(), "\"\n"),
        fill("x = ", &|_| "[".to_owned(), ""),
        fill("", &|_| "a.".to_owned(), "a = 1"),
        fill("x = ", &|_| "{a=".to_owned(), ""),
        fill("duration = \"", &|_| "9".to_owned(), "s\""),
        fill(&head.replace("\"tcp_stream\"", "\"tcp_stream\"\nduration = \""), &|_| "1h".to_owned(), "\"\n"),
        fill("", &|_| "\u{0}".to_owned(), ""),
        fill("", &|_| "=".to_owned(), ""),
        fill("", &|_| "\n=".to_owned(), ""),
    ];
    let planned = files.iter().filter(|text| digest(text).is_ok()).count();
    assert_eq!(planned, 0, "each of them breaks some limit");
    // The largest that is allowed.
    let plan = digest(&grid).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(plan.conditions.len(), 10_000);
}
