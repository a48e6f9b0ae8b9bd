//! The two ends of a workload.

use serde::{Deserialize, Serialize};

use crate::word::Word;

/// One of the two hosts, by its role in a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The host that sends the stream, or the requests.
    Transmitter,
    /// The host that takes the stream, or answers the requests.
    Receiver,
}

impl Side {
    /// Both sides, in the order in which tables show them.
    pub const BOTH: [Self; 2] = [Self::Transmitter, Self::Receiver];

    /// The short form that condition names use: `tx-tso-off`.
    pub fn short(self) -> &'static str {
        match self {
            Self::Transmitter => "tx",
            Self::Receiver => "rx",
        }
    }
}

impl Word for Side {
    const WHAT: &'static str = "a side";
    const WORDS: &'static [(&'static str, Self)] =
        &[("transmitter", Self::Transmitter), ("receiver", Self::Receiver)];
}
crate::display_as_word!(Side);
