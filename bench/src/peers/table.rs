//! Each peer's options and reports.

use std::net::SocketAddr;

use load::Kind;
use serde_json::Value;

use super::peer::{End, Job, KINDS, Listens, Peer, Said};

/// Those with a package in Debian's main archive.
pub(crate) const IN_DEBIAN: [&Peer; 4] = [&IPERF3, &NUTTCP, &IPERF, &SOCKPERF];
/// Those of the grid, where netassay must be as fast as the best of them.
pub(crate) const OF_THE_GRID: [&Peer; 3] = [&NEPER, &NETPERF, &IPERF3];

/// How many bytes netassay's receiver reads at once from a stream. Servers with an option for that
/// read as many.
const READ: u32 = 256 << 10;
const STREAMS: &[Kind] = &[Kind::TcpStream, Kind::UdpStream];

/// What most peers have in common.
const PLAIN: Peer = Peer {
    name: "",
    source: None,
    program: |_, _| None,
    version: "--version",
    kinds: &KINDS,
    smallest: [1, 1],
    has_many_flows: false,
    is_one_flow: false,
    server: |_| String::new(),
    listens: |_| Listens::Tcp(0),
    client: |_, _| String::new(),
    said: |_, _| None,
    sent: |_, _, _| None,
    unable: None,
};

/// iperf, version 2: one thread for each flow, and one for reports.
const IPERF: Peer = Peer {
    name: "iperf",
    kinds: STREAMS,
    server: |job| {
        let read = if job.kind == Kind::TcpStream { READ } else { job.message };
        format!("-s -B {} -l {read} {}", job.server, iperf(job))
    },
    listens: |kind| if kind.is_udp() { Listens::Udp(5001) } else { Listens::Tcp(5001) },
    // It is told bytes. For UDP a rate far beyond any: 0, which means "no limit" elsewhere, is
    // refused.
    client: |job, messages| {
        let Job { server, client, message, seconds, .. } = job;
        let bytes = messages.map(|messages| format!("-n {}", messages * u64::from(*message)));
        let amount = bytes.unwrap_or_else(|| format!("-t {seconds}"));
        let unlimited = when(job.kind.is_udp(), "-b 1000g");
        format!("-c {server} -B {client} {amount} -l {message} -i 0 -f k {} {unlimited}", iperf(job))
    },
    // The last rate: for UDP the server's report, for TCP what the client wrote.
    said: |_, client| {
        let line = client.lines().rev().find(|line| line.contains("Kbits/sec"))?;
        let kilobits: f64 = line.split_once("Kbits/sec")?.0.split_whitespace().last()?.parse().ok()?;
        rate(kilobits * 1e3)
    },
    // For TCP exactly what it was told.
    sent: |job, messages, client| match job.kind {
        Kind::UdpStream => Some(number_after(client, "Sent ")? as u64),
        _ => client.contains("Kbits/sec").then_some(messages),
    },
    ..PLAIN
};

fn iperf(job: &Job) -> String {
    format!("{} {}", when(job.kind.is_udp(), "-u"), when(job.ipv6, "-V"))
}

/// iperf3: one thread, both ends read and write `--length` bytes at a time. Datagrams carry its
/// time and number.
const IPERF3: Peer = Peer {
    name: "iperf3",
    kinds: STREAMS,
    smallest: [16, 1],
    has_many_flows: true,
    // Bound to the one address, so that its sockets are of the traffic's family and not IPv6
    // sockets for both.
    server: |job| format!("--server --one-off --bind {}", job.server),
    listens: |_| Listens::Tcp(5201),
    // No interim reports; for UDP no rate limit, which it has by default.
    client: |job, messages| {
        let Job { server, client, message, seconds, flows, .. } = job;
        let count = messages.map(|messages| format!("--blockcount {messages}"));
        let amount = count.unwrap_or_else(|| format!("--time {seconds}"));
        let udp = when(job.kind.is_udp(), "--udp --bitrate 0");
        format!(
            "--client {server} --bind {client} {amount} --length {message} --interval 0 --json --parallel {flows} {udp}"
        )
    },
    // What the server received.
    said: |_, client| rate(json(client, "/end/sum_received/bits_per_second")?.as_f64()?),
    // It looks at the count once in a while and sends a few more.
    sent: |job, _, client| match job.kind {
        Kind::UdpStream => json(client, "/end/sum/packets")?.as_u64(),
        _ => Some(json(client, "/end/sum_sent/bytes")?.as_u64()? / u64::from(job.message)),
    },
    ..PLAIN
};

fn json(text: &str, pointer: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text).ok()?.pointer(pointer).cloned()
}

/// nuttcp: one process, both ends read and write `-l` bytes at a time.
const NUTTCP: Peer = Peer {
    name: "nuttcp",
    version: "-V",
    kinds: STREAMS,
    server: |job| format!("-1 --nofork {}", family(job)),
    listens: |_| Listens::Tcp(5000),
    // For UDP no rate limit: by default it sends 1 Mbit/s.
    client: |job, messages| {
        let Job { server, message, seconds, .. } = job;
        let amount = messages.map_or_else(|| format!("-T{seconds}"), |messages| format!("-n{messages}"));
        let udp = when(job.kind.is_udp(), "-u -Ru");
        format!("-t {} -l{message} {amount} {udp} -fparse {server}", family(job))
    },
    // What the receiver got.
    said: |_, client| rate(number_after(client, "rate_Mbps=")? * 1e6),
    // Exactly what it was told; what it says is what arrived.
    sent: |_, messages, client| client.contains("rate_Mbps=").then_some(messages),
    ..PLAIN
};

/// sockperf: ping-pong over one socket, or datagrams one way. It cannot count messages.
const SOCKPERF: Peer = Peer {
    name: "sockperf",
    kinds: &[Kind::TcpRr, Kind::UdpRr, Kind::UdpStream],
    smallest: [14, 14],
    server: |job| format!("server -i {} {}", job.server, sockperf(job)),
    listens: |kind| if kind.is_udp() { Listens::Udp(11111) } else { Listens::Tcp(11111) },
    client: |job, _| {
        let Job { server, message, seconds, .. } = job;
        let test = if job.kind.is_rr() { "ping-pong --full-rtt" } else { "throughput" };
        format!("{test} -i {server} -m {message} -t {seconds} {}", sockperf(job))
    },
    // One way it says only what it sent.
    said: |job, client| {
        if !job.kind.is_rr() {
            return client.contains("Message Rate is").then(Said::default);
        }
        let line = client.lines().find(|line| line.contains("[Valid Duration]"))?;
        let (seconds, messages) = (number_after(line, "RunTime=")?, number_after(line, "ReceivedMessages=")?);
        Some(Said {
            rate: (seconds > 0.0).then(|| messages / seconds),
            p50_us: number_after(client, "percentile 50.000 ="),
            p99_us: number_after(client, "percentile 99.000 ="),
        })
    },
    sent: |_, _, client| Some(number_after(client, "Total of ")? as u64),
    unable: Some(["Invalid address", "this version does not speak IPv6"]),
    ..PLAIN
};

fn sockperf(job: &Job) -> String {
    let (tcp, polls) = (when(job.kind == Kind::TcpRr, "--tcp"), when(job.polls, "--nonblocked"));
    let socket = job.busy_poll.map_or_else(String::new, |micros| format!("--lls {micros}"));
    format!("{tcp} {polls} {socket}")
}

/// neper: a program for each kind of traffic; it shares flows out over threads that wait with
/// epoll.
const NEPER: Peer = Peer {
    name: "neper",
    source: Some("https://github.com/google/neper"),
    // Both ends are the same program.
    program: |_, kind| Some(kind.word()),
    // Without `--logtostderr` it leaves a log file in the directory it was started from.
    version: "--logtostderr --version",
    has_many_flows: true,
    // It reads as much of a stream at once as netassay. By default it reads as much as it writes,
    // which is slower.
    server: |job| neper(job, if job.kind == Kind::TcpStream { READ } else { job.message }),
    listens: |_| Listens::Tcp(12866),
    client: |job, _| format!("-c -H {} -L {} {}", job.server, job.client, neper(job, job.message)),
    ..PLAIN
};

/// Without `--logtostderr` its logs are files in /tmp.
fn neper(job: &Job, buffer: u32) -> String {
    let Job { flows, seconds, message, .. } = job;
    let threads = flows.min(&job.cpus);
    let size = if job.kind.is_rr() { format!("-Q {message} -R {message}") } else { format!("-B {buffer}") };
    format!("--logtostderr -F {flows} -T {threads} -l {seconds} {} {size}", family(job))
}

/// netperf: one flow for each client; its server reads a TCP stream 128 KiB at a time.
const NETPERF: Peer = Peer {
    name: "netperf",
    source: Some("https://github.com/HewlettPackard/netperf"),
    program: |end, _| (end == End::Server).then_some("netserver"),
    version: "-V",
    has_many_flows: true,
    is_one_flow: true,
    server: |job| format!("-D {} -L {}", family(job), job.server),
    listens: |_| Listens::Tcp(12865),
    // It sends datagrams beyond a router only with `-R`; here is no router.
    client: |job, _| {
        let Job { server, client, message, seconds, .. } = job;
        let test = job.kind.word().to_uppercase();
        let size = if job.kind.is_rr() { format!("-r {message},{message}") } else { format!("-m {message}") };
        format!("{} -H {server} -L {client} -P 0 -l {seconds} -t {test} -- {size}", family(job))
    },
    ..PLAIN
};

/// netassay's load engine as a peer of its peers: this program.
pub(crate) const OWN: Peer = Peer {
    name: "netassay",
    program: |_, _| Some("netassay-bench"),
    kinds: STREAMS,
    server: |job| format!("sink --kind {} --at {}", job.kind, SocketAddr::new(job.server, 5002)),
    listens: |kind| if kind.is_udp() { Listens::Udp(5002) } else { Listens::Tcp(5002) },
    client: |job, messages| {
        let (count, to) = (messages.unwrap_or_default(), SocketAddr::new(job.server, 5002));
        format!("sends --kind {} --message {} --messages {count} --to {to}", job.kind, job.message)
    },
    sent: |_, _, client| client.trim().parse().ok(),
    ..PLAIN
};

fn rate(rate: f64) -> Option<Said> {
    Some(Said { rate: Some(rate), ..Said::default() })
}

/// `-4` or `-6`.
fn family(job: &Job) -> &'static str {
    if job.ipv6 { "-6" } else { "-4" }
}

/// `words` if they are `wanted`.
fn when(wanted: bool, words: &str) -> &str {
    if wanted { words } else { "" }
}

/// The number that follows `key` in a text.
fn number_after(text: &str, key: &str) -> Option<f64> {
    let rest = text.split_once(key)?.1.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::named;
    use proptest::prelude::*;

    const ALL: [&Peer; 6] = [&IPERF, &IPERF3, &NEPER, &NETPERF, &NUTTCP, &SOCKPERF];

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

    #[test]
    fn every_peer_is_told_size_address_and_how_much() {
        for (peer, kind) in ALL.into_iter().flat_map(|peer| peer.kinds.iter().map(move |kind| (peer, *kind)))
        {
            let client = (peer.client)(&job(kind), None);
            for what in ["1000", "3", "198.18.0.2"] {
                assert!(client.contains(what), "{}, {kind}: {client}", peer.name);
            }
            let counts = ["iperf", "iperf3", "nuttcp"].contains(&peer.name);
            assert_eq!((peer.client)(&job(kind), Some(77)).contains("77"), counts, "{}", peer.name);
        }
        assert!(named("ttcp").unwrap_err().contains("iperf, iperf3, neper"));
    }

    #[test]
    fn what_is_special_is_told() {
        let (tcp, udp) = (job(Kind::TcpStream), job(Kind::UdpStream));
        let polling = Job { polls: true, busy_poll: Some(50), ..job(Kind::TcpRr) };
        let many = |cpus| Job { flows: 16, cpus, ..job(Kind::TcpRr) };
        let ipv6 = |job: Job| Job { ipv6: true, ..job };
        for (arguments, expected) in [
            ((IPERF.client)(&ipv6(tcp.clone()), None), " -V"),
            ((IPERF.client)(&udp, None), "-b 1000g"),
            ((IPERF3.client)(&udp, None), "--udp --bitrate 0"),
            ((NUTTCP.client)(&udp, None), "-u -Ru"),
            ((SOCKPERF.client)(&udp, None), "throughput "),
            ((SOCKPERF.client)(&polling, None), "--tcp --nonblocked --lls 50"),
            ((SOCKPERF.server)(&polling), "--tcp --nonblocked --lls 50"),
            ((NEPER.client)(&many(4), None), "-F 16 -T 4 "),
            ((NEPER.client)(&many(64), None), "-F 16 -T 16 "),
            ((NETPERF.client)(&ipv6(job(Kind::UdpRr)), None), "-t UDP_RR -- -r 1000,1000"),
        ] {
            assert!(arguments.contains(expected), "{arguments}");
        }
        assert!(!(IPERF.server)(&tcp).contains("-V"));
        assert_eq!((NETPERF.clients(&many(1)), NEPER.clients(&many(1))), (16, 1));
        for (peer, kind, message, flows, supports) in [
            (IPERF3, Kind::UdpStream, 15, 1, false),
            (IPERF3, Kind::UdpStream, 16, 1, true),
            (IPERF3, Kind::TcpStream, 1, 64, true),
            (SOCKPERF, Kind::UdpRr, 14, 2, false),
        ] {
            assert_eq!(peer.supports(kind, message, flows), supports, "{kind}, {message} B, {flows} flows");
        }
    }

    #[test]
    fn a_server_that_was_never_made_for_the_job_says_so() {
        assert!(SOCKPERF.declines("sockperf: '-i' Invalid address: ::1").is_some());
        assert!(SOCKPERF.declines("sockperf: ERROR: Can't bind").is_none() && IPERF.declines("").is_none());
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
            let (found, job) = (named(peer).unwrap(), job(kind));
            assert_eq!(
                ((found.said)(&job, text), (found.sent)(&job, 77, text)),
                (said, sent),
                "{peer}, {kind}"
            );
        }
        assert_eq!(number_after("a=1 rate=12.5.", "rate="), Some(12.5));
        assert_eq!(number_after("rate=", "rate="), None);
    }

    proptest! {
        #[test]
        fn nothing_a_peer_says_is_a_panic(text in any::<String>(), number in 0..ALL.len()) {
            for kind in KINDS {
                let _ = ((ALL[number].said)(&job(kind), &text), (ALL[number].sent)(&job(kind), 77, &text));
            }
        }
    }
}
