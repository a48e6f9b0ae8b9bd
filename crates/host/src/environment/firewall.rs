//! Packet filters in this network namespace: nftables, iptables, connection tracking.

use std::collections::BTreeSet;

use netlink_sys::protocols::NETLINK_NETFILTER;
use serde::{Deserialize, Serialize};

use crate::kernel::files::Machine;
use crate::kernel::netlink::Netlink;

/// Filters and the tracking of connections, as far as this process may see them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firewall {
    /// The rules of nftables, those of `iptables-nft` included. `None`: unknown.
    pub rules: Option<usize>,
    /// The loaded tables of the older iptables. They may be empty.
    pub tables: Vec<String>,
    /// The number of tracked connections; `None` without conntrack.
    pub tracked: Option<u64>,
}

// `NFNL_SUBSYS_NFTABLES` with `NFT_MSG_GETRULE` (linux/netfilter/nfnetlink.h, nf_tables.h).
const GET_RULES: u16 = 10 << 8 | 7;

// `struct nfgenmsg`: the rules of all families.
const OF_ALL: [u8; 4] = [0; 4];

impl Firewall {
    /// Reads the filters.
    pub fn read() -> Self {
        Self::read_from(&Machine::system(), rules)
    }

    /// The packet filters, in words; `None` if none is known.
    pub fn filters(&self) -> Option<String> {
        let rules = self.rules.filter(|rules| *rules > 0);
        let rules =
            rules.map(|rules| format!("{rules} rule{} of nftables", if rules == 1 { "" } else { "s" }));
        let tables = Some(self.tables.join(", ")).filter(|names| !names.is_empty());
        let tables = tables.map(|names| format!("tables of iptables ({names})"));
        let all: Vec<String> = [rules, tables].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn read_from(files: &Machine, rules: impl Fn() -> Option<usize>) -> Self {
        let names = |file: &str| files.text(&format!("proc/net/{file}")).unwrap_or_default();
        // Both families have tables of the same names.
        let both = names("ip_tables_names") + "\n" + &names("ip6_tables_names");
        let tables: BTreeSet<String> = both.split_whitespace().map(str::to_owned).collect();
        Self {
            rules: if has_nftables(files) { rules() } else { Some(0) },
            tables: tables.into_iter().collect(),
            tracked: files.number("proc/sys/net/netfilter/nf_conntrack_count"),
        }
    }
}

// A question about rules would load the module.
fn has_nftables(files: &Machine) -> bool {
    let is_built_in = || {
        let release = files.text("proc/sys/kernel/osrelease").unwrap_or_default();
        let list = files.text(&format!("lib/modules/{release}/modules.builtin")).unwrap_or_default();
        list.lines().any(|module| module.ends_with("/nf_tables.ko"))
    };
    // Without the list of modules the kernel can load none.
    files.path("sys/module/nf_tables").exists() || !files.path("proc/modules").exists() || is_built_in()
}

fn rules() -> Option<usize> {
    let mut netlink = Netlink::open(NETLINK_NETFILTER).ok()?;
    netlink.dump(GET_RULES, &OF_ALL).ok().map(|rules| rules.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::files::fixture::files;

    #[test]
    fn tables_are_named_once_and_rules_are_asked_for_only_where_they_can_be() {
        let (_keep, machine) = files(&[
            ("proc/net/ip_tables_names", "nat\nfilter\n"),
            ("proc/net/ip6_tables_names", "filter\n"),
            ("proc/sys/net/netfilter/nf_conntrack_count", "12\n"),
            ("proc/modules", ""),
        ]);
        let found = Firewall::read_from(&machine, || panic!("it would load the module"));
        let tables = vec!["filter".to_owned(), "nat".to_owned()];
        assert_eq!(found, Firewall { rules: Some(0), tables, tracked: Some(12) });
        // Loaded, in a kernel that loads no modules, or built in.
        let list = "kernel/net/netfilter/nf_tables.ko\n";
        for tree in [
            &[("proc/modules", ""), ("sys/module/nf_tables/refcnt", "1\n")][..],
            &[],
            &[
                ("proc/modules", ""),
                ("proc/sys/kernel/osrelease", "6.1\n"),
                ("lib/modules/6.1/modules.builtin", list),
            ],
        ] {
            let (_keep, machine) = files(tree);
            assert_eq!(Firewall::read_from(&machine, || Some(3)).rules, Some(3));
        }
    }
}
