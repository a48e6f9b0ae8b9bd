//! Facts of a run beside its counters.

use serde::{Deserialize, Serialize};

/// A request that an end could not fulfil, with the consequence: a sentence, no full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LoadNote {
    /// The kernel refuses busy polling.
    #[error("busy polling not applied ({option}): {why}; receivers slept instead")]
    NoBusyPolling {
        /// The option of the socket that it refuses.
        option: String,
        /// The kernel's reason.
        why: String,
    },
    /// There was no device queue to poll.
    #[error(
        "busy polling had no effect: packets came through no device queue that can be polled (SO_INCOMING_NAPI_ID is 0, as on \
         loopback and veth); receivers slept instead"
    )]
    NothingToPoll,
    /// Whole buffers of datagrams that GRO merged count as one drop.
    #[error(
        "with the reader `gro` the kernel counts a buffer of datagrams that found no room in the socket as one drop"
    )]
    GroCountsBuffers,
    /// An open loop has gaps.
    #[error(
        "{unsent} requests of the open loop were not sent in time and {unanswered} not answered by the end: those of the window \
         count as latencies with the time that they had waited, which is too short"
    )]
    OpenLoop {
        /// Requests that were not sent in time.
        unsent: u64,
        /// Requests that were not answered.
        unanswered: u64,
    },
    /// Other processes connected and were rejected.
    #[error("connections from other processes rejected: {connections}")]
    Rejected {
        /// The number of them.
        connections: u64,
    },
}
