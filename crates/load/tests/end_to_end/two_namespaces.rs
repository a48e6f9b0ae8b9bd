//! Every way of sending and of receiving between two network namespaces, over a pair of virtual
//! Ethernet devices.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::Duration;

use netassay_load::{EndOutcome, Endpoint, Kind, Phase, Reader, Spec, Traffic};

use crate::modes::{check, readers, senders};
use crate::namespace::enter_namespace;
use crate::skip::skip;
use crate::support::{PATIENCE, backlog_drops, finish, step, traffic, within};

const NEAR: [&str; 2] = ["198.51.100.1", "2001:db8::1"];
const FAR: [&str; 2] = ["198.51.100.2", "2001:db8::2"];
/// The devices know each other: datagrams that wait for an answer to a question about it may be
/// dropped.
const MAC: [&str; 2] = ["02:00:00:00:00:01", "02:00:00:00:00:02"];

/// Two namespaces, of which the test's thread is in one.
struct Pair {
    near: File,
    far: File,
}

impl Pair {
    /// Makes them, joined by devices with addresses; `None` if that cannot be had here: the test is
    /// skipped.
    fn new(test: &str) -> Option<Self> {
        if !enter_namespace(test, &[]) {
            return None;
        }
        let far = current_namespace();
        if !enter_namespace(test, &[]) {
            return None;
        }
        let pair = Self { near: current_namespace(), far };
        let place = format!("/proc/{}/fd/{}", std::process::id(), pair.far.as_raw_fd());
        let commands = [
            format!(
                "ip link add near address {} type veth peer name far address {} netns {place}",
                MAC[0], MAC[1]
            ),
            format!("ip address add {}/24 dev near", NEAR[0]),
            format!("ip address add {}/64 dev near nodad", NEAR[1]),
            "ip link set near up".to_owned(),
            format!("ip neighbour add {} lladdr {} dev near", FAR[0], MAC[1]),
            format!("ip neighbour add {} lladdr {} dev near", FAR[1], MAC[1]),
        ];
        let far_commands = [
            format!("ip address add {}/24 dev far", FAR[0]),
            format!("ip address add {}/64 dev far nodad", FAR[1]),
            "ip link set far up".to_owned(),
            format!("ip neighbour add {} lladdr {} dev far", NEAR[0], MAC[0]),
            format!("ip neighbour add {} lladdr {} dev far", NEAR[1], MAC[0]),
        ];
        let done = commands.iter().all(|command| say_if_it_fails(test, command))
            && pair.within_far(|| far_commands.iter().all(|command| say_if_it_fails(test, command)));
        if !done {
            return None;
        }
        wait_until_up("near");
        pair.within_far(|| wait_until_up("far"));
        Some(pair)
    }

    /// Runs something in the far namespace; the sockets that it opens stay there.
    fn within_far<T>(&self, run: impl FnOnce() -> T) -> T {
        enter(&self.far);
        let done = run();
        enter(&self.near);
        done
    }

    /// A run from near to far.
    fn run(&self, traffic: &Traffic, version: usize, time: Duration) -> (EndOutcome, EndOutcome) {
        let spec = |local: &str| Spec {
            traffic: traffic.clone(),
            local: local.parse().unwrap(),
            cpus: vec![],
            interface: None,
        };
        let mut receiver = self.within_far(|| Endpoint::bind(&spec(FAR[version])).unwrap());
        let mut transmitter = Endpoint::connect(&spec(NEAR[version]), receiver.addresses()).unwrap();
        receiver.attach(transmitter.addresses()).unwrap();
        receiver.start().unwrap();
        transmitter.start().unwrap();
        let ends = (transmitter, receiver);
        std::thread::sleep(time);
        let arrives = || (ends.1.sample().received.messages > 0).then_some(());
        within(PATIENCE, arrives).expect("messages arrive");
        step(&ends, Phase::Tail);
        finish(ends)
    }
}

/// Waits until a device sends: until the kernel has noticed its carrier, its queue throws away what
/// it is given, and says nothing.
fn wait_until_up(device: &str) {
    let is_up = || {
        let output = Command::new("ip").args(["-o", "link", "show", device]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("state UP").then_some(())
    };
    within(PATIENCE, is_up).unwrap_or_else(|| panic!("{device} does not come up"));
}

/// The namespace of the calling thread.
fn current_namespace() -> File {
    File::open("/proc/thread-self/ns/net").unwrap()
}

fn enter(namespace: &File) {
    // SAFETY: the call takes numbers; it moves only this thread.
    assert_eq!(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
}

fn say_if_it_fails(test: &str, command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    if !output.status.success() {
        skip(test, &format!("`{command}`: {}", String::from_utf8_lossy(&output.stderr)));
    }
    output.status.success()
}

fn every_way(test: &str, kind: Kind) {
    let Some(pair) = Pair::new(test) else { return };
    // Nobody sees what `trunc` throws away.
    let readers: Vec<Reader> = readers(kind.is_udp()).filter(|reader| *reader != Reader::Trunc).collect();
    let senders: Vec<_> = senders(kind.is_udp()).collect();
    for version in 0..2 {
        for number in 0..senders.len().max(readers.len()) {
            let traffic = Traffic {
                sender: senders[number % senders.len()],
                reader: readers[(number + version) % readers.len()],
                verify: true,
                connected: kind == Kind::TcpStream || version == 0,
                ..traffic(kind)
            };
            let before = backlog_drops();
            let ends = pair.run(&traffic, version, Duration::from_millis(50));
            check(&traffic, &ends, backlog_drops() - before);
        }
    }
}

#[test]
#[ignore = "the gate proves this over loopback"]
fn every_udp_way_arrives_intact_in_another_namespace() {
    every_way("every_udp_way_arrives_intact_in_another_namespace", Kind::UdpStream);
}

#[test]
#[ignore = "the gate proves this over loopback, and for datagrams between namespaces"]
fn every_tcp_way_arrives_intact_in_another_namespace() {
    every_way("every_tcp_way_arrives_intact_in_another_namespace", Kind::TcpStream);
}

#[test]
fn a_request_that_the_queue_refuses_is_not_given_up() {
    let test = "a_request_that_the_queue_refuses_is_not_given_up";
    let Some(pair) = Pair::new(test) else { return };
    // The queue has room for two of the requests; answers have their own way.
    if !say_if_it_fails(test, "tc qdisc add dev near root tbf rate 20mbit burst 2000 limit 3000") {
        return;
    }
    let flows = |flows, threads| Traffic { flows, threads: Some(threads), ..traffic(Kind::UdpRr) };
    let ways = [flows(16, 1), flows(16, 16), Traffic { in_flight: 16, ..traffic(Kind::UdpRr) }];
    for way in ways {
        let traffic = Traffic { message: 1400, ..way };
        let (sent, _) = pair.run(&traffic, 0, Duration::from_millis(600));
        let asked = &sent.sent;
        assert!(asked.no_buffers > 0, "{traffic:?} {asked:?}");
        assert!(asked.messages >= asked.transactions + asked.timeouts, "{traffic:?} {asked:?}");
        assert!(asked.transactions > 0, "{traffic:?} {asked:?}");
    }
}

#[test]
fn every_sender_sends_to_nobody() {
    let Some(_pair) = Pair::new("every_sender_sends_to_nobody") else { return };
    // A station that is not there: what is sent to it goes over the link, and is nobody's.
    let nobody = "ip neighbour add 198.51.100.9 lladdr 02:00:00:00:00:09 dev near";
    assert!(say_if_it_fails("every_sender_sends_to_nobody", nobody));
    for sender in senders(true) {
        for connected in [true, false] {
            let traffic = Traffic { sender, connected, ..traffic(Kind::Pps) };
            let spec = Spec { traffic, local: NEAR[0].parse().unwrap(), cpus: vec![], interface: None };
            let mut transmitter = Endpoint::connect(&spec, &["198.51.100.9:9".parse().unwrap()]).unwrap();
            transmitter.start().unwrap();
            let sends = || (transmitter.sample().sent.messages > 0).then_some(());
            within(PATIENCE, sends).unwrap_or_else(|| panic!("{sender}: nothing is sent"));
            transmitter.set_phase(Phase::Tail);
            let sent = transmitter.finish().unwrap_or_else(|error| panic!("{sender}: {error}")).sent;
            assert!(sent.messages > 0 && sent.bytes == sent.messages * 1400, "{sender}: {sent:?}");
        }
    }
}
