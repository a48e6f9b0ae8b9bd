//! The version of the Internet Protocol.

crate::vocabulary! {
    /// The version of the Internet Protocol that carries the traffic.
    pub enum Family: "a family" {
        /// IP version 4.
        Ipv4 = "ipv4";
        /// IP version 6.
        Ipv6 = "ipv6";
    }
}

impl Family {
    /// IPv6, or else IPv4.
    #[must_use]
    pub fn from_ipv6(ipv6: bool) -> Self {
        if ipv6 { Self::Ipv6 } else { Self::Ipv4 }
    }

    /// The digit of file names: `udp4`, `tcp6`.
    pub fn digit(self) -> char {
        match self {
            Self::Ipv4 => '4',
            Self::Ipv6 => '6',
        }
    }

    /// The bytes of the IP header (RFC 791, section 3.1; RFC 8200, section 3) and of UDP's (RFC
    /// 768).
    pub fn udp_headers(self) -> u32 {
        match self {
            Self::Ipv4 => 20 + 8,
            Self::Ipv6 => 40 + 8,
        }
    }

    /// The most payload, in bytes, that one UDP datagram can carry over this version: the 16 bits
    /// of UDP's length (RFC 768) less its header of 8, and for IPv4 less 20 for the IP header,
    /// which its total length includes (RFC 791) and the payload length of IPv6 does not (RFC 8200,
    /// section 3).
    pub fn most_udp_payload(self) -> u32 {
        match self {
            Self::Ipv4 => 65_535 - 20 - 8,
            Self::Ipv6 => 65_535 - 8,
        }
    }
}
