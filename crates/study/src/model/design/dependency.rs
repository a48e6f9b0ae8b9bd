//! Dependencies between features: the kernel turns a feature off when one that it needs goes off.
//!
//! The rules are those of `netdev_fix_features` (`net/core/dev.c`, Linux 6.18; that of
//! `tx-udp-segmentation` since 6.11, "net: Make USO depend on CSUM offload"). They only suggest an
//! order: drivers have rules of their own (`ndo_fix_features`), so the real state is read back.

/// A feature and its requirements: at least one feature of each of these sets.
struct Needs {
    feature: &'static str,
    one_of_each: &'static [&'static [&'static str]],
}

const SCATTER_GATHER: &[&str] = &["tx-scatter-gather"];
const CHECKSUM_IPV4: &[&str] = &["tx-checksum-ip-generic", "tx-checksum-ipv4"];
const CHECKSUM_IPV6: &[&str] = &["tx-checksum-ip-generic", "tx-checksum-ipv6"];
const TSO: &[&str] = &["tx-tcp-segmentation"];
const RX_CHECKSUM: &[&str] = &["rx-checksum"];

/// The rules, one for each feature that has any.
const NEEDS: &[Needs] = &[
    Needs { feature: "tx-tcp-segmentation", one_of_each: &[SCATTER_GATHER, CHECKSUM_IPV4] },
    Needs { feature: "tx-tcp6-segmentation", one_of_each: &[SCATTER_GATHER, CHECKSUM_IPV6] },
    Needs { feature: "tx-tcp-mangleid-segmentation", one_of_each: &[SCATTER_GATHER, TSO] },
    Needs {
        feature: "tx-tcp-ecn-segmentation",
        one_of_each: &[
            SCATTER_GATHER,
            CHECKSUM_IPV4,
            // Any other kind of TSO is enough.
            &["tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-tcp-mangleid-segmentation"],
        ],
    },
    Needs { feature: "tx-generic-segmentation", one_of_each: &[SCATTER_GATHER] },
    Needs { feature: "tx-udp-segmentation", one_of_each: &[CHECKSUM_IPV4, CHECKSUM_IPV6] },
    Needs { feature: "rx-gro-hw", one_of_each: &[RX_CHECKSUM] },
    Needs { feature: "tls-hw-tx-offload", one_of_each: &[CHECKSUM_IPV4, CHECKSUM_IPV6] },
    Needs { feature: "tls-hw-rx-offload", one_of_each: &[RX_CHECKSUM] },
];

/// Whether, on one interface, turning off all of `other` turns off some of `features` too.
///
/// An interface computes checksums either for every protocol or for IPv4 and IPv6 (the kernel
/// rejects both at once), so the one that `other` names counts as present.
pub(crate) fn needs(features: &[&str], other: &[&str]) -> bool {
    let apart = !features.iter().any(|feature| other.contains(feature));
    let falls = |needs: &Needs| {
        let hit = |one_of: &&[&str]| one_of.iter().any(|name| other.contains(name));
        features.contains(&needs.feature) && needs.one_of_each.iter().any(hit)
    };
    apart && NEEDS.iter().any(falls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature;

    #[test]
    fn segmentation_needs_scatter_gather_and_checksums() {
        let needs =
            |one: &str, other: &str| needs(&feature::expand(one).unwrap(), &feature::expand(other).unwrap());
        for (one, other) in [
            ("tso", "tx"),
            ("tso", "sg"),
            ("gso", "sg"),
            ("tx-udp-segmentation", "tx"),
            ("rx-gro-hw", "rx"),
            ("tso", "tx-checksum-ip-generic"),
            ("tx-tcp-mangleid-segmentation", "tx-tcp-segmentation"),
        ] {
            assert!(needs(one, other), "{one} needs {other}");
            assert!(!needs(other, one), "{other} does not need {one}");
        }
        for (one, other) in [("gso", "tx"), ("gro", "rx"), ("gso", "tso"), ("tso", "tso"), ("lro", "rx")] {
            assert!(!needs(one, other), "{one} does not need {other}");
        }
    }

    #[test]
    fn every_name_is_the_kernels_and_no_need_goes_round() {
        let known = |name: &str| feature::kernel_names().any(|kernel| kernel == name);
        for rule in NEEDS {
            assert!(known(rule.feature), "{}", rule.feature);
            for other in rule.one_of_each.iter().copied().flatten() {
                assert!(known(other), "{other}");
                assert!(!needs(&[other], &[rule.feature]) || *other == rule.feature, "{other}");
            }
        }
    }
}
