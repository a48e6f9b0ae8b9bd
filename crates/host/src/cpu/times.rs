//! CPU time by use, and a check of the clocks that measure it.

use std::collections::BTreeMap;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use words::format_cpu_list;

use crate::error::Error;
use crate::kernel::counted::counted;

counted! {
    /// Time of a set of CPUs by use, in ns summed over the CPUs. The kernel counts it in units of
    /// 10 ms, mostly sampled at each timer tick, so a single short window is coarse.
    pub struct CpuTimes {
        /// In user mode, virtual machines on this machine included.
        user,
        system,
        irq,
        softirq,
        /// Ready to run, but the hypervisor ran another guest.
        steal,
        /// Idle, including waits for input and output.
        idle,
    }
}

impl CpuTimes {
    /// Reads the time since boot of each of `cpus`, in their order.
    pub fn read_each(cpus: &[u32]) -> Result<Vec<Self>, Error> {
        let text = std::fs::read_to_string(STAT).map_err(Error::unreadable(STAT))?;
        let table = parse(&text, TICK);
        let find = |cpu: &u32| {
            table.get(cpu).copied().ok_or_else(|| {
                let online: Vec<u32> = table.keys().copied().collect();
                format!("CPU {cpu} is not online here (online: {})", format_cpu_list(&online)).into()
            })
        };
        cpus.iter().map(find).collect()
    }

    /// All time but idle and stolen time.
    pub fn busy(&self) -> u64 {
        [self.system, self.irq, self.softirq].into_iter().fold(self.user, u64::saturating_add)
    }

    /// All time.
    pub fn total(&self) -> u64 {
        self.busy().saturating_add(self.steal).saturating_add(self.idle)
    }

    /// The parts in % of all time, in the order of the fields; `None` if no counted time passed.
    pub fn percentages(&self) -> Option<[f64; 6]> {
        let total = self.total();
        let parts = [self.user, self.system, self.irq, self.softirq, self.steal, self.idle];
        (total > 0).then(|| parts.map(|part| part as f64 * 100.0 / total as f64))
    }
}

const STAT: &str = "/proc/stat";

// The unit of times in `/proc`, in ns: `USER_HZ` is 100 on every current architecture.
pub(crate) const TICK: u64 = 10_000_000;

pub(crate) fn parse(text: &str, tick: u64) -> BTreeMap<u32, CpuTimes> {
    text.lines().filter_map(|line| parse_line(line, tick)).collect()
}

pub(crate) fn since_boot(text: &str, tick: u64) -> CpuTimes {
    CpuTimes::sum(&parse(text, tick).into_values().collect::<Vec<_>>())
}

fn parse_line(line: &str, tick: u64) -> Option<(u32, CpuTimes)> {
    let mut words = line.split_whitespace();
    // The line `cpu` of all CPUs together has no number, and would count them twice.
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    // user nice system idle iowait irq softirq steal guest guest_nice: the last two are part of the
    // first two.
    let mut next =
        || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0).saturating_mul(tick);
    let (user, nice, system, idle, iowait) = (next(), next(), next(), next(), next());
    let times = CpuTimes {
        user: user.saturating_add(nice),
        system,
        irq: next(),
        softirq: next(),
        steal: next(),
        idle: idle.saturating_add(iowait),
    };
    Some((cpu, times))
}

/// This host's clocks, read one right after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// `CLOCK_MONOTONIC`, `CLOCK_MONOTONIC_RAW` and `CLOCK_BOOTTIME`, in ns.
    ns: [u64; 3],
    source: Option<String>,
}

/// The time between two readings by each clock, in ns, and whether the clock source changed.
///
/// NTP slews `CLOCK_MONOTONIC` (at most 0.05 % by `adjtime`, up to 10 % by `adjtimex`'s tick) but
/// not `CLOCK_MONOTONIC_RAW`; only `CLOCK_BOOTTIME` continues while the machine sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockCheck {
    /// By the clock of all measurements.
    pub monotonic_ns: u64,
    pub raw_ns: u64,
    pub boottime_ns: u64,
    pub source_changed: bool,
}

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

impl ClockReading {
    /// Reads the clocks, in less than 1 µs where the clock source needs no system call.
    pub fn read() -> Self {
        // The file first: it takes longest, and the clocks must be read together.
        let source = std::fs::read_to_string(SOURCE).ok().map(|text| text.trim().to_owned());
        let clocks = [ClockId::CLOCK_MONOTONIC, ClockId::CLOCK_MONOTONIC_RAW, ClockId::CLOCK_BOOTTIME];
        let ns = |time| u64::try_from(Duration::from(time).as_nanos()).unwrap_or(u64::MAX);
        Self { ns: clocks.map(|clock| clock_gettime(clock).map_or(0, ns)), source }
    }

    /// The difference from `earlier`.
    pub fn since(&self, earlier: &Self) -> ClockCheck {
        let [monotonic_ns, raw_ns, boottime_ns] =
            [0, 1, 2].map(|clock| self.ns[clock].saturating_sub(earlier.ns[clock]));
        ClockCheck { monotonic_ns, raw_ns, boottime_ns, source_changed: self.source != earlier.source }
    }
}

#[cfg(test)]
mod tests;
