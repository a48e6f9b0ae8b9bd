//! The one description of traffic, for studies and both ends of the engine.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;
pub use crate::keys::Traffic;
use crate::kind::Kind;
use crate::metric::{Metric, Source};
use crate::mode::{CongestionControl, Direction};
use crate::scenario::Family;

/// The most flows of one workload. More than [`MAX_THREADS`] share threads.
pub const MAX_FLOWS: u32 = 100_000;
/// The most threads of one end, each way.
pub const MAX_THREADS: u32 = 1_024;
/// The most flows over UDP.
// Each has a port of its own, and ports below 1024 are privileged.
pub(crate) const MOST_OVER_UDP: u32 = 65_535 - 1_023;
/// Connections that one listener accepts: all wait in its queue until the last has come, and
/// `net.core.somaxconn` is 4096.
// Connections to another port may reuse the same local ports, so these do not run out either.
pub const LISTENER: u32 = 4_000;
/// The largest message in bytes. A larger write only measures how often it is interrupted.
pub const MAX_MESSAGE: u32 = 16 << 20;
/// The most memory in bytes for the messages of all flows on one end.
pub const MAX_MEMORY: u64 = 1 << 30;
/// The most transactions that one flow may have in flight.
pub const MAX_IN_FLIGHT: u32 = 1_024;
/// The most requests per second over all flows (open loop).
pub const MAX_RATE: u32 = 100_000_000;

/// The longest wait of a packet for the rate of a path (`path_rate`), after which it is dropped.
pub const PATH_QUEUE: Duration = Duration::from_millis(50);
/// The largest `socket_buffer` with which turns were compared with runs, in bytes.
const BUFFER_IN_TURNS: u32 = 4 << 20;

impl Traffic {
    /// The defaults of a kind: one flow, one message at a time, everything else as in the kernel.
    pub fn new(kind: Kind) -> Self {
        let message = match kind {
            Kind::TcpStream => 16_384,
            // Fills one packet of MTU 1500 over IPv6 (40 bytes of header and 8 of UDP) and fits one
            // over IPv4, so that no family has fragments by default.
            Kind::UdpStream => 1_452,
            Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => 1,
            // Fills the smallest Ethernet frame over IPv4 (60 bytes without checksum, less 14, 20
            // and 8 of headers).
            Kind::Pps => 18,
        };
        Self { message, response: if kind.is_rr() { message } else { 0 }, ..Self::plain(kind) }
    }

    /// The sockets of either end.
    pub fn lanes(&self) -> u32 {
        self.flows.saturating_mul(self.ways())
    }

    pub(crate) fn ways(&self) -> u32 {
        if self.direction == Direction::Both { 2 } else { 1 }
    }

    /// The receiver's addresses: one for each socket over UDP; over TCP one for each listener.
    pub fn endpoints(&self) -> u32 {
        1 + self.endpoint_of(self.lanes().saturating_sub(1) as usize) as u32
    }

    /// A lane's index among the endpoints.
    pub fn endpoint_of(&self, lane: usize) -> usize {
        match self.kind {
            kind if kind.is_udp() => lane,
            Kind::TcpCrr => 0,
            _ => lane / LISTENER as usize,
        }
    }

    /// Whether a lane carries data from the transmitter: of both ways the first half do.
    pub fn is_forward(&self, lane: usize) -> bool {
        match self.direction {
            Direction::Forward => true,
            Direction::Reverse => false,
            Direction::Both => lane < self.flows as usize,
        }
    }

    /// Whether the socket of a lane is connected; one that only receives rejects other peers.
    pub fn connects(&self, sends: bool) -> bool {
        self.connected || (!sends && !self.kind.is_rr())
    }

    /// Whether TCP sizes the buffers of a flow as the flow needs them: larger, and never smaller.
    pub fn has_growing_buffers(&self) -> bool {
        self.kind == Kind::TcpStream && self.socket_buffer.is_none()
    }

    /// Whether its sockets may hold more than those with which turns were compared with runs.
    pub fn has_large_buffers(&self) -> bool {
        self.socket_buffer.is_some_and(|bytes| bytes > BUFFER_IN_TURNS)
    }

    /// The longest time that packets may wait on a path that is made slower, there and back.
    pub fn held_by_path(&self) -> Duration {
        let delay = self.path_delay.unwrap_or_default().saturating_mul(2);
        delay.saturating_add(if self.path_rate.is_some() { PATH_QUEUE } else { Duration::ZERO })
    }

    /// Whether its congestion control is to be chosen when a plan is tried.
    pub fn leaves_congestion_control_open(&self) -> bool {
        self.kind.is_tcp() && self.congestion_control == CongestionControl::Unpaced
    }

    /// Whether small segments go out at once.
    pub fn is_nodelay(&self) -> bool {
        self.nodelay.unwrap_or(self.kind.is_rr())
    }

    /// The most payload bytes per datagram of a segmented buffer: the kernel does not fragment.
    pub fn largest_segment(mtu: u32, family: Family) -> u32 {
        mtu.saturating_sub(family.udp_headers())
    }

    /// Whether a run of it yields the metric.
    pub fn produces(&self, metric: Metric) -> bool {
        self.kind.produces(metric)
            && (metric.source != Source::BothWays || self.direction == Direction::Both)
            && (metric.source != Source::Search || self.find_rate)
    }
}

/// The traffic of a condition, with all defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the study, by default its kind. Comparisons stay within one name.
    pub name: String,
    /// The traffic.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// The window: how long a run is measured.
    #[serde(with = "duration::text")]
    pub duration: Duration,
    /// The time that traffic flows before the window opens.
    #[serde(with = "duration::text")]
    pub ramp: Duration,
}

impl Workload {
    /// The defaults of a kind, under the kind's name.
    pub fn new(kind: Kind) -> Self {
        Self {
            name: kind.word().to_owned(),
            traffic: Traffic::new(kind),
            duration: Duration::from_secs(10),
            ramp: Duration::from_millis(500),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;

    #[test]
    fn both_ways_take_twice_the_sockets() {
        let both = Traffic { direction: Direction::Both, flows: 3, ..Traffic::new(Kind::TcpStream) };
        assert_eq!(both.lanes(), 6);
        assert_eq!((0..6).filter(|lane| both.is_forward(*lane)).count(), 3);
        let reverse = Traffic { direction: Direction::Reverse, ..both };
        assert_eq!((reverse.lanes(), reverse.is_forward(0)), (3, false));
    }

    #[test]
    fn only_tcp_leaves_its_congestion_control_open_and_only_without_a_name() {
        let stream = Traffic::new(Kind::TcpStream);
        assert!(stream.leaves_congestion_control_open());
        assert!(!Traffic::new(Kind::UdpStream).leaves_congestion_control_open());
        for congestion_control in [CongestionControl::System, CongestionControl::Named("bbr".into())] {
            assert!(!Traffic { congestion_control, ..stream.clone() }.leaves_congestion_control_open());
        }
    }

    #[test]
    fn each_direction_has_a_throughput_where_there_are_two() {
        let metric = metric::THROUGHPUT_REVERSE;
        let stream = Traffic::new(Kind::TcpStream);
        assert!(stream.kind.produces(metric) && !stream.produces(metric));
        assert!(stream.produces(stream.kind.primary_metric()));
        assert!(Traffic { direction: Direction::Both, ..stream }.produces(metric));
    }

    #[test]
    fn a_rate_is_found_where_it_is_searched_for() {
        let metric = metric::FOUND_RATE;
        let stream = Traffic::new(Kind::UdpStream);
        assert!(!stream.produces(metric));
        assert!(Traffic { find_rate: true, ..stream }.produces(metric));
        assert!(!Traffic { find_rate: true, ..Traffic::new(Kind::TcpStream) }.produces(metric));
    }

    #[test]
    fn traffic_that_lacks_a_key_or_has_another_is_refused() {
        let whole = serde_json::to_value(Traffic::new(Kind::UdpStream)).unwrap();
        let read = |change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)| {
            let mut value = whole.clone();
            change(value.as_object_mut().unwrap());
            serde_json::from_value::<Traffic>(value).map_err(|error| error.to_string())
        };
        assert_eq!(read(&|_| ()).unwrap(), Traffic::new(Kind::UdpStream));
        let lacks = read(&|keys| drop(keys.remove("checksum"))).unwrap_err();
        assert!(lacks.contains("missing field `checksum`"), "{lacks}");
        assert!(read(&|keys| drop(keys.insert("sum".into(), true.into()))).unwrap_err().contains("sum"));
    }
}

#[cfg(test)]
mod workload_tests {
    use super::*;
    use crate::pacing::Pacing;

    #[test]
    fn a_stored_workload_reads_back() {
        let mut workload =
            Workload { duration: Duration::from_millis(1_500), ..Workload::new(Kind::UdpStream) };
        workload.traffic.pacing = Pacing::parse("1.5Mbit").ok();
        workload.traffic.busy_poll = Some(Duration::from_micros(50));
        let json = serde_json::to_string(&workload).unwrap();
        for part in ["\"1s500ms\"", "\"1500kbit\"", "\"50us\"", "\"kind\":\"udp_stream\""] {
            assert!(json.contains(part), "{part}: {json}");
        }
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);
    }
}
