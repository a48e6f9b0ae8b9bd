//! The one description of traffic: what a study asks for, and what both ends of the engine agree
//! on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::congestion_control::CongestionControl;
use crate::duration;
use crate::family::Family;
use crate::kind::Kind;
use crate::metric::Metric;
use crate::mode::{Direction, Reader, Sender};
use crate::pacing::Pacing;
use crate::percent::Percent;

/// The most flows of one workload. More than [`MAX_THREADS`] share threads.
pub const MAX_FLOWS: u32 = 100_000;
/// The most threads of one end, each way.
pub const MAX_THREADS: u32 = 1_024;
/// The most flows over UDP: each has a port of its own, and those below 1024 are privileged.
pub(crate) const MOST_OVER_UDP: u32 = 65_535 - 1_023;
/// Connections that one listener accepts: all wait in its queue until the last has come, and
/// `net.core.somaxconn` is 4096. Connections to another port may come from the same ports again, so
/// that those do not run out either.
pub const LISTENER: u32 = 4_000;
/// The largest message in bytes. Beyond it a write only measures how often it is interrupted.
pub const MAX_MESSAGE: u32 = 16 << 20;
/// The most memory in bytes that the messages of all flows may occupy on one end.
pub const MAX_MEMORY: u64 = 1 << 30;
/// The most transactions that one flow may have in flight.
pub const MAX_IN_FLIGHT: u32 = 1_024;
/// The most requests per second that an open loop may be asked for, over all flows.
pub const MAX_RATE: u32 = 100_000_000;

/// What traffic is. [`Traffic::new`] gives the plain one of a kind. What each field may be is in
/// the table [`KEYS`](crate::KEYS).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Its kind.
    pub kind: Kind,
    /// Bytes per write, datagram or request.
    pub message: u32,
    /// Bytes per answer; 0 where there are none.
    pub response: u32,
    /// Connections or sockets; with [`Direction::Both`], for each way.
    pub flows: u32,
    /// `SO_SNDBUF` and `SO_RCVBUF` in bytes; `None` leaves the kernel's, but for the 1 MiB that a
    /// stream of datagrams is received into. The kernel doubles what it is asked for and may limit
    /// it.
    pub socket_buffer: Option<u32>,
    /// The receiver's port; UDP flows use this one and those that follow. `None`: the kernel
    /// chooses.
    pub port: Option<u16>,
    /// How data are handed to the kernel.
    pub sender: Sender,
    /// How data are read from the kernel.
    pub reader: Reader,
    /// The threads of either end that share the flows out, neighbours to one thread; with
    /// [`Direction::Both`], for each way. More than there are flows are not started. `None`: the
    /// engine chooses.
    pub threads: Option<u32>,
    /// Which way a stream flows.
    pub direction: Direction,
    /// `tcp_rr`, `udp_rr`: transactions in flight per flow.
    pub in_flight: u32,
    /// Request-response: requests per second over all flows, each sent at its own intended time and
    /// its latency measured from there, whether earlier ones are answered or not: [`MAX_IN_FLIGHT`]
    /// per flow may be under way (one with `tcp_crr`, 128 with `udp_rr` messages of one byte), and
    /// those beyond wait. `None`: the next request follows an answer.
    pub rate: Option<u32>,
    /// Streams and `pps`: the pace of each flow in bits of payload per second. `None`: as fast as
    /// it goes. The kernel paces TCP (`SO_MAX_PACING_RATE`), in bursts of two segments and more;
    /// datagrams are paced by the sender, call by call, with or without the `fq` qdisc, and after a
    /// delay it makes up for 10 ms at most.
    pub pacing: Option<Pacing>,
    /// How long a receive polls the device's queue instead of sleeping, in whole microseconds
    /// (`SO_BUSY_POLL`, `SO_PREFER_BUSY_POLL`, `SO_BUSY_POLL_BUDGET`).
    #[serde(default, with = "duration::maybe_text")]
    pub busy_poll: Option<Duration>,
    /// How long each packet waits before it leaves an end's interface, in whole microseconds. A
    /// round trip has it twice.
    #[serde(default, with = "duration::maybe_text")]
    pub path_delay: Option<Duration>,
    /// The share of packets that leave an end's interface and are lost, at random. What an offload
    /// hands over as one is lost as one.
    pub path_loss: Option<Percent>,
    /// The most bits per second that leave an end's interface, IP and link-layer headers included.
    pub path_rate: Option<Pacing>,
    /// TCP's congestion control.
    pub congestion_control: CongestionControl,
    /// The differentiated services code point of all packets, 0 to 63 (RFC 2474); `None`: the
    /// kernel's, which is 0. Over IPv4 the kernel derives from it the priority that qdiscs see,
    /// too.
    pub dscp: Option<u8>,
    /// TCP: whether small segments are sent at once (`TCP_NODELAY`); `None`: on where requests are
    /// answered.
    pub nodelay: Option<bool>,
    /// TCP: bytes that may wait unsent in a socket before it takes no more (`TCP_NOTSENT_LOWAT`);
    /// `None`: the kernel's.
    pub notsent_lowat: Option<u32>,
    /// UDP: whether the sending sockets are connected. If not, each datagram names its destination
    /// and the kernel looks up its route.
    pub connected: bool,
    /// Whether UDP datagrams carry a checksum. Off only over IPv4 (`SO_NO_CHECK`).
    pub checksum: bool,
    /// Whether every byte and every sequence number is checked where it arrives, which costs time.
    /// If not, the last message of each flow is.
    pub verify: bool,
}

impl Traffic {
    /// The plain traffic of a kind: one flow, one message at a time, everything as the kernel has
    /// it.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        let message = match kind {
            Kind::TcpStream => 16_384,
            // Fills one packet of MTU 1500 over IPv6 (40 bytes of header and 8 of UDP) and still
            // fits one over IPv4: a family must not be charged for fragments by default.
            Kind::UdpStream => 1_452,
            Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => 1,
            // Fills the smallest Ethernet frame over IPv4 (60 bytes without its checksum, less 14,
            // 20 and 8 of headers).
            Kind::Pps => 18,
        };
        Self {
            kind,
            message,
            response: if kind.is_rr() { message } else { 0 },
            flows: 1,
            socket_buffer: None,
            port: None,
            sender: Sender::Send,
            reader: Reader::Recv,
            threads: None,
            direction: Direction::Forward,
            in_flight: 1,
            rate: None,
            pacing: None,
            busy_poll: None,
            path_delay: None,
            path_loss: None,
            path_rate: None,
            congestion_control: CongestionControl::Unpaced,
            dscp: None,
            nodelay: None,
            notsent_lowat: None,
            connected: true,
            checksum: true,
            verify: false,
        }
    }

    /// How many sockets either end has.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.flows.saturating_mul(self.ways())
    }

    /// How many ways the data flow.
    pub(crate) fn ways(&self) -> u32 {
        if self.direction == Direction::Both { 2 } else { 1 }
    }

    /// How many addresses the receiver has: one for each socket over UDP, and over TCP one for as
    /// many as a listener accepts.
    #[must_use]
    pub fn endpoints(&self) -> u32 {
        match self.kind {
            kind if kind.is_udp() => self.lanes(),
            Kind::TcpCrr => 1,
            _ => self.lanes().div_ceil(LISTENER),
        }
    }

    /// The lanes' place among the endpoints.
    #[must_use]
    pub fn endpoint_of(&self, lane: usize) -> usize {
        match self.kind {
            kind if kind.is_udp() => lane,
            Kind::TcpCrr => 0,
            _ => lane / LISTENER as usize,
        }
    }

    /// Whether lane number `lane` carries data from the transmitter to the receiver: with
    /// [`Direction::Both`] the first half do.
    #[must_use]
    pub fn is_forward(&self, lane: usize) -> bool {
        match self.direction {
            Direction::Forward => true,
            Direction::Reverse => false,
            Direction::Both => lane < self.flows as usize,
        }
    }

    /// Whether the socket of a lane is connected: one that only receives always is, so that it
    /// rejects other peers.
    #[must_use]
    pub fn connects(&self, sends: bool) -> bool {
        self.connected || (!sends && !self.kind.is_rr())
    }

    /// Whether small segments go out at once.
    #[must_use]
    pub fn is_nodelay(&self) -> bool {
        self.nodelay.unwrap_or(self.kind.is_rr())
    }

    /// The most payload bytes of one datagram, cut from a larger buffer, that a packet of this MTU
    /// carries: the kernel makes no fragments of them.
    #[must_use]
    pub fn largest_segment(mtu: u32, family: Family) -> u32 {
        mtu.saturating_sub(family.udp_headers())
    }

    /// Whether a run of it yields the metric.
    #[must_use]
    pub fn produces(&self, metric: &Metric) -> bool {
        self.kind.produces(metric) && (!metric.is_both_ways() || self.direction == Direction::Both)
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
    fn each_direction_has_a_throughput_where_there_are_two() {
        let metric = metric::find("throughput_reverse").unwrap();
        let stream = Traffic::new(Kind::TcpStream);
        assert!(stream.kind.produces(metric) && !stream.produces(metric));
        assert!(stream.produces(stream.kind.primary_metric()));
        assert!(Traffic { direction: Direction::Both, ..stream }.produces(metric));
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
