//! What must be known of a run beside its counters.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an end of a workload could not apply or do, with what follows from it. It prints as a
/// sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// The kernel refuses busy polling: by which option of the socket, and why.
    NoBusyPolling(String, String),
    /// There was no device queue to poll.
    NothingToPoll,
    /// Whole buffers of datagrams that GRO merged count as one drop.
    GroCountsBuffers,
    /// So many requests of an open loop were not sent in time, and so many not answered.
    OpenLoop(u64, u64),
    /// So many connections of other processes were rejected.
    Rejected(u64),
}

impl Note {
    /// What of it the kernel said.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let texts = if let Self::NoBusyPolling(option, why) = self { Some([option, why]) } else { None };
        texts.into_iter().flatten()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBusyPolling(option, why) => {
                write!(f, "busy polling not applied ({option}): {why}; receivers slept instead")
            }
            Self::NothingToPoll => f.write_str(
                "busy polling had no effect: packets came through no device queue that can be polled (SO_INCOMING_NAPI_ID is 0, as on \
                 loopback and veth); receivers slept instead",
            ),
            Self::GroCountsBuffers => f.write_str(
                "with the reader `gro` the kernel counts a buffer of datagrams that found no room in the socket as one drop",
            ),
            Self::OpenLoop(unsent, unanswered) => write!(
                f,
                "{unsent} requests of the open loop were not sent in time and {unanswered} not answered by the end: those of the window \
                 count as latencies with the time that they had waited, which is too short"
            ),
            Self::Rejected(connections) => {
                write!(f, "connections from other processes rejected: {connections}")
            }
        }
    }
}
