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
mod tests;
