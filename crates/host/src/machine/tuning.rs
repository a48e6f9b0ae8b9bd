//! Settings of a machine that a study varies between conditions: requested, and read back.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use words::{Tuning, TuningKey, format_cpu_list, format_sysctls};

use super::requested::interrupts;
use super::{Interface, Machine, MachineRequest, Target};
use crate::cpu::affinity::{online_cpus, parse_cpu_mask};
use crate::cpu::power::latency_bound;
use crate::error::Error;

impl MachineRequest {
    /// The request of a condition for a machine whose traffic uses this interface.
    pub fn of_condition(tuning: &Tuning, interface: &str) -> Self {
        let placement = tuning.placement;
        // A placement covers the interrupts too.
        let irq_affinity = tuning.irq_affinity.iter().filter(|_| placement.is_none());
        Self {
            sysctls: tuning.sysctl.clone(),
            governor: tuning.governor.clone(),
            cpu_latency: tuning.cpu_latency,
            placement: placement.map(|both| (interface.to_owned(), both.irq)),
            irq_affinity: irq_affinity.map(|cpus| (interface.to_owned(), cpus.clone())).collect(),
            ..Self::default()
        }
    }
}

impl Machine {
    /// Sets a sysctl of the caller's own network namespace, which needs no undo. Fails for one of
    /// the whole machine, one that the namespace lacks, and a value that reads back differently.
    pub fn set_of_network(&self, target: &Target, value: &str) -> Result<(), Error> {
        if !matches!(target, Target::Sysctl { .. }) || target.is_of_whole_machine() {
            return Err(format!("{target} belongs to the whole machine, not to a network namespace").into());
        }
        self.set(target, value).map_err(|error| if self.is_shared(target) { shared(target) } else { error })
    }

    fn is_shared(&self, target: &Target) -> bool {
        // The kernel shows a sysctl of the whole machine read-only in a namespace, or not at all.
        let file = self.path(target).ok().flatten().map(|path| path.metadata());
        let is_absent = file.is_some_and(|file| file.is_err_and(|errno| errno.kind() == ErrorKind::NotFound));
        is_absent || self.check_writable(target).is_err()
    }

    /// Refuses a sysctl that the caller's network namespace may only read, root too.
    ///
    /// # Errors
    /// It is the whole machine's.
    pub fn check_writable(&self, target: &Target) -> Result<(), Error> {
        let file = self.path(target).ok().flatten().and_then(|path| path.metadata().ok());
        let is_read_only = file.is_some_and(|file| file.permissions().readonly());
        if is_read_only { Err(shared(target)) } else { Ok(()) }
    }

    /// The sysctls among `names` that a new network namespace of this machine shares or lacks, with
    /// the reason why they cannot be varied. Empty without the privilege to make a namespace.
    pub fn shared_sysctls(names: &BTreeSet<String>) -> Vec<String> {
        let targets = names.iter().map(|name| Target::Sysctl { name: name.clone() });
        let of_new =
            |target: &Target| Machine::system().is_shared(target).then(|| shared(target).to_string());
        std::thread::scope(|scope| {
            // The namespace ends with its thread.
            let found = scope.spawn(|| match crate::namespace::new_net() {
                Ok(()) => targets.filter_map(|target| of_new(&target)).collect(),
                Err(_) => Vec::new(),
            });
            found.join().unwrap_or_default()
        })
    }

    /// The machine's value of a setting, in words; several where CPUs or interrupts differ.
    pub fn setting_text(&self, key: TuningKey, of: &Tuning, interface: &str) -> String {
        let values: BTreeSet<String> = match key {
            TuningKey::Sysctl => {
                let read = |name: &String| {
                    let value = self.read(&Target::Sysctl { name: name.clone() }).ok()?;
                    Some((name.clone(), value.words().join(" ")))
                };
                [format_sysctls(&of.sysctl.keys().filter_map(read).collect())].into()
            }
            TuningKey::Governor => {
                let of = |cpu| self.read(&Target::Governor { cpu }).ok();
                online_cpus().into_iter().filter_map(of).map(|value| value.to_string()).collect()
            }
            TuningKey::CpuLatency => {
                latency_bound(&self.files).map(|bound| format!("{bound} µs")).into_iter().collect()
            }
            TuningKey::Placement | TuningKey::IrqAffinity => {
                self.receiving(interface).iter().filter_map(|target| self.cpus_of(target)).collect()
            }
        };
        let told = values.into_iter().collect::<Vec<_>>().join(" and ");
        if told.is_empty() { "none".to_owned() } else { told }
    }

    /// The CPUs of an interface's interrupts, or without interrupts of its queues.
    pub fn receiving(&self, interface: &str) -> Vec<Target> {
        if let Ok(interrupts) = interrupts(self, interface) {
            return interrupts.into_iter().map(|irq| Target::IrqAffinity { irq }).collect();
        }
        Interface::find(interface).and_then(|found| self.affected_by_steering(&found)).unwrap_or_default()
    }

    fn cpus_of(&self, target: &Target) -> Option<String> {
        let value = self.read(target).ok()?;
        if let Target::IrqAffinity { .. } = target {
            return Some(value.to_string());
        }
        let mask = parse_cpu_mask(&value.words().concat())?;
        (!mask.is_empty()).then(|| format_cpu_list(&mask))
    }
}

fn shared(target: &Target) -> Error {
    format!(
        "cannot set {target} in a network namespace: this kernel keeps one for the whole machine, if any; vary it between machines (--transmitter, --receiver and --change-machine), or set it before for both ends"
    )
    .into()
}

#[cfg(test)]
mod tests {
    use words::Placement;

    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn a_condition_is_a_request_for_the_interface_of_its_traffic() {
        let mut tuning = Tuning {
            governor: Some("performance".to_owned()),
            irq_affinity: Some(vec![1]),
            ..Tuning::default()
        };
        let wanted = MachineRequest::of_condition(&tuning, "eth0");
        assert_eq!(wanted.irq_affinity, [("eth0".to_owned(), vec![1])].into());
        assert_eq!(wanted.governor.as_deref(), Some("performance"));
        tuning.placement = Some(Placement { irq: 1, traffic: 0 });
        let wanted = MachineRequest::of_condition(&tuning, "eth0");
        assert_eq!(wanted.placement, Some(("eth0".to_owned(), 1)));
        assert!(wanted.irq_affinity.is_empty());
        assert!(MachineRequest::of_condition(&Tuning::default(), "eth0").is_empty());
    }

    #[test]
    fn a_sysctl_of_the_whole_machine_is_none_of_a_namespace() {
        let (keep, _) =
            files(&[("proc/sys/net/core/rmem_max", "1\n"), ("proc/sys/net/core/somaxconn", "1\n")]);
        let machine = Machine::below(keep.path());
        let path = keep.path().join("proc/sys/net/core/rmem_max");
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
        for (name, is_shared) in
            [("net.core.rmem_max", true), ("net.core.netdev_budget", true), ("net.core.somaxconn", false)]
        {
            assert_eq!(machine.is_shared(&Target::Sysctl { name: name.to_owned() }), is_shared, "{name}");
        }
        let sysctls = [("net.core.rmem_max".to_owned(), "2".to_owned())].into();
        let refused = MachineRequest { sysctls, ..MachineRequest::default() }.settings(&machine);
        assert!(refused.unwrap_err().to_string().contains("for the whole machine"));
        let target = Target::Sysctl { name: "net.core.netdev_budget".to_owned() };
        let why = machine.set_of_network(&target, "2").unwrap_err().to_string();
        assert!(why.contains("for the whole machine"), "{why}");
    }

    #[test]
    fn what_a_machine_has_is_read_in_words() {
        let (keep, _) = files(&[
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/class/net/eth0/device/msi_irqs/31", "msix"),
            ("sys/class/net/eth0/device/msi_irqs/30", "msix"),
            ("proc/sys/net/core/netdev_budget", "300\n"),
            ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
            ("proc/irq/30/smp_affinity_list", "0\n"),
            ("proc/irq/31/smp_affinity_list", "1-3\n"),
        ]);
        let machine = Machine::below(keep.path());
        let sysctl = ["net.core.netdev_budget", "net.ipv4.tcp_rmem", "net.core.none"];
        let sysctl = sysctl.map(|name| (name.to_owned(), "1".to_owned())).into();
        let tuning = Tuning { sysctl, ..Tuning::default() };
        let read = "net.core.netdev_budget=300 net.ipv4.tcp_rmem=4096 131072 6291456";
        assert_eq!(machine.setting_text(TuningKey::Sysctl, &tuning, "eth0"), read);
        assert_eq!(machine.setting_text(TuningKey::Sysctl, &Tuning::default(), "eth0"), "none");
        assert_eq!(machine.setting_text(TuningKey::Governor, &tuning, "eth0"), "powersave");
        assert_eq!(machine.setting_text(TuningKey::IrqAffinity, &tuning, "eth0"), "0 and 1-3");
        assert_eq!(machine.setting_text(TuningKey::CpuLatency, &tuning, "eth0"), "none");
        assert_eq!(machine.setting_text(TuningKey::Placement, &tuning, "no-such-thing"), "none");
    }
}
