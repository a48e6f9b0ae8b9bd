//! The shapes of traffic.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the traffic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A TCP connection kept full.
    TcpStream,
    /// UDP datagrams as fast as they can be sent, or paced.
    UdpStream,
    /// Requests and their answers over one TCP connection per flow.
    TcpRr,
    /// Requests and their answers over UDP.
    UdpRr,
    /// A new TCP connection for each request and its answer.
    TcpCrr,
    /// UDP datagrams into an interface that throws them away: nobody receives.
    Pps,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::TcpStream, Self::UdpStream, Self::TcpRr, Self::UdpRr, Self::TcpCrr, Self::Pps];

    /// Whether this traffic runs over UDP.
    #[must_use]
    pub fn is_udp(self) -> bool {
        matches!(self, Self::UdpStream | Self::UdpRr | Self::Pps)
    }

    /// Whether requests are answered.
    #[must_use]
    pub fn is_rr(self) -> bool {
        matches!(self, Self::TcpRr | Self::UdpRr | Self::TcpCrr)
    }

    /// Whether data flow one way, from the sender to the receiver.
    #[must_use]
    pub fn is_stream(self) -> bool {
        matches!(self, Self::TcpStream | Self::UdpStream)
    }

    /// Its word in messages and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::TcpStream => "tcp_stream",
            Self::UdpStream => "udp_stream",
            Self::TcpRr => "tcp_rr",
            Self::UdpRr => "udp_rr",
            Self::TcpCrr => "tcp_crr",
            Self::Pps => "pps",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
