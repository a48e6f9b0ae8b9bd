//! The settings of a study's `[machine]` table, one by one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use words::format_cpu_list;

use crate::cpu::affinity::{format_cpu_mask, online_cpus};
use crate::error::Error;
use crate::link::ethtool::Ethtool;
use crate::link::links::{Links, check_name};

use super::value::switch;
use super::{Interface, Machine, Target, no_feature};

/// A study's changes of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineRequest {
    pub sysctls: BTreeMap<String, String>,
    /// Of every CPU.
    pub governor: Option<String>,
    /// The longest time that a CPU may take to wake up, in µs ([`crate::hold_latency`]).
    #[serde(default)]
    pub cpu_latency: Option<u32>,
    /// An interface, and the CPU for all its interrupts, or, without interrupts, for its receive
    /// work.
    #[serde(default)]
    pub placement: Option<(String, u32)>,
    /// The CPUs that handle all interrupts of an interface, by interface.
    pub irq_affinity: BTreeMap<String, Vec<u32>>,
    pub features: Vec<FeatureRequest>,
}

/// Features of one interface to be switched together (ethtool's `tso` names several).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureRequest {
    pub interface: String,
    /// Names that this kernel or the driver lacks are skipped, unless all are lacking.
    pub features: Vec<String>,
    pub on: bool,
}

impl MachineRequest {
    /// Whether the request has no setting.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The part of the request that every network namespace of the machine has in common.
    pub fn of_whole_machine(&self) -> Self {
        let mut sysctls = self.sysctls.clone();
        sysctls.retain(|name, _| Target::Sysctl { name: name.clone() }.is_of_whole_machine());
        Self { sysctls, governor: self.governor.clone(), ..Self::default() }
    }

    /// The settings of this machine with their values, in order. Fails for one that this machine
    /// does not have, or that its network namespace may only read.
    pub fn settings(&self, machine: &Machine) -> Result<Vec<(Target, String)>, Error> {
        let sysctl =
            |(name, value): (&String, &String)| (Target::Sysctl { name: name.clone() }, value.clone());
        let mut settings: Vec<(Target, String)> = self.sysctls.iter().map(sysctl).collect();
        settings.iter().try_for_each(|(sysctl, _)| machine.check_writable(sysctl))?;
        if let Some(governor) = &self.governor {
            // Some of the CPUs may have no governor: the others are governed.
            let cpus = online_cpus().into_iter().map(|cpu| Target::Governor { cpu });
            let governed: Vec<Target> = cpus.filter(|target| machine.read(target).is_ok()).collect();
            if governed.is_empty() {
                return Err(NO_GOVERNOR.into());
            }
            settings.extend(governed.into_iter().map(|target| (target, governor.clone())));
        }
        for (interface, cpus) in &self.irq_affinity {
            let cpus = format_cpu_list(cpus);
            settings.extend(interrupts(machine, interface)?.into_iter().map(|target| (target, cpus.clone())));
        }
        if let Some((interface, cpu)) = &self.placement {
            settings.extend(placement(machine, interface, *cpu)?);
        }
        for wanted in &self.features {
            settings.extend(wanted.settings()?);
        }
        Ok(settings)
    }
}

fn placement(machine: &Machine, interface: &str, cpu: u32) -> Result<Vec<(Target, String)>, Error> {
    let online = online_cpus();
    if !online.contains(&cpu) {
        let online = format_cpu_list(&online);
        return Err(Error::from(format!(
            "CPU {cpu} cannot handle interrupts: the CPUs that are online here are {online}"
        )));
    }
    let steering = machine.affected_by_steering(&Interface::find(interface)?)?;
    // Receive work that interrupts leave to other CPUs would be done there.
    let (interrupts, receive) = match interrupts(machine, interface) {
        Ok(interrupts) => (interrupts, Vec::new()),
        Err(_) => (Vec::new(), vec![cpu]),
    };
    let mask = format_cpu_mask(&receive)?;
    let interrupts = interrupts.into_iter().map(|target| (target, cpu.to_string()));
    Ok(interrupts.chain(steering.into_iter().map(|queue| (queue, mask.clone()))).collect())
}

impl FeatureRequest {
    fn settings(&self) -> Result<Vec<(Target, String)>, Error> {
        let interface = Interface::find(&self.interface)?;
        let there = Ethtool::open()?.features(&interface.name)?;
        let states = || self.features.iter().filter_map(|name| Some((name, there.get(name)?)));
        if !states().any(|(_, state)| state.changeable || state.active == self.on) {
            return Err(no_feature(&self.interface, &self.features.join(", ")));
        }
        let switchable = states().filter(|(_, state)| state.changeable).map(|(name, _)| name);
        let setting = |feature: &String| {
            let target = Target::Feature { interface: interface.clone(), feature: feature.clone() };
            (target, switch(self.on).to_owned())
        };
        Ok(switchable.map(setting).collect())
    }
}

const NO_GOVERNOR: &str =
    "no CPU here has a frequency governor (a virtual machine, or no cpufreq driver): remove `governor`";

/// The CPUs of each interrupt of an interface.
pub(super) fn interrupts(machine: &Machine, interface: &str) -> Result<Vec<Target>, Error> {
    let found = Links::open()?.find(interface);
    let name = found.map_or_else(|_| interface.to_owned(), |link| link.name);
    check_name(&name)?;
    let device = format!("sys/class/net/{name}/device");
    // Message-signalled ones, of virtio those of its PCI device; or the one line of old devices.
    for directory in [format!("{device}/msi_irqs"), format!("{device}/../msi_irqs")] {
        let numbers = machine.names(&directory, "");
        // An interrupt that no driver has requested has no directory there.
        let is_used = |irq: &u32| !machine.names(&format!("proc/irq/{irq}"), "").is_empty();
        let used = numbers.iter().filter_map(|name| name.parse().ok()).filter(is_used);
        let found: Vec<Target> = used.map(|irq| Target::IrqAffinity { irq }).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    // 0 stands for no interrupt.
    let single: Option<u32> = machine.number(&format!("{device}/irq")).filter(|irq| *irq > 0);
    single.map(|irq| vec![Target::IrqAffinity { irq }]).ok_or_else(|| {
        Error::from(format!(
            "interface {interface:?} has no interrupts of its own here (virtual, or it does not exist): remove it from `irq_affinity`"
        ))
    })
}

#[cfg(test)]
mod tests;
