//! Helpers of the traffic tests.

use std::time::{Duration, Instant};

use netassay_load::{EndOutcome, Endpoint, Error, Kind, Phase, Sample, Spec, Traffic};

/// Time for an event that must come, on a machine that is busy with other work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A small workload of one flow.
pub(crate) fn traffic(kind: Kind) -> Traffic {
    let (message, response) = if kind.is_rr() { (64, 32) } else { (1400, 0) };
    Traffic { message, response, ..Traffic::new(kind) }
}

/// The traffic, on an address of this host.
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

/// A whole run; gives the transmitter's account and the receiver's. The window is longer where the
/// machine is too busy for each flow to move something in it, and so is the time after it.
pub(crate) fn run(spec: &Spec, window: Duration) -> (EndOutcome, EndOutcome) {
    let ends = start(spec);
    std::thread::sleep(Duration::from_millis(30));
    run_window(&ends, spec, window);
    step(&ends, Phase::Tail);
    await_progress(&ends, spec, &samples(&ends));
    finish(ends)
}

/// A window in which each flow moves something.
pub(crate) fn run_window(ends: &(Endpoint, Endpoint), spec: &Spec, window: Duration) {
    step(ends, Phase::Window);
    let before = samples(ends);
    std::thread::sleep(window);
    await_progress(ends, spec, &before);
}

/// The counts of the transmitter and of the receiver so far.
pub(crate) fn samples(ends: &(Endpoint, Endpoint)) -> [Sample; 2] {
    [ends.0.sample(), ends.1.sample()]
}

/// Waits until each flow has moved something since `before`: of a stream two messages, or two MiB
/// of longer ones; of requests more than were under way. A run that fails is not waited for.
pub(crate) fn await_progress(ends: &(Endpoint, Endpoint), spec: &Spec, before: &[Sample; 2]) {
    let traffic = &spec.traffic;
    let under_way = u64::from(traffic.flows) * u64::from(traffic.in_flight.max(1));
    let moved = || {
        let [near, far] = samples(ends);
        let (near, far) = (near.since(&before[0]), far.since(&before[1]));
        if traffic.kind.is_rr() {
            let answered = near.flows.iter().all(|flow| flow.transactions > 1);
            return answered && near.sent.transactions > under_way + 1;
        }
        let least = 2 * u64::from(traffic.message.min(1 << 20));
        far.flows.iter().all(|flow| flow.bytes >= least)
    };
    let is_over = || ends.0.failed().is_some() || ends.1.failed().is_some() || moved();
    within(PATIENCE, || is_over().then_some(()));
}

/// The end of a run.
pub(crate) fn finish((transmitter, receiver): (Endpoint, Endpoint)) -> (EndOutcome, EndOutcome) {
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
