//! Settings of machines (beside their interfaces) that a study varies: sysctls, the frequency
//! governor, idle states, and placement of the work.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cpu_list::{HIGHEST_CPU, parse_cpu_list};
use crate::device::DeviceSetting;
use crate::feature;
use crate::scenario::Scenario;
use crate::sysctls::parse_sysctls;
use crate::value::{Field, Value};

crate::vocabulary! {
    /// A setting of a machine that can be a factor.
    #[derive(PartialOrd, Ord)]
    pub enum TuningKey: "a setting of a machine" {
        /// Sysctls: each level has a value for each of them.
        Sysctl = "sysctl";
        /// The frequency governor of every CPU.
        Governor = "governor";
        /// The time that a CPU may take to wake up, in µs.
        CpuLatency = "cpu_latency";
        /// One queue with its interrupt on one CPU, and the traffic on another.
        Placement = "placement";
        /// The CPUs that handle all interrupts of the traffic's interface.
        IrqAffinity = "irq_affinity";
    }
}

/// One queue with its interrupt on one CPU, and the traffic's threads on another. As text:
/// `irq0-traffic1`.
// It is no error: thiserror gives it its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, Serialize, Deserialize)]
#[error("irq{irq}-traffic{traffic}")]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The CPU that handles the interrupts of the interface.
    pub irq: u32,
    /// The CPU of the threads that send and receive.
    pub traffic: u32,
}

/// The settings of the machine of one side in one condition. What is `None` is as the study's
/// `[machine]`, or the machine, has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    /// The varied settings: each is read back, also where a level leaves it unchanged.
    pub varied: BTreeSet<TuningKey>,
    /// [`TuningKey::Sysctl`]: values by name.
    #[serde(deserialize_with = "crate::names::sysctls")]
    pub sysctl: BTreeMap<String, String>,
    /// [`TuningKey::Governor`].
    pub governor: Option<String>,
    /// [`TuningKey::CpuLatency`].
    pub cpu_latency: Option<u32>,
    /// [`TuningKey::Placement`].
    pub placement: Option<Placement>,
    /// [`TuningKey::IrqAffinity`].
    pub irq_affinity: Option<Vec<u32>>,
}

impl TuningKey {
    /// Whether no machine of a scenario has it.
    pub fn is_absent(self, scenario: Scenario) -> bool {
        let is_of_namespaces = matches!(self, Self::Placement | Self::Sysctl);
        let has_namespaces = matches!(scenario, Scenario::Veth | Scenario::Vxlan);
        !(scenario.has_machines() || is_of_namespaces && has_namespaces)
    }
}

impl Tuning {
    /// Whether nothing is varied.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part of it that a network namespace has of its own; `None` if that part is not varied.
    pub fn of_network(&self) -> Option<Self> {
        let varied = [TuningKey::Sysctl].into();
        let own = Self { varied, sysctl: self.sysctl.clone(), ..Self::default() };
        self.varied.contains(&TuningKey::Sysctl).then_some(own)
    }

    /// Sets a key to a level; the default leaves it as it is.
    pub fn set(&mut self, key: TuningKey, level: &Value) {
        self.varied.insert(key);
        let text = if let Value::Text(text) = level { Some(text) } else { None };
        match key {
            TuningKey::Sysctl => {
                self.sysctl = text.and_then(|text| parse_sysctls(text).ok()).unwrap_or_default();
            }
            TuningKey::Governor => self.governor = text.cloned(),
            TuningKey::CpuLatency => self.cpu_latency.set(level),
            TuningKey::Placement => self.placement = text.and_then(|text| text.parse().ok()),
            TuningKey::IrqAffinity => self.irq_affinity = text.and_then(|text| parse_cpu_list(text).ok()),
        }
    }
}

impl FromStr for Placement {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let cpu = |text: &str| text.parse().ok().filter(|cpu| *cpu <= HIGHEST_CPU);
        let both = text.strip_prefix("irq").and_then(|rest| rest.split_once("-traffic"));
        both.and_then(|(irq, traffic)| Some(Self { irq: cpu(irq)?, traffic: cpu(traffic)? }))
            .ok_or("a placement is two CPUs: `irq0-traffic1`")
    }
}

/// The state of an interface after its switches were set, as the kernel reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// MTU in bytes.
    pub mtu: u32,
    /// Every feature with its active state, by kernel name.
    #[serde(deserialize_with = "crate::names::features")]
    pub active: BTreeMap<String, bool>,
    /// Features whose request was not applied, each with the reason.
    #[serde(deserialize_with = "crate::names::features")]
    pub refused: BTreeMap<String, String>,
    /// Features that the kernel changed without a request: name and new state.
    #[serde(deserialize_with = "crate::names::features")]
    pub follow_on: BTreeMap<String, bool>,
    /// Each setting that its device has. Studies of earlier versions have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device: BTreeMap<DeviceSetting, u32>,
    /// The values, in words, of the machine settings that the study varies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tuning: BTreeMap<TuningKey, String>,
}

impl Settled {
    /// Requests that were not applied, with the reason. A word such as `tso` means several
    /// features, of which a driver has some: such a request counts as applied if one of them is on.
    pub fn unmet(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_on = |name: &&str| self.active.get(*name).copied().unwrap_or(false);
        let stood_for = move |feature: &str| {
            let groups = feature::GROUPS.iter().filter(|group| group.members.contains(&feature));
            groups.flat_map(|group| &group.members).any(&is_on)
        };
        self.refused
            .iter()
            .filter(move |(name, _)| self.active.get(*name) == Some(&true) || !stood_for(name))
            .map(|(name, why)| (name.as_str(), why.as_str()))
    }

    /// The settings of its device without those that the driver keeps changing.
    pub fn steady(&self) -> BTreeMap<DeviceSetting, u32> {
        let is_chosen = |setting: &DeviceSetting| {
            setting.chosen_by().is_some_and(|switch| self.device.get(&switch).is_some_and(|on| *on != 0))
        };
        let steady = self.device.iter().filter(|(setting, _)| !is_chosen(setting));
        steady.map(|(setting, value)| (*setting, *value)).collect()
    }

    /// The features in which this state differs from `base`, with their state here.
    pub fn changes(&self, base: &Self) -> BTreeMap<&str, bool> {
        let changed = self.active.iter().filter(|(name, on)| base.active.get(*name) != Some(on));
        changed.map(|(name, on)| (name.as_str(), *on)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_is_read_as_it_is_written() {
        let placement = Placement { irq: 12, traffic: 3 };
        assert_eq!(placement.to_string(), "irq12-traffic3");
        assert_eq!("irq12-traffic3".parse(), Ok(placement));
        for text in ["", "irq1", "irq-1-traffic0", "irq1-traffic", "irq1-traffic70000", "1-2"] {
            assert!(text.parse::<Placement>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_level_sets_its_key_and_the_default_leaves_it() {
        let mut tuning = Tuning::default();
        assert!(tuning.is_empty());
        for (key, level) in [
            (TuningKey::Sysctl, Value::Text("net.core.netdev_budget=300".to_owned())),
            (TuningKey::Governor, Value::Text("performance".to_owned())),
            (TuningKey::CpuLatency, Value::Number(50)),
            (TuningKey::Placement, Value::Text("irq0-traffic1".to_owned())),
            (TuningKey::IrqAffinity, Value::Text("0-1".to_owned())),
        ] {
            tuning.set(key, &level);
        }
        let varied: BTreeSet<TuningKey> = TuningKey::ALL.into();
        let expected = Tuning {
            varied: varied.clone(),
            sysctl: [("net.core.netdev_budget".to_owned(), "300".to_owned())].into(),
            governor: Some("performance".to_owned()),
            cpu_latency: Some(50),
            placement: Some(Placement { irq: 0, traffic: 1 }),
            irq_affinity: Some(vec![0, 1]),
        };
        assert_eq!(tuning, expected);
        let of_network = tuning.of_network().unwrap();
        assert_eq!((of_network.varied, of_network.sysctl), ([TuningKey::Sysctl].into(), expected.sysctl));
        assert_eq!(Tuning { varied: [TuningKey::Governor].into(), ..Tuning::default() }.of_network(), None);
        TuningKey::ALL.into_iter().for_each(|key| tuning.set(key, &Value::Default));
        assert_eq!(tuning, Tuning { varied, ..Tuning::default() });
        assert!(!tuning.is_empty());
    }

    #[test]
    fn machines_have_all_settings_and_namespaces_some() {
        for key in TuningKey::ALL {
            assert!(!key.is_absent(Scenario::Ssh));
            assert!(key.is_absent(Scenario::Discard) && key.is_absent(Scenario::Vm));
        }
        assert!(!TuningKey::Placement.is_absent(Scenario::Veth));
        assert!(!TuningKey::Sysctl.is_absent(Scenario::Vxlan));
        assert!(TuningKey::Governor.is_absent(Scenario::Veth));
    }
}

#[cfg(test)]
mod settled_tests {
    use super::*;

    #[test]
    fn a_word_is_met_by_one_of_its_features() {
        let active = [("tx-checksum-ip-generic", true), ("tx-checksum-ipv4", false), ("rx-lro", false)];
        let mut state = Settled {
            mtu: 1500,
            active: active.map(|(name, on)| (name.to_owned(), on)).into(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
            device: BTreeMap::new(),
            tuning: BTreeMap::new(),
        };
        state.refused.insert("tx-checksum-ipv4".into(), "fixed".into());
        state.refused.insert("rx-lro".into(), "fixed".into());
        assert_eq!(state.unmet().collect::<Vec<_>>(), [("rx-lro", "fixed")]);
        state.active.insert("tx-checksum-ip-generic".into(), false);
        assert_eq!(state.unmet().count(), 2);
    }

    #[test]
    fn what_the_driver_chooses_by_itself_is_not_steady() {
        let mut state = Settled {
            mtu: 1500,
            active: BTreeMap::new(),
            refused: BTreeMap::new(),
            follow_on: BTreeMap::new(),
            device: [
                (DeviceSetting::AdaptiveRx, 1),
                (DeviceSetting::RxUsecs, 17),
                (DeviceSetting::TxUsecs, 3),
            ]
            .into(),
            tuning: BTreeMap::new(),
        };
        assert_eq!(state.steady(), [(DeviceSetting::AdaptiveRx, 1), (DeviceSetting::TxUsecs, 3)].into());
        state.device.insert(DeviceSetting::AdaptiveRx, 0);
        assert_eq!(state.steady(), state.device);
    }
}
