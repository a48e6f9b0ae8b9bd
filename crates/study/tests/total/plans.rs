//! Properties of the plans of valid studies.

use std::collections::HashSet;

use netassay_study::{Study, schedule};
use proptest::prelude::*;
use proptest::sample::select;

use crate::{check, digest};

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
        factor("dscp", &["0", "46", "\"default\""]),
    );
    all.prop_map(|(a, b, c, d, e, f, g, h, i)| {
        [a, b, c, d, e, f, g, h, i].into_iter().flatten().collect::<Vec<_>>()
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
    select(vec!["tcp_stream", "udp_stream", "tcp_rr", "udp_rr", "tcp_crr"])
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
            // Only rules can leave nothing, and they leave nothing only without checksums or with a
            // small MTU.
            Err(diagnostics) => {
                let text = diagnostics.to_string();
                let none_left = text.contains("no condition is left") || text.contains("`checksum` is not supported");
                prop_assert!(none_left, "{}", text);
            }
        }
    }

    #[test]
    fn a_plan_is_the_same_every_time(kind in kind(), factors in factors()) {
        let text = file(kind, &factors);
        if let Ok(study) = Study::parse("x.toml", &text) {
            prop_assert_eq!(study.plan(), study.plan());
            prop_assert_eq!(Study::parse("y.toml", &text).unwrap().plan(), study.plan());
            let boots = schedule(&study.plan().states_of_conditions(), &study.protocol);
            let runs = (study.protocol.warmup + study.protocol.runs) as usize;
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
            let old = before.conditions.iter().find(|condition| *condition.label == *label).unwrap();
            let fingerprint = fingerprints.get(old.index).cloned().unwrap_or(format!("own {}", old.index));
            (fingerprint, format!("{:?} {}", old.workload, old.family))
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
        prop_assert_eq!(plan.clone().merge::<()>(&[]), plan, "without fingerprints nothing is merged");
    }
}
