//! Quotas of CPU time of the groups of processes (cgroups) that this process is in.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::kernel::files::Machine;

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

/// The groups with a quota that this process was in.
pub type Quotas = Arc<[QuotaGroup]>;

/// A group with a quota. Its counters stay open: a namespace that is entered later may hide them.
#[derive(Debug)]
pub struct QuotaGroup {
    directory: String,
    quota: CpuQuota,
    stat: File,
}

impl QuotaGroup {
    /// Finds the groups of this process that have a quota.
    pub fn find(machine: &Machine) -> Quotas {
        let group = |directory: String| {
            let quota = quota(machine, &directory)?;
            let stat = File::open(machine.path(&format!("{directory}/cpu.stat"))).ok()?;
            Some(Self { directory, quota, stat })
        };
        directories(machine).into_iter().filter_map(group).collect()
    }

    /// The smallest quota, with the directory of its group.
    pub fn smallest(groups: &[Self]) -> Option<(CpuQuota, &str)> {
        let smallest = groups.iter().min_by(|one, other| one.quota.cpus().total_cmp(&other.quota.cpus()))?;
        Some((smallest.quota, &smallest.directory))
    }

    /// The counters of the group.
    pub fn counters(&self) -> Throttled {
        // The file has some 200 bytes.
        let mut bytes = [0; 1024];
        let length = self.stat.read_at(&mut bytes, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..length]);
        let number = |name: &str| {
            let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            values.next().and_then(|value| value.parse().ok()).unwrap_or(0)
        };
        let (periods, throttled) = (number("nr_periods"), number("nr_throttled"));
        Throttled { quota: self.quota, periods, throttled }
    }
}

/// The quota of a group: in one file with cgroups v2, in two files with v1.
fn quota(files: &Machine, directory: &str) -> Option<CpuQuota> {
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
fn directories(files: &Machine) -> Vec<String> {
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
mod tests;
