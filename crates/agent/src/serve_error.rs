use std::io;

use thiserror::Error;

use crate::frame::FrameError;

/// The reason why an agent could not begin, or had to end.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum ServeError {
    #[error(transparent)]
    Host(#[from] host::Error),
    #[error("cannot use the controller's pipe: {0}")]
    Pipe(#[from] io::Error),
    #[error("the controller does not read: the time for an answer is over")]
    NotReading,
    #[error("cannot give up the privileges that an agent does not need: {0}")]
    Privileges(io::Error),
    #[error("the controller: {0}")]
    Frame(#[from] FrameError),
    #[error("an answer could not be encoded: {0}")]
    Encode(#[from] serde_json::Error),
}
