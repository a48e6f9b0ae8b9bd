//! Senders (the calls that hand data to the kernel), readers (the calls that take them from it),
//! and directions.

use crate::kind::Kind;

crate::vocabulary! {
    /// How the sending program hands its data to the kernel.
    #[derive(Default)]
    pub enum Sender: "a sender" {
        /// One `send` per write or datagram.
        Send = "send", default;
        /// Many datagrams per `sendmmsg` call (UDP).
        Sendmmsg = "sendmmsg";
        /// One `send` of a large buffer, which the kernel or the device splits into datagrams
        /// (`UDP_SEGMENT`).
        Gso = "gso";
        /// Many buffers, each split as with `gso`, per `sendmmsg` call (UDP).
        GsoSendmmsg = "gso+sendmmsg";
        /// One `send` with `MSG_ZEROCOPY`: the kernel sends from the pages of the program and
        /// reports when it has finished with them.
        Zerocopy = "zerocopy";
        /// Sends are queued in an io_uring, many per system call.
        IoUring = "io_uring";
        /// As `io_uring`, without copying (`IORING_OP_SEND_ZC`).
        IoUringZerocopy = "io_uring-zerocopy";
        /// `sendfile` from a file in memory (TCP).
        Sendfile = "sendfile";
        /// Pages are mapped into a pipe (`vmsplice`) and moved from it to the socket (`splice`)
        /// (TCP).
        Splice = "splice";
    }
}

crate::vocabulary! {
    /// How the receiving program takes its data from the kernel.
    #[derive(Default)]
    pub enum Reader: "a reader" {
        /// One `recv` at a time. The thread sleeps while no data are there.
        Recv = "recv", default;
        /// Many datagrams per `recvmmsg` call (UDP).
        Recvmmsg = "recvmmsg";
        /// Many datagrams of one flow per `recv`, merged into one buffer (`UDP_GRO`).
        Gro = "gro";
        /// One multishot request to an io_uring receives until it is cancelled.
        IoUring = "io_uring";
        /// `recv` with `MSG_TRUNC`: the kernel discards the data instead of copying them (TCP).
        Trunc = "trunc";
        /// Non-blocking `recv` in a loop. The thread never sleeps.
        Spin = "spin";
    }
}

crate::vocabulary! {
    /// Which way a stream flows.
    #[derive(Default)]
    pub enum Direction: "a direction" {
        /// From the transmitter to the receiver.
        Forward = "forward", default;
        /// From the receiver to the transmitter.
        Reverse = "reverse";
        /// Both directions at once, each on its own sockets.
        Both = "both";
    }
}

impl Sender {
    /// Whether traffic of this kind has this sender. Requests are sent one at a time, so batching
    /// does not apply.
    pub fn sends(self, kind: Kind) -> bool {
        match self {
            Self::Send => true,
            _ if kind.is_rr() => false,
            Self::Zerocopy | Self::IoUring | Self::IoUringZerocopy => true,
            Self::Sendmmsg | Self::Gso | Self::GsoSendmmsg => kind.is_udp(),
            Self::Sendfile | Self::Splice => kind.is_tcp(),
        }
    }

    /// Whether one call hands over a buffer that is cut into datagrams.
    pub fn segments(self) -> bool {
        matches!(self, Self::Gso | Self::GsoSendmmsg)
    }

    /// Whether its instructions can be counted: the same each time. With lent pages or a ring the
    /// kernel chooses when it works.
    pub fn is_countable(self) -> bool {
        !matches!(self, Self::Zerocopy | Self::IoUring | Self::IoUringZerocopy)
    }
}

impl Reader {
    /// Whether traffic of this kind supports this reader. Traffic without a receiver has the
    /// default one.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Recv => true,
            _ if kind == Kind::Pps => false,
            Self::Spin => true,
            _ if kind.is_rr() => false,
            Self::IoUring => true,
            Self::Recvmmsg | Self::Gro => kind.is_udp(),
            Self::Trunc => kind.is_tcp(),
        }
    }

    /// Whether its instructions can be counted, as of senders.
    pub fn is_countable(self) -> bool {
        self != Self::IoUring
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_the_ladder_of_its_protocol() {
        let senders =
            |kind| Sender::ALL.into_iter().filter(move |sender| sender.sends(kind)).map(Sender::word);
        let udp = ["send", "sendmmsg", "gso", "gso+sendmmsg", "zerocopy", "io_uring", "io_uring-zerocopy"];
        assert!(senders(Kind::UdpStream).eq(udp) && senders(Kind::Pps).eq(udp));
        let tcp = ["send", "zerocopy", "io_uring", "io_uring-zerocopy", "sendfile", "splice"];
        assert!(senders(Kind::TcpStream).eq(tcp));
        assert!(senders(Kind::TcpCrr).eq(["send"]));
        let readers =
            |kind| Reader::ALL.into_iter().filter(move |reader| reader.takes(kind)).map(Reader::word);
        assert!(readers(Kind::UdpStream).eq(["recv", "recvmmsg", "gro", "io_uring", "spin"]));
        assert!(readers(Kind::TcpStream).eq(["recv", "io_uring", "trunc", "spin"]));
        assert!(readers(Kind::UdpRr).eq(["recv", "spin"]));
        assert!(readers(Kind::Pps).eq(["recv"]));
    }
}
