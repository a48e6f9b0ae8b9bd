//! What on this machine disturbs measurements, as facts; what to think of them is for others to
//! say.

use serde::{Deserialize, Serialize};

use super::{CpuEnvironment, IdleState, LoadEnvironment, hypervisor, memory};
use crate::kernel::files::Files;

/// Facts about this machine that make measurements noisy, or different from those of another day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disturbances {
    /// CPUs online.
    pub cpus: usize,
    /// The frequency governors in use, each once; empty if the kernel does not set the frequency,
    /// as in most virtual machines.
    pub governors: Vec<String>,
    /// Whether the CPUs may go above their nominal frequency.
    pub turbo: Option<bool>,
    /// Whether two threads share a core: they slow each other down.
    pub multithreading_active: Option<bool>,
    /// The deepest idle state that may be used; waking up from it delays packets. `None` if the CPU
    /// never sleeps, or the kernel does not tell.
    pub deepest_idle_state: Option<IdleState>,
    /// CPU time that the hypervisor gave to others since boot, in %.
    pub stolen_percent: Option<f64>,
    /// Average number of runnable tasks over the last 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Whether a daemon (irqbalance) moves interrupts between CPUs. `None` if `/proc` hides other
    /// users' processes.
    pub interrupt_balancing: Option<bool>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
    /// Whether the kernel moves memory between nodes behind the program's back.
    pub numa_balancing: Option<bool>,
    /// Whether the kernel merges equal pages of memory.
    pub page_merging: Option<bool>,
    /// Memory in use that lies in swap, in bytes.
    pub swapped: Option<u64>,
    /// The clock that the kernel reads: anything but `tsc` (x86) or `arch_sys_counter` (Arm) costs
    /// a system call per reading, or an exit to the hypervisor.
    pub clock_source: Option<String>,
    /// Whether the machine is a virtual one.
    pub hypervisor: Option<bool>,
    /// Whether the CPUs give performance events to programs: without them there is no cycle counter
    /// (hidden by many hypervisors).
    pub performance_counters: bool,
}

impl Disturbances {
    /// Reads them.
    pub fn read() -> Self {
        Self::read_from(&Files::system())
    }

    fn read_from(files: &Files) -> Self {
        let cpu = CpuEnvironment::read(files);
        let load = LoadEnvironment::read(files);
        Self {
            cpus: cpu.online,
            deepest_idle_state: deepest(&cpu.idle_states),
            governors: cpu.governors,
            turbo: cpu.turbo,
            multithreading_active: files.switch("sys/devices/system/cpu/smt/active"),
            stolen_percent: load.stolen_percent,
            load_average: load.average,
            interrupt_balancing: interrupt_balancing(files),
            huge_pages: files
                .text("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| choice(&text)),
            numa_balancing: files.switch("proc/sys/kernel/numa_balancing"),
            page_merging: files.switch("sys/kernel/mm/ksm/run"),
            swapped: files.text("proc/meminfo").and_then(|text| swapped(&text)),
            clock_source: files.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            hypervisor: hypervisor(&files.text("proc/cpuinfo").unwrap_or_default()),
            performance_counters: !files.names("sys/bus/event_source/devices", "cpu").is_empty()
                || !files.names("sys/bus/event_source/devices", "armv8_").is_empty(),
        }
    }
}

/// The enabled state with the longest way back.
fn deepest(states: &[IdleState]) -> Option<IdleState> {
    states
        .iter()
        .filter(|state| state.enabled && state.latency > 0)
        .max_by_key(|state| state.latency)
        .cloned()
}

/// The word in brackets, as in `always [madvise] never`.
pub(crate) fn choice(text: &str) -> Option<String> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word.to_owned())
}

pub(crate) fn swapped(meminfo: &str) -> Option<u64> {
    memory(meminfo, "SwapTotal")?.checked_sub(memory(meminfo, "SwapFree")?)
}

/// Looks for the daemon among the processes. Process 1 is not seen where `/proc` hides those of
/// others.
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
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("proc/meminfo", "MemTotal: 10 kB\nSwapTotal:       100 kB\nSwapFree:  60 kB\n"),
            ("proc/1/comm", "init\n"),
            ("proc/812/comm", "irqbalance\n"),
        ]);
        let facts = Disturbances::read_from(&files);
        assert_eq!(facts.deepest_idle_state.map(|state| state.name).as_deref(), Some("C1"));
        assert_eq!(facts.multithreading_active, Some(true));
        assert_eq!(facts.huge_pages.as_deref(), Some("madvise"));
        assert_eq!(facts.swapped, Some(40 * 1024));
        assert_eq!(facts.interrupt_balancing, Some(true));
        assert_eq!(facts.stolen_percent, None);
    }

    #[test]
    fn nothing_is_claimed_where_nothing_can_be_seen() {
        let (_keep, files) = files(&[]);
        let facts = Disturbances::read_from(&files);
        assert_eq!(facts.interrupt_balancing, None);
        assert_eq!((facts.turbo, facts.deepest_idle_state, facts.load_average), (None, None, None));
    }

    #[test]
    fn this_machine_is_read() {
        let facts = Disturbances::read();
        assert!(facts.cpus > 0);
        assert!(facts.load_average.is_some());
    }
}
