//! The header of a line: the id of the request, and in a request the time for its answer.
//!
//! `7 10000 "start"` is the controller's seventh request, to be answered within 10,000 ms, and `7
//! "done"` its answer. The id is read before the message: so that a message that cannot be
//! understood is refused by its id, and an answer that nobody waits for any more costs nothing.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::frame::{FrameError, encode, not_a_message};
use crate::refusal::Refusal;

/// The id of no request: the agent could not begin, or could not read the id. Requests are counted
/// from 1.
pub const NO_REQUEST: u64 = 0;

// The longest time that a request may have for its answer: longer than the longest window.
const MOST: Duration = Duration::from_secs(7 * 86_400);

/// The header of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHeader {
    /// Unique within a conversation.
    pub id: u64,
    /// The time for the answer. A duration, since the clocks of two machines differ.
    pub within: Duration,
}

impl RequestHeader {
    /// The line of a request, with its end of line. The time is at most a week, in whole ms.
    pub fn line(self, request: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
        let milliseconds = self.within.min(MOST).as_micros().div_ceil(1000);
        Ok([format!("{} {milliseconds} ", self.id).into_bytes(), encode(request)?].concat())
    }

    /// Reads the header of a request; the rest of the line is the request.
    pub fn read(line: &[u8]) -> Result<(Self, &[u8]), FrameError> {
        let read = || {
            let (id, rest) = number(line)?;
            let (milliseconds, rest) = number(rest)?;
            let within = Duration::from_millis(milliseconds);
            (id != NO_REQUEST && within <= MOST).then_some((Self { id, within }, rest))
        };
        read().ok_or_else(|| not_a_message("it begins with no id and time of a request", line))
    }
}

/// The line of an answer, with its end of line.
pub fn answer_line(id: u64, answer: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    Ok([format!("{id} ").into_bytes(), encode(answer)?].concat())
}

/// Reads the header of an answer; the rest of the line is the answer.
pub fn read_answer(line: &[u8]) -> Result<(u64, &[u8]), FrameError> {
    number(line).ok_or_else(|| not_a_message("it begins with no id of a request", line))
}

fn number(line: &[u8]) -> Option<(u64, &[u8])> {
    let end = line.iter().position(|byte| !byte.is_ascii_digit())?;
    let number = str::from_utf8(&line[..end]).ok()?.parse().ok()?;
    Some((number, line[end..].strip_prefix(b" ")?))
}

/// The time by which a request must be answered, on this process's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    within: Duration,
}

impl Deadline {
    /// The deadline of a request that was sent, or arrived, at `begun`.
    pub(crate) fn new(begun: Instant, within: Duration) -> Self {
        let within = within.min(MOST);
        Self { at: begun + within, within }
    }

    pub(crate) fn within(self) -> Duration {
        self.within
    }

    /// The time since the request.
    pub(crate) fn elapsed(self) -> Duration {
        (Instant::now() + self.within).saturating_duration_since(self.at)
    }

    /// The time at which the controller gives up: a little later than the agent, whose refusal says
    /// more than its silence. An answer that could not be written until then is for nobody.
    pub(crate) fn controller_gives_up(self) -> Instant {
        self.at + (self.within / 4).min(Duration::from_secs(2))
    }

    /// Refuses a request whose time is over, or ends before `needed`. Called only where no work is
    /// half done.
    pub(crate) fn allows(self, needed: Instant) -> Result<(), Refusal> {
        if needed <= self.at {
            return Ok(());
        }
        let seconds = self.within.as_secs_f64();
        Err(format!("the request is given up: its time of {seconds} s is too short, or this host too busy")
            .into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::decode;
    use crate::message::{Answer, Request};

    #[test]
    fn the_lines_are_what_people_can_write_too() {
        let asked = RequestHeader { id: 7, within: Duration::from_secs(10) };
        assert_eq!(asked.line(&Request::Start).unwrap(), b"7 10000 \"start\"\n");
        assert_eq!(answer_line(7, &Answer::Done).unwrap(), b"7 \"done\"\n");
    }

    #[test]
    fn a_line_without_an_id_is_no_message() {
        for line in [
            "",
            " ",
            "7",
            "7 ",
            "+7 1 1",
            "7  1 1",
            "0 1 1",
            "7 -1 1",
            "18446744073709551616 1 1",
            "7 604800001 1",
        ] {
            assert!(
                matches!(RequestHeader::read(line.as_bytes()), Err(FrameError::NotAMessage { .. })),
                "{line}"
            );
        }
        for line in ["", "\"done\"", "7", "+7 1", "18446744073709551616 1"] {
            assert!(matches!(read_answer(line.as_bytes()), Err(FrameError::NotAMessage { .. })), "{line}");
        }
    }

    proptest! {
        #[test]
        fn ids_and_times_survive_the_trip(id in 1u64.., within_ms in 0u64..=604_800_000) {
            let asked = RequestHeader { id, within: Duration::from_millis(within_ms) };
            let line = asked.line(&Request::Quiet).unwrap();
            let (read, rest) = RequestHeader::read(line.trim_ascii_end()).unwrap();
            prop_assert_eq!((read, decode::<Request>(rest).unwrap()), (asked, Request::Quiet));
            let line = answer_line(id, &Answer::Done).unwrap();
            let (read, rest) = read_answer(line.trim_ascii_end()).unwrap();
            prop_assert_eq!((read, decode::<Answer>(rest).unwrap()), (id, Answer::Done));
        }
    }
}
