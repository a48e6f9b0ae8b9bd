//! The kinds of traffic.

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

    /// The unit of work that instructions are counted for: a datagram is one, however long.
    pub fn counted_work(self) -> &'static str {
        match self {
            Self::TcpStream => "byte",
            Self::UdpStream | Self::Pps => "packet",
            Self::TcpRr | Self::UdpRr | Self::TcpCrr => "transaction",
        }
    }

    /// The unit of work in metrics of CPU time.
    pub fn unit_of_work(self) -> &'static str {
        match self {
            _ if self.is_stream() => "byte",
            _ if self.is_rr() => "transaction",
            _ => "packet",
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
