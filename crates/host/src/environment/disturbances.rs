//! Facts about this machine that disturb measurements; their judgement is elsewhere.

use super::{CpuEnvironment, IdleState, KernelEnvironment, LoadEnvironment, MachineEnvironment};
use crate::kernel::files::Files;

/// Facts about this machine that make measurements noisy, or different on another day.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturbances {
    /// The CPUs.
    pub cpu: CpuEnvironment,
    /// The kernel. A clock source other than `tsc` (x86) or `arch_sys_counter` (Arm) costs a system
    /// call per reading, or an exit to the hypervisor.
    pub kernel: KernelEnvironment,
    /// The machine, and whether it is virtual.
    pub machine: MachineEnvironment,
    /// Its load.
    pub load: LoadEnvironment,
    /// Whether two threads share a core, and slow each other down.
    pub multithreading_active: Option<bool>,
    /// Whether a daemon (irqbalance) moves interrupts between CPUs. `None` if `/proc` hides other
    /// users' processes.
    pub interrupt_balancing: Option<bool>,
    /// Whether the kernel moves memory between nodes automatically.
    pub numa_balancing: Option<bool>,
    /// Whether the kernel merges equal pages of memory.
    pub page_merging: Option<bool>,
}

impl Disturbances {
    /// Reads the facts.
    pub fn read() -> Self {
        Self::read_from(&Files::system())
    }

    fn read_from(files: &Files) -> Self {
        Self {
            cpu: CpuEnvironment::read(files),
            kernel: KernelEnvironment::read(files),
            machine: MachineEnvironment::read(files),
            load: LoadEnvironment::read(files),
            multithreading_active: files.switch("sys/devices/system/cpu/smt/active"),
            interrupt_balancing: interrupt_balancing(files),
            numa_balancing: files.switch("proc/sys/kernel/numa_balancing"),
            page_merging: files.switch("sys/kernel/mm/ksm/run"),
        }
    }

    /// The deepest allowed idle state; waking up from it delays packets. `None` if the CPU never
    /// sleeps, or the kernel does not report it.
    pub fn deepest_idle_state(&self) -> Option<&IdleState> {
        let states = self.cpu.idle_states.iter();
        states.filter(|state| state.enabled && state.latency > 0).max_by_key(|state| state.latency)
    }
}

/// Finds the daemon among the processes. `/proc` hides other users' processes if process 1 is
/// missing.
fn interrupt_balancing(files: &Files) -> Option<bool> {
    files.text("proc/1/comm")?;
    let processes =
        files.names("proc", "").into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let mut commands = processes.filter_map(|process| files.text(&format!("proc/{process}/comm")));
    Some(commands.any(|command| command == "irqbalance"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn the_facts_are_found() {
        let (_keep, files) = files(&[
            ("sys/devices/system/cpu/online", "0\n"),
            ("sys/devices/system/cpu/smt/active", "1\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "133\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n"),
            ("proc/1/comm", "init\n"),
            ("proc/812/comm", "irqbalance\n"),
        ]);
        let facts = Disturbances::read_from(&files);
        assert_eq!(facts.deepest_idle_state().map(|state| state.name.as_str()), Some("C1"));
        assert_eq!(facts.multithreading_active, Some(true));
        assert_eq!(facts.interrupt_balancing, Some(true));
        assert_eq!(facts.load.stolen_percent, None);
    }

    #[test]
    fn nothing_is_claimed_where_nothing_can_be_seen() {
        let (_keep, files) = files(&[]);
        let facts = Disturbances::read_from(&files);
        assert_eq!(facts.interrupt_balancing, None);
        assert_eq!((facts.cpu.turbo, facts.deepest_idle_state(), facts.load.average), (None, None, None));
    }

    #[test]
    fn this_machine_is_read() {
        let facts = Disturbances::read();
        assert!(facts.cpu.online > 0);
        assert!(facts.load.average.is_some());
    }
}
