//! One reachable combination of levels, resolved into settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use words::{Family, Side, Word, Workload, display_as_word, feature};

use crate::model::boot_state::BootState;
use crate::model::factor::{Factor, Level, Subject};
use crate::model::grid::Cell;
use crate::model::guest::Copies;
use crate::model::scope::Scope;
use crate::model::study::Study;
use crate::plan::name;
use crate::plan::underlay::Underlay;

/// One combination of levels, and what it asks of the testbed and of the traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// Its name for people: `ipv4 offloads=none`.
    pub label: String,
    /// Its name for files, unique in the plan, of `a-z0-9_.-` only: `tcp4_nooffload`.
    pub slug: String,
    /// The level of every factor of the file, in file order.
    pub levels: Vec<(String, String)>,
    /// The traffic.
    pub workload: Workload,
    /// The version of IP.
    pub family: Family,
    /// The MTU of the interfaces in bytes; `None` leaves them as the scenario makes them.
    pub mtu: Option<u32>,
    /// What the transmitter's interface is set to.
    pub transmitter: SideSettings,
    /// What the receiver's interface is set to. On `loopback` it equals the transmitter's: it is the same interface.
    /// On `discard` nobody receives, and it means nothing.
    pub receiver: SideSettings,
    /// What the interfaces under the tunnel are set to, where there is one.
    pub underlay: Underlay,
    /// What it takes a fresh boot to have.
    pub boot: BootState,
}

impl Condition {
    /// The settings of one side.
    pub fn side(&self, side: Side) -> &SideSettings {
        match side {
            Side::Transmitter => &self.transmitter,
            Side::Receiver => &self.receiver,
        }
    }

    /// Its label of the factor `twin`, which keeps it apart from conditions that are the same in everything else.
    pub fn twin(&self) -> Option<&str> {
        self.levels.iter().find(|(factor, _)| factor == "twin").map(|(_, label)| label.as_str())
    }

    /// How its virtual machine copies, if it has one.
    pub fn copies(&self) -> Option<Copies> {
        self.boot.guest.as_ref().map(|guest| guest.copies)
    }

    /// What a combination of levels asks for, over what the study says of all. Index and slug are given when the plan is known.
    pub(crate) fn resolve(study: &Study, cell: &Cell) -> Self {
        let (factors, workloads) = (study.factors(), study.workloads());
        let levels: Vec<(&Factor, &Level)> =
            factors.iter().zip(cell).map(|(factor, &level)| (factor, factor.level(level))).collect();
        let workload = levels.iter().find_map(|(_, level)| match level {
            Level::Workload(index, _) => Some(*index),
            _ => None,
        });
        let mut condition = Self {
            index: 0,
            label: String::new(),
            slug: String::new(),
            levels: levels.iter().map(|(factor, level)| (factor.name().to_owned(), level.text())).collect(),
            workload: workloads[workload.unwrap_or(0)].clone(),
            family: Family::Ipv4,
            mtu: None,
            transmitter: SideSettings::of(Side::Transmitter, false, &levels),
            receiver: SideSettings::of(Side::Receiver, false, &levels),
            underlay: Underlay {
                mtu: study.underlay_mtu,
                transmitter: SideSettings::of(Side::Transmitter, true, &levels),
                receiver: SideSettings::of(Side::Receiver, true, &levels),
            },
            boot: study.boot.clone(),
        };
        for (factor, level) in &levels {
            condition.apply(factor.subject(), level);
        }
        let traffic = &mut condition.workload.traffic;
        // A response that the file leaves out follows the message, which may be a factor.
        if traffic.kind.is_rr() && traffic.response == 0 {
            traffic.response = traffic.message;
        }
        condition.label = name::label(study, cell, &condition);
        condition
    }

    /// Sets what is not of one side.
    fn apply(&mut self, subject: &Subject, level: &Level) {
        match (subject, level) {
            (Subject::Family, Level::Family(family)) => self.family = *family,
            (Subject::Mtu, Level::Number(mtu)) => self.mtu = *mtu,
            (Subject::Key(key), Level::Value(value)) => key.set(&mut self.workload, value),
            (Subject::UnderlayMtu, Level::Number(mtu)) => self.underlay.mtu = *mtu,
            (Subject::UnderlayFamily, Level::Family(family)) => self.boot.underlay_family = *family,
            (_, level) => {
                if let Some(guest) = &mut self.boot.guest {
                    guest.apply(level, subject);
                }
            }
        }
    }
}

/// What one side's interface is set to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideSettings {
    /// All offloads.
    pub offloads: Offloads,
    /// Single features by kernel name; they win over `offloads`. What is not here is left to it.
    pub features: BTreeMap<String, bool>,
}

impl SideSettings {
    /// Every feature that this asks to be on or off, by kernel name: those of [`feature::OFFLOADS`] off if
    /// `offloads` is `none`, and over them the single features. Whatever is absent stays as it is.
    pub fn wanted(&self) -> BTreeMap<&str, bool> {
        let none = if self.offloads == Offloads::None { feature::OFFLOADS } else { &[] };
        let mut wanted: BTreeMap<&str, bool> = none.iter().map(|name| (*name, false)).collect();
        wanted.extend(self.features.iter().map(|(name, on)| (name.as_str(), *on)));
        wanted
    }

    /// The settings that the levels ask of a side. The most specific wins: what names the side over what is for
    /// both, then a feature by its kernel name over a group of features; any feature over the offloads as a whole.
    fn of(side: Side, underlay: bool, levels: &[(&Factor, &Level)]) -> Self {
        let concerns =
            |scope: Scope| scope.underlay == underlay && scope.side.is_none_or(|scope| scope == side);
        let mut settings = Self::default();
        let mut offloads_by_side = false;
        let mut switches: Vec<(bool, usize, &[&'static str], bool)> = Vec::new();
        for (factor, level) in levels {
            match (factor.subject(), level) {
                (Subject::Offloads(scope), Level::Offloads(offloads))
                    if concerns(*scope) && (scope.side.is_some() || !offloads_by_side) =>
                {
                    settings.offloads = *offloads;
                    offloads_by_side = scope.side.is_some();
                }
                (Subject::Feature(scope, names), Level::Switch(on)) if concerns(*scope) => {
                    switches.push((scope.side.is_some(), names.len(), names.as_slice(), *on));
                }
                _ => {}
            }
        }
        switches.sort_by_key(|(by_side, names, ..)| (*by_side, std::cmp::Reverse(*names)));
        for (_, _, names, on) in switches {
            settings.features.extend(names.iter().map(|name| ((*name).to_owned(), on)));
        }
        settings
    }
}

/// The shorthand for all offloads of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Offloads {
    /// As the machine sets them when the interface comes up.
    #[default]
    Default,
    /// Every one of [`feature::OFFLOADS`] off.
    None,
}

impl Word for Offloads {
    const WHAT: &'static str = "a state of the offloads";
    const WORDS: &'static [(&'static str, Self)] = &[("default", Self::Default), ("none", Self::None)];
}
display_as_word!(Offloads);

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of both sides under these levels: name, side, level.
    fn settings(levels: &[(&str, Option<Side>, Level)]) -> [SideSettings; 2] {
        let factors: Vec<Factor> = levels
            .iter()
            .map(|(name, side, level)| {
                let subject = Subject::named(Scope { side: *side, underlay: false }, name).unwrap();
                Factor::new((*name).into(), subject, vec![level.clone()])
            })
            .collect();
        let levels: Vec<(&Factor, &Level)> = factors.iter().map(|factor| (factor, factor.level(0))).collect();
        Side::BOTH.map(|side| SideSettings::of(side, false, &levels))
    }

    const ON: Level = Level::Switch(true);
    const OFF: Level = Level::Switch(false);
    const NONE: Level = Level::Offloads(Offloads::None);
    const TX: Option<Side> = Some(Side::Transmitter);

    #[test]
    fn a_named_feature_survives_the_shorthand() {
        let [transmitter, receiver] = settings(&[("gso", None, ON), ("offloads", None, NONE)]);
        assert_eq!(transmitter, receiver);
        let wanted = transmitter.wanted();
        assert!(wanted["tx-generic-segmentation"]);
        assert!(!wanted["tx-tcp-segmentation"]);
        assert_eq!(wanted.len(), feature::OFFLOADS.len());
    }

    #[test]
    fn a_side_wins_over_both_whatever_comes_first() {
        for order in [[0, 1], [1, 0]] {
            let levels = [("tso", TX, OFF), ("tso", None, ON)];
            let [transmitter, receiver] = settings(&order.map(|index| levels[index].clone()));
            assert!(transmitter.features.values().all(|on| !on));
            assert!(receiver.features.values().all(|on| *on));
            assert_eq!(receiver.features.len(), 5);
        }
    }

    #[test]
    fn offloads_of_a_side_win_over_offloads() {
        for order in [[0, 1], [1, 0]] {
            let levels = [("offloads", TX, NONE), ("offloads", None, Level::Offloads(Offloads::Default))];
            let [transmitter, receiver] = settings(&order.map(|index| levels[index].clone()));
            assert_eq!(transmitter.offloads, Offloads::None);
            assert_eq!(receiver.offloads, Offloads::Default);
        }
    }

    #[test]
    fn a_kernel_name_wins_over_its_group() {
        for order in [[0, 1], [1, 0]] {
            let levels = [("tx-tcp6-segmentation", None, ON), ("tso", None, OFF)];
            let [transmitter, _] = settings(&order.map(|index| levels[index].clone()));
            assert!(transmitter.features["tx-tcp6-segmentation"]);
            assert!(!transmitter.features["tx-tcp-segmentation"]);
        }
    }

    #[test]
    fn a_feature_for_both_wins_over_the_offloads_of_a_side() {
        let [transmitter, _] = settings(&[("offloads", TX, NONE), ("sg", None, ON)]);
        assert!(transmitter.wanted()["tx-scatter-gather"]);
    }

    #[test]
    fn the_underlay_is_set_apart_from_the_tunnel() {
        let factor = |name: &str, level| Factor::new(name.into(), Subject::of(name).unwrap(), vec![level]);
        let factors = [
            factor("tso", ON),
            factor("underlay.tso", OFF),
            factor("transmitter.underlay.offloads", NONE),
            factor("receiver.underlay.tso", ON),
        ];
        let levels: Vec<(&Factor, &Level)> = factors.iter().map(|factor| (factor, factor.level(0))).collect();
        let of = |side, underlay| SideSettings::of(side, underlay, &levels);
        let tso = |settings: SideSettings| settings.wanted()["tx-tcp-segmentation"];
        for side in Side::BOTH {
            assert!(tso(of(side, false)) && of(side, false).features.len() == 5);
        }
        assert!(!tso(of(Side::Transmitter, true)) && tso(of(Side::Receiver, true)));
        assert_eq!(of(Side::Transmitter, true).offloads, Offloads::None);
        assert_eq!(of(Side::Receiver, true).offloads, Offloads::Default);
    }

    #[test]
    fn the_default_asks_for_nothing() {
        assert!(SideSettings::default().wanted().is_empty());
    }
}
