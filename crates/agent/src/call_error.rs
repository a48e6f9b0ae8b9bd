//! Why a request to an agent failed.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::frame::FrameError;

/// Why a request failed.
#[derive(Debug, Error)]
pub enum CallError {
    /// The agent's end of the pipe is closed.
    #[error("the {host}'s agent exited unexpectedly")]
    Gone {
        /// Which host.
        host: String,
    },
    /// The agent runs, but did not answer in time.
    #[error("the {host}'s agent did not answer within {} s", .patience.as_secs_f64())]
    Silent {
        /// Which host.
        host: String,
        /// The time that was waited.
        patience: Duration,
    },
    /// The agent does not answer the controller's signs of life: its machine is down or stuck, or
    /// the network to it is cut.
    #[error("the {host}'s machine is lost: it gives no sign of life")]
    Lost {
        /// Which host.
        host: String,
    },
    /// The agent runs, but did not read the request.
    #[error("the {host}'s agent did not read the request within {} s", .patience.as_secs_f64())]
    NotReading {
        /// Which host.
        host: String,
        /// The time that was waited.
        patience: Duration,
    },
    /// The agent answered that it cannot.
    #[error("{host}: {why}")]
    Refused {
        /// Which host.
        host: String,
        /// The agent's reason, cut as by [`words::shortened_reason`].
        why: String,
        /// Whether other requests would fail too.
        broken: bool,
    },
    /// The agent cannot write its undo journal, so it changes nothing more.
    #[error(
        "{host}: {why}; nothing is changed without its undo on disk: make the disk writable, with free space"
    )]
    NoJournal {
        /// Which host.
        host: String,
        /// The agent's reason.
        why: String,
    },
    /// The answer is not a message of the protocol.
    #[error("the {host}'s agent: {source}; run the same version of netassay on both ends")]
    Garbled {
        /// Which host.
        host: String,
        /// What is wrong with it.
        source: FrameError,
    },
    /// The answer has the id of another request, which nobody waits for.
    #[error(
        "the {host}'s agent answered request {got}, but request {asked} was asked; run the same version of netassay on both ends"
    )]
    WrongId {
        /// Which host.
        host: String,
        /// The id of the answer.
        got: u64,
        /// The id of the last request.
        asked: u64,
    },
    /// The answer is of another kind than the request's.
    #[error("the {host}'s agent sent an answer to another kind of request: {got}")]
    Unexpected {
        /// Which host.
        host: String,
        /// The answer.
        got: String,
    },
    /// The pipe itself failed.
    #[error("cannot talk to the {host}'s agent: {source}")]
    Pipe {
        /// Which host.
        host: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl CallError {
    /// Whether the agent can still answer. If not, its host must be started again.
    #[must_use]
    pub fn agent_is_well(&self) -> bool {
        matches!(self, Self::Refused { broken: false, .. })
    }
}
