//! A pace is never exceeded; on a quiet machine it is reached too.

use std::time::{Duration, Instant};

use crate::namespace::enter_namespace;
use crate::skip::skip;
use crate::support::{await_progress, finish, samples, spec, start, step, traffic};
use netassay_load::{CongestionControl, Direction, Kind, Pacing, Phase, Sender, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(400);

/// The time that a sender may catch up after a delay, ns.
const LAG: u64 = 10_000_000;

/// The time for which the threads have waited for a CPU, ns, in sum: the second number of
/// `schedstat`.
fn waited(threads: &[u32]) -> u64 {
    let of = |thread: &u32| {
        let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).unwrap();
        text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    threads.iter().map(of).sum()
}

/// The bytes that all flows send at once: a datagram, a batch of them, or two of loopback's
/// segments.
fn at_once(traffic: &Traffic) -> u128 {
    let is_single = traffic.sender == Sender::Send && traffic.kind == Kind::UdpStream;
    let call: u32 = if is_single { 1000 } else { 256 << 10 };
    u128::from(call) * u128::from(traffic.flows)
}

/// However busy the machine is: until its end a flow sends no more than its pace allows.
fn never_exceeds(spec: &Spec, bits: u64) {
    let begun = Instant::now();
    let ends = start(spec);
    std::thread::sleep(Duration::from_millis(100));
    await_progress(&ends, spec, &samples(&ends));
    let [near, far] = samples(&ends);
    let time = begun.elapsed().as_nanos() + u128::from(LAG);
    step(&ends, Phase::Tail);
    finish(ends);
    let allowed = u128::from(bits) * u128::from(spec.traffic.flows) * time / 8_000_000_000;
    // A stream is paced by the kernel, behind the buffer of its socket.
    let is_datagrams = spec.traffic.kind == Kind::UdpStream;
    let got = u128::from(if is_datagrams { near.sent.bytes } else { far.received.bytes });
    let what = format!("{got} of {allowed} bytes: {:?} {near:?} {far:?}", spec.traffic);
    assert!(got > 0 && got <= allowed + at_once(&spec.traffic), "{what}");
}

fn keeps_its_pace(spec: &Spec, bits: u64) {
    let ends = start(spec);
    let threads: Vec<u32> = ends.0.threads().into_iter().chain(ends.1.threads()).collect();
    std::thread::sleep(Duration::from_millis(150));
    step(&ends, Phase::Window);
    let (first, waited_before) = (ends.1.sample(), waited(&threads));
    std::thread::sleep(WINDOW);
    let (last, waited_after) = (ends.1.sample(), waited(&threads));
    step(&ends, Phase::Tail);
    let window = last.since(&first);
    let (sent, received) = finish(ends);
    let flows = u64::from(spec.traffic.flows);
    let due = |ns: u64| u128::from(bits * flows) * u128::from(ns) / 8_000_000_000;
    let got = u128::from(window.received.bytes);
    let slack = at_once(&spec.traffic);
    let what = format!("{got} of {} bytes: {:?} {sent:?} {received:?}", due(window.at_ns), spec.traffic);
    assert!(got <= due(window.at_ns + LAG) + slack, "{what}");
    // On a busy machine the threads wait for each other and for others; then there is nothing to be
    // said of the lower end.
    if waited_after - waited_before < window.at_ns / 100 {
        assert!((got + slack) * 100 >= due(window.at_ns) * 95, "{what}");
    }
    assert!(got > 0, "{what}");
    if spec.traffic.kind == Kind::TcpStream {
        assert_eq!(sent.sent.bytes, received.received.bytes, "{what}");
    } else {
        assert_eq!(sent.sent.messages, received.received.messages + received.socket_drops(), "{what}");
    }
}

#[test]
fn datagrams_never_exceed_their_pace() {
    paced_datagrams(never_exceeds);
}

#[test]
#[ignore = "measures rates: needs a quiet machine"]
fn datagrams_keep_their_pace() {
    paced_datagrams(keeps_its_pace);
}

fn paced_datagrams(check: fn(&Spec, u64)) {
    for (local, sender) in [
        ("127.0.0.1", Sender::Send),
        ("::1", Sender::Send),
        ("127.0.0.1", Sender::Sendmmsg),
        ("::1", Sender::Gso),
    ] {
        for bits in [2_000_000, 200_000_000] {
            let traffic = Traffic {
                flows: 2,
                message: 1000,
                sender,
                pacing: Pacing::of_bits(bits),
                ..traffic(Kind::UdpStream)
            };
            check(&Spec { traffic, ..spec(Kind::UdpStream, local) }, bits);
        }
    }
}

#[test]
fn a_tcp_stream_never_exceeds_its_pace() {
    paced_streams(never_exceeds);
}

#[test]
#[ignore = "measures rates: needs a quiet machine"]
fn a_tcp_stream_keeps_its_pace() {
    paced_streams(keeps_its_pace);
}

fn paced_streams(check: fn(&Spec, u64)) {
    for local in ["127.0.0.1", "::1"] {
        for congestion_control in [CongestionControl::System, CongestionControl::Named("cubic".to_owned())] {
            let bits = 300_000_000;
            let traffic = Traffic {
                pacing: Pacing::of_bits(bits),
                congestion_control,
                message: 16_384,
                ..traffic(Kind::TcpStream)
            };
            check(&Spec { traffic, ..spec(Kind::TcpStream, local) }, bits);
        }
    }
}

/// Sets the congestion control with which connections of this namespace begin.
fn set_system_congestion_control(name: &str) -> std::io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name)
}

/// Bytes that arrive in the first tenth of a second of a stream.
fn first_bytes(traffic: Traffic, local: &str) -> u64 {
    let ends = start(&Spec { traffic, ..spec(Kind::TcpStream, local) });
    std::thread::sleep(Duration::from_millis(100));
    step(&ends, Phase::Tail);
    // Whichever end sends ends before the other one waits for the end of the stream.
    ends.1.quiet();
    let (sent, received) = finish(ends);
    for end in [&sent, &received] {
        let names: Vec<_> =
            end.applied.iter().flat_map(|one| &one.tcp).map(|tcp| &tcp.congestion_control).collect();
        assert_eq!(names, ["cubic"], "{end:?}");
    }
    sent.received.bytes + received.received.bytes
}

#[test]
#[ignore = "compares two rates: needs a quiet machine"]
fn a_stream_that_is_not_to_pace_does_not_where_the_system_paces() {
    let test = "a_stream_that_is_not_to_pace_does_not_where_the_system_paces";
    if !enter_namespace(test, &["ip link set lo mtu 1500"]) {
        return;
    }
    if let Err(error) = set_system_congestion_control("bbr") {
        skip(test, &format!("bbr cannot be the system's here: {error}"));
        return;
    }
    // A socket that paces now crawls: at 1 % of what the congestion window allows, which then does
    // not grow. One that does not pace is as fast as ever. (BBR has ratios of its own.)
    for ratio in ["tcp_pacing_ss_ratio", "tcp_pacing_ca_ratio"] {
        std::fs::write(format!("/proc/sys/net/ipv4/{ratio}"), "1").unwrap();
    }
    // The sender connects, or accepts.
    for direction in [Direction::Forward, Direction::Reverse] {
        for local in ["127.0.0.1", "::1"] {
            let traffic = Traffic {
                direction,
                congestion_control: CongestionControl::Named("cubic".to_owned()),
                message: 16_384,
                ..traffic(Kind::TcpStream)
            };
            // In turn, so that whatever else runs here slows both.
            let (mut with_bbr, mut with_reno) = (0, 0);
            for _ in 0..3 {
                set_system_congestion_control("bbr").unwrap();
                with_bbr += first_bytes(traffic.clone(), local);
                set_system_congestion_control("reno").unwrap();
                with_reno += first_bytes(traffic.clone(), local);
            }
            // Paced it is a twentieth and less.
            assert!(
                with_bbr > with_reno / 5,
                "{direction} {local}: {with_bbr} bytes of cubic where bbr is the system's, {with_reno} where reno is"
            );
        }
    }
}

#[test]
#[ignore = "tells how long a stop takes: needs a quiet machine"]
fn a_slow_pace_does_not_hold_up_the_stop() {
    for kind in [Kind::UdpStream, Kind::TcpStream] {
        let traffic = Traffic { pacing: Pacing::of_bits(80_000), message: 10_000, ..traffic(kind) };
        let ends = start(&Spec { traffic, ..spec(kind, "127.0.0.1") });
        // Each datagram takes a second at that pace, and the first is due within it.
        std::thread::sleep(Duration::from_millis(1500));
        step(&ends, Phase::Tail);
        let began = std::time::Instant::now();
        let (sent, received) = finish(ends);
        assert!(began.elapsed() < Duration::from_secs(4), "{kind} took {:?}", began.elapsed());
        assert!(sent.sent.bytes > 0 && received.received.bytes > 0, "{kind}: {sent:?} {received:?}");
    }
}
