//! How the sending program hands data over, how the receiving one takes them, and which way they go.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::word::Word;

/// How the sending program hands its data to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    /// One `send` for each write or datagram.
    #[default]
    Send,
    /// Many datagrams in one `sendmmsg`.
    Sendmmsg,
    /// One `send` of a buffer that the kernel or the device cuts into datagrams (`UDP_SEGMENT`).
    Gso,
    /// Many such buffers in one `sendmmsg`.
    #[serde(rename = "gso+sendmmsg")]
    GsoSendmmsg,
    /// One `send` with `MSG_ZEROCOPY`.
    Zerocopy,
    /// Sends queued in a ring, many for each system call.
    #[serde(rename = "io_uring")]
    IoUring,
    /// The same without copying (`IORING_OP_SEND_ZC`).
    #[serde(rename = "io_uring-zerocopy")]
    IoUringZerocopy,
    /// `sendfile` from a file in memory.
    Sendfile,
    /// Pages given to a pipe (`vmsplice`) and from it to the socket (`splice`).
    Splice,
}

/// How the receiving program takes its data from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// One `recv` at a time, asleep while there is nothing.
    #[default]
    Recv,
    /// Many datagrams in one `recvmmsg`.
    Recvmmsg,
    /// Datagrams of one flow in one large buffer (`UDP_GRO`).
    Gro,
    /// One request to a ring that goes on receiving (multishot).
    #[serde(rename = "io_uring")]
    IoUring,
    /// `recv` with `MSG_TRUNC`: the kernel throws the data away instead of copying them.
    Trunc,
    /// Non-blocking `recv` in a loop: the thread never sleeps.
    Spin,
}

/// Which way a stream flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the transmitter to the receiver.
    #[default]
    Forward,
    /// From the receiver to the transmitter.
    Reverse,
    /// Both ways at once, each on sockets of its own.
    Both,
}

impl Sender {
    /// Whether traffic of this kind has this sender. Requests are sent one at a time, so batching does not apply.
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

    /// Whether what it takes can be counted: the same each time. Where pages are lent or requests wait in a ring, the kernel chooses when
    /// it works.
    pub fn is_countable(self) -> bool {
        !matches!(self, Self::Zerocopy | Self::IoUring | Self::IoUringZerocopy)
    }
}

impl Reader {
    /// Whether traffic of this kind has this reader. Traffic without a receiver has the default reader.
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

    /// Whether what it takes can be counted, as of senders.
    pub fn is_countable(self) -> bool {
        self != Self::IoUring
    }
}

impl Word for Sender {
    const WHAT: &'static str = "a sender";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("send", Self::Send),
        ("sendmmsg", Self::Sendmmsg),
        ("gso", Self::Gso),
        ("gso+sendmmsg", Self::GsoSendmmsg),
        ("zerocopy", Self::Zerocopy),
        ("io_uring", Self::IoUring),
        ("io_uring-zerocopy", Self::IoUringZerocopy),
        ("sendfile", Self::Sendfile),
        ("splice", Self::Splice),
    ];
}
crate::display_as_word!(Sender);

impl Word for Reader {
    const WHAT: &'static str = "a reader";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("recv", Self::Recv),
        ("recvmmsg", Self::Recvmmsg),
        ("gro", Self::Gro),
        ("io_uring", Self::IoUring),
        ("trunc", Self::Trunc),
        ("spin", Self::Spin),
    ];
}
crate::display_as_word!(Reader);

impl Word for Direction {
    const WHAT: &'static str = "a direction";
    const WORDS: &'static [(&'static str, Self)] =
        &[("forward", Self::Forward), ("reverse", Self::Reverse), ("both", Self::Both)];
}
crate::display_as_word!(Direction);

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
