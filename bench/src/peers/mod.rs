//! The programs that netassay's traffic is compared with: how each is told to do the same, and what
//! it says of it.

mod iperf;
mod iperf3;
mod neper;
mod netperf;
mod nuttcp;
mod peer;
mod sockperf;

pub(crate) use peer::{End, Job, KINDS, Listens, Peer, Said};

/// Those with a package in Debian's main archive.
pub(crate) const PEERS_IN_DEBIAN: [&dyn Peer; 4] =
    [&iperf3::Iperf3, &nuttcp::Nuttcp, &iperf::Iperf, &sockperf::Sockperf];

/// Those of the grid, where netassay must be as fast as the best of them.
pub(crate) const PEERS_OF_THE_GRID: [&dyn Peer; 3] = [&neper::Neper, &netperf::Netperf, &iperf3::Iperf3];

/// The peer of that name, for the command line.
pub(crate) fn named(name: &str) -> Result<&'static dyn Peer, String> {
    let all = || PEERS_OF_THE_GRID.into_iter().chain(PEERS_IN_DEBIAN);
    all().find(|peer| peer.name() == name).ok_or_else(|| {
        let names: std::collections::BTreeSet<_> = all().map(Peer::name).collect();
        format!("no such peer: use one of {}", names.into_iter().collect::<Vec<_>>().join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::peer::number_after;
    use super::*;
    use load::Kind;
    use proptest::prelude::*;

    fn job(kind: Kind) -> Job {
        Job {
            kind,
            ipv6: false,
            message: 1000,
            flows: 1,
            cpus: 1,
            congestion_control: None,
            polls: false,
            busy_poll: None,
            seconds: 3,
            client: "198.18.0.1".parse().unwrap(),
            server: "198.18.0.2".parse().unwrap(),
        }
    }

    fn all() -> impl Iterator<Item = &'static dyn Peer> {
        ["iperf", "iperf3", "neper", "netperf", "nuttcp", "sockperf"]
            .into_iter()
            .map(|name| named(name).unwrap())
    }

    #[test]
    fn every_peer_is_told_size_address_and_how_much() {
        for (peer, kind) in all().flat_map(|peer| KINDS.map(|kind| (peer, kind))) {
            if !peer.runs(kind) {
                continue;
            }
            let client = peer.client(&job(kind), None);
            for what in ["1000", "3", "198.18.0.2"] {
                assert!(client.contains(what), "{}, {kind}: {client}", peer.name());
            }
            let counts = ["iperf", "iperf3", "nuttcp"].contains(&peer.name());
            assert_eq!(peer.client(&job(kind), Some(77)).contains("77"), counts, "{}", peer.name());
        }
        assert!(named("ttcp").unwrap_err().contains("iperf, iperf3, neper"));
    }

    #[test]
    fn what_is_special_is_told() {
        let (tcp, udp) = (job(Kind::TcpStream), job(Kind::UdpStream));
        let polling = Job { polls: true, busy_poll: Some(50), ..job(Kind::TcpRr) };
        let many = |cpus| Job { flows: 16, cpus, ..job(Kind::TcpRr) };
        let ipv6 = |job: &Job| Job { ipv6: true, ..job.clone() };
        for (arguments, expected) in [
            (iperf::Iperf.client(&ipv6(&tcp), None), " -V"),
            (iperf::Iperf.client(&udp, None), "-b 1000g"),
            (iperf3::Iperf3.client(&udp, None), "--udp --bitrate 0"),
            (nuttcp::Nuttcp.client(&udp, None), "-u -Ru"),
            (sockperf::Sockperf.client(&udp, None), "throughput "),
            (sockperf::Sockperf.client(&polling, None), "--tcp --nonblocked --lls 50"),
            (sockperf::Sockperf.server(&polling), "--tcp --nonblocked --lls 50"),
            (neper::Neper.client(&many(4), None), "-F 16 -T 4 "),
            (neper::Neper.client(&many(64), None), "-F 16 -T 16 "),
            (netperf::Netperf.client(&ipv6(&job(Kind::UdpRr)), None), "-t UDP_RR -- -r 1000,1000"),
        ] {
            assert!(arguments.contains(expected), "{arguments}");
        }
        assert!(!iperf::Iperf.server(&tcp).contains("-V"));
        assert_eq!(netperf::Netperf.clients(&many(1)), 16);
        let iperf3 = iperf3::Iperf3;
        assert!(!iperf3.supports(Kind::UdpStream, 15, 1) && iperf3.supports(Kind::UdpStream, 16, 1));
        assert!(iperf3.supports(Kind::TcpStream, 1, 64) && !sockperf::Sockperf.supports(Kind::UdpRr, 14, 2));
        let declines = |words| sockperf::Sockperf.declines(words).is_some();
        assert!(declines("sockperf: '-i' Invalid address: ::1") && !declines("sockperf: ERROR: Can't bind"));
    }

    #[test]
    fn what_a_peer_says_is_understood() {
        const IPERF: &str = "[  1] 0.0000-1.0032 sec   521000 KBytes  4350000 Kbits/sec\n[  1] Sent 370967 datagrams\n\
            [  1] Server Report:\n[ ID] Interval       Transfer     Bandwidth\n\
            [  1] 0.0000-1.0032 sec   200000 KBytes  1671741 Kbits/sec   0.002 ms 228549/370966 (62%)\n";
        const IPERF3: &str = r#"{"end": {"sum": {"packets": 2003, "bits_per_second": 9},
            "sum_sent": {"bytes": 5000, "bits_per_second": 9}, "sum_received": {"bits_per_second": 7.5e9}}}"#;
        const NUTTCP: &str =
            "megabytes=88.7670 real_seconds=1.00 rate_Mbps=743.3555 tx_cpu=40 drop=15995 pkt=79228\n";
        const PING: &str = "sockperf: [Total Run] RunTime=1.001 sec; SentMessages=2476; ReceivedMessages=2475\n\
            sockperf: [Valid Duration] RunTime=0.500 sec; SentMessages=1239; ReceivedMessages=1000\n\
            sockperf: ---> percentile 99.000 =   52.508\nsockperf: ---> percentile 50.000 =    5.399\n";
        const SENT: &str = "sockperf: Total of 108455 messages sent in 1.000 sec\nsockperf: Summary: Message Rate is 108402 [msg/sec]\n";
        let rate = |rate| Some(Said::rate(rate));
        let ping = Said { rate: Some(2000.0), p50_us: Some(5.399), p99_us: Some(52.508) };
        for (peer, kind, text, said, sent) in [
            ("iperf", Kind::UdpStream, IPERF, rate(1_671_741e3), Some(370_967)),
            ("iperf", Kind::TcpStream, IPERF, rate(1_671_741e3), Some(77)),
            ("iperf", Kind::TcpStream, "connect failed", None, None),
            ("iperf3", Kind::UdpStream, IPERF3, rate(7.5e9), Some(2003)),
            ("iperf3", Kind::TcpStream, IPERF3, rate(7.5e9), Some(5)),
            ("iperf3", Kind::TcpStream, r#"{"error": "unable to connect"}"#, None, None),
            ("nuttcp", Kind::UdpStream, NUTTCP, rate(743.3555e6), Some(77)),
            ("nuttcp", Kind::UdpStream, "nuttcp-t: connect: refused", None, None),
            ("sockperf", Kind::UdpRr, PING, Some(ping), None),
            ("sockperf", Kind::UdpRr, "no valid observations found", None, None),
            ("sockperf", Kind::UdpStream, SENT, Some(Said::default()), Some(108_455)),
        ] {
            let peer = named(peer).unwrap();
            assert_eq!(
                (peer.said(&job(kind), text), peer.sent(&job(kind), 77, text)),
                (said, sent),
                "{peer:?}"
            );
        }
        assert_eq!(number_after("a=1 rate=12.5.", "rate="), Some(12.5));
        assert_eq!(number_after("rate=", "rate="), None);
    }

    proptest! {
        #[test]
        fn nothing_a_peer_says_is_a_panic(text in any::<String>(), number in 0..6_usize) {
            let peer = all().nth(number).unwrap();
            for kind in KINDS {
                let _ = (peer.said(&job(kind), &text), peer.sent(&job(kind), 77, &text));
            }
        }
    }
}
