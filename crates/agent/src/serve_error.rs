
use std::io;

use thiserror::Error;

use crate::frame::FrameError;

/// The reason why an agent could not begin, or had to end.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The namespaces could not be entered, or the host's kernel could not be asked.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// Standard input or output failed.
    #[error("cannot use the controller's pipe: {0}")]
    Pipe(#[from] io::Error),
    /// An answer could not be written in time.
    #[error("the controller does not read: the time for an answer is over")]
    NotReading,
    /// Privileges that are not needed could not be dropped.
    #[error("cannot give up the privileges that an agent does not need: {0}")]
    Privileges(io::Error),
    /// The controller does not speak the protocol.
    #[error("the controller: {0}")]
    Frame(#[from] FrameError),
    /// An answer could not be encoded.
    #[error("an answer could not be encoded: {0}")]
    Encode(#[from] serde_json::Error),
}
