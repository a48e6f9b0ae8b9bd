//! Settings of the machine itself, outside of netassay's namespaces and guests.

use std::collections::BTreeMap;

use toml_edit::{InlineTable, Table, Value, value};
use words::feature;

/// The table `[machine]`: settings of the machine itself. They are changed only if the command line
/// allows it, and undone at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// Sysctls by name, as sysctl(8) writes both.
    pub sysctl: BTreeMap<String, String>,
    /// The frequency governor of every CPU.
    pub governor: Option<String>,
    /// The CPUs that take all interrupts of an interface, by the interface.
    pub irq_affinity: BTreeMap<String, Vec<u32>>,
    /// Features by interface: the file's name (`tso`), on or off.
    pub features: BTreeMap<String, BTreeMap<String, bool>>,
}

impl Machine {
    /// The requested features by the kernel's names: interface, the features that one name of the
    /// file means, on or off.
    pub fn kernel_features(&self) -> Vec<(&str, Vec<&'static str>, bool)> {
        let mut wanted = Vec::new();
        for (interface, features) in &self.features {
            for (name, on) in features {
                // The reader accepted only known names.
                wanted.extend(feature::expand(name).map(|names| (interface.as_str(), names, *on)));
            }
        }
        wanted
    }

    /// The same as a table of a study file; `None` if it is empty.
    pub(crate) fn toml(&self) -> Option<Table> {
        let of_interface = |switches: &BTreeMap<String, bool>| inline(switches, |on| (*on).into());
        let mut table = Table::new();
        if let Some(governor) = &self.governor {
            table.insert("governor", value(governor));
        }
        for (key, map) in [
            ("sysctl", inline(&self.sysctl, |value| value.into())),
            (
                "irq_affinity",
                inline(&self.irq_affinity, |cpus| cpus.iter().map(|cpu| i64::from(*cpu)).collect()),
            ),
            ("features", inline(&self.features, |switches| of_interface(switches).into())),
        ] {
            if !map.is_empty() {
                table.insert(key, value(map));
            }
        }
        (!table.is_empty()).then_some(table)
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn inline<V>(map: &BTreeMap<String, V>, value: impl Fn(&V) -> Value) -> InlineTable {
    map.iter().map(|(name, one)| (name.as_str(), value(one))).collect()
}
