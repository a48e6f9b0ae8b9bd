//! One reachable combination of levels, resolved into settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use words::{Copies, DeviceSetting, Family, Field, Side, Tuning, Value, Workload, feature};

use crate::model::{BootState, Factor, LevelIndexes, Name, Offloads, Study, Varied};

/// A combination of levels, and its requests to the testbed and to the traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// Its name for people: `ipv4 offloads=none`.
    pub label: Name,
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
    /// Settings of the transmitter's interface.
    pub transmitter: SideSettings,
    /// Settings of the receiver's interface. On `loopback` they equal the transmitter's: it is the
    /// same interface. On `discard` there is no receiver, and they have no meaning.
    pub receiver: SideSettings,
    /// The settings of the interfaces under the tunnel, where there is one.
    pub underlay: Underlay,
    /// The state that only a fresh boot gives it.
    pub boot: BootState,
}

impl Condition {
    /// The settings of one side.
    pub fn side(&self, side: Side) -> &SideSettings {
        if side == Side::Transmitter { &self.transmitter } else { &self.receiver }
    }

    /// Its label of the factor `twin`, which separates conditions that are otherwise the same.
    pub fn twin(&self) -> Option<&str> {
        self.levels.iter().find(|(factor, _)| factor == "twin").map(|(_, label)| label.as_str())
    }

    /// The instructions with which its virtual machine copies memory; without one, the default.
    pub fn copies(&self) -> Copies {
        self.boot.guest.as_ref().map_or(Copies::Words, |guest| guest.copies)
    }

    /// The settings of a combination of levels; the plan sets index, label and slug.
    pub(crate) fn resolve(study: &Study, cell: &LevelIndexes) -> Self {
        let (factors, workloads) = (&study.factors, &study.workloads);
        let levels: Vec<(&Factor, &Value)> =
            factors.iter().zip(cell).map(|(factor, &level)| (factor, &factor.values[level])).collect();
        let named = levels.iter().find(|(factor, _)| factor.subject == Varied::Workload);
        let named = named.map(|(_, name)| name.to_string());
        let is_named = |one: &&Workload| named.as_ref().is_none_or(|name| one.name == *name);
        let mut condition = Self {
            index: 0,
            label: Name::default(),
            slug: String::new(),
            levels: levels.iter().map(|(factor, level)| (factor.name.clone(), level.to_string())).collect(),
            workload: workloads.iter().find(is_named).unwrap_or(&workloads[0]).clone(),
            family: Family::Ipv4,
            mtu: None,
            transmitter: SideSettings::from_levels(Side::Transmitter, false, &levels),
            receiver: SideSettings::from_levels(Side::Receiver, false, &levels),
            underlay: Underlay {
                mtu: study.underlay_mtu,
                transmitter: SideSettings::from_levels(Side::Transmitter, true, &levels),
                receiver: SideSettings::from_levels(Side::Receiver, true, &levels),
            },
            boot: study.boot.clone(),
        };
        levels.iter().for_each(|(factor, level)| condition.apply(&factor.subject, level));
        condition.boot.without_the_absent(study.inside_guest);
        if !condition.boot.scenario.has_tunnel() {
            condition.underlay = Underlay::default();
        }
        let traffic = &mut condition.workload.traffic;
        // A response that the file leaves out follows the message, which may be a factor.
        if traffic.kind.is_rr() && traffic.response == 0 {
            traffic.response = traffic.message;
        }
        condition
    }

    fn apply(&mut self, subject: &Varied, level: &Value) {
        match subject {
            Varied::Scenario => self.boot.scenario.set(level),
            Varied::Family => self.family.set(level),
            Varied::Mtu => self.mtu.set(level),
            Varied::Key(key) => key.set(&mut self.workload, level),
            Varied::Underlay("mtu") => self.underlay.mtu.set(level),
            Varied::Underlay(_) => self.boot.underlay_family.set(level),
            Varied::Guest(key) => {
                if let Some(guest) = &mut self.boot.guest {
                    guest.set(key, level);
                }
            }
            // The others are settings of a side, or change nothing.
            _ => {}
        }
    }
}

/// Settings of one side's interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideSettings {
    /// All offloads.
    pub offloads: Offloads,
    /// Single features by kernel name; they override `offloads`.
    #[serde(deserialize_with = "words::names::features")]
    pub features: BTreeMap<String, bool>,
    /// Settings of its device; the others stay as they are. Studies of earlier versions have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device: BTreeMap<DeviceSetting, u32>,
    /// Settings of its machine; the others stay as they are.
    #[serde(default, skip_serializing_if = "Tuning::is_empty")]
    pub tuning: Tuning,
}

/// The settings of the interfaces that carry a tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Underlay {
    /// Their MTU in bytes; `None` keeps the scenario's.
    pub mtu: Option<u32>,
    /// The transmitter's.
    pub transmitter: SideSettings,
    /// The receiver's.
    pub receiver: SideSettings,
}

impl SideSettings {
    /// Every feature that this turns on or off, by kernel name: those of [`feature::OFFLOADS`] off
    /// if `offloads` is `none`, overridden by single features. Other features stay as they are.
    pub fn wanted(&self) -> BTreeMap<&str, bool> {
        let none: &[&str] = if self.offloads == Offloads::None { &feature::OFFLOADS } else { &[] };
        let mut wanted: BTreeMap<&str, bool> = none.iter().map(|name| (*name, false)).collect();
        wanted.extend(self.features.iter().map(|(name, on)| (name.as_str(), *on)));
        wanted
    }

    /// The settings of a side under these levels, of which the most specific wins.
    pub(crate) fn from_levels(side: Side, underlay: bool, levels: &[(&Factor, &Value)]) -> Self {
        let concerns = |(factor, _): &&(&Factor, &Value)| {
            let scope = factor.subject.scope();
            scope.underlay == underlay && scope.side.is_none_or(|scope| scope == side)
        };
        let mut levels: Vec<&(&Factor, &Value)> = levels.iter().filter(concerns).collect();
        // A side wins over both, then a feature by its kernel name over a group, then any feature
        // over the offloads as a whole.
        levels.sort_by_key(|(factor, _)| {
            let features = if let Varied::Feature(_, names) = &factor.subject { names.len() } else { 0 };
            (factor.subject.scope().side.is_some(), std::cmp::Reverse(features))
        });
        let mut settings = Self::default();
        for (factor, level) in levels {
            match (&factor.subject, level) {
                (Varied::Offloads(_), _) => settings.offloads.set(level),
                (Varied::Device(_, setting), _) => {
                    // Without a value, which `default` has not, it stays as it is.
                    settings.device.remove(setting);
                    settings.device.extend(setting.of_level(level).map(|value| (*setting, value)));
                }
                (Varied::Tuning(_, key), _) => settings.tuning.set(*key, level),
                (Varied::Feature(_, names), Value::Switch(on)) => {
                    settings.features.extend(names.iter().map(|name| ((*name).to_owned(), *on)));
                }
                _ => {}
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests;
