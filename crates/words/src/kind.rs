//! The kinds of traffic.

use crate::metric::{self, Metric, UnitOfWork};
use crate::side::Side;

crate::vocabulary! {
    /// The kind of traffic.
    pub enum Kind: "a kind of workload" {
        /// Bulk data over TCP.
        TcpStream = "tcp_stream";
        /// Bulk datagrams over UDP.
        UdpStream = "udp_stream";
        /// Requests and responses over established TCP connections.
        TcpRr = "tcp_rr";
        /// Requests and responses over UDP.
        UdpRr = "udp_rr";
        /// Each transaction opens a TCP connection, sends one request, receives its response and
        /// closes the connection.
        TcpCrr = "tcp_crr";
        /// UDP datagrams into an interface that discards them (scenario `discard`). The metric is
        /// packets per second.
        Pps = "pps";
    }
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

    /// Whether it has a receiver.
    pub fn is_received(self) -> bool {
        self != Self::Pps
    }

    /// The unit of work that instructions are counted for.
    pub fn counted_work(self) -> UnitOfWork {
        // A datagram is one, however long.
        if self == Self::UdpStream { metric::PACKET } else { self.unit_of_work() }
    }

    /// The unit of work in metrics of CPU time.
    pub fn unit_of_work(self) -> UnitOfWork {
        match self {
            Self::TcpStream | Self::UdpStream => metric::BYTE,
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => metric::TRANSACTION,
            Self::Pps => metric::PACKET,
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

    /// The main metric of this traffic, when a study names none.
    pub fn primary_metric(self) -> Metric {
        match self {
            Self::TcpStream | Self::UdpStream => metric::THROUGHPUT,
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => metric::TRANSACTIONS,
            Self::Pps => metric::PACKETS,
        }
    }

    /// The main metric of a study that names none. Exact mode counts instructions: the kernel's.
    pub fn main_metric(self, exact: bool) -> Metric {
        // Instructions of programs are netassay's own loop, which another build of it changes.
        if exact { self.counted_work().instructions.kernel } else { self.primary_metric() }
    }

    /// Whether a run of this traffic can yield the metric where the testbed does;
    /// [`Traffic::produces`](crate::Traffic::produces) says whether it does.
    pub fn produces(self, metric: Metric) -> bool {
        metric.source.covers(self) && (self.is_received() || metric.side != Some(Side::Receiver))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_produces_its_primary_metric() {
        for kind in Kind::ALL {
            assert!(kind.produces(kind.primary_metric()), "{kind}");
            assert_eq!(kind.main_metric(false), kind.primary_metric());
            let counted = kind.main_metric(true);
            assert!(kind.produces(counted) && !counted.includes_programs(), "{kind}");
            assert_eq!(counted.needs, metric::MetricNeeds::Exact);
        }
        assert_eq!(Kind::UdpStream.primary_metric(), metric::THROUGHPUT);
        assert_eq!(Kind::UdpRr.primary_metric(), metric::TRANSACTIONS);
        assert_eq!(Kind::Pps.primary_metric(), metric::PACKETS);
    }
}
