//! Errors: of a request to an agent, of an agent's life, and the refusal of a request.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::frame::FrameError;
use crate::message::Answer;

/// The reason why a request failed.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum CallError {
    #[error("the {host}'s agent exited unexpectedly")]
    Gone { host: String },
    #[error("the {host}'s agent did not answer within {} s", .patience.as_secs_f64())]
    Silent { host: String, patience: Duration },
    /// No answer to signs of life: the machine is down or stuck, or the network cut.
    #[error("the {host}'s machine is lost: it gives no sign of life")]
    Lost { host: String },
    #[error("the {host}'s agent did not read the request within {} s", .patience.as_secs_f64())]
    NotReading { host: String, patience: Duration },
    /// `why`: as [`words::shortened_reason`] cuts it. `broken`: other requests would fail too.
    #[error("{host}: {why}")]
    Refused { host: String, why: String, broken: bool },
    /// The agent cannot write its undo journal, so it changes nothing more.
    #[error(
        "{host}: {why}; nothing is changed without its undo on disk: make the disk writable, with free space"
    )]
    NoJournal { host: String, why: String },
    #[error("the {host}'s agent: {source}; run the same version of netassay on both ends")]
    Garbled { host: String, source: FrameError },
    /// The answer has the id of another request, which nobody waits for. `asked`: the last one.
    #[error(
        "the {host}'s agent answered request {got}, but request {asked} was asked; run the same version of netassay on both ends"
    )]
    WrongId { host: String, got: u64, asked: u64 },
    #[error("the {host}'s agent sent an answer to another kind of request: {got}")]
    Unexpected { host: String, got: String },
    #[error("cannot talk to the {host}'s agent: {source}")]
    Pipe { host: String, source: io::Error },
    #[error("interrupted")]
    Interrupted,
}

impl CallError {
    /// Whether the agent can still answer. If not, its host must be started again.
    pub fn agent_is_well(&self) -> bool {
        matches!(self, Self::Refused { broken: false, .. })
    }
}

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

pub(crate) type Reply = Result<Answer, Refusal>;

pub(crate) type Tell<'t> = &'t dyn Fn(&Answer) -> Result<(), ServeError>;

pub(crate) fn done<E: Into<Refusal>>(result: Result<(), E>) -> Reply {
    result.map(|()| Answer::Done).map_err(Into::into)
}

#[derive(Debug, PartialEq)]
pub(crate) struct Refusal(Box<Answer>);

impl Refusal {
    pub(crate) fn passing(error: impl Display) -> Self {
        error.to_string().into()
    }

    pub(crate) fn of_settings(error: host::Error) -> Self {
        // No further change can be made; after any other error other requests can still be met.
        let is_final = matches!(error, host::Error::Journal { .. });
        if is_final { error.into() } else { Self::passing(error) }
    }

    pub(crate) fn not_in_turns(why: impl Display) -> Self {
        Answer::NotInTurns(why.to_string()).into()
    }

    pub(crate) fn of_turns(self) -> Self {
        match *self.0 {
            Answer::Failed { why, broken: false } => Self::not_in_turns(why),
            other => other.into(),
        }
    }

    pub(crate) fn into_answer(self) -> Answer {
        *self.0
    }
}

impl From<Answer> for Refusal {
    fn from(answer: Answer) -> Self {
        Self(Box::new(answer))
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Answer::Failed { why, broken: false }.into()
    }
}

macro_rules! passing {
    ($($error:ty),+) => {$(
        impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                error.to_string().into()
            }
        }
    )+};
}

passing!(&str, io::Error, load::Error, trace::PathError, trace::TraceError, ServeError);

impl From<host::Error> for Refusal {
    fn from(error: host::Error) -> Self {
        // Interfaces of a testbed do not come back: later requests would fail too.
        let broken = matches!(error, host::Error::NoInterface { .. });
        let why = error.to_string();
        match error {
            host::Error::Journal { .. } => Answer::NoJournal(why).into(),
            _ => Answer::Failed { why, broken }.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vanished_interface_is_past_mending_and_a_busy_port_is_not() {
        let mut links = host::Links::open().unwrap();
        let gone = Refusal::from(links.find("no-such-link").unwrap_err());
        assert!(
            matches!(gone.into_answer(), Answer::Failed { broken: true, why } if why.contains("no-such-link"))
        );
        let (path, errno) = ("1.journal".into(), std::io::ErrorKind::StorageFull.into());
        let full = Refusal::from(host::Error::Journal { action: "write", path, errno });
        assert!(matches!(full.into_answer(), Answer::NoJournal(why) if why.contains("1.journal")));
        assert!(matches!(Refusal::from("busy").into_answer(), Answer::Failed { broken: false, .. }));
    }
}
