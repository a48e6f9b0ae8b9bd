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
    let quotas = QuotaGroup::find(&files);
    let counters = quotas.iter().map(QuotaGroup::counters);
    let counters: Vec<String> = counters.map(|one| format!("{}/{}", one.throttled, one.periods)).collect();
    match QuotaGroup::smallest(&quotas) {
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
        (inside, "3:cpu,cpuacct:/d\n", &at_root, "0.5 CPUs in each 100 ms: sys/fs/cgroup/cpu,cpuacct 0/0"),
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
