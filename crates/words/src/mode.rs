//! Senders (the calls that hand data to the kernel), readers (the calls that take them from it),
//! and directions.

use std::convert::Infallible;
use std::str::FromStr;

use crate::DEFAULT;
use crate::kind::Kind;

crate::vocabulary! {
    /// The calls with which the sending program hands its data to the kernel.
    #[derive(Default)]
    pub enum Sender: "a sender" {
        /// One `send` per write or datagram.
        Send = "send", default;
        /// Many datagrams per `sendmmsg` call (UDP).
        Sendmmsg = "sendmmsg";
        /// One `send` of a large buffer, which the kernel or the device splits into datagrams
        /// (`UDP_SEGMENT`).
        Gso = "gso";
        /// One `send` with `MSG_ZEROCOPY`: the kernel sends from the pages of the program and
        /// reports when it has finished with them.
        Zerocopy = "zerocopy";
        /// `sendfile` from a file in memory (TCP).
        Sendfile = "sendfile";
        retired {
            GsoSendmmsg = "gso+sendmmsg";
            IoUring = "io_uring";
            IoUringZerocopy = "io_uring-zerocopy";
            Splice = "splice";
        }
    }
}

crate::vocabulary! {
    /// The calls with which the receiving program takes its data from the kernel.
    #[derive(Default)]
    pub enum Reader: "a reader" {
        /// One `recv` at a time. The thread sleeps while no data are there.
        Recv = "recv", default;
        /// Many datagrams of one flow per `recv`, merged into one buffer (`UDP_GRO`).
        Gro = "gro";
        /// `recv` with `MSG_TRUNC`: the kernel discards the data instead of copying them (TCP).
        Trunc = "trunc";
        /// Non-blocking `recv` in a loop. The thread never sleeps.
        Spin = "spin";
        retired {
            Recvmmsg = "recvmmsg";
            IoUring = "io_uring";
        }
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
    /// Whether traffic of this kind has this sender.
    pub fn sends(self, kind: Kind) -> bool {
        match self {
            Self::Send => true,
            // Requests are sent one at a time.
            _ if kind.is_rr() => false,
            Self::Zerocopy => true,
            Self::Sendmmsg | Self::Gso => kind.is_udp(),
            Self::Sendfile => kind.is_tcp(),
            Self::GsoSendmmsg | Self::IoUring | Self::IoUringZerocopy | Self::Splice => false,
        }
    }

    /// Whether one call hands over a buffer that is cut into datagrams.
    pub fn segments(self) -> bool {
        self == Self::Gso
    }

    /// Whether its instructions repeat.
    pub fn is_countable(self) -> bool {
        // With lent pages the kernel chooses when it works.
        self != Self::Zerocopy
    }
}

impl Reader {
    /// Whether traffic of this kind supports this reader; without a receiver, the default.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Recv => true,
            _ if kind == Kind::Pps => false,
            Self::Spin => true,
            _ if kind.is_rr() => false,
            Self::Gro => kind.is_udp(),
            Self::Trunc => kind.is_tcp(),
            Self::Recvmmsg | Self::IoUring => false,
        }
    }
}

/// The word for each host's own.
const SYSTEM: &str = "system";

/// Bytes of a name without its final zero (`TCP_CA_NAME_MAX` of linux/tcp.h).
pub(crate) const LONGEST_NAME: usize = 15;

/// TCP's congestion control.
// It is no error: thiserror gives each variant its word.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub enum CongestionControl {
    /// The first of [`CongestionControl::UNPACED`] that the hosts allow: it does not pace by a
    /// timer. It is chosen once, when a plan is tried, and the plan then has its name.
    #[default]
    #[error("{DEFAULT}")]
    Unpaced,
    /// Each host's own (sysctl `net.ipv4.tcp_congestion_control`).
    #[error("{SYSTEM}")]
    System,
    /// The congestion control with this kernel name.
    #[error("{0}")]
    Named(String),
}

impl CongestionControl {
    /// The congestion controls without pacing, whose rate only the window limits, by their kernel
    /// names, the most common first. Every kernel has `reno`.
    pub const UNPACED: [&str; 2] = ["cubic", "reno"];

    /// The kernel's name to ask for; `None`: the host's own.
    pub fn name(&self) -> Option<&str> {
        if let Self::Named(name) = self { Some(name) } else { None }
    }
}

impl FromStr for CongestionControl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            DEFAULT => Self::Unpaced,
            SYSTEM => Self::System,
            name => Self::Named(name.to_owned()),
        })
    }
}

crate::word::as_text!(CongestionControl, CongestionControl::from_str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_the_ladder_of_its_protocol() {
        let senders =
            |kind| Sender::ALL.into_iter().filter(move |sender| sender.sends(kind)).map(Sender::word);
        let udp = ["send", "sendmmsg", "gso", "zerocopy"];
        assert!(senders(Kind::UdpStream).eq(udp) && senders(Kind::Pps).eq(udp));
        assert!(senders(Kind::TcpStream).eq(["send", "zerocopy", "sendfile"]));
        assert!(senders(Kind::TcpCrr).eq(["send"]));
        let readers =
            |kind| Reader::ALL.into_iter().filter(move |reader| reader.takes(kind)).map(Reader::word);
        assert!(readers(Kind::UdpStream).eq(["recv", "gro", "spin"]));
        assert!(readers(Kind::TcpStream).eq(["recv", "trunc", "spin"]));
        assert!(readers(Kind::UdpRr).eq(["recv", "spin"]));
        assert!(readers(Kind::Pps).eq(["recv"]));
    }

    #[test]
    fn retired_words_are_read_and_shown_but_not_accepted() {
        for word in ["gso+sendmmsg", "io_uring", "io_uring-zerocopy", "splice"] {
            let sender: Sender = serde_json::from_value(word.into()).unwrap();
            assert_eq!((sender.word(), serde_json::to_value(sender).unwrap()), (word, word.into()));
            assert!(word.parse::<Sender>().is_err() && !Kind::ALL.into_iter().any(|kind| sender.sends(kind)));
        }
        for word in ["recvmmsg", "io_uring"] {
            let reader: Reader = serde_json::from_value(word.into()).unwrap();
            assert_eq!((reader.word(), serde_json::to_value(reader).unwrap()), (word, word.into()));
            assert!(word.parse::<Reader>().is_err() && !Kind::ALL.into_iter().any(|kind| reader.takes(kind)));
        }
    }
}

#[cfg(test)]
mod congestion_control_tests {
    use super::*;

    #[test]
    fn it_survives_being_stored() {
        for (one, json) in [
            (CongestionControl::Unpaced, "\"default\""),
            (CongestionControl::System, "\"system\""),
            (CongestionControl::Named("bbr".into()), "\"bbr\""),
        ] {
            assert_eq!(serde_json::to_string(&one).unwrap(), json);
            assert_eq!(serde_json::from_str::<CongestionControl>(json).unwrap(), one);
        }
    }
}
