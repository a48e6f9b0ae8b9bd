//! How a program hands its data to the kernel, how one takes them, and which way they go.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Writes an enumeration whose values have words.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident, $what:literal { $( $(#[$variant_doc:meta])* $variant:ident = $word:literal, )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $( $(#[$variant_doc])* #[serde(rename = $word)] $variant, )*
        }

        impl $name {
            /// All of them, the plainest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its word in messages and files.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|one| one.word() == text);
                found.ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|one| one.word()).collect();
                    format!("`{text}` is not {}: use one of {}", $what, words.join(", "))
                })
            }
        }
    };
}

words! {
    /// How the sending program hands its data to the kernel.
    Sender, "a sender" {
        /// One `send` for each write or datagram.
        #[default]
        Send = "send",
        /// UDP: many datagrams in one `sendmmsg`.
        Sendmmsg = "sendmmsg",
        /// UDP: one `send` of a buffer that the kernel, or the device, cuts into datagrams (`UDP_SEGMENT`).
        Gso = "gso",
        /// UDP: many such buffers in one `sendmmsg`.
        GsoSendmmsg = "gso+sendmmsg",
        /// One `send` with `MSG_ZEROCOPY`: the kernel sends from the program's own pages, where it can.
        Zerocopy = "zerocopy",
        /// Sends queued to the kernel in a ring, many for each system call.
        IoUring = "io_uring",
        /// The same without copying (`IORING_OP_SEND_ZC`).
        IoUringZerocopy = "io_uring-zerocopy",
        /// TCP: `sendfile` from a file in memory.
        Sendfile = "sendfile",
        /// TCP: pages given to a pipe (`vmsplice`) and from it to the socket (`splice`).
        Splice = "splice",
    }
}

words! {
    /// How the receiving program takes its data from the kernel.
    Reader, "a reader" {
        /// One `recv` at a time, asleep while there is nothing.
        #[default]
        Recv = "recv",
        /// UDP: many datagrams in one `recvmmsg`.
        Recvmmsg = "recvmmsg",
        /// UDP: datagrams of one flow in one large buffer (`UDP_GRO`).
        Gro = "gro",
        /// One request to a ring that goes on receiving (multishot) into buffers provided beforehand.
        IoUring = "io_uring",
        /// TCP: `recv` with `MSG_TRUNC`: the kernel throws the data away instead of copying them.
        Trunc = "trunc",
        /// Non-blocking `recv` in a loop: the thread never sleeps, and nobody has to wake it.
        Spin = "spin",
    }
}

words! {
    /// Which way a stream flows.
    Direction, "a direction" {
        /// From the transmitter to the receiver.
        #[default]
        Forward = "forward",
        /// From the receiver to the transmitter.
        Reverse = "reverse",
        /// Both ways at once, each on sockets of its own.
        Both = "both",
    }
}

impl Sender {
    /// Whether traffic over UDP, or over TCP, can be sent so.
    #[must_use]
    pub fn suits(self, udp: bool) -> bool {
        match self {
            Self::Send | Self::Zerocopy | Self::IoUring | Self::IoUringZerocopy => true,
            Self::Sendmmsg | Self::Gso | Self::GsoSendmmsg => udp,
            Self::Sendfile | Self::Splice => !udp,
        }
    }

    /// Whether one call hands over a buffer that is cut into datagrams.
    #[must_use]
    pub fn segments(self) -> bool {
        matches!(self, Self::Gso | Self::GsoSendmmsg)
    }
}

impl Reader {
    /// Whether traffic over UDP, or over TCP, can be taken so.
    #[must_use]
    pub fn suits(self, udp: bool) -> bool {
        match self {
            Self::Recv | Self::IoUring | Self::Spin => true,
            Self::Recvmmsg | Self::Gro => udp,
            Self::Trunc => !udp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for sender in Sender::ALL {
            assert_eq!(sender.word().parse(), Ok(*sender));
            assert_eq!(serde_json::to_string(sender).unwrap(), format!("\"{sender}\""));
        }
        for reader in Reader::ALL {
            assert_eq!(reader.word().parse(), Ok(*reader));
        }
        for direction in Direction::ALL {
            assert_eq!(direction.word().parse(), Ok(*direction));
        }
        assert_eq!(
            "sideways".parse::<Direction>().unwrap_err(),
            "`sideways` is not a direction: use one of forward, reverse, both"
        );
    }

    #[test]
    fn every_sender_and_reader_suits_something() {
        assert!(Sender::ALL.iter().all(|sender| sender.suits(true) || sender.suits(false)));
        assert!(Reader::ALL.iter().all(|reader| reader.suits(true) || reader.suits(false)));
    }
}
