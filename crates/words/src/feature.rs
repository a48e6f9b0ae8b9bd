//! The vocabulary of interface features: the kernel's names, `ethtool`'s short and long names for
//! groups of them, and which of them are offloads.
//!
//! The kernel's names are those of `netdev_features_strings` (`net/ethtool/common.c`, Linux 6.18),
//! and a few that older kernels have. No kernel knows all of them: an agent sets those that the
//! running kernel lists. The groups are those of `ethtool -K`, which resolves them by pattern
//! (`tx-tcp*-segmentation`) against the kernel's own list; here the patterns are already resolved.

/// The kernel names of the offloads that `offloads = "none"` turns off: work on the data path that
/// the interface does for the stack, or that the stack saves by handling many packets as one.
///
/// In: checksums, scatter-gather, every kind of segmentation, LRO and every kind of GRO, tunnels,
/// and the insertion and removal of VLAN tags.
///
/// Out: filters and steering (`rx-vlan-filter`, `rx-ntuple-filter`, `rx-hashing`), statements of a
/// driver (`highdma`, `vlan-challenged`, `tx-gso-robust`), modes (`loopback`, `rx-fcs`, `rx-all`),
/// how the sender copies (`tx-nocache-copy`), and offloads of a configuration such as keys, rules
/// or rings (`tls-*`, `esp-*`, `macsec-*`, `hw-tc-offload`, `l2-fwd-offload`, `hsr-*`): the traffic
/// of a study does not use them, and turning them off could break a live configuration. Each can
/// still be a factor by name.
///
/// Features that the driver fixes stay as they are: that is read back and recorded.
pub const OFFLOADS: &[&str] = &[
    "rx-checksum",
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-lro",
    "rx-udp-gro-forwarding",
    "rx-udp_tunnel-port-offload",
    "rx-vlan-hw-parse",
    "rx-vlan-stag-hw-parse",
    "tx-checksum-fcoe-crc",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-checksum-sctp",
    "tx-esp-segmentation",
    "tx-fcoe-segmentation",
    "tx-generic-segmentation",
    "tx-gre-csum-segmentation",
    "tx-gre-segmentation",
    "tx-gso-list",
    "tx-gso-partial",
    "tx-ipxip4-segmentation",
    "tx-ipxip6-segmentation",
    "tx-scatter-gather",
    "tx-scatter-gather-fraglist",
    "tx-sctp-segmentation",
    "tx-tcp-accecn-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-mangleid-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-tunnel-remcsum-segmentation",
    "tx-udp-fragmentation",
    "tx-udp-segmentation",
    "tx-udp_tnl-csum-segmentation",
    "tx-udp_tnl-segmentation",
    "tx-vlan-hw-insert",
    "tx-vlan-stag-hw-insert",
];

/// The kernel names of the features that are not offloads of the data path; see [`OFFLOADS`].
pub const OTHERS: &[&str] = &[
    "esp-hw-offload",
    "esp-tx-csum-hw-offload",
    "fcoe-mtu",
    "highdma",
    "hsr-dup-offload",
    "hsr-fwd-offload",
    "hsr-tag-ins-offload",
    "hsr-tag-rm-offload",
    "hw-tc-offload",
    "l2-fwd-offload",
    "loopback",
    "macsec-hw-offload",
    "netns-local",
    "rx-all",
    "rx-fcs",
    "rx-hashing",
    "rx-ntuple-filter",
    "rx-vlan-filter",
    "rx-vlan-stag-filter",
    "tls-hw-record",
    "tls-hw-rx-offload",
    "tls-hw-tx-offload",
    "tx-gso-robust",
    "tx-lockless",
    "tx-nocache-copy",
    "vlan-challenged",
];

/// A set of kernel features that `ethtool -K` switches together: its short name, its long name, and
/// the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureGroup {
    /// The name that `ethtool -K` takes: `tso`.
    pub short: &'static str,
    /// The name that `ethtool -k` prints: `tcp-segmentation-offload`.
    pub long: &'static str,
    /// The kernel names.
    pub members: &'static [&'static str],
}

/// The groups of `ethtool`, as its manual page and its program have them.
pub const GROUPS: &[FeatureGroup] = &[
    FeatureGroup { short: "rx", long: "rx-checksumming", members: &["rx-checksum"] },
    FeatureGroup {
        short: "tx",
        long: "tx-checksumming",
        members: &[
            "tx-checksum-fcoe-crc",
            "tx-checksum-ip-generic",
            "tx-checksum-ipv4",
            "tx-checksum-ipv6",
            "tx-checksum-sctp",
        ],
    },
    FeatureGroup {
        short: "sg",
        long: "scatter-gather",
        members: &["tx-scatter-gather", "tx-scatter-gather-fraglist"],
    },
    FeatureGroup {
        short: "tso",
        long: "tcp-segmentation-offload",
        members: &[
            "tx-tcp-accecn-segmentation",
            "tx-tcp-ecn-segmentation",
            "tx-tcp-mangleid-segmentation",
            "tx-tcp-segmentation",
            "tx-tcp6-segmentation",
        ],
    },
    FeatureGroup { short: "ufo", long: "udp-fragmentation-offload", members: &["tx-udp-fragmentation"] },
    FeatureGroup {
        short: "gso",
        long: "generic-segmentation-offload",
        members: &["tx-generic-segmentation"],
    },
    FeatureGroup { short: "gro", long: "generic-receive-offload", members: &["rx-gro"] },
    FeatureGroup { short: "lro", long: "large-receive-offload", members: &["rx-lro"] },
    FeatureGroup { short: "rxvlan", long: "rx-vlan-offload", members: &["rx-vlan-hw-parse"] },
    FeatureGroup { short: "txvlan", long: "tx-vlan-offload", members: &["tx-vlan-hw-insert"] },
    FeatureGroup { short: "ntuple", long: "ntuple-filters", members: &["rx-ntuple-filter"] },
    FeatureGroup { short: "rxhash", long: "receive-hashing", members: &["rx-hashing"] },
];

/// The kernel features that a name means: one for a kernel name, one or more for a short or long
/// name of `ethtool`, in alphabetical order. `None` if the name is neither.
pub fn expand(name: &str) -> Option<Vec<&'static str>> {
    if let Some(group) = GROUPS.iter().find(|group| group.short == name || group.long == name) {
        return Some(group.members.to_vec());
    }
    kernel_names().find(|known| *known == name).map(|known| vec![known])
}

/// Every kernel name, offloads first.
pub fn kernel_names() -> impl Iterator<Item = &'static str> {
    OFFLOADS.iter().chain(OTHERS).copied()
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
        for group in GROUPS {
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
