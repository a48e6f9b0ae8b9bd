//! Settings of machines (beside their interfaces) that a study varies: sysctls, the frequency
//! governor, idle states, and placement of the work.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cpu_list::{HIGHEST_CPU, parse_cpu_list};
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
        /// How long a CPU may take to wake up, in µs.
        CpuLatency = "cpu_latency";
        /// One queue with its interrupt on one CPU, and the traffic on another.
        Placement = "placement";
        /// The CPUs that handle all interrupts of the traffic's interface.
        IrqAffinity = "irq_affinity";
    }
}

/// One queue with its interrupt on one CPU, and the traffic's threads on another. As text:
/// `irq0-traffic1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// The settings that the study varies: each is read back, also where a level leaves it
    /// unchanged.
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
    /// Why no machine of a scenario has it, as the end of a sentence; `None` if some may.
    #[must_use]
    pub fn absent(self, scenario: Scenario) -> Option<&'static str> {
        match (self, scenario) {
            (_, Scenario::Ssh | Scenario::SshVxlan)
            | (Self::Placement | Self::Sysctl, Scenario::Veth | Scenario::Vxlan) => None,
            (Self::Placement, _) => Some("which has no two ends that could be placed"),
            _ => Some("whose hosts share this machine"),
        }
    }
}

impl Tuning {
    /// Whether nothing is varied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part of it that a network namespace has of its own; `None` if that part is not varied.
    #[must_use]
    pub fn of_network(&self) -> Option<Self> {
        let varied = [TuningKey::Sysctl].into();
        let own = Self { varied, sysctl: self.sysctl.clone(), ..Self::default() };
        self.varied.contains(&TuningKey::Sysctl).then_some(own)
    }

    /// Sets a key to a level; the default leaves it as it is.
    pub fn set(&mut self, key: TuningKey, level: &Value) {
        self.varied.insert(key);
        let text = match level {
            Value::Text(text) => Some(text),
            _ => None,
        };
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

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{IRQ}{}{TRAFFIC}{}", self.irq, self.traffic)
    }
}

impl FromStr for Placement {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let cpu = |text: &str| text.parse().ok().filter(|cpu| *cpu <= HIGHEST_CPU);
        let both = text.strip_prefix(IRQ).and_then(|rest| rest.split_once(TRAFFIC));
        both.and_then(|(irq, traffic)| Some(Self { irq: cpu(irq)?, traffic: cpu(traffic)? }))
            .ok_or("a placement is two CPUs: `irq0-traffic1`")
    }
}

const IRQ: &str = "irq";
const TRAFFIC: &str = "-traffic";

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
    fn a_scenario_says_why_it_has_no_such_setting() {
        for key in TuningKey::ALL {
            assert_eq!(key.absent(Scenario::Ssh), None);
            assert!(key.absent(Scenario::Discard).is_some() && key.absent(Scenario::Vm).is_some());
        }
        assert_eq!(TuningKey::Placement.absent(Scenario::Veth), None);
        assert_eq!(TuningKey::Sysctl.absent(Scenario::Vxlan), None);
        assert!(TuningKey::Governor.absent(Scenario::Veth).unwrap().contains("share this machine"));
    }
}
