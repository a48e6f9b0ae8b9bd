//! The vocabulary of interface features: the kernel's names, `ethtool`'s short and long names for
//! groups of them, and which of them are offloads.

use std::sync::LazyLock;

fn lines(word: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = include_str!("features.txt").lines().map(|line| line.split(' ').collect::<Vec<_>>());
    lines.filter(move |line| line[0] == word).map(|line| line[1..].to_vec())
}

/// The kernel names of the offloads that `offloads = "none"` turns off: work on the data path that
/// the interface does for the stack, or that the stack saves by handling many packets as one.
pub static OFFLOADS: LazyLock<Vec<&str>> = LazyLock::new(|| lines("offload").map(|line| line[0]).collect());

/// The kernel names of the features that are not offloads of the data path; see [`OFFLOADS`].
pub static OTHERS: LazyLock<Vec<&str>> = LazyLock::new(|| lines("other").map(|line| line[0]).collect());

/// A set of kernel features that `ethtool -K` switches together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureGroup {
    /// The name that `ethtool -K` takes: `tso`.
    pub short: &'static str,
    /// The name that `ethtool -k` prints: `tcp-segmentation-offload`.
    pub long: &'static str,
    /// The kernel names.
    pub members: Vec<&'static str>,
}

/// The groups of `ethtool`, as its manual page and its program have them.
pub static GROUPS: LazyLock<Vec<FeatureGroup>> = LazyLock::new(|| {
    let group = |short: &str| -> Vec<&str> {
        let features = lines("offload").chain(lines("other"));
        features.filter(|line| line.get(1) == Some(&short)).map(|line| line[0]).collect()
    };
    lines("group")
        .map(|line| FeatureGroup { short: line[0], long: line[1], members: group(line[0]) })
        .collect()
});

/// The kernel features that a name means: one for a kernel name, one or more for a short or long
/// name of `ethtool`, in alphabetical order. `None` if the name is neither.
pub fn expand(name: &str) -> Option<Vec<&'static str>> {
    if let Some(group) = GROUPS.iter().find(|group| group.short == name || group.long == name) {
        return Some(group.members.clone());
    }
    kernel_names().find(|known| *known == name).map(|known| vec![known])
}

/// Every kernel name, offloads first.
pub fn kernel_names() -> impl Iterator<Item = &'static str> {
    OFFLOADS.iter().chain(OTHERS.iter()).copied()
}

/// Every name that [`expand`] takes: the short ones, the long ones, the kernel's.
pub fn names() -> impl Iterator<Item = &'static str> {
    let short = GROUPS.iter().map(|group| group.short);
    let long = GROUPS.iter().map(|group| group.long);
    short.chain(long).chain(kernel_names())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn tso_means_what_ethtool_means() {
        let tso: Vec<&str> = kernel_names()
            .filter(|name| name.starts_with("tx-tcp") && name.ends_with("-segmentation"))
            .collect();
        assert_eq!(expand("tso").unwrap(), tso);
        assert_eq!(expand("tcp-segmentation-offload").unwrap(), tso);
        assert!(tso.contains(&"tx-tcp6-segmentation"));
    }

    #[test]
    fn tx_and_sg_are_the_prefixes_that_ethtool_uses() {
        for (short, prefix) in [("tx", "tx-checksum-"), ("sg", "tx-scatter-gather")] {
            let by_prefix: Vec<&str> = kernel_names().filter(|name| name.starts_with(prefix)).collect();
            assert_eq!(expand(short).unwrap(), by_prefix, "{short}");
        }
    }

    #[test]
    fn a_kernel_name_means_itself() {
        assert_eq!(expand("tx-udp_tnl-segmentation").unwrap(), ["tx-udp_tnl-segmentation"]);
        assert_eq!(expand("gro").unwrap(), ["rx-gro"]);
        assert_eq!(expand("rx-gro-hw").unwrap(), ["rx-gro-hw"]);
        assert_eq!(expand("turbo"), None);
    }

    #[test]
    fn no_name_is_listed_twice_and_every_group_member_is_known() {
        let mut seen = HashSet::new();
        for name in names() {
            assert!(seen.insert(name), "{name} is listed twice");
        }
        for group in GROUPS.iter() {
            assert!(group.members.iter().all(|member| kernel_names().any(|name| name == *member)));
            assert!(group.members.is_sorted());
        }
        assert!(OFFLOADS.is_sorted() && OTHERS.is_sorted());
    }

    #[test]
    fn the_offloads_people_tune_are_offloads() {
        for short in ["rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro"] {
            for member in expand(short).unwrap() {
                assert!(OFFLOADS.contains(&member), "{short}: {member}");
            }
        }
        for short in ["ntuple", "rxhash"] {
            assert!(expand(short).unwrap().iter().all(|member| OTHERS.contains(member)));
        }
    }
}
