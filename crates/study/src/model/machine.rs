//! What a study changes of the machine itself, outside of its own namespaces and guests.

use std::collections::BTreeMap;
use words::feature;

/// What a study changes of the machine itself: its table `[machine]`. It acts only where the
/// command line allows it, and is undone at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    /// Sysctls by name, as sysctl(8) writes both.
    pub sysctl: BTreeMap<String, String>,
    /// The frequency governor of every CPU.
    pub governor: Option<String>,
    /// The CPUs that take all interrupts of an interface, by the interface.
    pub irq_affinity: BTreeMap<String, Vec<u32>>,
    /// Features by the names of the file (`tso`), on or off, by the interface.
    pub features: BTreeMap<String, BTreeMap<String, bool>>,
}

impl Machine {
    /// The features wanted, by the kernel's names: interface, features that one name of the file
    /// means, on or off.
    pub fn kernel_features(&self) -> Vec<(&str, Vec<&'static str>, bool)> {
        let mut wanted = Vec::new();
        for (interface, features) in &self.features {
            for (name, on) in features {
                // Reading let no other name pass.
                wanted.extend(feature::expand(name).map(|names| (interface.as_str(), names, *on)));
            }
        }
        wanted
    }

    /// The table of a study file that says the same; nothing if it wants nothing.
    pub(crate) fn toml(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        // Reading let no control character pass, so these two are all that a basic string has to
        // escape.
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let mut text = "\n[machine]\n".to_owned();
        if let Some(governor) = &self.governor {
            text.push_str(&format!("governor = {}\n", quoted(governor)));
        }
        let mut table = |name: &str, pairs: Vec<String>| {
            if !pairs.is_empty() {
                text.push_str(&format!("{name} = {{ {} }}\n", pairs.join(", ")));
            }
        };
        let pair = |(name, value): (&String, &String)| format!("{} = {}", quoted(name), quoted(value));
        table("sysctl", self.sysctl.iter().map(pair).collect());
        let pair = |(name, cpus): (&String, &Vec<u32>)| format!("{} = {cpus:?}", quoted(name));
        table("irq_affinity", self.irq_affinity.iter().map(pair).collect());
        let pair = |(name, features): (&String, &BTreeMap<String, bool>)| {
            let features: Vec<String> = features.iter().map(|(name, on)| format!("{name} = {on}")).collect();
            format!("{} = {{ {} }}", quoted(name), features.join(", "))
        };
        table("features", self.features.iter().map(pair).collect());
        text
    }

    /// Whether it wants nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
