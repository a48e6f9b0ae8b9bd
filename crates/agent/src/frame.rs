//! Messages are one JSON value per line, so that people can read and write a conversation.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::error::Refusal;

/// The longest accepted line, in bytes: the largest valid messages, all sockets' addresses of a run
/// with the most flows, have two thirds of that.
pub const MAX_FRAME: usize = 16 << 20;

// A value needs about ten times the memory of its text. The accounts of the most single flows have
// two thirds of these values.
const MAX_VALUES: usize = 300_000;

// The most entries of a list or a map: the CPUs that the largest kernel is built for (`NR_CPUS`).
const MAX_ENTRIES: usize = 8_192;

// The most sockets of one end, and the fields that list them.
const MAX_SOCKETS: usize = 2 * load::MAX_FLOWS as usize;
const SOCKETS: [&[u8]; 4] = [b"applied", b"endpoints", b"locals", b"sockets"];

// `net.ipv4.ip_local_reserved_ports` with every second port has 190,000.
const MAX_TEXT: usize = 192 << 10;

/// An invalid message: the reason.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages of its variants say it")]
pub enum FrameError {
    #[error("a message of more than {MAX_FRAME} bytes")]
    TooLong,
    #[error("a message of more than {MAX_VALUES} values")]
    TooMany,
    /// A list, map or text is too long; its name is cut as by [`words::shortened_reason`].
    #[error("not a message of this protocol: `{field}` may have at most {most} entries or bytes")]
    Excess { field: String, most: usize },
    /// `why` is cut as by [`words::shortened_reason`]; `line` is its beginning.
    #[error("not a message of this protocol ({why}): {line:?}")]
    NotAMessage { why: String, line: String },
}

/// Writes a message as one line, the newline included.
///
/// # Errors
/// A value that JSON cannot hold, such as a map whose keys are no strings.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads one line as a message, and checks its bounds.
///
/// # Errors
/// [`FrameError`] for anything else; never panics, whatever the bytes.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, FrameError> {
    // Before memory is allocated for its lists, maps and texts.
    check_sizes(line)?;
    serde_json::from_slice(line).map_err(|error| not_a_message(&error.to_string(), line))
}

fn check_sizes(line: &[u8]) -> Result<(), FrameError> {
    if line.len() > MAX_FRAME {
        return Err(FrameError::TooLong);
    }
    let excess = |field: &[u8], most| {
        let field = String::from_utf8_lossy(&field[..field.len().min(80)]);
        Err(FrameError::Excess { field: words::shortened_reason(&field), most })
    };
    let (mut values, mut field, mut at) = (1, &line[..0], 0);
    let mut open: Vec<(&[u8], usize)> = Vec::new();
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => {
                let text = &line[at + 1..];
                let mut escaped = false;
                let ends = |byte: &u8| {
                    let ends = *byte == b'"' && !escaped;
                    escaped = *byte == b'\\' && !escaped;
                    ends
                };
                let length = text.iter().position(ends).unwrap_or(text.len());
                if length > MAX_TEXT {
                    return excess(field, MAX_TEXT);
                }
                field = &text[..length];
                at += length + 1;
            }
            b'[' | b'{' => {
                values += 1;
                // A list belongs to the last text before it: its field's name.
                open.push((field, 1));
            }
            b',' => {
                values += 1;
                if let Some((field, entries)) = open.last_mut() {
                    *entries += 1;
                    let most = if SOCKETS.contains(field) { MAX_SOCKETS } else { MAX_ENTRIES };
                    if *entries > most {
                        return excess(field, most);
                    }
                }
            }
            b']' | b'}' => drop(open.pop()),
            _ => {}
        }
        if values > MAX_VALUES {
            return Err(FrameError::TooMany);
        }
        at += 1;
    }
    Ok(())
}

pub(crate) fn not_a_message(why: &str, line: &[u8]) -> FrameError {
    let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
    FrameError::NotAMessage { why: words::shortened_reason(why), line }
}

/// Assembles lines from the pieces that a pipe delivers.
#[derive(Debug, Default)]
pub struct LineReader {
    pending: Vec<u8>,
    begin: usize,
    // The bytes of `pending` already searched for a newline: a long line is searched once.
    searched: usize,
}

impl LineReader {
    /// Adds a piece of the input.
    pub fn push(&mut self, piece: &[u8]) {
        self.pending.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        self.pending.extend_from_slice(piece);
    }

    /// The next complete line that is not empty: signs of life must not cost time each.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        self.begin += self.pending[self.begin..].iter().take_while(|byte| **byte == b'\n').count();
        self.searched = self.searched.max(self.begin);
        self.next_line()
    }

    /// The next complete line, without its newline.
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
        // Long lines: the short rest is copied. Short lines: each line is copied.
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

// A line's header has the request's id, and in a request the time for its answer in ms:
// `7 10000 "start"`, then `7 "done"`. Unreadable messages are refused by id; late answers are free.

/// The id where a request could not be read, or none was made: requests count from 1.
pub const NO_REQUEST: u64 = 0;

// Longer than the longest window.
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: Instant,
    pub(crate) within: Duration,
}

impl Deadline {
    pub(crate) fn new(begun: Instant, within: Duration) -> Self {
        let within = within.min(MOST);
        Self { at: begun + within, within }
    }

    pub(crate) fn elapsed(self) -> Duration {
        (Instant::now() + self.within).saturating_duration_since(self.at)
    }

    // A little later than the agent, whose refusal says more than its silence.
    pub(crate) fn controller_gives_up(self) -> Instant {
        self.at + (self.within / 4).min(Duration::from_secs(2))
    }

    /// Called only where no work is half done.
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
mod tests;
