//! The kinds of traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{self, Metric};
use crate::side::Side;
use crate::word::Word;

/// The shape of the traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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

impl Kind {
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

    /// Whether a run of this traffic can yield the metric, on a testbed that has what the metric [needs](Metric::needs); see [`Traffic::produces`](crate::Traffic::produces) for whether it does.
    pub fn produces(self, metric: &Metric) -> bool {
        metric.source.covers(self) && (self.is_received() || metric.side() != Some(Side::Receiver))
    }

    /// The head of a condition's file name: `udp` of `udp4_default`.
    pub fn slug(self) -> &'static str {
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

impl Word for Kind {
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
crate::display_as_word!(Kind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_produces_its_primary_metric() {
        for kind in Kind::ALL {
            assert!(kind.produces(kind.primary_metric()), "{kind}");
            assert!(kind.produces(kind.exact_metric()), "{kind}");
            assert_eq!(kind.exact_metric().needs, metric::Needs::Exact);
        }
        assert_eq!(Kind::UdpStream.primary_metric().key, "throughput");
        assert_eq!(Kind::UdpRr.primary_metric().key, "transactions");
        assert_eq!(Kind::Pps.primary_metric().key, "packets");
    }
}
