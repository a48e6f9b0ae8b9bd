//! CPU time by use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use words::format_cpu_list;

use crate::error::Error;
use crate::kernel::counted::counted;

counted! {
    /// Time of a set of CPUs by use, in ns summed over the CPUs, since boot or between two
    /// readings.
    ///
    /// The kernel reports it in `/proc/stat` in units of 10 ms (`USER_HZ`), and most kernels sample
    /// it at each timer tick (1 to 10 ms), so a single short window is coarse; many runs average
    /// that out.
    pub struct CpuTimes {
        /// In user mode, of normal and low priority; virtual machines on this machine included.
        user,
        /// In the kernel on behalf of processes.
        system,
        /// In interrupt handlers.
        irq,
        /// In software interrupts: most of the receive work of the network.
        softirq,
        /// Ready to run, but the hypervisor ran another guest.
        steal,
        /// Idle, including waits for input and output.
        idle,
    }
}

impl CpuTimes {
    /// Reads the time since boot of `cpus` together.
    pub fn read(cpus: &[u32]) -> Result<Self, Error> {
        Self::read_each(cpus).map(|each| Self::sum(&each))
    }

    /// Reads the time since boot of each of `cpus`, in their order.
    pub fn read_each(cpus: &[u32]) -> Result<Vec<Self>, Error> {
        let text = std::fs::read_to_string(STAT).map_err(|errno| Error::Read { path: STAT.into(), errno })?;
        let table = parse(&text, tick()?);
        let find = |cpu: &u32| {
            table.get(cpu).copied().ok_or_else(|| {
                let online: Vec<u32> = table.keys().copied().collect();
                format!("CPU {cpu} is not online here (online: {})", format_cpu_list(&online)).into()
            })
        };
        cpus.iter().map(find).collect()
    }

    /// Time in which the CPUs worked for this machine: all but idle and stolen time.
    pub fn busy(&self) -> u64 {
        [self.system, self.irq, self.softirq].into_iter().fold(self.user, u64::saturating_add)
    }

    /// All time.
    pub fn total(&self) -> u64 {
        self.busy().saturating_add(self.steal).saturating_add(self.idle)
    }

    /// The parts as percentages; `None` if no counted time passed.
    pub fn usage(&self) -> Option<CpuUsage> {
        let total = self.total();
        let percent = |part: u64| part as f64 * 100.0 / total as f64;
        (total > 0).then(|| CpuUsage {
            user: percent(self.user),
            system: percent(self.system),
            irq: percent(self.irq),
            softirq: percent(self.softirq),
            steal: percent(self.steal),
            idle: percent(self.idle),
        })
    }
}

/// CPU use by part, in % of all those CPUs; the parts add up to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuUsage {
    /// In user mode.
    pub user: f64,
    /// In the kernel on behalf of processes.
    pub system: f64,
    /// In interrupt handlers.
    pub irq: f64,
    /// In software interrupts.
    pub softirq: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
}

impl CpuUsage {
    /// The share of time in which the CPUs worked for this machine, in %.
    pub fn busy(&self) -> f64 {
        self.user + self.system + self.irq + self.softirq
    }
}

const STAT: &str = "/proc/stat";

/// The unit of `/proc/stat` in nanoseconds.
pub(crate) fn tick() -> Result<u64, Error> {
    let hertz = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten();
    hertz
        .and_then(|hertz| u64::try_from(hertz).ok())
        .filter(|hertz| *hertz > 0)
        .map(|hertz| 1_000_000_000 / hertz)
        .ok_or_else(|| {
            format!("cannot parse {STAT}: the system does not report its unit (_SC_CLK_TCK)").into()
        })
}

/// The times of each CPU in `/proc/stat`, whose unit is `tick` ns. Skips other lines.
pub(crate) fn parse(text: &str, tick: u64) -> BTreeMap<u32, CpuTimes> {
    text.lines().filter_map(|line| parse_line(line, tick)).collect()
}

/// The times of all CPUs together since boot, if `/proc/stat` can be read.
pub(crate) fn since_boot(text: &str, tick: u64) -> CpuTimes {
    CpuTimes::sum(&parse(text, tick).into_values().collect::<Vec<_>>())
}

fn parse_line(line: &str, tick: u64) -> Option<(u32, CpuTimes)> {
    let mut words = line.split_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    // user nice system idle iowait irq softirq steal guest guest_nice: the last two are part of the
    // first two, and old kernels end earlier.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TICK: u64 = 10_000_000;

    #[test]
    fn each_cpu_is_read_with_its_parts() {
        let text =
            "cpu  11 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 40 5 6 7 8 1 2\ncpu10 1 0 0 0\nintr 123 4\nctxt 5\n";
        let table = parse(text, TICK);
        assert_eq!(table.keys().copied().collect::<Vec<_>>(), [0, 10]);
        let ticks = |ticks: u64| ticks * TICK;
        assert_eq!(
            table[&0],
            CpuTimes {
                user: ticks(3),
                system: ticks(3),
                irq: ticks(6),
                softirq: ticks(7),
                steal: ticks(8),
                idle: ticks(45),
            }
        );
        assert_eq!(table[&10].user, ticks(1));
        assert_eq!(since_boot(text, TICK).user, ticks(4));
    }

    #[test]
    fn a_usage_is_of_the_time_there_was() {
        let spent = CpuTimes { user: 10, system: 20, irq: 0, softirq: 10, steal: 10, idle: 50 };
        let usage = spent.usage().unwrap();
        assert_eq!(
            (usage.user, usage.system, usage.softirq, usage.steal, usage.idle),
            (10.0, 20.0, 10.0, 10.0, 50.0)
        );
        assert_eq!((usage.busy(), spent.busy(), spent.total()), (40.0, 40, 100));
        assert_eq!(CpuTimes::default().usage(), None);
    }

    #[test]
    fn this_machines_cpus_are_read_and_one_it_has_not_is_named() {
        let cpus = crate::cpu::affinity::online_cpus();
        let earlier = CpuTimes::read(&cpus).unwrap();
        assert!(earlier.total() > 0);
        let later = CpuTimes::read(&cpus).unwrap();
        assert!(later.since(&earlier).busy() < later.busy());
        let error = CpuTimes::read(&[60_000]).unwrap_err().to_string();
        assert!(
            error.contains("CPU 60000 is not online") && error.contains(&format_cpu_list(&cpus)),
            "{error}"
        );
    }

    fn times() -> impl Strategy<Value = CpuTimes> {
        any::<[u64; 6]>().prop_map(|[user, system, irq, softirq, steal, idle]| CpuTimes {
            user,
            system,
            irq,
            softirq,
            steal,
            idle,
        })
    }

    proptest! {
        #[test]
        fn nothing_is_negative_and_percentages_add_up(earlier in times(), later in times()) {
            let spent = later.since(&earlier);
            prop_assert!(spent.user <= later.user && spent.idle <= later.idle);
            if spent.total() < u64::MAX && let Some(usage) = spent.usage() {
                prop_assert!((usage.busy() + usage.steal + usage.idle - 100.0).abs() < 1e-6);
            }
        }
    }
}
