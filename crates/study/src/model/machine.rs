//! Settings of the machine itself, outside of netassay's namespaces and guests.

use std::collections::BTreeMap;

use words::{BySide, Placement, Side, feature};

/// The table `[machine]`: settings of the machine itself, or of both machines that a study runs
/// between. They are changed only if the command line allows it, and undone at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machines {
    /// Settings of each machine.
    pub both: MachineTuning,
    /// Settings of the machine of one side, which override `both`.
    pub own: BySide<MachineTuning>,
}

/// The settings of one machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MachineTuning {
    /// Sysctls by name, as sysctl(8) writes both.
    pub sysctl: BTreeMap<String, String>,
    /// The frequency governor of every CPU.
    pub governor: Option<String>,
    /// The longest allowed wake-up time of a CPU, in µs: deeper idle states are not entered.
    pub cpu_latency: Option<u32>,
    /// The CPUs on which its end of the traffic runs.
    pub placement: Option<Placement>,
    /// The CPUs that take all interrupts of an interface, by the interface.
    pub irq_affinity: BTreeMap<String, Vec<u32>>,
    /// Features by interface: the file's name (`tso`), on or off.
    pub features: BTreeMap<String, BTreeMap<String, bool>>,
}

impl Machines {
    /// The settings of the machine of one side.
    pub fn for_side(&self, side: Side) -> MachineTuning {
        let (both, own) = (&self.both, &self.own[side]);
        let mut features = both.features.clone();
        for (interface, switches) in &own.features {
            features.entry(interface.clone()).or_default().extend(switches.clone());
        }
        MachineTuning {
            sysctl: with_overrides(&both.sysctl, &own.sysctl),
            governor: own.governor.clone().or_else(|| both.governor.clone()),
            cpu_latency: own.cpu_latency.or(both.cpu_latency),
            placement: own.placement.or(both.placement),
            irq_affinity: with_overrides(&both.irq_affinity, &own.irq_affinity),
            features,
        }
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The settings that need the machines of two sides, as a study file writes them.
    pub fn of_two_machines(&self) -> Vec<String> {
        let named = Side::BOTH.into_iter().filter(|side| !self.own[*side].is_empty());
        let placement = self.both.placement.map(|_| "placement".to_owned());
        named.map(|side| format!("[machine.{side}]")).chain(placement).collect()
    }
}

fn with_overrides<V: Clone>(both: &BTreeMap<String, V>, own: &BTreeMap<String, V>) -> BTreeMap<String, V> {
    both.iter().chain(own).map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl MachineTuning {
    /// The requested features: interface, the kernel's names of a feature, on or off.
    pub fn kernel_features(&self) -> Vec<(&str, Vec<&'static str>, bool)> {
        let all = self.features.iter().flat_map(|(interface, features)| {
            // The reader accepted only known names.
            let known = features.iter().filter_map(|(name, on)| Some((feature::expand(name)?, *on)));
            known.map(move |(names, on)| (interface.as_str(), names, on))
        });
        all.collect()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
