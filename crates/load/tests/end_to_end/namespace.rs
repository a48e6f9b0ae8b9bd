//! Situations that loopback alone cannot produce: a queue that refuses, a slow path, an interface
//! that goes down. Each test has a network namespace of its own, whose loopback it may spoil.

use std::process::Command;
use std::time::Duration;

use netassay_load::{Endpoint, Kind, Pacing, Phase, Sender, Spec, Traffic};

use crate::skip::skip;
use crate::support::{PATIENCE, connect, failure, run, spec, start, step, traffic, within};

/// Moves the test's thread, and with it all threads it starts, into a new network namespace with
/// loopback up, then runs `commands` there. `false` if that cannot be had here: the test is
/// skipped.
pub(crate) fn enter_namespace(test: &str, commands: &[&str]) -> bool {
    // SAFETY: the call takes a number; it moves only this thread.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        skip(test, &format!("no network namespace: {}", std::io::Error::last_os_error()));
        return false;
    }
    for command in ["ip link set lo up"].iter().chain(commands) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let failed = match Command::new(words[0]).args(&words[1..]).output() {
            Ok(output) if output.status.success() => continue,
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        skip(test, &format!("`{command}`: {failed}"));
        return false;
    }
    true
}

#[test]
fn datagrams_that_the_queue_refuses_are_not_counted_as_sent() {
    let shape = "tc qdisc add dev lo root tbf rate 200mbit burst 20000 limit 30000";
    if !enter_namespace("datagrams_that_the_queue_refuses_are_not_counted_as_sent", &[shape]) {
        return;
    }
    for local in ["127.0.0.1", "::1"] {
        // More than the queue holds, less than the sender's buffer.
        let spec = Spec {
            traffic: Traffic { socket_buffer: Some(1 << 20), ..traffic(Kind::UdpStream) },
            ..spec(Kind::UdpStream, local)
        };
        let (sent, received) = run(&spec, Duration::from_millis(200));
        let totals = sent.sent;
        assert!(totals.no_buffers > 0, "{totals:?}");
        assert_eq!(totals.calls, totals.messages + totals.no_buffers);
        assert_eq!(
            totals.messages,
            received.received.messages + received.socket_drops(),
            "{sent:?} {received:?}"
        );
    }
}

/// Datagrams that the queue of this namespace's loopback has dropped, as the queue counts them.
fn queue_drops() -> u64 {
    let output = Command::new("tc").args(["-s", "qdisc", "show", "dev", "lo"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words = text.split_whitespace().skip_while(|word| *word != "(dropped");
    words.nth(1).unwrap().trim_end_matches(',').parse().unwrap()
}

#[test]
#[ignore = "the gate proves this of the sender `send`"]
fn every_sender_counts_what_the_queue_refuses() {
    let shape = "tc qdisc add dev lo root tbf rate 200mbit burst 20000 limit 30000";
    if !enter_namespace("every_sender_counts_what_the_queue_refuses", &[shape]) {
        return;
    }
    for sender in Sender::ALL.into_iter().filter(|sender| sender.sends(Kind::UdpStream)) {
        let before = queue_drops();
        let spec = Spec {
            traffic: Traffic {
                sender,
                socket_buffer: Some(4 << 20),
                verify: true,
                ..traffic(Kind::UdpStream)
            },
            ..spec(Kind::UdpStream, "127.0.0.1")
        };
        let (sent, received) = run(&spec, Duration::from_millis(150));
        let dropped = queue_drops() - before;
        let what = format!("{sender}, {dropped} dropped: {sent:?} {received:?}");
        assert!(dropped > 0, "{what}");
        assert_eq!(
            sent.sent.messages + sent.sent.no_buffers,
            received.received.messages + received.socket_drops() + dropped,
            "{what}"
        );
        // Of a buffer of datagrams the queue may accept some. A sender of single datagrams knows of
        // each.
        if !sender.segments() {
            assert_eq!(sent.sent.no_buffers, dropped, "{what}");
        }
    }
}

#[test]
fn buffers_of_datagrams_too_large_for_the_path_are_refused_in_words() {
    let test = "buffers_of_datagrams_too_large_for_the_path_are_refused_in_words";
    if !enter_namespace(test, &["ip link set lo mtu 1500"]) {
        return;
    }
    for (local, most) in [("127.0.0.1", 1472), ("::1", 1452)] {
        for connected in [true, false] {
            let plain = traffic(Kind::UdpStream);
            let fits = Traffic { sender: Sender::Gso, message: most, connected, ..plain };
            run(&Spec { traffic: fits.clone(), ..spec(Kind::UdpStream, local) }, Duration::from_millis(50));
            let traffic = Traffic { message: most + 1, ..fits };
            let ends = start(&Spec { traffic, ..spec(Kind::UdpStream, local) });
            let words = failure(PATIENCE, || ends.0.failed());
            assert!(words.contains(&format!("datagrams of {} bytes", most + 1)), "{words}");
            assert!(words.contains("must fit the path's MTU: use a smaller `message`"), "{words}");
        }
    }
}

#[test]
fn datagrams_in_fragments_wait_for_a_receiver_that_has_no_cpu() {
    // More than the kernel's default receive buffer holds of them, 30.
    const MANY: u64 = 100;
    let test = "datagrams_in_fragments_wait_for_a_receiver_that_has_no_cpu";
    if !enter_namespace(test, &["ip link set lo mtu 1500"]) {
        return;
    }
    for local in ["127.0.0.1", "::1"] {
        // At this pace no backlog fills. The receiver starts when the sender has ended, as late as
        // a thread can come.
        let traffic =
            Traffic { message: 4096, pacing: Pacing::of_bits(100_000_000), ..traffic(Kind::UdpStream) };
        let (mut transmitter, mut receiver) = connect(&Spec { traffic, ..spec(Kind::UdpStream, local) });
        transmitter.start().unwrap();
        let many = || (transmitter.sample().sent.messages >= MANY).then_some(());
        within(PATIENCE, many).unwrap();
        transmitter.set_phase(Phase::Tail);
        transmitter.finish().unwrap();
        receiver.start().unwrap();
        receiver.set_phase(Phase::Tail);
        let received = receiver.finish().unwrap();
        assert!(received.received.messages >= MANY, "{received:?}");
    }
}

#[test]
#[ignore = "measures a rate: needs a quiet machine"]
fn a_slow_stream_is_measured_right_in_a_short_window() {
    // A queue that holds all that a sender may have under way: after a loss TCP hands over what it
    // held back all at once, and a window would see more than the link can carry.
    let commands =
        ["ip link set lo mtu 1500", "tc qdisc add dev lo root tbf rate 20mbit burst 10000 limit 20000000"];
    if !enter_namespace("a_slow_stream_is_measured_right_in_a_short_window", &commands) {
        return;
    }
    let ends = start(&spec(Kind::TcpStream, "127.0.0.1"));
    std::thread::sleep(Duration::from_millis(1000));
    step(&ends, Phase::Window);
    let first = ends.1.sample();
    std::thread::sleep(Duration::from_millis(1000));
    let window = ends.1.sample().since(&first);
    step(&ends, Phase::Tail);
    // A full send buffer takes longer to empty here than a finish waits.
    drop(ends);
    let rate = window.received.bytes as f64 * 8.0 / (window.at_ns as f64 / 1e9);
    // 20 Mbit/s less the headers of 52 bytes in 1500 and of acknowledgements, which share this
    // loopback.
    assert!((17e6..20.2e6).contains(&rate), "{rate}");
}

#[test]
fn an_interface_that_vanishes_fails_the_run() {
    let commands = [
        "ip link add near type veth peer name far",
        "ip address add 198.51.100.1/24 dev near",
        "ip address add 2001:db8::1/64 dev near nodad",
        "ip link set near up",
        "ip link set far up",
        "ip neighbour add 198.51.100.2 lladdr 02:00:00:00:00:02 dev near",
        "ip neighbour add 2001:db8::2 lladdr 02:00:00:00:00:02 dev near",
    ];
    if !enter_namespace("an_interface_that_vanishes_fails_the_run", &commands) {
        return;
    }
    let ends: Vec<(Endpoint, &str)> =
        [("198.51.100.1", "198.51.100.2:9"), ("2001:db8::1", "[2001:db8::2]:9")]
            .map(|(local, peer)| {
                let spec = spec(Kind::UdpStream, local);
                let mut transmitter = Endpoint::connect(&spec, &[peer.parse().unwrap()]).unwrap();
                transmitter.start().unwrap();
                (transmitter, peer)
            })
            .into();
    let all_send = || ends.iter().all(|(end, _)| end.sample().sent.messages > 0).then_some(());
    within(PATIENCE, all_send).expect("both send");
    assert!(ends.iter().all(|(end, _)| end.failed().is_none()));
    assert!(Command::new("ip").args(["link", "delete", "near"]).status().unwrap().success());
    for (end, peer) in &ends {
        let words = failure(PATIENCE, || end.failed());
        assert!(
            words.contains("flow 0") && words.contains(peer) && words.contains("that the link is up"),
            "{words}"
        );
    }
}
