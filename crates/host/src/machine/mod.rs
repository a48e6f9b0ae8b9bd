//! Settings of the machine itself, outside of our own namespaces and guests: read, written, read back. Nothing here is undone:
//! code that changes such a setting does it through [`crate::journal`].

mod error;
mod target;
mod wishes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use error::MachineError;
pub use target::Target;
pub(crate) use target::check_value;
pub use wishes::{FeatureWish, Wishes};

use crate::cpu_list::{format_cpu_list, parse_cpu_list};
use crate::ethtool::Ethtool;
use crate::files::Files;

/// The machine whose settings are changed: this one, or a made-up tree of files.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
}

/// Which start of the machine, and which network namespace of it, settings belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The random name of the boot; a restart takes every change away.
    pub(crate) boot: String,
    /// The network namespace as `/proc` names it; many sysctls and all interfaces belong to one.
    pub(crate) network: String,
}

impl Machine {
    /// This machine, as the network namespace of the calling thread shows it.
    pub fn system() -> Self {
        Self::below("/")
    }

    /// A tree with `proc` and `sys` in it, for trying things out. Features of interfaces are those of this machine all the same.
    pub fn below(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned() }
    }

    pub(crate) fn files(&self) -> Files {
        Files::below(&self.root)
    }

    pub(crate) fn identity(&self) -> Identity {
        let network = std::fs::read_link(self.root.join("proc/thread-self/ns/net"));
        Identity {
            boot: self.files().text("proc/sys/kernel/random/boot_id").unwrap_or_default(),
            network: network.map(|link| link.to_string_lossy().into_owned()).unwrap_or_default(),
        }
    }

    /// The value of a setting, written the one way in which equal values are equal texts.
    ///
    /// # Errors
    /// [`MachineError`]: no such setting here, or it may not be read.
    pub fn read(&self, target: &Target) -> Result<String, MachineError> {
        allowed(target)?;
        if let Target::Feature { interface, feature } = target {
            let features = Ethtool::open()?.features(interface)?;
            let state = features.get(feature).ok_or_else(|| no_feature(interface, feature))?;
            return Ok(switch(state.wanted).to_owned());
        }
        let path = self.path(target);
        let text = std::fs::read(&path).map_err(|errno| MachineError::Read {
            target: target.clone(),
            path,
            errno,
        })?;
        let text = String::from_utf8_lossy(&text).into_owned();
        canonical(target, &text).ok_or_else(|| MachineError::Unreadable { target: target.clone(), got: text })
    }

    /// Writes a setting and reads it back.
    ///
    /// # Errors
    /// [`MachineError`]: the kernel refuses, or made something else of it.
    pub fn write(&self, target: &Target, value: &str) -> Result<(), MachineError> {
        allowed(target)?;
        let forbidden = |why| MachineError::Forbidden { target: target.clone(), why };
        check_value(value).map_err(forbidden)?;
        if let Target::Feature { interface, feature } = target {
            return write_feature(target, interface, feature, value);
        }
        let path = self.path(target);
        std::fs::write(&path, value).map_err(|errno| MachineError::Write {
            target: target.clone(),
            value: value.to_owned(),
            path,
            errno,
        })?;
        let got = self.read(target)?;
        if canonical(target, value).as_ref() == Some(&got) {
            return Ok(());
        }
        Err(MachineError::NotTaken {
            target: target.clone(),
            value: value.to_owned(),
            got,
            why: "the kernel rounds it, or bounds it".to_owned(),
        })
    }

    fn path(&self, target: &Target) -> PathBuf {
        let below = match target {
            Target::Sysctl { name } => format!("proc/sys/{}", target::sysctl_path(name)),
            Target::Governor { cpu } => format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
            Target::IrqAffinity { irq } => format!("proc/irq/{irq}/smp_affinity_list"),
            Target::Feature { interface, .. } => format!("sys/class/net/{interface}"),
        };
        self.root.join(below)
    }
}

fn allowed(target: &Target) -> Result<(), MachineError> {
    target.check().map_err(|why| MachineError::Forbidden { target: target.clone(), why })
}

/// What a text says, without what makes no difference: the kernel separates numbers by tabs and lists CPUs as ranges.
pub(crate) fn canonical(target: &Target, text: &str) -> Option<String> {
    match target {
        Target::IrqAffinity { .. } => parse_cpu_list(text).ok().map(|cpus| format_cpu_list(&cpus)),
        _ => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn no_feature(interface: &str, names: &str) -> MachineError {
    MachineError::NoFeature { interface: interface.to_owned(), names: names.to_owned() }
}

fn write_feature(target: &Target, interface: &str, feature: &str, value: &str) -> Result<(), MachineError> {
    let on = match value {
        "on" => true,
        "off" => false,
        _ => {
            let why = format!("a feature is on or off, not {value:?}");
            return Err(MachineError::Forbidden { target: target.clone(), why });
        }
    };
    let change = Ethtool::open()?.set(interface, &BTreeMap::from([(feature.to_owned(), on)]))?;
    let now = change.after.get(feature);
    // What counts is the wish: the kernel keeps it, and follows it as soon as the features that it depends on let it.
    if now.is_some_and(|state| state.wanted == on) {
        return Ok(());
    }
    Err(MachineError::NotTaken {
        target: target.clone(),
        value: value.to_owned(),
        got: now.map_or("nothing", |state| switch(state.wanted)).to_owned(),
        why: change.refused.first().map_or_else(String::new, |refusal| refusal.reason.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::fixture::files;

    fn sysctl(name: &str) -> Target {
        Target::Sysctl { name: name.to_owned() }
    }

    #[test]
    fn settings_are_read_in_one_form_and_read_back() {
        let (keep, _) = files(&[
            ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
            ("proc/irq/7/smp_affinity_list", "0-1,2\n"),
        ]);
        let machine = Machine::below(keep.path());
        let target = sysctl("net.ipv4.tcp_rmem");
        assert_eq!(machine.read(&target).unwrap(), "4096 131072 6291456");
        machine.write(&target, "1  2 3").unwrap();
        assert_eq!(machine.read(&target).unwrap(), "1 2 3");
        let irq = Target::IrqAffinity { irq: 7 };
        assert_eq!(machine.read(&irq).unwrap(), "0-2");
        machine.write(&irq, "0,1").unwrap();
        assert_eq!(machine.read(&irq).unwrap(), "0-1");
    }

    #[test]
    fn what_is_not_there_or_not_allowed_is_named_with_the_way_out() {
        let (keep, _) = files(&[("proc/sys/net/core/x", "1")]);
        let machine = Machine::below(keep.path());
        let text = machine.read(&sysctl("net.core.y")).unwrap_err().to_string();
        assert!(text.contains("net.core.y") && text.contains("does not have it"), "{text}");
        let text = machine.write(&sysctl("kernel.core_pattern"), "|x").unwrap_err().to_string();
        assert!(text.contains("none of those that may be changed"), "{text}");
        let text = machine.write(&sysctl("net.core.x"), "1\n2").unwrap_err().to_string();
        assert!(text.contains("one line"), "{text}");
    }
}
