//! Counters of protocols (`/proc/net/snmp`, `snmp6`, `netstat`) and receive work, untrusted text.

use std::collections::HashMap;

use crate::kernel::counted::counted;

/// Counters by protocol and name, for example `("Udp", "InErrors")`.
#[derive(Debug, Default)]
pub struct SnmpTable<'a>(HashMap<(&'a str, &'a str), u64>);

impl<'a> SnmpTable<'a> {
    /// Adds a file of pairs of lines, `Udp: InDatagrams NoPorts` and `Udp: 12 0` (`snmp`,
    /// `netstat`). Skips values without a name and text that is not a number.
    pub fn pairs(mut self, text: &'a str) -> Self {
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((protocol, names)) = line.split_once(':') else { continue };
            let Some(values) = lines.peek().and_then(|next| next.strip_prefix(protocol)?.strip_prefix(':'))
            else {
                continue;
            };
            lines.next();
            for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
                if let Ok(value) = value.parse() {
                    self.0.insert((protocol, name), value);
                }
            }
        }
        self
    }

    /// Adds a file of lines `Udp6InDatagrams 12` (`snmp6`); the protocol is `Udp6`.
    pub fn lines(mut self, text: &'a str) -> Self {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(word), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) else {
                continue;
            };
            if let Some(end) = word.find('6') {
                self.0.insert(word.split_at(end + 1), value);
            }
        }
        self
    }

    /// A counter; 0 if this kernel lacks it.
    pub fn count(&self, protocol: &str, name: &str) -> u64 {
        self.0.get(&(protocol, name)).copied().unwrap_or(0)
    }

    /// The sum of a counter over IPv4 and IPv6.
    pub(crate) fn sum(&self, protocol: &str, name: &str) -> u64 {
        // TCP over IPv6 counts in the same counters as TCP over IPv4.
        let ipv6 = ["Ip6", "Udp6"].into_iter().find(|ipv6| ipv6.strip_suffix('6') == Some(protocol));
        self.count(protocol, name).saturating_add(ipv6.map_or(0, |ipv6| self.count(ipv6, name)))
    }
}

macro_rules! from_table {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $protocol:literal $counter:literal),* $(,)?
    }) => {
        counted! { $(#[$meta])* pub struct $name { $($(#[$field_meta])* $field),* } }

        impl $name {
            pub(super) fn from_table(table: &SnmpTable<'_>) -> Self {
                Self { $($field: table.sum($protocol, $counter)),* }
            }
        }
    };
}

from_table! {
    /// TCP's counters (`Documentation/networking/snmp_counter.rst`).
    pub struct TcpCounters {
        /// Merged segments (by GRO, or never split between namespaces) count once.
        in_segs: "Tcp" "InSegs",
        /// Without retransmitted ones. With segmentation offload the segments of the wire count.
        out_segs: "Tcp" "OutSegs",
        retrans_segs: "Tcp" "RetransSegs",
        /// Segments that the peer received twice (RFC 2883).
        dsack_segs: "TcpExt" "TCPDSACKRecvSegs",
        dsacks: "TcpExt" "TCPDSACKRecv",
        dsacks_ofo: "TcpExt" "TCPDSACKOfoRecv",
        dsacks_sent: "TcpExt" "TCPDSACKOldSent",
        sack_reorders: "TcpExt" "TCPSACKReorder",
        reno_reorders: "TcpExt" "TCPRenoReorder",
        ts_reorders: "TcpExt" "TCPTSReorder",
        full_undos: "TcpExt" "TCPFullUndo",
        partial_undos: "TcpExt" "TCPPartialUndo",
        dsack_undos: "TcpExt" "TCPDSACKUndo",
        loss_undos: "TcpExt" "TCPLossUndo",
        spurious_timeouts: "TcpExt" "TCPSpuriousRTOs",
        loss_probes: "TcpExt" "TCPLossProbes",
        in_errors: "Tcp" "InErrs",
        in_csum_errors: "Tcp" "InCsumErrors",
        out_resets: "Tcp" "OutRsts",
        timeouts: "TcpExt" "TCPTimeouts",
        backlog_drops: "TcpExt" "TCPBacklogDrop",
        receive_queue_drops: "TcpExt" "TCPRcvQDrop",
    }
}

from_table! {
    /// UDP of a network namespace.
    pub struct UdpCounters {
        in_datagrams: "Udp" "InDatagrams",
        out_datagrams: "Udp" "OutDatagrams",
        /// With `rcvbuf_errors` and `in_csum_errors`.
        in_errors: "Udp" "InErrors",
        rcvbuf_errors: "Udp" "RcvbufErrors",
        sndbuf_errors: "Udp" "SndbufErrors",
        no_ports: "Udp" "NoPorts",
        in_csum_errors: "Udp" "InCsumErrors",
    }
}

from_table! {
    /// IP of a network namespace.
    pub struct IpCounters {
        in_discards: "Ip" "InDiscards",
        out_discards: "Ip" "OutDiscards",
        out_no_routes: "Ip" "OutNoRoutes",
        frag_creates: "Ip" "FragCreates",
        frag_fails: "Ip" "FragFails",
        reasm_fails: "Ip" "ReasmFails",
    }
}

counted! {
    /// The receive work of the whole machine.
    pub struct SoftnetCounters {
        /// Packets dropped because a CPU's backlog was full (`net.core.netdev_max_backlog`).
        dropped,
        /// Times the receive work stopped because its time or budget was used up.
        time_squeeze,
    }
}

impl SoftnetCounters {
    pub(crate) fn from_softnet_stat(text: &str) -> Self {
        // A line for each CPU, in hexadecimal; its first number is that of processed packets.
        text.lines().fold(Self::default(), |sum, line| {
            let mut words = line.split_whitespace().skip(1);
            let mut next = || u64::from_str_radix(words.next()?, 16).ok();
            let (dropped, time_squeeze) = (next().unwrap_or(0), next().unwrap_or(0));
            sum.plus(&Self { dropped, time_squeeze })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Each name has a different value, so that a mix-up shows.
    const SNMP: &str = "\
Ip: InDiscards OutDiscards OutNoRoutes ReasmFails FragFails FragCreates
Ip: 1 2 3 4 5 6
Tcp: InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 11 12 13 14 15 16
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors
Udp: 21 22 23 24 25 26 27
";
    const NETSTAT: &str = "\
TcpExt: TCPTimeouts TCPBacklogDrop TCPRcvQDrop TCPDSACKRecvSegs TCPDSACKRecv TCPDSACKOfoRecv TCPDSACKOldSent TCPSACKReorder \
TCPRenoReorder TCPTSReorder TCPFullUndo TCPPartialUndo TCPDSACKUndo TCPLossUndo TCPSpuriousRTOs TCPLossProbes
TcpExt: 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46
IpExt: InOctets
IpExt: 9
";
    const SNMP6: &str = "\
Ip6InDiscards 100
Ip6OutDiscards 200
Ip6OutNoRoutes 300
Ip6ReasmFails 400
Ip6FragFails 500
Ip6FragCreates 600
Udp6InDatagrams 2100
Udp6NoPorts 2200
Udp6InErrors 2300
Udp6OutDatagrams 2400
Udp6RcvbufErrors 2500
Udp6SndbufErrors 2600
Udp6InCsumErrors 2700
";

    fn json(counters: &impl serde::Serialize) -> String {
        serde_json::to_string(counters).unwrap().replace('"', "")
    }

    #[test]
    fn each_counter_comes_from_its_place_and_the_families_are_summed() {
        let table = SnmpTable::default().pairs(SNMP).pairs(NETSTAT).lines(SNMP6);
        assert_eq!(
            json(&TcpCounters::from_table(&table)),
            "{in_segs:11,out_segs:12,retrans_segs:13,dsack_segs:34,dsacks:35,dsacks_ofo:36,dsacks_sent:37,\
             sack_reorders:38,reno_reorders:39,ts_reorders:40,full_undos:41,partial_undos:42,dsack_undos:43,\
             loss_undos:44,spurious_timeouts:45,loss_probes:46,in_errors:14,in_csum_errors:16,out_resets:15,\
             timeouts:31,backlog_drops:32,receive_queue_drops:33}"
        );
        assert_eq!(
            json(&UdpCounters::from_table(&table)),
            "{in_datagrams:2121,out_datagrams:2424,in_errors:2323,rcvbuf_errors:2525,sndbuf_errors:2626,\
             no_ports:2222,in_csum_errors:2727}"
        );
        assert_eq!(
            json(&IpCounters::from_table(&table)),
            "{in_discards:101,out_discards:202,out_no_routes:303,frag_creates:606,frag_fails:505,reasm_fails:404}"
        );
    }

    #[test]
    fn softnet_is_summed_over_the_cpus() {
        let text = "00000008 00000001 00000002 00000000\n0000000a 00000010 00000020 00000000\n";
        assert_eq!(
            SoftnetCounters::from_softnet_stat(text),
            SoftnetCounters { dropped: 0x11, time_squeeze: 0x22 }
        );
        assert_eq!(
            SoftnetCounters::from_softnet_stat("1 2\n"),
            SoftnetCounters { dropped: 2, time_squeeze: 0 }
        );
    }

    #[test]
    fn pairs_of_lines_are_read() {
        let text =
            "Tcp: RtoAlgorithm MaxConn InSegs OutSegs\nTcp: 1 -1 10 11\nUdp: InDatagrams NoPorts\nUdp: 5 6\n";
        let table = SnmpTable::default().pairs(text);
        assert_eq!(table.count("Tcp", "OutSegs"), 11);
        assert_eq!(table.count("Udp", "NoPorts"), 6);
        assert_eq!(table.count("Tcp", "MaxConn"), 0, "a limit of -1 is no counter");
        assert_eq!(table.count("Udp", "InSegs"), 0);
    }

    #[test]
    fn the_two_families_are_summed() {
        let table = SnmpTable::default()
            .pairs("Udp: InDatagrams\nUdp: 5\n")
            .lines("Ip6OutDiscards                  \t3\nUdp6InDatagrams                 \t7\nUdpLite6InDatagrams \t9\n");
        assert_eq!(table.sum("Udp", "InDatagrams"), 12);
        assert_eq!(table.count("Ip6", "OutDiscards"), 3);
        assert_eq!(table.count("UdpLite6", "InDatagrams"), 9);
    }

    #[test]
    fn a_header_without_its_values_is_passed_over() {
        let table = SnmpTable::default().pairs("Ip: A B\nTcp: C\nTcp: 4\nIp: 1 2\n");
        assert_eq!(table.count("Tcp", "C"), 4);
        assert_eq!(table.count("Ip", "A"), 0);
    }
}
