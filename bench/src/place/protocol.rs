//! What the bench and the shell in a guest say to each other: one JSON value for each line, as
//! agents do.

use std::io::{BufRead, ErrorKind, Read as _, Write};

use agent::MAX_FRAME;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Where the shell listens. No peer does there.
pub(super) const PORT: u16 = 5003;

/// What the bench asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Write a file that can be executed, and its directories. So many bytes follow the line.
    Put { path: String, length: u64 },
    /// Start a program on these CPUs.
    Start { program: Vec<String>, cpus: Vec<u32> },
    /// Has the program of this number ended?
    Ended { number: usize },
    /// End the program of this number.
    Stop { number: usize },
    /// The standard output of the program of this number.
    Output { number: usize },
    /// All that the program of this number has said.
    Words { number: usize },
    /// Read files below `/proc/net`.
    Read { files: Vec<String> },
}

/// What the shell answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    Done,
    /// The number of a program.
    Started(usize),
    /// How it ended, as wait(2) has it.
    Ended(Option<i32>),
    Text(String),
    Read {
        at_ns: u64,
        texts: Vec<String>,
    },
    /// Why not.
    Refused(String),
}

/// One side's hold on the conversation.
#[derive(Debug)]
pub(super) struct Conversation<R, W> {
    from: R,
    to: W,
}

impl<R: BufRead, W: Write> Conversation<R, W> {
    pub(super) fn new(from: R, to: W) -> Self {
        Self { from, to }
    }

    /// Says a message, and the bytes that follow it.
    pub(super) fn say(&mut self, message: &impl Serialize, then: &[u8]) -> Result<(), Failure> {
        let line = agent::encode(message).map_err(|error| Failure::Internal(error.to_string()))?;
        let all = [&line, then].concat();
        self.to.write_all(&all).and_then(|()| self.to.flush()).map_err(Failure::io("cannot write"))
    }

    /// The next message; `None` when the other end has closed.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Failure> {
        let mut line = Vec::new();
        // One byte more than may come: a line that is too long is refused for that.
        let mut bounded = (&mut self.from).take(MAX_FRAME as u64 + 1);
        bounded.read_until(b'\n', &mut line).map_err(Failure::io("cannot read"))?;
        if line.is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&line).map(Some).map_err(|error| Failure::Internal(error.to_string()))
    }

    /// The bytes that follow a message.
    pub(super) fn bytes(&mut self, length: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let cannot = || Failure::io("cannot read a file");
        let count = (&mut self.from).take(length).read_to_end(&mut bytes).map_err(cannot())?;
        if (count as u64) < length {
            return Err(cannot()(ErrorKind::UnexpectedEof.into()));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Conversation<&[u8], Vec<u8>> {
        Conversation::new(bytes, Vec::new())
    }

    #[test]
    fn the_bytes_of_a_file_follow_its_line() {
        let mut sender = read(b"");
        let put = Request::Put { path: "/a".to_owned(), length: 4 };
        let stop = Request::Stop { number: 2 };
        sender.say(&put, b"1\n\n4").unwrap();
        sender.say(&stop, b"").unwrap();
        let mut receiver = read(&sender.to);
        assert_eq!(receiver.hear::<Request>().unwrap(), Some(put));
        assert_eq!(receiver.bytes(4).unwrap(), b"1\n\n4");
        assert_eq!(receiver.hear::<Request>().unwrap(), Some(stop));
        assert_eq!(receiver.hear::<Request>().unwrap(), None);
        assert!(receiver.bytes(1).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes).hear::<Request>();
            let _ = read(&bytes).hear::<Answer>();
        }
    }
}
