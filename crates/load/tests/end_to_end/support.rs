//! What the traffic tests share.

use std::time::{Duration, Instant};

use netassay_load::{Endpoint, Error, Kind, Outcome, Phase, Spec, Traffic};

/// A small workload of one flow.
pub(crate) fn traffic(kind: Kind) -> Traffic {
    let (message, response) = if kind.is_rr() { (64, 32) } else { (1400, 0) };
    Traffic { message, response, ..Traffic::new(kind) }
}

/// That, on an address of this host.
pub(crate) fn spec(kind: Kind, local: &str) -> Spec {
    Spec { traffic: traffic(kind), local: local.parse().unwrap(), cpus: vec![], interface: None }
}

/// Both ends, connected, not started.
pub(crate) fn connect(spec: &Spec) -> (Endpoint, Endpoint) {
    let mut receiver = Endpoint::bind(spec).unwrap();
    let transmitter = Endpoint::connect(spec, receiver.addresses()).unwrap();
    receiver.attach(transmitter.addresses()).unwrap();
    (transmitter, receiver)
}

/// Both ends, sending.
pub(crate) fn start(spec: &Spec) -> (Endpoint, Endpoint) {
    let (mut transmitter, mut receiver) = connect(spec);
    receiver.start().unwrap();
    transmitter.start().unwrap();
    (transmitter, receiver)
}

/// Both ends step into `phase`.
pub(crate) fn step(ends: &(Endpoint, Endpoint), phase: Phase) {
    ends.0.set_phase(phase);
    ends.1.set_phase(phase);
}

/// A whole run; gives the transmitter's account and the receiver's.
pub(crate) fn run(spec: &Spec, window: Duration) -> (Outcome, Outcome) {
    let ends = start(spec);
    std::thread::sleep(Duration::from_millis(30));
    step(&ends, Phase::Window);
    std::thread::sleep(window);
    step(&ends, Phase::Tail);
    finish(ends)
}

/// The end of a run.
pub(crate) fn finish((transmitter, receiver): (Endpoint, Endpoint)) -> (Outcome, Outcome) {
    (transmitter.finish().unwrap(), receiver.finish().unwrap())
}

/// Waits for `found` to give something, for `time` at most.
pub(crate) fn within<T>(time: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        if let Some(value) = found() {
            return Some(value);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// The words of the error that an end fails with within `time`.
pub(crate) fn failure<'a>(time: Duration, failed: impl Fn() -> Option<&'a Error>) -> String {
    within(time, || failed().map(ToString::to_string)).unwrap_or_else(|| panic!("no failure within {time:?}"))
}

/// Datagrams that the host dropped before any socket saw them, its backlog being full:
/// `/proc/net/softnet_stat`, second column. They are nobody's here, and the identity must hold but
/// for them.
pub(crate) fn backlog_drops() -> u64 {
    let text = std::fs::read_to_string("/proc/net/softnet_stat").unwrap();
    text.lines().map(|line| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()).sum()
}
