//! Counters of a network namespace's protocols, and of the machine's receive work.

use super::snmp::SnmpTable;
use crate::kernel::counted::counted;

counted! {
    /// TCP of a network namespace.
    pub struct TcpCounters {
        /// Segments received; those merged before TCP (by GRO, or never split between namespaces)
        /// count once.
        in_segs,
        /// Segments sent, without retransmitted ones. With segmentation offload the kernel counts
        /// the segments of the wire.
        out_segs,
        /// Segments retransmitted.
        retrans_segs,
        /// Segments that the peer received twice (duplicate selective acknowledgments, RFC 2883).
        /// Not counted before Linux 5.10.
        dsack_segs,
        /// Duplicate selective acknowledgments received below the acknowledged data.
        dsacks,
        /// Duplicate selective acknowledgments received above the acknowledged data.
        dsacks_ofo,
        /// Duplicate selective acknowledgments sent for data below the acknowledged data.
        dsacks_sent,
        /// Reordering detected by selective acknowledgments.
        sack_reorders,
        /// Reordering detected by duplicate acknowledgments.
        reno_reorders,
        /// Reordering detected by timestamps.
        ts_reorders,
        /// Recoveries undone completely: nothing had been lost.
        full_undos,
        /// Recoveries undone in part.
        partial_undos,
        /// Recoveries undone because everything retransmitted had arrived twice.
        dsack_undos,
        /// Recoveries undone after the retransmission timer had fired.
        loss_undos,
        /// Retransmission timeouts that were spurious.
        spurious_timeouts,
        /// Tail loss probes sent.
        loss_probes,
        /// Bad segments received.
        in_errors,
        /// Bad segments with a wrong checksum.
        in_csum_errors,
        /// Segments sent that reset a connection.
        out_resets,
        /// Times the retransmission timer fired.
        timeouts,
        /// Segments dropped because the socket was in use and its backlog full.
        backlog_drops,
        /// Segments dropped because the receive queue was full.
        receive_queue_drops,
    }
}

counted! {
    /// UDP of a network namespace.
    pub struct UdpCounters {
        /// Datagrams delivered to sockets.
        in_datagrams,
        /// Datagrams sent.
        out_datagrams,
        /// Datagrams received that could not be delivered, with `rcvbuf_errors` and
        /// `in_csum_errors`.
        in_errors,
        /// Datagrams dropped because the socket's receive buffer was full.
        rcvbuf_errors,
        /// Datagrams not sent because the socket's send buffer was full.
        sndbuf_errors,
        /// Datagrams received for a port on which nobody listened.
        no_ports,
        /// Datagrams received with a wrong checksum.
        in_csum_errors,
    }
}

counted! {
    /// IP of a network namespace.
    pub struct IpCounters {
        /// Packets received and discarded without an error in them.
        in_discards,
        /// Packets not sent without an error in them: a queue below was full.
        out_discards,
        /// Packets without a route.
        out_no_routes,
        /// Fragments made.
        frag_creates,
        /// Packets that could not be fragmented.
        frag_fails,
        /// Packets that could not be reassembled.
        reasm_fails,
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

impl TcpCounters {
    /// Sums IPv4 and IPv6: TCP over IPv6 has the same counters.
    pub(super) fn from_table(table: &SnmpTable<'_>) -> Self {
        let tcp = |name| table.count("Tcp", name);
        let extended = |name| table.count("TcpExt", name);
        Self {
            in_segs: tcp("InSegs"),
            out_segs: tcp("OutSegs"),
            retrans_segs: tcp("RetransSegs"),
            dsack_segs: extended("TCPDSACKRecvSegs"),
            dsacks: extended("TCPDSACKRecv"),
            dsacks_ofo: extended("TCPDSACKOfoRecv"),
            dsacks_sent: extended("TCPDSACKOldSent"),
            sack_reorders: extended("TCPSACKReorder"),
            reno_reorders: extended("TCPRenoReorder"),
            ts_reorders: extended("TCPTSReorder"),
            full_undos: extended("TCPFullUndo"),
            partial_undos: extended("TCPPartialUndo"),
            dsack_undos: extended("TCPDSACKUndo"),
            loss_undos: extended("TCPLossUndo"),
            spurious_timeouts: extended("TCPSpuriousRTOs"),
            loss_probes: extended("TCPLossProbes"),
            in_errors: tcp("InErrs"),
            in_csum_errors: tcp("InCsumErrors"),
            out_resets: tcp("OutRsts"),
            timeouts: extended("TCPTimeouts"),
            backlog_drops: extended("TCPBacklogDrop"),
            receive_queue_drops: extended("TCPRcvQDrop"),
        }
    }
}

impl UdpCounters {
    pub(super) fn from_table(table: &SnmpTable<'_>) -> Self {
        let udp = |name| table.count_both_families(["Udp", "Udp6"], name);
        Self {
            in_datagrams: udp("InDatagrams"),
            out_datagrams: udp("OutDatagrams"),
            in_errors: udp("InErrors"),
            rcvbuf_errors: udp("RcvbufErrors"),
            sndbuf_errors: udp("SndbufErrors"),
            no_ports: udp("NoPorts"),
            in_csum_errors: udp("InCsumErrors"),
        }
    }
}

impl IpCounters {
    pub(super) fn from_table(table: &SnmpTable<'_>) -> Self {
        let ip = |name| table.count_both_families(["Ip", "Ip6"], name);
        Self {
            in_discards: ip("InDiscards"),
            out_discards: ip("OutDiscards"),
            out_no_routes: ip("OutNoRoutes"),
            frag_creates: ip("FragCreates"),
            frag_fails: ip("FragFails"),
            reasm_fails: ip("ReasmFails"),
        }
    }
}

impl SoftnetCounters {
    /// Sums `softnet_stat` over its lines, one per CPU, in hexadecimal.
    pub(crate) fn from_softnet_stat(text: &str) -> Self {
        let column = |line: &str, index: usize| {
            let word = line.split_whitespace().nth(index)?;
            u64::from_str_radix(word, 16).ok()
        };
        let of_line = |line: &str| Self {
            dropped: column(line, 1).unwrap_or(0),
            time_squeeze: column(line, 2).unwrap_or(0),
        };
        text.lines().fold(Self::default(), |sum, line| sum.plus(&of_line(line)))
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
}
