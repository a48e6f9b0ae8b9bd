//! The controller's end of the conversation with one agent.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use serde::Serialize;

use crate::error::CallError;
use crate::frame::{
    Deadline, FrameError, LineReader, MAX_FRAME, NO_REQUEST, RequestHeader, decode, encode, read_answer,
};
use crate::interrupt::{Interrupt, Wake};
use crate::keepalive::{Input, is_passing, repeat};
use crate::launch::Launch;
use crate::message::{Answer, Request};
use crate::read_limiter::ReadLimiter;

/// A conversation with one agent over two pipes.
#[derive(Debug)]
pub struct Client {
    /// The agent's host, as messages name it.
    pub host: String,
    // Its drop ends the thread of the signs of life. Declared before the input, so that the thread
    // ends first.
    keepalive: Option<Sender<()>>,
    to: Arc<Input>,
    from: File,
    lines: LineReader,
    limiter: ReadLimiter,
    interrupt: Interrupt,
    asked: (u64, Deadline),
    // Requests without an answer, the last one included. A late answer belongs to its own request
    // and not to a later one.
    open: BTreeSet<u64>,
    /// The longest wait for an answer to a sign of life; `None` without signs of life.
    pub answers_within: Option<Duration>,
    is_lost: AtomicBool,
}

impl Client {
    /// Talks to the agent of `host` (a word for messages) through its standard input and output.
    pub fn new(
        host: impl Into<String>,
        to: impl Into<OwnedFd>,
        from: impl Into<OwnedFd>,
        interrupt: Interrupt,
    ) -> Self {
        let to = File::from(to.into());
        // Else a write to a full pipe would ignore Ctrl-C. Where this fails, nothing can block.
        if let Ok(flags) = fcntl(&to, FcntlArg::F_GETFL) {
            let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
            let _ = fcntl(&to, FcntlArg::F_SETFL(flags));
        }
        Self {
            host: host.into(),
            keepalive: None,
            to: Input::new(to),
            from: from.into().into(),
            lines: LineReader::default(),
            limiter: ReadLimiter::default(),
            interrupt,
            asked: (NO_REQUEST, Deadline::new(Instant::now(), Duration::ZERO)),
            open: BTreeSet::new(),
            answers_within: None,
            is_lost: AtomicBool::new(false),
        }
    }

    /// Whether the last answer was invalid or late; no further answer is then waited for.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Whether the agent may still work on the last request.
    pub fn is_busy(&self) -> bool {
        self.open.contains(&self.asked.0)
    }

    /// Makes further requests possible after the user has asked to stop.
    pub fn ignore_interrupt(&mut self) -> io::Result<()> {
        self.interrupt = Interrupt::new()?;
        Ok(())
    }

    /// Ends the conversation: the agent undoes what it changed, and exits.
    ///
    /// # Errors
    /// When the process is out of file descriptors: then the input stays open.
    pub fn hang_up(&mut self) -> io::Result<()> {
        let nothing = File::open("/dev/null")?;
        self.keepalive = None;
        self.to = Input::new(nothing);
        Ok(())
    }

    /// Sends empty lines, of which an agent with a lease ([`crate::Launch::lease_ms`]) needs at
    /// least one in each third of it, from a thread, until this client is dropped. A waiting
    /// controller has lost an agent that leaves one unanswered for longer than `answers_within` and
    /// than three times its slowest answer so far.
    pub fn keep_alive_every(&mut self, interval: Duration, answers_within: Duration) -> io::Result<()> {
        // It does not keep the input open.
        let input = Arc::downgrade(&self.to);
        let give = move || input.upgrade().is_some_and(|input| input.keep_alive().is_ok());
        self.keepalive = Some(repeat("keep-alive", interval, give)?);
        self.answers_within = Some(answers_within);
        Ok(())
    }

    /// Sends the line by which the agent begins, before its first request.
    pub fn launch(&self, launch: &Launch, patience: Duration) -> Result<(), CallError> {
        let line = encode(launch).map_err(|error| self.pipe(error.into()))?;
        self.write(&line, Instant::now() + patience, patience)
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// [`CallError`]; an answer of [`Answer::Failed`] becomes [`CallError::Refused`].
    pub fn call(&mut self, request: &Request, patience: Duration) -> Result<Answer, CallError> {
        self.send(request, patience)?;
        self.receive()
    }

    /// Sends a request whose answer has no content, and waits for the answer.
    pub fn order(&mut self, request: &Request, patience: Duration) -> Result<(), CallError> {
        match self.call(request, patience)? {
            Answer::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Sends a request, or a [`crate::Relay`]'s message, without waiting for the answer. The agent
    /// must answer within `patience`, and gives up then; this client does a little later. The
    /// answer to an earlier request is no longer waited for.
    ///
    /// # Errors
    /// When the agent is gone or does not read, the pipe fails, or the user asks to stop.
    pub fn send(&mut self, message: &impl Serialize, patience: Duration) -> Result<(), CallError> {
        let asked = RequestHeader { id: self.asked.0 + 1, within: patience };
        let line = asked.line(message).map_err(|error| self.pipe(error.into()))?;
        let begun = Instant::now();
        self.asked = (asked.id, Deadline::new(begun, patience));
        self.open.insert(asked.id);
        let request = line.splitn(3, |byte| *byte == b' ').last().unwrap_or_default();
        tracing::debug!(host = %self.host, id = asked.id, request = %logged(request), "asked");
        self.write(&line, begun + patience, patience)
    }

    fn write(&self, line: &[u8], limit: Instant, patience: Duration) -> Result<(), CallError> {
        let mut rest = line;
        let _message = self.to.lock();
        while !rest.is_empty() {
            if !self.is_ready(&self.to.file, PollFlags::POLLOUT, limit)? {
                return Err(self.lose(CallError::NotReading { host: self.host.clone(), patience }));
            }
            match (&self.to.file).write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(self.pipe(error)),
            }
        }
        Ok(())
    }

    /// Waits for the answer to the last [`Client::send`].
    pub fn receive(&mut self) -> Result<Answer, CallError> {
        self.receive_until(None)?.ok_or_else(|| self.silent())
    }

    /// Waits for the answer; `None` if it has not come within `time`: then call again later.
    pub fn receive_within(&mut self, time: Duration) -> Result<Option<Answer>, CallError> {
        self.receive_until(Some(Instant::now() + time))
    }

    fn receive_until(&mut self, wanted: Option<Instant>) -> Result<Option<Answer>, CallError> {
        let last = self.asked.1.controller_gives_up();
        let limit = wanted.map_or(last, |wanted| wanted.min(last));
        let mut late = false;
        loop {
            while let Some(line) = self.lines.next_message().map_err(|source| self.garbled(source))? {
                if let Some(answer) = self.understand(&line)? {
                    return Ok(Some(answer));
                }
            }
            // An agent that sends bytes but never a line counts as silent.
            if late {
                return if limit < last { Ok(None) } else { Err(self.silent()) };
            }
            let until = self.lost_at().map_or(limit, |lost| lost.min(limit));
            let since = Instant::now();
            if self.is_ready(&self.from, PollFlags::POLLIN, until)? {
                self.take_bytes(since)?;
            } else if self.lost_at().is_some_and(|lost| lost <= Instant::now()) {
                return Err(self.lose(CallError::Lost { host: self.host.clone() }));
            }
            late = Instant::now() >= limit;
        }
    }

    /// When the oldest sign of life has waited too long; `None` without signs of life.
    fn lost_at(&self) -> Option<Instant> {
        self.answers_within.map(|within| self.to.signs().lost_at(within, Instant::now()))
    }

    /// The error for an answer of another kind than the request's.
    pub fn unexpected(&self, got: &Answer) -> CallError {
        // Only the kind is shown: the content is for the program.
        let got = format!("{got:?}");
        let got = got.chars().take_while(char::is_ascii_alphanumeric).collect();
        self.lose(CallError::Unexpected { host: self.host.clone(), got })
    }

    /// `None`: a late answer.
    fn understand(&mut self, line: &[u8]) -> Result<Option<Answer>, CallError> {
        let (id, answer) = read_answer(line).map_err(|source| self.garbled(source))?;
        let took = self.asked.1.elapsed();
        tracing::debug!(host = %self.host, id, ?took, answer = %logged(answer), "answered");
        let asked = self.asked.0;
        let is_open = self.open.remove(&id);
        let wrong = || self.lose(CallError::WrongId { host: self.host.clone(), got: id, asked });
        match is_open {
            true if id != asked => return Ok(None),
            false if id != NO_REQUEST => return Err(wrong()),
            _ => {}
        }
        // An agent is not trusted: its text is made harmless before anything shows it.
        let plain = str::from_utf8(answer).map(|answer| words::sanitised_json(answer, MAX_FRAME));
        let decoded = match &plain {
            Ok(Some(plain)) => decode(plain.as_bytes()),
            Ok(None) => Err(FrameError::TooLong),
            Err(_) => decode(answer),
        };
        match decoded {
            Ok(Answer::Failed { why, broken }) => {
                let (host, why) = (self.host.clone(), words::shortened_reason(&why));
                Err(CallError::Refused { host, why, broken: broken || id == NO_REQUEST })
            }
            Ok(Answer::NoJournal(why)) => {
                Err(CallError::NoJournal { host: self.host.clone(), why: words::shortened_reason(&why) })
            }
            Ok(_) if id == NO_REQUEST => Err(wrong()),
            Ok(answer) => {
                self.is_lost.store(false, Ordering::Relaxed);
                if matches!(answer, Answer::TracedRound(_)) {
                    // An agent may send any number of rounds: their reads are limited too.
                    self.limiter.pause();
                    self.open.insert(id);
                }
                Ok(Some(answer))
            }
            Err(source) => Err(self.garbled(source)),
        }
    }

    fn is_ready(&self, pipe: &File, events: PollFlags, deadline: Instant) -> Result<bool, CallError> {
        match self.interrupt.wait_for(pipe.as_fd(), events, deadline).map_err(|error| self.pipe(error))? {
            Wake::Interrupted => Err(CallError::Interrupted),
            woken => Ok(woken == Wake::Ready),
        }
    }

    fn take_bytes(&mut self, since: Instant) -> Result<(), CallError> {
        let mut piece = [0u8; 16 << 10];
        match io::Read::read(&mut self.from, &mut piece) {
            Ok(0) => Err(self.gone()),
            Ok(count) => {
                self.to.signs().heard(since, Instant::now());
                self.lines.push(&piece[..count]);
                self.limiter.pause();
                Ok(())
            }
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(self.pipe(error)),
        }
    }

    fn garbled(&self, source: FrameError) -> CallError {
        self.lose(CallError::Garbled { host: self.host.clone(), source })
    }

    fn silent(&self) -> CallError {
        self.lose(CallError::Silent { host: self.host.clone(), patience: self.asked.1.within })
    }

    fn lose(&self, error: CallError) -> CallError {
        self.is_lost.store(true, Ordering::Relaxed);
        error
    }

    fn gone(&self) -> CallError {
        CallError::Gone { host: self.host.clone() }
    }

    fn pipe(&self, source: io::Error) -> CallError {
        match source.kind() {
            // A socket, such as a guest's port, gives the second if it held unread bytes.
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => self.gone(),
            _ => CallError::Pipe { host: self.host.clone(), source },
        }
    }
}

/// Its beginning, or at [`tracing::Level::TRACE`] the whole.
fn logged(message: &[u8]) -> String {
    const BEGINNING: usize = 160;
    let kept = if tracing::enabled!(tracing::Level::TRACE) { message.len() } else { BEGINNING };
    let rest = message.len().saturating_sub(kept);
    let text = String::from_utf8_lossy(&message[..message.len() - rest]);
    let text = words::sanitised_line(text.trim_end());
    if rest == 0 { text.into_owned() } else { format!("{text}… ({rest} bytes more)") }
}

#[cfg(test)]
mod tests;
