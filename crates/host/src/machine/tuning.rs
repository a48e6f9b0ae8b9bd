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
        let file = self.file(target).ok().flatten().map(|path| path.metadata());
        let is_absent = file.is_some_and(|file| file.is_err_and(|errno| errno.kind() == ErrorKind::NotFound));
        is_absent || self.check_writable(target).is_err()
    }

    /// Refuses a sysctl that the caller's network namespace may only read, root too.
    ///
    /// # Errors
    /// It is the whole machine's.
    pub fn check_writable(&self, target: &Target) -> Result<(), Error> {
        let file = self.file(target).ok().flatten().and_then(|path| path.metadata().ok());
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
                let governor = |cpu| self.read(&Target::Governor { cpu }).ok();
                online_cpus().into_iter().filter_map(governor).map(|value| value.to_string()).collect()
            }
            TuningKey::CpuLatency => {
                latency_bound(self).map(|bound| format!("{bound} µs")).into_iter().collect()
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
        let of_queues = |_| Interface::find(interface).and_then(|found| self.affected_by_steering(&found));
        interrupts(self, interface).or_else(of_queues).unwrap_or_default()
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
    Error::from(format!(
        "cannot set {target} in a network namespace: this kernel keeps one for the whole machine, if any; vary it between machines (--transmitter, --receiver and --change-machine), or set it before for both ends"
    ))
}

#[cfg(test)]
mod tests;
