//! What the two ends of a workload agree on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::crew::MAX_THREADS;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::mode::{Direction, Reader, Sender};

/// The most flows of one workload. More than [`MAX_THREADS`] share threads.
pub const MAX_FLOWS: u32 = 100_000;
/// The most flows over UDP: each has a port of its own, and those below 1024 are privileged.
const MOST_OVER_UDP: u32 = 65_535 - 1_023;
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
    /// `SO_SNDBUF` and `SO_RCVBUF` in bytes; `None` leaves the kernel's, but for the 4 MiB that a stream of datagrams is received
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

    /// Refuses, by the name of the field, what cannot be had over this version of IP.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the first such field.
    pub fn validate(&self, ipv6: bool) -> Result<()> {
        self.check_sizes(ipv6)?;
        self.check_flows()?;
        match self.socket_buffer {
            Some(0) => return refuse("socket_buffer", 0, "leave it out for the kernel's own size"),
            Some(bytes) if bytes > MAX_SOCKET_BUFFER => {
                return refuse("socket_buffer", bytes, format!("at most {MAX_SOCKET_BUFFER} bytes"));
            }
            _ => {}
        }
        self.check_checksum(ipv6)?;
        self.check_port()?;
        self.check_modes()?;
        self.check_pace()?;
        self.check_options()?;
        self.check_threads()
    }

    fn check_sizes(&self, ipv6: bool) -> Result<()> {
        let udp = self.kind.is_udp();
        let over = match (udp, ipv6) {
            (true, false) => "a UDP datagram over IPv4",
            (true, true) => "a UDP datagram over IPv6",
            (false, _) => "one TCP message",
        };
        let most = if udp { max_datagram(ipv6) } else { MAX_TCP_MESSAGE };
        if self.message == 0 {
            return refuse("message", 0, "a message has at least one byte");
        }
        if self.message > most {
            return refuse("message", self.message, format!("{over} carries at most {most} bytes"));
        }
        match (self.kind.is_rr(), self.response) {
            (true, 0) => refuse("response", 0, "an answer has at least one byte"),
            (true, bytes) if bytes > most => {
                refuse("response", bytes, format!("{over} carries at most {most} bytes"))
            }
            (false, bytes) if bytes > 0 => {
                let reason =
                    format!("a {} has no answers: leave it out, or take tcp_rr or udp_rr", self.kind);
                refuse("response", bytes, reason)
            }
            _ => Ok(()),
        }
    }

    fn check_flows(&self) -> Result<()> {
        if self.flows == 0 {
            return refuse("flows", 0, "a workload needs at least one flow");
        }
        if self.flows > MAX_FLOWS {
            return refuse("flows", self.flows, format!("at most {MAX_FLOWS} flows"));
        }
        if self.kind.is_udp() && self.lanes() > MOST_OVER_UDP {
            let reason = format!(
                "each flow over UDP needs a port of its own, and {MOST_OVER_UDP} are to be had: take fewer"
            );
            return refuse("flows", self.flows, reason);
        }
        // Each thread has its own.
        let ways = self.lanes() / self.flows;
        let buffers = u64::from(self.threads.unwrap_or(MAX_THREADS).min(self.flows) * ways);
        let memory = buffers * (u64::from(self.message) + u64::from(self.response));
        if memory > MAX_MEMORY {
            let reason = format!(
                "{} flows of such messages take {memory} bytes, more than {MAX_MEMORY}: take fewer flows",
                self.flows
            );
            return refuse("message", self.message, reason);
        }
        Ok(())
    }

    /// Threads that cannot be had, or cannot serve several flows each.
    fn check_threads(&self) -> Result<()> {
        if let Some(threads) = self.threads.filter(|threads| !(1..=MAX_THREADS).contains(threads)) {
            return refuse("threads", threads, format!("1 to {MAX_THREADS} threads"));
        }
        let Some((field, value)) = self.unshareable() else { return Ok(()) };
        let flows = self.flows;
        if flows > MAX_THREADS {
            let reason = format!(
                "{field} `{value}` needs one thread for each flow, and at most {MAX_THREADS} threads are possible: take fewer flows, or another {field}"
            );
            return refuse("flows", flows, reason);
        }
        if let Some(threads) = self.threads.filter(|threads| *threads < flows) {
            let reason = format!(
                "{field} `{value}` needs one thread for each flow: give `threads` = {flows}, or leave it out"
            );
            return refuse("threads", threads, reason);
        }
        Ok(())
    }

    fn check_checksum(&self, ipv6: bool) -> Result<()> {
        if self.udp_checksum {
            return Ok(());
        }
        if !self.kind.is_udp() {
            return refuse("udp_checksum", false, format!("a {} always has its checksum", self.kind));
        }
        if ipv6 {
            let reason = "the UDP checksum is mandatory over IPv6, whose header has none (RFC 8200, section 8.1): \
                          leave it on, or take IPv4";
            return refuse("udp_checksum", false, reason);
        }
        Ok(())
    }

    fn check_port(&self) -> Result<()> {
        let Some(port) = self.port else { return Ok(()) };
        if port == 0 {
            return refuse("port", 0, "leave it out and the kernel chooses one");
        }
        let ports = self.endpoints();
        let last = u32::from(port) + ports - 1;
        if last > u32::from(u16::MAX) {
            let reason =
                format!("{ports} flows need the ports up to {last}, and there are 65535: take a lower one");
            return refuse("port", port, reason);
        }
        Ok(())
    }

    /// Senders, readers and directions that this kind of traffic cannot have.
    fn check_modes(&self) -> Result<()> {
        let kind = self.kind;
        let streams = kind.is_stream() || kind == Kind::Pps;
        if !self.sender.suits(kind.is_udp()) || (!streams && self.sender != Sender::Send) {
            return refuse("sender", self.sender, format!("a {kind} cannot be sent so: take `send`"));
        }
        if !self.reader.suits(kind.is_udp())
            || (kind.is_rr() && !matches!(self.reader, Reader::Recv | Reader::Spin))
        {
            return refuse("reader", self.reader, format!("a {kind} cannot be taken so: take `recv`"));
        }
        if self.sender.segments() && !self.udp_checksum {
            let reason =
                "the kernel cuts no datagrams without a checksum from a buffer: take `send` or `sendmmsg`";
            return refuse("sender", self.sender, reason);
        }
        if kind == Kind::Pps && self.reader != Reader::Recv {
            return refuse("reader", self.reader, "nobody receives a pps: leave it out");
        }
        if self.direction != Direction::Forward && !kind.is_stream() {
            return refuse("direction", self.direction, format!("a {kind} has one way only: leave it out"));
        }
        if self.verify && self.reader == Reader::Trunc {
            return refuse("verify", true, "`trunc` throws the bytes away unread: take another reader");
        }
        if !self.connected && !kind.is_udp() {
            return refuse("connected", false, format!("a {kind} is connected by its nature: leave it out"));
        }
        Ok(())
    }

    /// Paces that this kind of traffic cannot have.
    fn check_pace(&self) -> Result<()> {
        let kind = self.kind;
        let pipelines = matches!(kind, Kind::TcpRr | Kind::UdpRr);
        if self.in_flight == 0 || self.in_flight > MAX_IN_FLIGHT {
            return refuse("in_flight", self.in_flight, format!("1 to {MAX_IN_FLIGHT} transactions"));
        }
        if self.in_flight > 1 && !pipelines {
            let reason = format!("a {kind} has no transactions side by side: take tcp_rr or udp_rr");
            return refuse("in_flight", self.in_flight, reason);
        }
        let bytes = self.message.min(self.response);
        if kind == Kind::UdpRr && bytes == 1 && self.in_flight > 128 {
            let reason = "one byte tells 128 transactions apart: take messages and answers of 2 bytes";
            return refuse("in_flight", self.in_flight, reason);
        }
        if let Some(rate) = self.rate {
            if !kind.is_rr() {
                return refuse("rate", rate, format!("a {kind} has no requests: `pacing` sets its pace"));
            }
            if rate == 0 || rate > MAX_RATE {
                return refuse("rate", rate, format!("1 to {MAX_RATE} requests per second"));
            }
        }
        if let Some(pacing) = self.pacing {
            if kind.is_rr() {
                return refuse("pacing", pacing, format!("`rate` sets the pace of a {kind}"));
            }
            if !PACINGS.contains(&pacing) {
                return refuse("pacing", pacing, format!("{} to {} bits/s", PACINGS.start(), PACINGS.end()));
            }
        }
        Ok(())
    }

    /// Socket options out of their range, or of another protocol.
    fn check_options(&self) -> Result<()> {
        let kind = self.kind;
        match self.busy_poll {
            Some(0) => return refuse("busy_poll", 0, "leave it out to sleep"),
            Some(time) if time > MAX_BUSY_POLL => {
                return refuse("busy_poll", time, format!("at most {MAX_BUSY_POLL} µs"));
            }
            _ => {}
        }
        if let Some(name) = &self.congestion_control {
            if kind.is_udp() {
                let reason = format!("a {kind} has no congestion control: leave it out");
                return refuse("congestion_control", name, reason);
            }
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            if name.is_empty() || name.len() > MAX_CONGESTION_CONTROL || !name.bytes().all(plain) {
                return refuse("congestion_control", name, "a kernel name such as `cubic` or `bbr`");
            }
        }
        if let Some(dscp) = self.dscp.filter(|dscp| *dscp > 63) {
            return refuse("dscp", dscp, "0 to 63 (RFC 2474)");
        }
        if let Some(nodelay) = self.nodelay.filter(|_| kind.is_udp()) {
            return refuse("nodelay", nodelay, format!("a {kind} delays nothing: leave it out"));
        }
        Ok(())
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
