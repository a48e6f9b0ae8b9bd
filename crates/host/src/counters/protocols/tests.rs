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
    assert_eq!(SoftnetCounters::from_softnet_stat("1 2\n"), SoftnetCounters { dropped: 2, time_squeeze: 0 });
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
    let table = SnmpTable::default().pairs("Udp: InDatagrams\nUdp: 5\n").lines(
        "Ip6OutDiscards                  \t3\nUdp6InDatagrams                 \t7\nUdpLite6InDatagrams \t9\n",
    );
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
