//! The ways of packets through the kernel that are traced.

use crate::kind::Kind;

crate::vocabulary! {
    /// A way of packets through the kernel.
    pub enum KernelPath: "a path of packets" {
        /// A UDP datagram from the system call to the driver.
        UdpTx = "udp-tx";
        /// A UDP datagram from the interrupt to the reader.
        UdpRx = "udp-rx";
        /// A TCP segment from the system call to the driver.
        TcpTx = "tcp-tx";
        /// A TCP segment from the interrupt to the reader.
        TcpRx = "tcp-rx";
    }
}

crate::vocabulary! {
    /// What the readers of traced packets do until a packet is there.
    pub enum Waiting: "a way to wait" {
        /// One thread sends and then reads: the packet is there before its reader asks.
        Awake = "awake";
        /// Each end has a thread, and a packet wakes it. For requests and responses.
        Asleep = "asleep";
    }
}

/// The most messages of a batch of a trace: far more than a trace asks for.
pub const MOST_MESSAGES: u32 = 1 << 20;
/// The most batches of each kind: without probes, with some, and with all.
pub const MOST_ROUNDS: u32 = 64;

impl KernelPath {
    /// Whether packets of this traffic take it.
    #[must_use]
    pub fn carries(self, kind: Kind) -> bool {
        let is_way_in = matches!(self, Self::UdpRx | Self::TcpRx);
        kind.is_tcp() == matches!(self, Self::TcpTx | Self::TcpRx) && (kind.is_received() || !is_way_in)
    }
}

impl Waiting {
    /// Whether readers of this traffic can wait so.
    #[must_use]
    pub fn suits(self, kind: Kind) -> bool {
        self == Self::Awake || kind.is_rr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_take_the_paths_of_their_protocol_and_come_in_where_somebody_reads() {
        use KernelPath::{TcpRx, TcpTx, UdpRx, UdpTx};
        let paths = |kind: Kind| KernelPath::ALL.into_iter().filter(|path| path.carries(kind)).collect();
        let all: Vec<(Kind, Vec<KernelPath>)> = Kind::ALL.map(|kind| (kind, paths(kind))).to_vec();
        for (kind, paths) in all {
            let expected = match kind {
                Kind::Pps => vec![UdpTx],
                _ if kind.is_udp() => vec![UdpTx, UdpRx],
                _ => vec![TcpTx, TcpRx],
            };
            assert_eq!(paths, expected, "{kind}");
            assert!(Waiting::Awake.suits(kind));
            assert_eq!(Waiting::Asleep.suits(kind), kind.is_rr(), "{kind}");
        }
    }
}
