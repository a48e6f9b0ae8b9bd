//! Quotas of CPU time of the groups of processes (cgroups v2) that this process is in.

use std::fmt;
use std::fs::File;
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
    fn cpus(self) -> f64 {
        self.runtime_us as f64 / self.period_us.max(1) as f64
    }
}

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
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Throttled {
    pub quota: CpuQuota,
    /// Periods in which the group wanted CPU time.
    pub periods: u64,
    pub throttled: u64,
}

impl Throttled {
    /// The change between two readings of the same groups, for the group that was throttled most.
    pub fn most_throttled(last: &[Self], first: &[Self]) -> Option<Self> {
        let passed = last.iter().zip(first).map(|(last, first)| Self {
            quota: last.quota,
            periods: last.periods.saturating_sub(first.periods),
            throttled: last.throttled.saturating_sub(first.throttled),
        });
        passed.max_by_key(|passed| passed.throttled)
    }

    /// The sum of two windows.
    pub fn plus(self, more: Self) -> Self {
        Self {
            periods: self.periods.saturating_add(more.periods),
            throttled: self.throttled.saturating_add(more.throttled),
            ..self
        }
    }
}

/// The quotas of this process's groups, open because a namespace entered later may hide them.
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
    pub fn read() -> Self {
        Self::read_from(&Files::system())
    }

    fn read_from(files: &Files) -> Self {
        let group = |directory: String| {
            let both = files.text(&format!("{directory}/cpu.max"))?;
            let (runtime, period) = both.split_once(' ')?;
            // `max` stands for no quota, and is no number.
            let quota = CpuQuota { runtime_us: runtime.parse().ok()?, period_us: period.parse().ok()? };
            let stat = File::open(files.path(&format!("{directory}/cpu.stat"))).ok()?;
            Some(QuotaGroup { directory, quota, stat })
        };
        Self(directories(files).into_iter().filter_map(group).collect())
    }

    /// The smallest quota, with the directory of its group.
    pub fn smallest(&self) -> Option<(CpuQuota, &str)> {
        let smallest = self.0.iter().min_by(|one, other| one.quota.cpus().total_cmp(&other.quota.cpus()))?;
        Some((smallest.quota, &smallest.directory))
    }

    /// The counters of each group.
    pub fn counters(&self) -> Vec<Throttled> {
        let counters = |group: &QuotaGroup| {
            // The file has some 200 bytes.
            let mut bytes = [0; 1024];
            let length = group.stat.read_at(&mut bytes, 0).unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..length]);
            let value = |line: &str, name| line.strip_prefix(name)?.trim().parse().ok();
            let number = |name| text.lines().find_map(|line| value(line, name)).unwrap_or(0);
            let (periods, throttled) = (number("nr_periods"), number("nr_throttled"));
            Throttled { quota: group.quota, periods, throttled }
        };
        self.0.iter().map(counters).collect()
    }
}

fn directories(files: &Files) -> Vec<String> {
    let [groups, mounts] =
        ["cgroup", "mountinfo"].map(|file| files.text(&format!("proc/self/{file}")).unwrap_or_default());
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let (Some(path), Some((root, at))) = (path, mounts.lines().find_map(mounted)) else { return Vec::new() };
    // A group outside of the mounted tree is shown as `/..`: the tree's root stands for it.
    let below = path.strip_prefix(root.trim_end_matches('/')).filter(|below| {
        (below.is_empty() || below.starts_with('/')) && !below.split('/').any(|step| step == "..")
    });
    let at = at.trim_start_matches('/');
    let own = format!("{at}{}", below.unwrap_or_default());
    let own = Path::new(own.trim_end_matches('/')).ancestors().map(|path| path.display().to_string());
    // The quotas of all groups above count too, up to the root of the mounted tree.
    own.take_while(|directory| directory.len() >= at.len()).collect()
}

fn mounted(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    after.starts_with("cgroup2 ").then_some((before.next()?, before.next()?))
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
        let inside = "31 23 0:28 /d /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
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
            // A container sees its own group as the root of the mount.
            (inside, "0::/d\n", &container, "2 CPUs in each 100 ms: sys/fs/cgroup 17/22"),
            (V2, "0::/a\n", &[("sys/fs/cgroup/a/cpu.max", "x y")], "none"),
            ("", "0::/a\n", &container, "none"),
            (V2, "", &container, "none"),
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
