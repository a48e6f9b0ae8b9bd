//! Why a request to an agent came to nothing.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::frame::FrameError;

/// Why a request came to nothing.
#[derive(Debug, Error)]
pub enum CallError {
    /// The agent's end of the pipe is closed.
    #[error("the {host}'s agent exited unexpectedly")]
    Gone {
        /// Which host.
        host: String,
    },
    /// The agent is there, but did not answer in time.
    #[error("the {host}'s agent did not answer within {} s", .patience.as_secs_f64())]
    Silent {
        /// Which host.
        host: String,
        /// How long was waited.
        patience: Duration,
    },
    /// The agent is there, but did not take what it was asked.
    #[error("the {host}'s agent did not read the request within {} s", .patience.as_secs_f64())]
    NotReading {
        /// Which host.
        host: String,
        /// How long was waited.
        patience: Duration,
    },
    /// The agent answered that it cannot.
    #[error("{host}: {why}")]
    Refused {
        /// Which host.
        host: String,
        /// The agent's words, as [`text::reason`] has them.
        why: String,
        /// Would other requests fail too?
        broken: bool,
    },
    /// What came back is not the protocol.
    #[error("the {host}'s agent: {source}; run the same version of netassay on both ends")]
    Garbled {
        /// Which host.
        host: String,
        /// What is wrong with it.
        source: FrameError,
    },
    /// An answer to another question.
    #[error("the {host}'s agent sent an answer to another request: {got}")]
    Unexpected {
        /// Which host.
        host: String,
        /// What it said.
        got: String,
    },
    /// The pipe itself failed.
    #[error("cannot talk to the {host}'s agent: {source}")]
    Pipe {
        /// Which host.
        host: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl CallError {
    /// Can the agent still be asked? If not, its host must be started anew.
    #[must_use]
    pub fn agent_is_well(&self) -> bool {
        matches!(self, Self::Refused { broken: false, .. })
    }
}
