//! Designs on interfaces with any rules.

use std::collections::{BTreeMap, BTreeSet};

use netassay_runner::switches_of;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use study::{Effective, Offload, Plan};

use crate::host::{Interface, RuledLab, Rules, free, kernel};
use crate::{probed, study};

/// Features, single ones and groups, that designs may be about.
const OFFLOADS: &[&str] = &[
    "tso",
    "tx",
    "sg",
    "gso",
    "gro",
    "rx",
    "lro",
    "rx-gro-hw",
    "tx-udp-segmentation",
    "tx-checksum-ipv4",
    "tx-tcp6-segmentation",
];

const SCOPES: &[&str] = &["", "transmitter.", "receiver.", "underlay.", "receiver.underlay."];

fn features() -> Vec<String> {
    let expanded = OFFLOADS.iter().flat_map(|name| study::feature::expand(name).unwrap());
    let distinct: BTreeSet<String> = expanded.map(str::to_owned).collect();
    distinct.into_iter().collect()
}

/// An interface that has some features and can switch some of these, with any dependencies that go
/// round in no circle.
fn interface() -> impl Strategy<Value = Interface> {
    let all = features();
    let count = all.len();
    let kinds =
        prop::collection::vec(prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2), 1 => Just(3)], count);
    let needs = prop::collection::vec((0..count, 0..count), 0..8);
    (kinds, needs).prop_map(move |(kinds, needs)| {
        let of = |kind: usize| {
            all.iter().zip(&kinds).filter(|(_, is)| **is == kind).map(|(name, _)| name.clone()).collect()
        };
        let downwards = needs.into_iter().filter(|(one, other)| one < other);
        let needs = downwards.map(|(one, other)| (all[one].clone(), all[other].clone())).collect();
        Interface { switchable: of(0), fixed_on: of(1), fixed_off: of(2), needs }
    })
}

fn lab() -> impl Strategy<Value = RuledLab> {
    let rules = select(&[kernel as Rules, free as Rules][..]);
    (rules, interface(), interface(), interface(), any::<bool>()).prop_map(
        |(rules, transmitter, receiver, underlay, apart)| RuledLab {
            rules,
            receiver: if apart { receiver } else { transmitter.clone() },
            transmitter,
            underlay: Some(underlay),
        },
    )
}

fn design() -> impl Strategy<Value = String> {
    let kinds = select(&["ladder", "factorial", "fractional"][..]);
    let names = subsequence(OFFLOADS.to_vec(), 1..=5).prop_shuffle();
    (kinds, names, prop::collection::vec(select(SCOPES), 5)).prop_map(|(kind, names, scopes)| {
        let named = names.iter().zip(scopes).map(|(name, scope)| format!("{scope}{name}"));
        // The reader refuses overlapping offloads.
        let mut kept: Vec<(String, Offload)> = Vec::new();
        for name in named {
            let offload = Offload::named(&name).unwrap();
            if !kept.iter().any(|(_, other)| other.overlaps(&offload)) {
                kept.push((name, offload));
            }
        }
        let names: Vec<String> = kept.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        format!("kind = \"{kind}\"\noffloads = [{}]", names.join(", "))
    })
}

/// The states of an offload's features on the sides it is of.
fn states(offload: &Offload, effective: &Effective) -> Vec<bool> {
    let [over, under] = [
        [Some(&effective.transmitter), effective.receiver.as_ref()],
        study::Side::BOTH.map(|side| effective.underlay.as_ref().map(|both| &both[side])),
    ];
    let sides = study::Side::BOTH.iter().zip(if offload.underlay { under } else { over });
    let chosen = sides.filter(|(side, _)| offload.side.is_none_or(|only| only == **side));
    let settled = chosen.filter_map(|(_, settled)| settled);
    settled
        .flat_map(|settled| offload.features.iter().filter_map(|name| settled.active.get(*name).copied()))
        .collect()
}

fn check(plan: &Plan, lab: &RuledLab, asked: usize) -> Result<(), TestCaseError> {
    let design = plan.design.as_ref().unwrap();
    prop_assert_eq!(plan.conditions.len(), plan.effective.len());
    prop_assert!(!plan.conditions.is_empty() && plan.conditions.len() <= asked);
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (index, (condition, effective)) in plan.conditions.iter().zip(&plan.effective).enumerate() {
        prop_assert_eq!(condition.index, index);
        let same = seen.insert(effective.state(), &condition.label);
        prop_assert!(same.is_none(), "{} and {:?} are the same", condition.label, same);
        let again = lab.settled(&switches_of(condition));
        prop_assert_eq!(again.state(), effective.state(), "{} is set again", condition.label);
        let names: Vec<&String> = condition.levels.iter().map(|(name, _)| name).collect();
        prop_assert_eq!(names, design.factors.iter().collect::<Vec<_>>());
        for (factor, level) in &condition.levels {
            let states = states(&Offload::named(factor).unwrap(), effective);
            prop_assert!(states.contains(&(level == "on")), "{}: {factor} is {states:?}", condition.label);
        }
        let words = design.state_name(&condition.designed(design));
        prop_assert!(condition.label.ends_with(&words), "{} is {words}", condition.label);
    }
    let slugs: BTreeSet<&str> = plan.conditions.iter().map(|condition| condition.slug.as_str()).collect();
    prop_assert_eq!(slugs.len(), plan.conditions.len());
    for unreachable in &design.unreachable {
        prop_assert_ne!(&unreachable.asked, &unreachable.reads);
        let there = plan.conditions.iter().any(|condition| condition.designed(design) == unreachable.reads);
        prop_assert!(there, "{:?} is no condition", unreachable.reads);
    }
    for gone in &design.dropped {
        prop_assert!(!design.factors.contains(&gone.label) && !gone.why.is_empty());
    }
    prop_assert_eq!(design.unreachable.len(), plan.merged.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_condition_has_its_own_state_and_reads_back_as_its_levels(design in design(), lab in lab()) {
        let study = study("vxlan", &design, "");
        let asked = study.plan().conditions.len();
        check(&probed(&study, &mut lab.clone()), &lab, asked)?;
    }

    #[test]
    fn a_factorial_and_its_unreachable_combinations_are_all(design in design(), lab in lab()) {
        let whole = design.replace(design.split('\n').next().unwrap(), "kind = \"factorial\"");
        let plan = probed(&study("vxlan", &whole, ""), &mut lab.clone());
        let design = plan.design.unwrap();
        let conditions = plan.conditions.iter().map(|condition| condition.designed(&design));
        let unreachable = design.unreachable.iter().map(|one| one.asked.clone());
        let all: BTreeSet<Vec<bool>> = conditions.chain(unreachable).collect();
        prop_assert_eq!(all.len(), 1 << design.factors.len());
    }
}
