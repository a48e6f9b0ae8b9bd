//! Facts about a machine that make measurements noisy.

use super::{Environment, IdleState};
use crate::kernel::files::Machine;

/// Facts about this machine that make measurements noisy, or different on another day.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturbances {
    /// A clock source other than `tsc` (x86) or `arch_sys_counter` (Arm) costs a system call per
    /// reading, or an exit to the hypervisor.
    pub environment: Environment,
    /// Two threads that share a core slow each other down.
    pub multithreading_active: Option<bool>,
    /// Whether irqbalance moves interrupts between CPUs. `None` if `/proc` hides other processes.
    pub interrupt_balancing: Option<bool>,
    pub numa_balancing: Option<bool>,
    pub page_merging: Option<bool>,
}

impl Disturbances {
    /// Reads the facts.
    pub fn read(machine: &Machine) -> Self {
        let commands = machine.texts("proc", "", "/comm");
        Self {
            environment: Environment::of_machine(machine, ""),
            multithreading_active: machine.switch("sys/devices/system/cpu/smt/active"),
            // `/proc` hides other users' processes if the first one is missing.
            interrupt_balancing: commands
                .contains_key("1")
                .then(|| commands.values().any(|command| command == "irqbalance")),
            numa_balancing: machine.switch("proc/sys/kernel/numa_balancing"),
            page_merging: machine.switch("sys/kernel/mm/ksm/run"),
        }
    }

    /// The deepest allowed idle state; waking up from it delays packets.
    pub fn deepest_idle_state(&self) -> Option<&IdleState> {
        // The first state of some drivers polls: waking up from it takes no time.
        let states = self.environment.cpu.idle_states.iter();
        states.filter(|state| state.enabled && state.latency > 0).max_by_key(|state| state.latency)
    }
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
        let facts = Disturbances::read(&files);
        assert_eq!(facts.deepest_idle_state().map(|state| state.name.as_str()), Some("C1"));
        assert_eq!(facts.multithreading_active, Some(true));
        assert_eq!(facts.interrupt_balancing, Some(true));
        assert_eq!(facts.environment.load.stolen_percent, None);
    }

    #[test]
    fn nothing_is_claimed_where_nothing_can_be_seen() {
        let (_keep, files) = files(&[]);
        let facts = Disturbances::read(&files);
        assert_eq!(facts.interrupt_balancing, None);
        assert_eq!(
            (facts.environment.cpu.turbo, facts.deepest_idle_state(), facts.environment.load.average),
            (None, None, None)
        );
    }

    #[test]
    fn the_facts_of_this_machine_are_found() {
        let facts = Disturbances::read(&Machine::system());
        assert!(facts.environment.cpu.online > 0);
        assert!(facts.environment.load.average.is_some());
    }
}
