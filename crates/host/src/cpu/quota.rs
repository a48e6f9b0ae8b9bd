//! Quotas of CPU time of the groups of processes (cgroups) that this process is in.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel::files::Files;

/// A group's quota: its CPU time in each period, on all CPUs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuQuota {
    /// The CPU time, in µs.
    pub runtime_us: u64,
    /// The period, in µs.
    pub period_us: u64,
}

impl CpuQuota {
    /// The number of CPUs that have this much time.
    fn cpus(self) -> f64 {
        self.runtime_us as f64 / self.period_us.max(1) as f64
    }
}

/// For example `0.2 CPUs in each 100 ms`.
impl fmt::Display for CpuQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = (self.cpus() * 100.0).round() / 100.0;
        let unit = if cpus == 1.0 { "CPU" } else { "CPUs" };
        write!(f, "{cpus} {unit} in each {} ms", self.period_us as f64 / 1e3)
    }
}

/// Throttling of a group by the kernel: each time it stopped the group until the next period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttled {
    /// The quota.
    pub quota: CpuQuota,
    /// Periods in which the group wanted CPU time.
    pub periods: u64,
    /// Periods in which it was throttled.
    pub throttled: u64,
}

impl Throttled {
    /// The change between two readings of the same groups, for the group that was throttled most.
    #[must_use]
    pub fn most_throttled(last: &[Self], first: &[Self]) -> Option<Self> {
        let passed = last.iter().zip(first).map(|(last, first)| Self {
            quota: last.quota,
            periods: last.periods.saturating_sub(first.periods),
            throttled: last.throttled.saturating_sub(first.throttled),
        });
        passed.max_by_key(|passed| passed.throttled)
    }

    /// The sum of two windows.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            periods: self.periods.saturating_add(more.periods),
            throttled: self.throttled.saturating_add(more.throttled),
            ..self
        }
    }
}

/// The groups with a quota that this process was in, with their counters open: a namespace that it
/// enters later may hide them.
#[derive(Clone, Debug, Default)]
pub struct Quotas(Arc<[QuotaGroup]>);

#[derive(Debug)]
struct QuotaGroup {
    directory: String,
    quota: CpuQuota,
    stat: File,
}

impl Quotas {
    /// Finds the groups of this process that have a quota.
    #[must_use]
    pub fn read() -> Self {
        Self::read_from(&Files::system())
    }

    fn read_from(files: &Files) -> Self {
        let group = |directory: String| {
            let quota = quota(files, &directory)?;
            let stat = files.open(&format!("{directory}/cpu.stat"), OpenOptions::new().read(true)).ok()?;
            Some(QuotaGroup { directory, quota, stat })
        };
        Self(directories(files).unwrap_or_default().into_iter().filter_map(group).collect())
    }

    /// The smallest quota, with the directory of its group.
    #[must_use]
    pub fn smallest(&self) -> Option<(CpuQuota, &str)> {
        let smallest = self.0.iter().min_by(|one, other| one.quota.cpus().total_cmp(&other.quota.cpus()))?;
        Some((smallest.quota, &smallest.directory))
    }

    /// The counters of each group.
    #[must_use]
    pub fn counters(&self) -> Vec<Throttled> {
        let counters = |group: &QuotaGroup| {
            // The file has some 200 bytes.
            let mut bytes = [0; 1024];
            let length = group.stat.read_at(&mut bytes, 0).unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..length]);
            let number = |name| value(&text, name).and_then(|value| value.parse().ok()).unwrap_or(0);
            let (periods, throttled) = (number("nr_periods"), number("nr_throttled"));
            Throttled { quota: group.quota, periods, throttled }
        };
        self.0.iter().map(counters).collect()
    }
}

fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

/// The quota of a group; `max` stands for none.
fn quota(files: &Files, directory: &str) -> Option<CpuQuota> {
    let text = files.text(&format!("{directory}/cpu.max"))?;
    let (runtime, period) = text.split_once(' ')?;
    Some(CpuQuota { runtime_us: runtime.parse().ok()?, period_us: period.parse().ok()? })
}

/// The directories of the group of this process and of the groups above, the nearest first
/// (cgroups v2).
fn directories(files: &Files) -> Option<Vec<String>> {
    let [groups, mounts] = ["cgroup", "mountinfo"].map(|file| files.text(&format!("proc/self/{file}")));
    let path = groups.as_ref()?.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, at) = mounts.as_ref()?.lines().find_map(mounted)?;
    let at = at.trim_start_matches('/');
    // A group outside of the mounted tree is shown as `/..`: the tree's root stands for it.
    let below = path.strip_prefix(root.trim_end_matches('/')).filter(|below| {
        (below.is_empty() || below.starts_with('/')) && !below.split('/').any(|step| step == "..")
    });
    let own = format!("{at}{}", below.unwrap_or_default());
    let all = Path::new(own.trim_end_matches('/')).ancestors().map(|path| path.to_string_lossy().into_owned());
    Some(all.take_while(|directory| directory.len() >= at.len()).collect())
}

/// The root and the mount point of the groups, if a line of mountinfo mounts them.
fn mounted(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    Some((before.next()?, before.next()?)).filter(|_| after.starts_with("cgroup2 "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    /// The smallest quota of a machine with these mounts, groups and files, and its counters.
    fn read(mounts: &str, groups: &str, of_groups: &[(&str, &str)]) -> String {
        let mut list = vec![("proc/self/mountinfo", mounts), ("proc/self/cgroup", groups)];
        list.extend(of_groups);
        let (_keep, files) = files(&list);
        let quotas = Quotas::read_from(&files);
        let counters: Vec<String> =
            quotas.counters().iter().map(|one| format!("{}/{}", one.throttled, one.periods)).collect();
        match quotas.smallest() {
            Some((quota, group)) => format!("{quota}: {group} {}", counters.join(" ")),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn the_quotas_of_a_group_and_of_those_above_it_are_read() {
        let stat = "usage_usec 9\nnr_periods 22\nnr_throttled 17\nthrottled_usec 1\nnr_bursts 0\n";
        let (max, own, above) =
            ("sys/fs/cgroup/a/b/cpu.max", "sys/fs/cgroup/a/b/cpu.stat", "sys/fs/cgroup/a/cpu.stat");
        let container = [("sys/fs/cgroup/cpu.max", "200000 100000\n"), ("sys/fs/cgroup/cpu.stat", stat)];
        for (mounts, groups, of_groups, expected) in [
            (
                V2,
                "0::/a/b\n",
                &[(max, "20000 100000\n"), (own, stat)][..],
                "0.2 CPUs in each 100 ms: sys/fs/cgroup/a/b 17/22",
            ),
            (V2, "0::/a/b\n", &[(max, "max 100000\n"), (own, stat)], "none"),
            (
                V2,
                "0::/a/b\n",
                &[
                    (max, "300000 100000\n"),
                    (own, stat),
                    ("sys/fs/cgroup/a/cpu.max", "50000 50000\n"),
                    (above, "nr_periods 9\nnr_throttled 0\n"),
                ],
                "1 CPU in each 50 ms: sys/fs/cgroup/a 17/22 0/9",
            ),
            // A namespace of groups, and one that this process is outside of.
            (V2, "0::/\n", &container, "2 CPUs in each 100 ms: sys/fs/cgroup 17/22"),
            (V2, "0::/../../x\n", &container, "2 CPUs in each 100 ms: sys/fs/cgroup 17/22"),
            (V2, "0::/a\n", &[("sys/fs/cgroup/a/cpu.max", "x y")], "none"),
            ("", "0::/a\n", &container, "none"),
            (V2, "", &container, "none"),
            (V2, "3:cpu,cpuacct:/\n", &container, "none"),
        ] {
            assert_eq!(read(mounts, groups, of_groups), expected, "{groups} {of_groups:?}");
        }
    }

    #[test]
    fn the_group_that_was_throttled_most_counts() {
        let at = |periods, throttled| Throttled {
            quota: CpuQuota { runtime_us: 20_000, period_us: 100_000 },
            periods,
            throttled,
        };
        let most = Throttled::most_throttled(&[at(30, 18), at(9, 9)], &[at(8, 1), at(9, 9)]);
        assert_eq!(most, Some(at(22, 17)));
        assert_eq!(most.map(|one| one.plus(at(1, 1))), Some(at(23, 18)));
        assert_eq!(Throttled::most_throttled(&[], &[]), None);
    }
}
