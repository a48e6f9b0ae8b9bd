//! The CPUs of a host, with their power and security settings.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use words::format_cpu_list;

use crate::cpu::affinity;
use crate::cpu::power::latency_bound;
use crate::kernel::files::{Machine, field};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuEnvironment {
    pub model: Option<String>,
    pub microcode: Option<String>,
    pub online: usize,
    /// The online CPUs as a list such as `0-3,5`.
    pub online_list: Option<String>,
    /// Taken out of scheduling at boot, as a list.
    pub isolated: Option<String>,
    /// `None` if the kernel does not set the frequency, as in most virtual machines.
    pub frequency_driver: Option<String>,
    pub governors: Vec<String>,
    /// Whether the CPUs may exceed their nominal frequency.
    pub turbo: Option<bool>,
    /// `on`, `off`, `forceoff`, `notsupported` …
    pub multithreading: Option<String>,
    /// The CPUs of each core that has several, as lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub siblings: Vec<String>,
    /// The CPUs of each memory node (`node0`), as lists, if there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, String>,
    pub idle_driver: Option<String>,
    pub idle_governor: Option<String>,
    /// The longest time that a CPU may take to wake up, in µs, while a program holds that bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_bound: Option<u32>,
    /// Of the first CPU, the shallowest first.
    pub idle_states: Vec<IdleState>,
    /// The mitigation of each known vulnerability (`meltdown`, `spectre_v2` …).
    pub vulnerabilities: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleState {
    /// For example `C6`.
    pub name: String,
    /// The time to wake up from it, in µs.
    pub latency: u64,
    pub enabled: bool,
}

impl CpuEnvironment {
    pub(crate) fn read(files: &Machine) -> Self {
        let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
        let online = affinity::online(files).unwrap_or_default();
        let frequency =
            |cpu: &u32, file: &str| files.text(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{file}"));
        let governors: BTreeSet<String> =
            online.iter().filter_map(|cpu| frequency(cpu, "scaling_governor")).collect();
        let nodes = files.texts("sys/devices/system/node", "node", "/cpulist");
        // The driver intel_pstate has a switch of its own, in the opposite sense.
        let turbo_off = files.switch("sys/devices/system/cpu/intel_pstate/no_turbo");
        let siblings = |cpu: &u32| {
            let cpus = affinity::siblings(files, *cpu)?;
            // Each core is listed once: by its first CPU.
            (cpus.len() > 1 && cpus.first() == Some(cpu)).then(|| format_cpu_list(&cpus))
        };
        Self {
            model: model(&cpuinfo),
            microcode: field(&cpuinfo, "microcode").map(str::to_owned),
            frequency_driver: online.first().and_then(|cpu| frequency(cpu, "scaling_driver")),
            governors: governors.into_iter().collect(),
            turbo: turbo_off.map(|off| !off).or_else(|| files.switch("sys/devices/system/cpu/cpufreq/boost")),
            multithreading: files.text("sys/devices/system/cpu/smt/control"),
            siblings: online.iter().filter_map(siblings).collect(),
            nodes: Some(nodes).filter(|all| all.len() > 1).unwrap_or_default(),
            idle_driver: files
                .text("sys/devices/system/cpu/cpuidle/current_driver")
                .filter(|name| name != "none"),
            idle_governor: files.text("sys/devices/system/cpu/cpuidle/current_governor"),
            latency_bound: latency_bound(files),
            idle_states: online.first().map(|cpu| idle_states(files, *cpu)).unwrap_or_default(),
            vulnerabilities: files.texts("sys/devices/system/cpu/vulnerabilities", "", ""),
            isolated: files.text("sys/devices/system/cpu/isolated"),
            online: online.len(),
            online_list: (!online.is_empty()).then(|| format_cpu_list(&online)),
        }
    }

    /// The deepest allowed idle state; waking up from it delays packets.
    pub fn deepest_idle_state(&self) -> Option<&IdleState> {
        // The first state of some drivers polls: waking up from it takes no time.
        let states = self.idle_states.iter().filter(|state| state.enabled && state.latency > 0);
        states.max_by_key(|state| state.latency)
    }
}

/// Whether the CPU reports a hypervisor.
pub(crate) fn hypervisor(cpuinfo: &str) -> Option<bool> {
    // Only x86 has a field of this name; elsewhere nothing is known.
    field(cpuinfo, "flags").map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn model(cpuinfo: &str) -> Option<String> {
    // In turn: x86, MIPS, POWER, RISC-V, LoongArch. Arm has numbers only.
    let named = ["model name", "cpu model", "cpu", "uarch", "Model Name"]
        .iter()
        .find_map(|name| field(cpuinfo, name));
    named.map(str::to_owned).or_else(|| {
        let part = |name| field(cpuinfo, name);
        Some(format!("implementer {} part {}", part("CPU implementer")?, part("CPU part")?))
    })
}

fn idle_states(files: &Machine, cpu: u32) -> Vec<IdleState> {
    let directory = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let read = |state: String| {
        let file = |name: &str| format!("{directory}/{state}/{name}");
        Some(IdleState {
            name: files.text(&file("name"))?,
            latency: files.number(&file("latency"))?,
            enabled: !files.switch(&file("disable")).unwrap_or(false),
        })
    };
    files.names(&directory, "state").into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn an_x86_machine_is_read() {
        let (_keep, files) = files(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Fast CPU @ 3.0\nmicrocode\t: 0x1\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\n",
            ),
            ("sys/devices/system/cpu/online", "0-1\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/devices/system/cpu/cpuidle/current_driver", "none\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
        ]);
        let cpu = CpuEnvironment::read(&files);
        assert_eq!(cpu.model.as_deref(), Some("Fast CPU @ 3.0"));
        assert_eq!(cpu.online, 2);
        assert_eq!(cpu.governors, ["performance", "powersave"]);
        assert_eq!(cpu.turbo, Some(true));
        assert_eq!(cpu.idle_driver, None);
        let state = |name: &str, latency, enabled| IdleState { name: name.to_owned(), latency, enabled };
        assert_eq!(cpu.idle_states, [state("POLL", 0, true), state("C6", 133, false)]);
        assert_eq!(cpu.vulnerabilities["meltdown"], "Not affected");
        assert_eq!(hypervisor(&files.text("proc/cpuinfo").unwrap()), Some(true));
    }

    #[test]
    fn cores_of_several_cpus_and_nodes_are_listed() {
        let (_keep, files) = files(&[
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n"),
            ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3\n"),
            ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n"),
            ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3\n"),
            ("sys/devices/system/node/node0/cpulist", "0,2\n"),
            ("sys/devices/system/node/node1/cpulist", "1,3\n"),
        ]);
        let cpu = CpuEnvironment::read(&files);
        assert_eq!(cpu.siblings, ["0,2", "1,3"]);
        assert_eq!(cpu.nodes["node1"], "1,3");
    }

    #[test]
    fn an_arm_machine_has_numbers_for_a_model_and_no_hypervisor_flag() {
        let cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(model(cpuinfo).as_deref(), Some("implementer 0x41 part 0xd0c"));
        assert_eq!(hypervisor(cpuinfo), None);
    }
}
