//! The traffic of a study.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::duration;
use crate::metric::{self, Metric};
use crate::mode::Direction;
use crate::side::Side;
use crate::threads;
use crate::traffic::Traffic;
use crate::word::{Word, display_as_word};

/// The traffic of a condition, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// What the study calls it: its kind unless the file names it. Comparisons stay within one name.
    pub name: String,
    /// The shape of the traffic.
    pub kind: WorkloadKind,
    /// Bytes per write (`tcp_stream`), datagram (`udp_stream`, `pps`) or request (`*_rr`, `tcp_crr`).
    pub message: u32,
    /// Bytes per response; 0 where there is none.
    pub response: u32,
    /// The window: how long a run is measured.
    #[serde(with = "duration::text")]
    pub duration: Duration,
    /// How long the traffic flows before the window opens.
    #[serde(with = "duration::text")]
    pub ramp: Duration,
    /// How many flows (sockets on each side) run at once.
    pub flows: u32,
    /// `SO_SNDBUF` and `SO_RCVBUF` in bytes; `None` leaves the kernel's own sizing in force, but for
    /// the 1 MiB that a stream of datagrams is received into.
    pub socket_buffer: Option<u32>,
    /// The receiver's port; `None` lets the kernel choose.
    pub port: Option<u16>,
    /// How the traffic is sent and taken.
    #[serde(flatten)]
    pub traffic: Traffic,
}

impl Workload {
    /// The window of a workload whose file names none.
    pub const DEFAULT_DURATION: Duration = Duration::from_secs(10);

    /// The ramp of a workload whose file names none.
    pub const DEFAULT_RAMP: Duration = Duration::from_millis(500);

    /// Whether a run of it yields the metric.
    pub fn produces(&self, metric: &Metric) -> bool {
        self.kind.produces(metric)
            && (!metric.source.is_both_ways() || self.traffic.direction == Direction::Both)
    }

    /// How many sockets each side has: with both directions each flow has two.
    pub(crate) fn sockets(&self) -> u32 {
        self.flows.saturating_mul(if self.traffic.direction == Direction::Both { 2 } else { 1 })
    }

    /// How many messages each side holds in memory: one for each of its threads, of which there may be one for each flow.
    pub(crate) fn buffers(&self) -> u32 {
        let threads = self.traffic.threads.unwrap_or(threads::MOST).min(self.flows);
        threads.saturating_mul(if self.traffic.direction == Direction::Both { 2 } else { 1 })
    }

    /// Sets the message size, and the response size with it if the file asks for none, which is kept as 0.
    pub(crate) fn set_message(&mut self, bytes: u32) {
        if self.kind.is_rr() && self.response == 0 {
            self.response = bytes;
        }
        self.message = bytes;
    }
}

/// The shape of the traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Bulk TCP from the transmitter to the receiver.
    TcpStream,
    /// Bulk UDP from the transmitter to the receiver.
    UdpStream,
    /// Request and response over one TCP connection for each flow.
    TcpRr,
    /// Request and response over UDP.
    UdpRr,
    /// Connect, one request and its response over TCP, close.
    TcpCrr,
    /// UDP into an interface that throws it away: nobody receives.
    Pps,
}

impl WorkloadKind {
    /// Whether it runs over TCP.
    pub fn is_tcp(self) -> bool {
        matches!(self, Self::TcpStream | Self::TcpRr | Self::TcpCrr)
    }

    /// Whether it runs over UDP.
    pub fn is_udp(self) -> bool {
        !self.is_tcp()
    }

    /// Whether it is a bulk stream.
    pub fn is_stream(self) -> bool {
        matches!(self, Self::TcpStream | Self::UdpStream)
    }

    /// Whether it is request and response.
    pub fn is_rr(self) -> bool {
        matches!(self, Self::TcpRr | Self::UdpRr | Self::TcpCrr)
    }

    /// Whether somebody receives it.
    pub fn is_received(self) -> bool {
        self != Self::Pps
    }

    /// The metric that answers a question about this traffic when the study names none.
    pub fn primary_metric(self) -> &'static Metric {
        let key = match self {
            Self::TcpStream | Self::UdpStream => "throughput",
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => "transactions",
            Self::Pps => "packets",
        };
        metric::find(key).unwrap_or(&metric::METRICS[0])
    }

    /// What its runs are about where instructions are counted instead of time.
    pub fn exact_metric(self) -> &'static Metric {
        metric::find(&format!("instructions_{}", self.counted_work()))
            .unwrap_or_else(|| self.primary_metric())
    }

    /// What instructions are counted for: a datagram is one piece of work however long.
    pub fn counted_work(self) -> &'static str {
        match self {
            Self::TcpStream => "byte",
            Self::UdpStream | Self::Pps => "packet",
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => "transaction",
        }
    }

    /// Whether a run of this traffic can yield the metric, on a testbed that has what the metric [needs](Metric::needs); see [`Workload::produces`] for whether it does.
    pub fn produces(self, metric: &Metric) -> bool {
        metric.source.covers(self) && (self.is_received() || metric.side() != Some(Side::Receiver))
    }

    /// Bytes per message when the file names none. 1452 bytes fill one packet of MTU 1500 over IPv6 (40 bytes of
    /// header and 8 of UDP) and still fit one over IPv4: a family must not be charged for fragments by default. 18 bytes
    /// fill the smallest Ethernet frame over IPv4 (60 bytes without its checksum, less 14, 20 and 8 of headers).
    pub(crate) fn default_message(self) -> u32 {
        match self {
            Self::TcpStream => 16_384,
            Self::UdpStream => 1_452,
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => 1,
            Self::Pps => 18,
        }
    }

    /// The head of a condition's file name: `udp` of `udp4_default`.
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Self::TcpStream => "tcp",
            Self::UdpStream => "udp",
            Self::TcpRr => "tcprr",
            Self::UdpRr => "udprr",
            Self::TcpCrr => "tcpcrr",
            Self::Pps => "pps",
        }
    }
}

impl Word for WorkloadKind {
    const WHAT: &'static str = "a kind of workload";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("tcp_stream", Self::TcpStream),
        ("udp_stream", Self::UdpStream),
        ("tcp_rr", Self::TcpRr),
        ("udp_rr", Self::UdpRr),
        ("tcp_crr", Self::TcpCrr),
        ("pps", Self::Pps),
    ];
}
display_as_word!(WorkloadKind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_produces_its_primary_metric() {
        for &(_, kind) in WorkloadKind::WORDS {
            assert!(kind.produces(kind.primary_metric()), "{kind}");
            assert!(kind.produces(kind.exact_metric()), "{kind}");
            assert_eq!(kind.exact_metric().needs, metric::Needs::Exact);
        }
        assert_eq!(WorkloadKind::UdpStream.primary_metric().key, "throughput");
        assert_eq!(WorkloadKind::UdpRr.primary_metric().key, "transactions");
        assert_eq!(WorkloadKind::Pps.primary_metric().key, "packets");
    }

    fn workload() -> Workload {
        Workload {
            name: "small".into(),
            kind: WorkloadKind::UdpRr,
            message: 1,
            response: 1400,
            duration: Duration::from_millis(1_500),
            ramp: Duration::ZERO,
            flows: 4,
            socket_buffer: Some(65_536),
            port: None,
            traffic: Traffic { dscp: Some(46), ..Traffic::default() },
        }
    }

    #[test]
    fn each_direction_has_a_throughput_where_there_are_two() {
        let metric = metric::find("throughput_reverse").unwrap();
        let mut stream = Workload { kind: WorkloadKind::TcpStream, response: 0, ..workload() };
        assert!(stream.kind.produces(metric) && !stream.produces(metric));
        assert!(stream.produces(stream.kind.primary_metric()));
        assert_eq!(stream.sockets(), 4);
        stream.traffic.direction = Direction::Both;
        assert!(stream.produces(metric));
        assert_eq!(stream.sockets(), 8);
    }

    #[test]
    fn a_stored_workload_reads_back() {
        let json = serde_json::to_string(&workload()).unwrap();
        assert!(json.contains("\"1s500ms\"") && json.contains("\"dscp\":46"), "{json}");
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload());
    }

    #[test]
    fn a_workload_stored_before_there_was_a_choice_of_senders_reads_as_plain() {
        let json = r#"{"name":"tcp_stream","kind":"tcp_stream","message":16384,"response":0,"duration":"700ms",
                       "ramp":"100ms","flows":1,"socket_buffer":null,"port":null}"#;
        assert_eq!(serde_json::from_str::<Workload>(json).unwrap().traffic, Traffic::default());
    }
}
