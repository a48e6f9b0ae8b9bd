//! Sockets of workloads: opened, configured, read back.

mod applied;
mod keyed;
mod open;
mod statistics;

use std::time::Duration;

use words::MAX_THREADS;

pub(crate) use self::applied::collect;
pub use self::applied::{Applied, lacking};
pub use self::keyed::SocketSwitches;
pub(crate) use self::keyed::unpace;
pub use self::open::Buffers;
pub(crate) use self::open::{
    await_pace, bind, bind_later, flow, give_role, in_use_or, keep_to, local_address, open, poll_busily,
    polled_nothing, prioritize,
};
pub use self::statistics::{TcpApplied, TcpInfo, TcpReadings};
pub(crate) use self::statistics::{drops, unread, unsent_to_a_peer};

/// Silence of a peer after which the flow is given up.
pub(crate) fn stall(flows: usize) -> Duration {
    // Each thread may wait for a CPU, and each flow of a thread for the turns of its others.
    let threads = u32::try_from(flows).unwrap_or(u32::MAX).min(MAX_THREADS);
    Duration::from_secs(5) + Duration::from_millis(10) * threads + turns(flows)
}
const ANSWER: Duration = Duration::from_millis(100);
// A generous guess: ten transactions of 20 µs, about the time of one on a VM of two CPUs.
const TURN: Duration = Duration::from_micros(200);

fn turns(flows: usize) -> Duration {
    TURN * u32::try_from(flows.saturating_sub(1)).unwrap_or(u32::MAX)
}

pub(crate) fn answer_time(flows: usize) -> Duration {
    ANSWER + turns(flows)
}

// A waiting `tcp_crr` thread checks the phase: its connections are its own, nobody can wake it.
pub(crate) const TICK: Duration = Duration::from_millis(50);
pub(crate) const CONNECT: Duration = Duration::from_secs(5);
