//! Quotas of CPU time of the groups of processes (cgroups) that this process is in.

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
    pub fn read() -> Self {
        Self::read_from(&Files::system())
    }

    fn read_from(files: &Files) -> Self {
        let group = |directory: String| {
            let quota = quota(files, &directory)?;
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

/// The quota of a group: in one file with cgroups v2, in two files with v1.
fn quota(files: &Files, directory: &str) -> Option<CpuQuota> {
    let [runtime, period] = match files.text(&format!("{directory}/cpu.max")) {
        Some(both) => both.split_once(' ').map(|(runtime, period)| [runtime.to_owned(), period.to_owned()]),
        None => {
            let file = |name: &str| files.text(&format!("{directory}/cpu.cfs_{name}_us"));
            file("quota").zip(file("period")).map(<[String; 2]>::from)
        }
    }?;
    // `max` and `-1` stand for no quota.
    Some(CpuQuota { runtime_us: runtime.parse().ok()?, period_us: period.parse().ok()? })
}

/// The directories of the groups of this process that can have a quota: its own group and the
/// groups above.
fn directories(files: &Files) -> Vec<String> {
    let mut all = Vec::new();
    let [groups, mounts] =
        ["cgroup", "mountinfo"].map(|file| files.text(&format!("proc/self/{file}")).unwrap_or_default());
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let is_second = controllers.is_empty();
        if !is_second && !controllers.split(',').any(|one| one == "cpu") {
            continue;
        }
        let Some((root, at)) = mounts.lines().find_map(|line| mounted(line, is_second)) else { continue };
        // A group outside of the mounted tree is shown as `/..`: the tree's root stands for it.
        let below = path.strip_prefix(root.trim_end_matches('/')).filter(|below| {
            (below.is_empty() || below.starts_with('/')) && !below.split('/').any(|step| step == "..")
        });
        let at = at.trim_start_matches('/');
        let own = format!("{at}{}", below.unwrap_or_default());
        let own = Path::new(own.trim_end_matches('/')).ancestors().map(|path| path.display().to_string());
        all.extend(own.take_while(|directory| directory.len() >= at.len()));
    }
    all
}

/// The root and the mount point of the groups of this version, if a line of mountinfo mounts them.
fn mounted(line: &str, is_second: bool) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let is_it = match is_second {
        true => kind == "cgroup2",
        false => kind == "cgroup" && options.split(',').any(|one| one == "cpu"),
    };
    let mut before = before.split(' ').skip(3);
    Some((before.next()?, before.next()?)).filter(|_| is_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const V1: &str = "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs rw\n\
                      32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
                      33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

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
        let v1 = [
            ("sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/d/cpu.stat", "nr_periods 4\nnr_throttled 1\nthrottled_time 5\n"),
        ];
        let unlimited = [("sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_quota_us", "-1\n"), v1[1], v1[2]];
        let inside = "31 23 0:28 /d /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpuacct,cpu\n";
        let at_root = [
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", ""),
        ];
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
            (
                V1,
                "4:cpuset:/\n3:cpu,cpuacct:/d\n0::/\n",
                &v1,
                "1.5 CPUs in each 100 ms: sys/fs/cgroup/cpu,cpuacct/d 1/4",
            ),
            (V1, "3:cpu,cpuacct:/d\n0::/\n", &unlimited, "none"),
            // A container sees its own group as the root of the mount.
            (
                inside,
                "3:cpu,cpuacct:/d\n",
                &at_root,
                "0.5 CPUs in each 100 ms: sys/fs/cgroup/cpu,cpuacct 0/0",
            ),
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
