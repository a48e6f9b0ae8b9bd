//! One setting of the machine that may be changed for a study.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::links::check_name;

/// One setting of the machine, outside of our own namespaces and guests, that may be changed for a study.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// A sysctl, as sysctl(8) names it: `net.core.rmem_max`; a dot inside a part is written `/` (`net.ipv4.conf.eth0/1.forwarding`).
    Sysctl {
        /// The name.
        name: String,
    },
    /// The frequency governor of a CPU.
    Governor {
        /// The CPU.
        cpu: u32,
    },
    /// The CPUs that take an interrupt.
    IrqAffinity {
        /// The interrupt's number.
        irq: u32,
    },
    /// Whether a feature of an interface is asked for.
    Feature {
        /// The interface.
        interface: String,
        /// The feature by the kernel's name.
        feature: String,
    },
}

/// Parts of `kernel` that change how fast a machine is. The others are left out because some of them name programs that the
/// kernel runs, and neither a study nor a journal is a reason to set those.
const KERNEL: &[&str] = &[
    "kernel.numa_balancing",
    "kernel.nmi_watchdog",
    "kernel.perf_event_paranoid",
    "kernel.randomize_va_space",
    "kernel.timer_migration",
    "kernel.watchdog",
];

/// The longest name or value, in bytes: the kernel's longest lists (`net.ipv4.ip_local_reserved_ports` apart) are shorter.
const LONGEST: usize = 256;

impl Target {
    /// Whether it is a setting that may be changed at all, and its name leads nowhere else.
    ///
    /// # Errors
    /// Why not, as the end of a sentence.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Sysctl { name } => check_sysctl(name),
            Self::Feature { interface, feature } => {
                check_name(interface).map_err(|error| error.to_string())?;
                let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                if feature.is_empty() || feature.len() > LONGEST || !feature.chars().all(plain) {
                    return Err(format!("{feature:?} cannot be the name of a feature"));
                }
                Ok(())
            }
            Self::Governor { .. } | Self::IrqAffinity { .. } => Ok(()),
        }
    }
}

/// Whether a text can be the value of a setting: one line that ends.
pub(crate) fn check_value(value: &str) -> Result<(), String> {
    if value.is_empty() || value.len() > LONGEST || value.chars().any(char::is_control) {
        return Err(format!("a value is one line of 1 to {LONGEST} bytes"));
    }
    Ok(())
}

fn check_sysctl(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '@' | ':');
    let wrong = name.len() > LONGEST || !name.chars().all(plain);
    let path = sysctl_path(name);
    let leads_away = |part: &str| matches!(part, "" | "." | "..");
    if wrong || path.split('/').any(leads_away) {
        return Err(format!("{name:?} cannot be the name of a sysctl"));
    }
    let tunes = name.starts_with("net.") || name.starts_with("vm.") || name.starts_with("kernel.sched_");
    if !tunes && !KERNEL.contains(&name) {
        return Err(format!(
            "the sysctl {name} is none of those that may be changed: net.*, vm.*, kernel.sched_*, {}",
            KERNEL.join(", ")
        ));
    }
    Ok(())
}

/// The path below `/proc/sys`: sysctl(8) writes dots for slashes, and slashes for dots.
pub(crate) fn sysctl_path(name: &str) -> String {
    let swap = |c| match c {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    name.chars().map(swap).collect()
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sysctl { name } => f.write_str(name),
            Self::Governor { cpu } => write!(f, "the frequency governor of CPU {cpu}"),
            Self::IrqAffinity { irq } => write!(f, "the CPUs of interrupt {irq}"),
            Self::Feature { interface, feature } => write!(f, "{feature} of {interface}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sysctl(name: &str) -> Result<(), String> {
        Target::Sysctl { name: name.to_owned() }.check()
    }

    #[test]
    fn settings_that_tune_may_be_changed() {
        for name in [
            "net.core.rmem_max",
            "vm.swappiness",
            "kernel.sched_autogroup_enabled",
            "kernel.nmi_watchdog",
            "net.ipv4.conf.eth0/1.forwarding",
        ] {
            assert_eq!(sysctl(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_or_run_programs_may_not() {
        for name in ["", "net", "net.", "net..core", "net.//.x", "net.core.a b", "/etc/passwd", "net.x\n"] {
            assert!(sysctl(name).is_err(), "{name:?}");
        }
        for name in ["kernel.core_pattern", "kernel.modprobe", "kernel.panic", "fs.file-max"] {
            let why = sysctl(name).unwrap_err();
            assert!(why.contains("none of those that may be changed"), "{why}");
        }
        let feature = |interface: &str, feature: &str| {
            Target::Feature { interface: interface.to_owned(), feature: feature.to_owned() }.check()
        };
        assert_eq!(feature("eth0", "tx-tcp-segmentation"), Ok(()));
        assert!(feature("../x", "tx-tcp-segmentation").is_err());
        assert!(feature("eth0", "").is_err());
    }

    proptest! {
        #[test]
        fn no_name_that_passes_leaves_proc_sys(name in "(net|vm)[./a-z]{0,20}") {
            if sysctl(&name).is_ok() {
                let path = sysctl_path(&name);
                prop_assert!(!path.starts_with('/'));
                prop_assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")));
            }
        }
    }
}
