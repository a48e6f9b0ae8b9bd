//! A pace is kept: never exceeded, and reached where the sending thread got its CPU.

use std::time::Duration;

use crate::support::{finish, spec, start, step, traffic};
use netassay_load::{Kind, Phase, Sender, Spec, Traffic};

const WINDOW: Duration = Duration::from_millis(400);

/// What a sender may make up for after a delay, ns.
const LAG: u64 = 10_000_000;

/// How long the threads have waited for a CPU, ns, all together: the second number of `schedstat`.
fn waited(threads: &[u32]) -> u64 {
    let of = |thread: &u32| {
        let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).unwrap();
        text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    threads.iter().map(of).sum()
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
    // What goes out at once: a datagram, a batch of them, or two of loopback's segments.
    let call = if spec.traffic.sender == Sender::Send && spec.traffic.kind == Kind::UdpStream {
        1000
    } else {
        256 << 10
    };
    let slack = u128::from(call * flows);
    let what = format!("{got} of {} bytes: {:?} {sent:?} {received:?}", due(window.at_ns), spec.traffic);
    assert!(got <= due(window.at_ns + LAG) + slack, "{what}");
    // On a busy machine the threads wait for each other and for others; then there is nothing to be said of the lower end.
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
fn datagrams_keep_their_pace() {
    for (local, sender) in [
        ("127.0.0.1", Sender::Send),
        ("::1", Sender::Send),
        ("127.0.0.1", Sender::Sendmmsg),
        ("::1", Sender::Gso),
    ] {
        for bits in [2_000_000, 200_000_000] {
            let traffic =
                Traffic { flows: 2, message: 1000, sender, pacing: Some(bits), ..traffic(Kind::UdpStream) };
            keeps_its_pace(&Spec { traffic, ..spec(Kind::UdpStream, local) }, bits);
        }
    }
}

#[test]
fn a_tcp_stream_keeps_its_pace() {
    for local in ["127.0.0.1", "::1"] {
        for congestion_control in [None, Some("cubic".to_owned())] {
            let bits = 300_000_000;
            let traffic = Traffic {
                pacing: Some(bits),
                congestion_control,
                message: 16_384,
                ..traffic(Kind::TcpStream)
            };
            keeps_its_pace(&Spec { traffic, ..spec(Kind::TcpStream, local) }, bits);
        }
    }
}

#[test]
fn a_slow_pace_does_not_hold_up_the_stop() {
    for kind in [Kind::UdpStream, Kind::TcpStream] {
        let traffic = Traffic { pacing: Some(80_000), message: 10_000, ..traffic(kind) };
        let ends = start(&Spec { traffic, ..spec(kind, "127.0.0.1") });
        std::thread::sleep(Duration::from_millis(100));
        step(&ends, Phase::Tail);
        let began = std::time::Instant::now();
        let (sent, received) = finish(ends);
        assert!(began.elapsed() < Duration::from_secs(4), "{kind} took {:?}", began.elapsed());
        assert!(sent.sent.bytes > 0 && received.received.bytes > 0, "{kind}: {sent:?} {received:?}");
    }
}
