//! What the two ends of a workload agree on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::mode::{Direction, Reader, Sender};

/// The most flows of one workload. More than [`MAX_THREADS`](crate::MAX_THREADS) share threads.
pub const MAX_FLOWS: u32 = 100_000;
/// The most flows over UDP: each has a port of its own, and those below 1024 are privileged.
pub(crate) const MOST_OVER_UDP: u32 = 65_535 - 1_023;
/// Connections that one listener takes: all wait in its queue until the last has come, and `net.core.somaxconn` is 4096. Connections
/// to another port may come from the same ports again, so that those do not run out either.
pub(crate) const LISTENER: u32 = 4_000;
/// The largest TCP message in bytes. Beyond it a write only measures how often it is interrupted.
pub const MAX_TCP_MESSAGE: u32 = 16 << 20;
/// The most memory in bytes that the messages of all flows may take on one end.
pub const MAX_MEMORY: u64 = 1 << 30;
/// The largest socket buffer in bytes that may be asked for: the kernel doubles it into a signed 32-bit number.
pub const MAX_SOCKET_BUFFER: u32 = 1 << 29;
/// The most transactions that one flow may have in flight.
pub const MAX_IN_FLIGHT: u32 = 1024;
/// The most requests per second that an open loop may be asked for, over all flows.
pub const MAX_RATE: u32 = 100_000_000;
/// The slowest and the fastest pace of a flow, in bits/s: a datagram of one byte every 8 s, and more than any link.
pub const PACINGS: std::ops::RangeInclusive<u64> = 1..=1_000_000_000_000;
/// The longest busy polling in µs: a tenth of a second without any packet is no polling any more.
pub const MAX_BUSY_POLL: u32 = 100_000;
/// The longest name of a congestion control, without its final zero (`TCP_CA_NAME_MAX` of linux/tcp.h).
pub const MAX_CONGESTION_CONTROL: usize = 15;

/// A workload, as both of its ends take it. [`Traffic::new`] gives the plain one of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// What the traffic is.
    pub kind: Kind,
    /// Bytes per write, datagram or request.
    pub message: u32,
    /// Bytes per answer; 0 where there are none.
    pub response: u32,
    /// Connections or sockets; with [`Direction::Both`], for each way.
    pub flows: u32,
    /// The threads of either end that share the flows out, neighbours to one thread; with [`Direction::Both`], for each way. More
    /// than there are flows are not started. `None`: as [`Traffic::crew`] has it.
    pub threads: Option<u32>,
    /// Which way a stream flows.
    pub direction: Direction,
    /// How data are handed to the kernel.
    pub sender: Sender,
    /// How data are taken from the kernel.
    pub reader: Reader,
    /// `tcp_rr`, `udp_rr`: transactions in flight per flow.
    pub in_flight: u32,
    /// Request-response: requests per second over all flows, each sent at its own intended time and its latency
    /// taken from there, whether earlier ones are answered or not: [`MAX_IN_FLIGHT`] per flow may be under way (one with
    /// `tcp_crr`, 128 with `udp_rr` messages of one byte), and those beyond wait. `None`: the next request follows an answer.
    pub rate: Option<u32>,
    /// Streams and `pps`: the pace of each flow in bits of payload per second. `None`: as fast as it goes. The kernel paces
    /// TCP (`SO_MAX_PACING_RATE`), in bursts of two segments and more; datagrams are paced by the sender, call by call, with
    /// or without the `fq` qdisc, and after a delay it makes up for 10 ms at most.
    pub pacing: Option<u64>,
    /// How long a receive polls the device's queue instead of sleeping, µs (`SO_BUSY_POLL` and its kin). Where that cannot be
    /// had, or the device has no such queue, receives sleep, and [`crate::Outcome::notes`] says so.
    pub busy_poll: Option<u32>,
    /// TCP: the congestion control by its kernel name; `None`: the system's.
    pub congestion_control: Option<String>,
    /// The differentiated services code point of all packets, 0 to 63 (RFC 2474). Over IPv4 the kernel derives from it the
    /// priority that qdiscs see, too.
    pub dscp: Option<u8>,
    /// TCP: whether small segments are sent at once (`TCP_NODELAY`); `None`: on where requests are answered.
    pub nodelay: Option<bool>,
    /// UDP: whether the sending sockets are connected. If not, each datagram names its destination and the kernel looks up
    /// its route.
    pub connected: bool,
    /// `SO_SNDBUF` and `SO_RCVBUF` in bytes; `None` leaves the kernel's, but for the 1 MiB that a stream of datagrams is received
    /// into. The kernel doubles what it is asked for and may cap it: [`crate::Outcome::buffers`] tells what was in force.
    pub socket_buffer: Option<u32>,
    /// Whether UDP datagrams carry a checksum. Off only over IPv4.
    pub udp_checksum: bool,
    /// The receiver's port; UDP flows take this one and those that follow. `None`: the kernel chooses.
    pub port: Option<u16>,
    /// Whether every byte and every sequence number is checked where it arrives, which takes time. If not, the last message of
    /// each flow is.
    pub verify: bool,
}

impl Traffic {
    /// The plain traffic of a kind: one flow, one message at a time, everything as the kernel has it.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        let message = match kind {
            Kind::TcpStream => 16_384,
            // Fills one packet of MTU 1500 over IPv6 and still fits one over IPv4.
            Kind::UdpStream => 1_452,
            Kind::TcpRr | Kind::UdpRr | Kind::TcpCrr => 1,
            // The least that an Ethernet frame over IPv4 carries without padding.
            Kind::Pps => 18,
        };
        Self {
            kind,
            message,
            response: if kind.is_rr() { message } else { 0 },
            flows: 1,
            threads: None,
            direction: Direction::Forward,
            sender: Sender::Send,
            reader: Reader::Recv,
            in_flight: 1,
            rate: None,
            pacing: None,
            busy_poll: None,
            congestion_control: None,
            dscp: None,
            nodelay: None,
            connected: true,
            socket_buffer: None,
            udp_checksum: true,
            port: None,
            verify: false,
        }
    }

    /// How many sockets either end has.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.flows.saturating_mul(if self.direction == Direction::Both { 2 } else { 1 })
    }

    /// How many addresses the receiver has: one for each socket over UDP, and over TCP one for as many as a listener takes.
    pub(crate) fn endpoints(&self) -> u32 {
        match self.kind {
            kind if kind.is_udp() => self.lanes(),
            Kind::TcpCrr => 1,
            _ => self.lanes().div_ceil(LISTENER),
        }
    }

    /// The lanes' place among the endpoints.
    pub(crate) fn endpoint_of(&self, lane: usize) -> usize {
        match self.kind {
            kind if kind.is_udp() => lane,
            Kind::TcpCrr => 0,
            _ => lane / LISTENER as usize,
        }
    }

    /// Whether lane number `lane` carries data from the transmitter to the receiver: with [`Direction::Both`] the first half do.
    pub(crate) fn is_forward(&self, lane: usize) -> bool {
        match self.direction {
            Direction::Forward => true,
            Direction::Reverse => false,
            Direction::Both => lane < self.flows as usize,
        }
    }

    /// Whether the socket of a lane is connected: one that only takes always is, so that strangers are refused.
    pub(crate) fn connects(&self, sends: bool) -> bool {
        self.connected || (!sends && !self.kind.is_rr())
    }

    /// Whether small segments go out at once.
    #[must_use]
    pub fn is_nodelay(&self) -> bool {
        self.nodelay.unwrap_or(self.kind.is_rr())
    }
}

/// The most payload bytes of one UDP datagram: 65,535 less the UDP header and, over IPv4, whose length
/// field counts it, the IP header (RFC 768; RFC 791, section 3.1; RFC 8200, section 3).
#[must_use]
pub fn max_datagram(ipv6: bool) -> u32 {
    if ipv6 { 65_535 - 8 } else { 65_535 - 20 - 8 }
}

pub(crate) fn refuse(field: &'static str, value: impl fmt::Display, reason: impl Into<String>) -> Result<()> {
    Err(Error::Invalid { field, value: value.to_string(), reason: reason.into() })
}
