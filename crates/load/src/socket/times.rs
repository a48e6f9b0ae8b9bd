//! How long a workload waits for its peer.

use std::time::Duration;

use words::MAX_THREADS;

/// How long a peer may receive or answer nothing before the flow is given up: 5 s, and 10 ms more
/// for each flow that may have a thread of its own and waits its turn for a CPU, and for each of
/// all flows the time of a [`TURN`].
pub(crate) fn stall(flows: usize) -> Duration {
    let threads = u32::try_from(flows).unwrap_or(u32::MAX).min(MAX_THREADS);
    Duration::from_secs(5) + Duration::from_millis(10) * threads + turns(flows)
}
/// How long a `udp_rr` transmitter waits for an answer, if only one flow asks.
const ANSWER: Duration = Duration::from_millis(100);
/// How long a flow waits for each of the others, at worst. A guess, generous on purpose: ten
/// transactions of 20 µs, about what one takes on a virtual machine of two CPUs.
const TURN: Duration = Duration::from_micros(200);

fn turns(flows: usize) -> Duration {
    TURN * u32::try_from(flows.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// How long a `udp_rr` transmitter waits for an answer.
pub(crate) fn answer_time(flows: usize) -> Duration {
    ANSWER + turns(flows)
}

/// How often a `tcp_crr` thread that waits looks up: its connections are its own, and nobody else
/// can wake it.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// How long a connection may take to be established.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);
