//! The traffic of a study.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::duration;
use crate::metric::{self, Metric};
use crate::word::{Word, display_as_word};

/// The traffic of a condition, with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// What the study calls it: its kind unless the file names it. Comparisons stay within one name.
    pub name: String,
    /// The shape of the traffic.
    pub kind: WorkloadKind,
    /// Bytes per write (`tcp_stream`), datagram (`udp_stream`) or request (`*_rr`).
    pub message: u32,
    /// Bytes per response; 0 for streams, which have none.
    pub response: u32,
    /// The window: how long a run is measured.
    #[serde(with = "duration::text")]
    pub duration: Duration,
    /// How long the traffic flows before the window opens.
    #[serde(with = "duration::text")]
    pub ramp: Duration,
    /// How many flows (sockets on each side) run at once.
    pub flows: u32,
    /// `SO_SNDBUF` and `SO_RCVBUF` in bytes; `None` leaves the kernel's own sizing in force.
    pub socket_buffer: Option<u32>,
    /// The receiver's port; `None` lets the kernel choose.
    pub port: Option<u16>,
}

impl Workload {
    /// The window of a workload whose file names none.
    pub const DEFAULT_DURATION: Duration = Duration::from_secs(10);

    /// The ramp of a workload whose file names none.
    pub const DEFAULT_RAMP: Duration = Duration::from_millis(500);

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
    /// Request and response over one TCP connection, one at a time per flow.
    TcpRr,
    /// Request and response over UDP, one at a time per flow.
    UdpRr,
}

impl WorkloadKind {
    /// Whether it runs over TCP.
    pub fn is_tcp(self) -> bool {
        matches!(self, Self::TcpStream | Self::TcpRr)
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
        !self.is_stream()
    }

    /// The metric that answers a question about this traffic when the study names none.
    pub fn primary_metric(self) -> &'static Metric {
        let key = if self.is_stream() { "throughput" } else { "transactions" };
        metric::find(key).unwrap_or(&metric::METRICS[0])
    }

    /// Whether a run of this traffic yields the metric.
    pub fn produces(self, metric: &Metric) -> bool {
        metric.source.covers(self)
    }

    /// Bytes per message when the file names none. 1452 bytes fill one packet of MTU 1500 over IPv6 (40 bytes of
    /// header and 8 of UDP) and still fit one over IPv4: a family must not be charged for fragments by default.
    pub(crate) fn default_message(self) -> u32 {
        match self {
            Self::TcpStream => 16_384,
            Self::UdpStream => 1_452,
            Self::TcpRr | Self::UdpRr => 1,
        }
    }

    /// The head of a condition's file name: `udp` of `udp4_default`.
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Self::TcpStream => "tcp",
            Self::UdpStream => "udp",
            Self::TcpRr => "tcprr",
            Self::UdpRr => "udprr",
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
    ];
    const NOT_BUILT_YET: &'static [&'static str] = &["tcp_crr", "pps"];
}
display_as_word!(WorkloadKind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_produces_its_primary_metric() {
        for &(_, kind) in WorkloadKind::WORDS {
            assert!(kind.produces(kind.primary_metric()), "{kind}");
        }
        assert_eq!(WorkloadKind::UdpStream.primary_metric().key, "throughput");
        assert_eq!(WorkloadKind::UdpRr.primary_metric().key, "transactions");
    }

    #[test]
    fn a_stored_workload_reads_back() {
        let workload = Workload {
            name: "small".into(),
            kind: WorkloadKind::UdpRr,
            message: 1,
            response: 1400,
            duration: Duration::from_millis(1_500),
            ramp: Duration::ZERO,
            flows: 4,
            socket_buffer: Some(65_536),
            port: None,
        };
        let json = serde_json::to_string(&workload).unwrap();
        assert!(json.contains("\"1s500ms\""), "{json}");
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);
    }
}
