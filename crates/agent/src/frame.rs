//! The frame of messages: one JSON value per line, so that people can read and write a
//! conversation.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::bounded::{Bounded, Excess};

/// The longest line that either side accepts, in bytes. The largest valid messages, the addresses
/// of all sockets of a run with the most flows, both ways and over IPv6, have two thirds of that.
pub const MAX_FRAME: usize = 16 << 20;

/// The most values in a line, nested ones included: a value needs about ten times the memory of its
/// text. The valid message with the most values, the accounts of the most single flows, has two
/// thirds of that.
const MAX_VALUES: usize = 300_000;

/// What is wrong with the bytes of a message.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The line is longer than [`MAX_FRAME`].
    #[error("a message of more than {MAX_FRAME} bytes")]
    TooLong,
    /// The line holds more than 300,000 values.
    #[error("a message of more than {MAX_VALUES} values")]
    TooMany,
    /// A part of the message exceeds its bound.
    #[error("not a message of this protocol: {0}")]
    Excess(#[from] Excess),
    /// The line is not a message.
    #[error("not a message of this protocol ({why}): {line:?}")]
    NotAMessage {
        /// The reason, which may quote the line, cut as by [`words::shortened_reason`].
        why: String,
        /// The line's beginning.
        line: String,
    },
}

/// Writes a message as one line, the newline included.
///
/// # Errors
/// A value that JSON cannot hold, such as a map with a key that is not a string; our messages have
/// none.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads one line as a message, and checks its bounds.
///
/// # Errors
/// [`FrameError`] for anything else; never panics, whatever the bytes.
pub fn decode<T: DeserializeOwned + Bounded>(line: &[u8]) -> Result<T, FrameError> {
    if line.len() > MAX_FRAME {
        return Err(FrameError::TooLong);
    }
    // Before memory is allocated for them.
    if values(line) > MAX_VALUES {
        return Err(FrameError::TooMany);
    }
    let message: T = serde_json::from_slice(line).map_err(|error| not_a_message(&error.to_string(), line))?;
    message.check()?;
    Ok(message)
}

/// The error of a line that is no message.
pub(crate) fn not_a_message(why: &str, line: &[u8]) -> FrameError {
    let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
    FrameError::NotAMessage { why: words::shortened_reason(why), line }
}

/// An upper bound of the values in a line of JSON: each but the first follows an opening bracket or
/// a comma, outside of texts.
fn values(line: &[u8]) -> usize {
    let (mut count, mut text, mut escaped) = (1, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' | b',' if !text => count += 1,
            _ => {}
        }
    }
    count
}

/// Assembles lines from the pieces that a pipe delivers.
#[derive(Debug, Default)]
pub struct LineReader {
    pending: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// How much of `pending` was searched for its end, so that a long line is searched once.
    searched: usize,
}

impl LineReader {
    /// Adds a piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.pending.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        self.pending.extend_from_slice(piece);
    }

    /// The next whole line that is not empty. An empty one is a sign of life: of many, each would
    /// cost time.
    ///
    /// # Errors
    /// As [`LineReader::next_line`].
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        self.begin += self.pending[self.begin..].iter().take_while(|byte| **byte == b'\n').count();
        self.searched = self.searched.max(self.begin);
        self.next_line()
    }

    /// The next whole line, without its newline.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] when more than [`MAX_FRAME`] bytes came without a newline.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(offset) = self.pending[self.searched..].iter().position(|&byte| byte == b'\n') else {
            self.searched = self.pending.len();
            let is_long = self.pending.len() - self.begin > MAX_FRAME;
            return if is_long { Err(FrameError::TooLong) } else { Ok(None) };
        };
        let (end, rest) = (self.searched + offset, self.searched + offset + 1);
        // Of a long line and a short rest the rest is copied, and of many short lines each is.
        if self.begin == 0 && rest > self.pending.len() - rest {
            let rest = self.pending.split_off(rest);
            let mut line = std::mem::replace(&mut self.pending, rest);
            line.pop();
            self.searched = 0;
            return Ok(Some(line));
        }
        let line = self.pending[self.begin..end].to_vec();
        (self.begin, self.searched) = (rest, rest);
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Answer, Request};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Request>(&bytes);
            let _ = decode::<Answer>(&bytes);
        }

        #[test]
        fn lines_survive_any_cutting(texts in proptest::collection::vec("[a-z]{0,20}", 0..10), cut in 1usize..7) {
            let stream: Vec<u8> = texts.iter().flat_map(|t| format!("{t}\n").into_bytes()).collect();
            for skip in [false, true] {
                let next = if skip { LineReader::next_message } else { LineReader::next_line };
                let mut reader = LineReader::default();
                let mut seen = Vec::new();
                for piece in stream.chunks(cut) {
                    reader.push(piece);
                    while let Some(line) = next(&mut reader).unwrap() {
                        seen.push(String::from_utf8(line).unwrap());
                    }
                }
                let lines: Vec<_> = texts.iter().filter(|text| !(skip && text.is_empty())).cloned().collect();
                prop_assert_eq!(seen, lines);
            }
        }
    }

    #[test]
    fn a_message_survives_the_trip() {
        let request = Request::Measure { ramp_ns: 1, window_ns: 1 << 40, step_ns: 0 };
        let line = encode(&request).unwrap();
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        assert_eq!(decode::<Request>(&line).unwrap(), request);
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        assert_eq!(values(br#"{"a":[1,2,"[,{\",,",{}]}"#), 7);
        assert_eq!(values(b"1"), 1);
    }

    #[test]
    fn a_whole_line_that_is_too_long_is_no_message() {
        let line = [br#"{"hello":{"protocol":1}}"#.to_vec(), vec![b' '; MAX_FRAME]].concat();
        assert!(matches!(decode::<Request>(&line), Err(FrameError::TooLong)));
        decode::<Request>(&line[..MAX_FRAME]).unwrap();
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut reader = LineReader::default();
        reader.push(&vec![b'x'; MAX_FRAME + 1]);
        assert!(matches!(reader.next_line(), Err(FrameError::TooLong)));
    }
}
