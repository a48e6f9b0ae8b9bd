//! Why an agent cannot do what was asked.

use std::fmt::Display;

use crate::message::Answer;
use crate::serve_error::ServeError;

/// An answer, or why there is none.
pub(crate) type Reply = Result<Answer, Refusal>;

/// Writes a part of the answer, before the answer.
pub(crate) type Tell<'t> = &'t dyn Fn(&Answer) -> Result<(), ServeError>;

/// The answer of a request without content.
pub(crate) fn done<E: Into<Refusal>>(result: Result<(), E>) -> Reply {
    result.map(|()| Answer::Done).map_err(Into::into)
}

/// The reason, in words, and whether other requests would fail too.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    why: String,
    broken: bool,
}

impl Refusal {
    /// Of an error after which other requests can still be met.
    pub(crate) fn passing(error: impl Display) -> Self {
        error.to_string().into()
    }

    /// The reason, if other requests can still be met.
    pub(crate) fn passing_reason(self) -> Result<String, Self> {
        if self.broken { Err(self) } else { Ok(self.why) }
    }

    pub(crate) fn into_answer(self) -> Answer {
        Answer::Failed { why: self.why, broken: self.broken }
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self { why, broken: false }
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

impl From<host::Error> for Refusal {
    fn from(error: host::Error) -> Self {
        // Interfaces of a testbed do not come back: every later request that names it would fail
        // too.
        let broken = matches!(error, host::Error::NoInterface { .. });
        Self { why: error.to_string(), broken }
    }
}

impl From<host::journal::JournalError> for Refusal {
    fn from(error: host::journal::JournalError) -> Self {
        match error {
            host::journal::JournalError::Other(error) => error.into(),
            error => Self::passing(error),
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
        assert!(matches!(Refusal::from("busy").into_answer(), Answer::Failed { broken: false, .. }));
    }
}
