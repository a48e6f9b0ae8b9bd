//! The kinds of traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    /// What instructions are counted for: a datagram is one piece of work however long.
    pub fn counted_work(self) -> &'static str {
        match self {
            Self::TcpStream => "byte",
            Self::UdpStream | Self::Pps => "packet",
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => "transaction",
        }
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
