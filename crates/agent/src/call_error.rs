//! The errors of a request to an agent.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::frame::FrameError;

/// The reason why a request failed.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum CallError {
    #[error("the {host}'s agent exited unexpectedly")]
    Gone { host: String },
    #[error("the {host}'s agent did not answer within {} s", .patience.as_secs_f64())]
    Silent { host: String, patience: Duration },
    /// The agent does not answer the controller's signs of life: its machine is down or stuck, or
    /// the network to it is cut.
    #[error("the {host}'s machine is lost: it gives no sign of life")]
    Lost { host: String },
    #[error("the {host}'s agent did not read the request within {} s", .patience.as_secs_f64())]
    NotReading { host: String, patience: Duration },
    #[error("{host}: {why}")]
    Refused {
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
    NoJournal { host: String, why: String },
    #[error("the {host}'s agent: {source}; run the same version of netassay on both ends")]
    Garbled { host: String, source: FrameError },
    /// The answer has the id of another request, which nobody waits for.
    #[error(
        "the {host}'s agent answered request {got}, but request {asked} was asked; run the same version of netassay on both ends"
    )]
    WrongId {
        host: String,
        /// The answer's request id.
        got: u64,
        /// The id of the last request.
        asked: u64,
    },
    #[error("the {host}'s agent sent an answer to another kind of request: {got}")]
    Unexpected { host: String, got: String },
    #[error("cannot talk to the {host}'s agent: {source}")]
    Pipe { host: String, source: io::Error },
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
