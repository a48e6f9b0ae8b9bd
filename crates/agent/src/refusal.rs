//! The reason why an agent cannot do a request.

use std::fmt::Display;

use host::journal::JournalError;

use crate::message::Answer;
use crate::serve_error::ServeError;

/// An answer, or the refusal of the request.
pub(crate) type Reply = Result<Answer, Refusal>;

/// Writes a part of the answer, before the answer.
pub(crate) type Tell<'t> = &'t dyn Fn(&Answer) -> Result<(), ServeError>;

/// The answer to a request without content.
pub(crate) fn done<E: Into<Refusal>>(result: Result<(), E>) -> Reply {
    result.map(|()| Answer::Done).map_err(Into::into)
}

/// The reason of a refusal, and its effect on other requests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    why: String,
    other_requests: OtherRequests,
}

#[derive(Debug, PartialEq, Eq)]
enum OtherRequests {
    Possible,
    Fail,
    /// Only requests that change nothing: the undo journal cannot be written.
    ChangesFail,
}

impl Refusal {
    /// From an error after which other requests can still be met.
    pub(crate) fn passing(error: impl Display) -> Self {
        error.to_string().into()
    }

    /// From an error of the machine's settings, after which other requests can still be met, unless
    /// the journal cannot be written.
    pub(crate) fn of_settings(error: JournalError) -> Self {
        let other_requests = match error {
            JournalError::File { .. } => OtherRequests::ChangesFail,
            _ => OtherRequests::Possible,
        };
        Self { why: error.to_string(), other_requests }
    }

    pub(crate) fn passing_reason(self) -> Result<String, Self> {
        if self.other_requests == OtherRequests::Possible { Ok(self.why) } else { Err(self) }
    }

    pub(crate) fn into_answer(self) -> Answer {
        let Self { why, other_requests } = self;
        match other_requests {
            OtherRequests::ChangesFail => Answer::NoJournal { why },
            other_requests => Answer::Failed { why, broken: other_requests == OtherRequests::Fail },
        }
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self { why, other_requests: OtherRequests::Possible }
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
        let is_broken = matches!(error, host::Error::NoInterface { .. });
        let other_requests = if is_broken { OtherRequests::Fail } else { OtherRequests::Possible };
        Self { why: error.to_string(), other_requests }
    }
}

impl From<JournalError> for Refusal {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Other(error) => error.into(),
            error => Self::of_settings(error),
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
        let full = Refusal::from(JournalError::File { action: "write", path, errno });
        assert!(matches!(full.into_answer(), Answer::NoJournal { why } if why.contains("1.journal")));
        assert!(matches!(Refusal::from("busy").into_answer(), Answer::Failed { broken: false, .. }));
    }
}
