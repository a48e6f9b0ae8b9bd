//! The controller's end of the conversation with one agent.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;

use crate::call_error::CallError;
use crate::frame::{FrameError, LineReader, MAX_FRAME, decode, encode};
use crate::interrupt::Interrupt;
use crate::keeper::{Input, Keeper};
use crate::message::{Answer, Request};

/// A conversation with one agent over two pipes.
#[derive(Debug)]
pub struct Client {
    host: String,
    /// Declared before the input: its thread ends first.
    keeper: Option<Keeper>,
    to: Arc<Input>,
    from: File,
    lines: LineReader,
    interrupt: Interrupt,
    /// The patience that ended without an answer. That answer may still come, and is not that of a
    /// later request.
    silent: Option<Duration>,
    /// How long a sign of life may stay without an answer, where signs are given.
    answers_within: Option<Duration>,
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
        // A blocking write to a full pipe would wait forever, and ignore Ctrl-C. Where this fails,
        // the descriptor cannot block.
        if let Ok(flags) = fcntl(&to, FcntlArg::F_GETFL) {
            let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
            let _ = fcntl(&to, FcntlArg::F_SETFL(flags));
        }
        Self {
            host: host.into(),
            keeper: None,
            to: Input::new(to),
            from: from.into().into(),
            lines: LineReader::default(),
            interrupt,
            silent: None,
            answers_within: None,
        }
    }

    /// Ends the conversation: the agent sees the end of its input, undoes what it changed, and
    /// exits.
    ///
    /// # Errors
    /// When the process is out of file descriptors: then the input stays open.
    pub fn hang_up(&mut self) -> io::Result<()> {
        let nothing = File::open("/dev/null")?;
        self.keeper = None;
        self.to = Input::new(nothing);
        Ok(())
    }

    /// Tells the agent that the controller lives, by an empty line. It has no answer.
    ///
    /// # Errors
    /// [`CallError::Gone`] if the agent is gone; [`CallError::Pipe`] for any other error.
    pub fn keep_alive(&self) -> Result<(), CallError> {
        self.to.keep_alive().map_err(|error| if is_gone(&error) { self.gone() } else { self.pipe(error) })
    }

    /// Does that again and again, from a thread of its own, until this client is dropped. An agent
    /// with a lease ([`crate::Launch::lease_ms`]) needs it several times in the time of the lease:
    /// a third of it, or less. While an answer is waited for, an agent that leaves a sign without
    /// one for longer than `answers_within` is lost.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn keep_alive_every(&mut self, interval: Duration, answers_within: Duration) -> io::Result<()> {
        self.keeper = Some(Keeper::start(&self.to, interval)?);
        self.answers_within = Some(answers_within);
        Ok(())
    }

    /// How long a sign of life may stay without an answer from now on.
    pub fn wait_for_answers_within(&mut self, time: Duration) {
        self.answers_within = Some(time);
    }

    /// Sends a request, and waits for the answer.
    ///
    /// # Errors
    /// [`CallError`]; an answer of [`Answer::Failed`] becomes [`CallError::Refused`].
    pub fn call(&mut self, request: &Request, patience: Duration) -> Result<Answer, CallError> {
        self.send(request, patience)?;
        self.receive(patience)
    }

    /// The same for a request whose answer has no content.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn order(&mut self, request: &Request, patience: Duration) -> Result<(), CallError> {
        match self.call(request, patience)? {
            Answer::Done => Ok(()),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Sends without waiting for the answer, so that another agent can be asked meanwhile. The
    /// agent must read it within `patience`.
    ///
    /// # Errors
    /// When the agent is gone, does not read or did not answer in time before, the pipe fails, or
    /// the user asks to stop.
    pub fn send(&mut self, request: &Request, patience: Duration) -> Result<(), CallError> {
        self.send_message(request, patience)
    }

    /// The same for the message of a [`crate::Relay`]: what it needs to reach its agent.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn send_message(&mut self, message: &impl Serialize, patience: Duration) -> Result<(), CallError> {
        if let Some(patience) = self.silent {
            return Err(CallError::Silent { host: self.host.clone(), patience });
        }
        let line = encode(message).map_err(|error| self.pipe(error.into()))?;
        let deadline = Instant::now() + patience;
        let mut rest = &line[..];
        let _message = self.to.message();
        while !rest.is_empty() {
            match self.wait_for(&self.to.file, PollFlags::POLLOUT, deadline)? {
                Wake::Ready => rest = &rest[self.give_bytes(rest)?..],
                Wake::Timeout => return Err(CallError::NotReading { host: self.host.clone(), patience }),
                Wake::Interrupted => return Err(CallError::Interrupted),
            }
        }
        Ok(())
    }

    /// Waits for the answer to the last [`Client::send`].
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn receive(&mut self, patience: Duration) -> Result<Answer, CallError> {
        self.receive_within(patience)?.ok_or_else(|| {
            self.silent = Some(patience);
            CallError::Silent { host: self.host.clone(), patience }
        })
    }

    /// Waits for the answer; `None` if it has not come within `patience`: call again later.
    ///
    /// # Errors
    /// As [`Client::call`], except for silence.
    pub fn receive_within(&mut self, patience: Duration) -> Result<Option<Answer>, CallError> {
        let deadline = Instant::now() + patience;
        let mut late = false;
        loop {
            let line = self
                .lines
                .next_line()
                .map_err(|source| CallError::Garbled { host: self.host.clone(), source })?;
            match line {
                // A sign of life.
                Some(line) if line.is_empty() => continue,
                Some(line) => return self.understand(&line).map(Some),
                None => {}
            }
            // An agent that sends bytes but never a line counts as silent.
            if late {
                return Ok(None);
            }
            let until = self.lost_at().map_or(deadline, |lost| lost.min(deadline));
            match self.wait_for(&self.from, PollFlags::POLLIN, until)? {
                Wake::Ready => self.take_bytes()?,
                Wake::Timeout if self.lost_at().is_some_and(|lost| lost <= Instant::now()) => {
                    return Err(CallError::Lost { host: self.host.clone() });
                }
                Wake::Timeout if Instant::now() < deadline => {}
                Wake::Timeout => return Ok(None),
                Wake::Interrupted => return Err(CallError::Interrupted),
            }
            late = Instant::now() >= deadline;
        }
    }

    /// When the oldest sign of life without an answer, or one that were given now, will have waited
    /// too long. `None` where no signs are given.
    fn lost_at(&self) -> Option<Instant> {
        Some(self.to.unanswered().unwrap_or_else(Instant::now) + self.answers_within?)
    }

    /// The error of an answer to another request.
    #[must_use]
    pub fn unexpected(&self, got: &Answer) -> CallError {
        let mut got = format!("{got:?}");
        got.truncate(got.floor_char_boundary(120));
        CallError::Unexpected { host: self.host.clone(), got }
    }

    /// Agents are not trusted: their text is made harmless before it is kept or printed.
    fn understand(&self, line: &[u8]) -> Result<Answer, CallError> {
        let plain = str::from_utf8(line).map(|line| text::plain_json(line, MAX_FRAME));
        let decoded = match &plain {
            Ok(Some(plain)) => decode(plain.as_bytes()),
            Ok(None) => Err(FrameError::TooLong),
            Err(_) => decode(line),
        };
        match decoded {
            Ok(Answer::Failed { why, broken }) => {
                Err(CallError::Refused { host: self.host.clone(), why: text::reason(&why), broken })
            }
            Ok(answer) => Ok(answer),
            Err(source) => Err(CallError::Garbled { host: self.host.clone(), source }),
        }
    }

    fn wait_for(&self, pipe: &File, events: PollFlags, deadline: Instant) -> Result<Wake, CallError> {
        let mut watched =
            [PollFd::new(pipe.as_fd(), events), PollFd::new(self.interrupt.as_fd(), PollFlags::POLLIN)];
        let left = deadline.saturating_duration_since(Instant::now());
        // Rounded up: a wait of 0 ms for the last fraction of a millisecond would spin.
        let milliseconds = PollTimeout::try_from(left.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX);
        match poll(&mut watched, milliseconds) {
            // The signal handler has tripped the latch if it meant to stop us.
            Err(Errno::EINTR) => self.wait_for(pipe, events, deadline),
            Err(errno) => Err(self.pipe(errno.into())),
            Ok(_) => Ok(match watched.map(|one| one.any().unwrap_or(true)) {
                [_, true] => Wake::Interrupted,
                [true, false] => Wake::Ready,
                [false, false] => Wake::Timeout,
            }),
        }
    }

    fn take_bytes(&mut self) -> Result<(), CallError> {
        let mut piece = [0u8; 16 << 10];
        match io::Read::read(&mut self.from, &mut piece) {
            Ok(0) => Err(self.gone()),
            Ok(count) => {
                self.to.heard();
                self.lines.push(&piece[..count]);
                Ok(())
            }
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) if is_gone(&error) => Err(self.gone()),
            Err(error) => Err(self.pipe(error)),
        }
    }

    /// Writes as much as fits; returns how much.
    fn give_bytes(&self, bytes: &[u8]) -> Result<usize, CallError> {
        match (&self.to.file).write(bytes) {
            Ok(count) => Ok(count),
            Err(error) if is_passing(&error) => Ok(0),
            Err(error) if is_gone(&error) => Err(self.gone()),
            Err(error) => Err(self.pipe(error)),
        }
    }

    fn gone(&self) -> CallError {
        CallError::Gone { host: self.host.clone() }
    }

    fn pipe(&self, source: io::Error) -> CallError {
        CallError::Pipe { host: self.host.clone(), source }
    }
}

/// Whether the other end is closed. A socket, as of guests, reports that in another way than a pipe
/// if something was not read.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Whether to try again: a signal came, or another reader or writer was faster.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

enum Wake {
    Ready,
    Timeout,
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    const A_MOMENT: Duration = Duration::from_millis(50);

    fn conversation() -> (Client, UnixStream, Interrupt) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let interrupt = Interrupt::new().unwrap();
        let client = Client::new("receiver", ours.try_clone().unwrap(), ours, interrupt.clone());
        (client, theirs, interrupt)
    }

    #[test]
    fn an_answer_arrives_whole() {
        let (mut client, mut agent, _) = conversation();
        agent.write_all(&encode(&Answer::Done).unwrap()).unwrap();
        client.order(&Request::Start, Duration::from_secs(1)).unwrap();
    }

    #[test]
    fn an_agent_that_dies_is_named_also_with_a_request_unread() {
        for unread in [false, true] {
            let (mut client, agent, _) = conversation();
            if unread {
                client.send(&Request::Start, A_MOMENT).unwrap();
            }
            drop(agent);
            let error = client.receive(Duration::from_secs(1)).unwrap_err();
            assert_eq!(error.to_string(), "the receiver's agent exited unexpectedly");
            assert!(!error.agent_is_well());
            assert!(matches!(client.send(&Request::Start, A_MOMENT), Err(CallError::Gone { .. })));
        }
    }

    #[test]
    fn a_silent_agent_is_not_waited_for_for_ever() {
        let (mut client, _agent, _) = conversation();
        assert!(client.receive_within(Duration::from_millis(5)).unwrap().is_none());
        let error = client.receive(Duration::from_millis(5)).unwrap_err();
        assert_eq!(error.to_string(), "the receiver's agent did not answer within 0.005 s");
    }

    #[test]
    fn a_late_answer_is_not_taken_for_that_to_the_next_request() {
        let (mut client, mut agent, _) = conversation();
        assert!(matches!(client.call(&Request::Quiet, A_MOMENT), Err(CallError::Silent { .. })));
        agent.write_all(&encode(&Answer::Done).unwrap()).unwrap();
        let error = client.order(&Request::Start, A_MOMENT).unwrap_err();
        assert_eq!(error.to_string(), "the receiver's agent did not answer within 0.05 s");
    }

    /// More than any pipe or socket holds.
    fn long_request() -> Request {
        Request::Attach { locals: vec!["10.0.0.1:1".parse().unwrap(); 200_000] }
    }

    #[test]
    fn an_agent_that_does_not_read_is_not_waited_for_for_ever() {
        let (mut client, _agent, _) = conversation();
        let error = client.call(&long_request(), A_MOMENT).unwrap_err();
        assert_eq!(error.to_string(), "the receiver's agent did not read the request within 0.05 s");
        assert!(!error.agent_is_well());
    }

    #[test]
    fn an_interrupt_ends_the_wait_for_an_agent_that_does_not_read() {
        let (mut client, _agent, interrupt) = conversation();
        let trips = std::thread::spawn(move || {
            std::thread::sleep(A_MOMENT);
            interrupt.trip();
        });
        let error = client.send(&long_request(), Duration::from_secs(600)).unwrap_err();
        assert!(matches!(error, CallError::Interrupted), "{error}");
        trips.join().unwrap();
        assert!(matches!(client.receive(Duration::from_secs(60)), Err(CallError::Interrupted)));
    }

    #[test]
    fn an_agent_that_reads_slowly_gets_all_of_a_request() {
        let (mut client, mut agent, _) = conversation();
        let reads = std::thread::spawn(move || {
            let (mut got, mut piece) = (Vec::new(), [0; 4096]);
            while !got.ends_with(b"\n") {
                let count = io::Read::read(&mut agent, &mut piece).unwrap();
                got.extend_from_slice(&piece[..count]);
            }
            got
        });
        client.send(&long_request(), Duration::from_secs(60)).unwrap();
        assert_eq!(reads.join().unwrap(), encode(&long_request()).unwrap());
    }

    #[test]
    fn signs_of_life_come_between_messages_and_end_with_the_client() {
        let (mut client, mut agent, _) = conversation();
        client.keep_alive().unwrap();
        client.keep_alive_every(Duration::from_millis(1), Duration::from_secs(10)).unwrap();
        let reads = std::thread::spawn(move || {
            let mut got = Vec::new();
            // Slowly, so that the pipe is full again and again.
            let mut piece = [0; 4096];
            loop {
                match io::Read::read(&mut agent, &mut piece).unwrap() {
                    0 => return got,
                    count => got.extend_from_slice(&piece[..count]),
                }
            }
        });
        std::thread::sleep(A_MOMENT);
        client.send(&long_request(), Duration::from_secs(60)).unwrap();
        std::thread::sleep(A_MOMENT);
        drop(client);
        let got = reads.join().unwrap();
        let lines: Vec<&[u8]> = got.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, [encode(&long_request()).unwrap().trim_ascii_end()]);
        assert!(got.starts_with(b"\n\n") && got.ends_with(b"\n\n"), "signs before and after");
    }

    #[test]
    fn an_agent_that_answers_no_sign_of_life_is_lost_and_one_that_does_is_waited_for() {
        let (mut client, mut agent, _) = conversation();
        client.keep_alive_every(Duration::from_millis(1), A_MOMENT).unwrap();
        let mut theirs = agent.try_clone().unwrap();
        let answers = std::thread::spawn(move || {
            let mut sign = [0];
            let until = Instant::now() + 4 * A_MOMENT;
            while Instant::now() < until && io::Read::read(&mut theirs, &mut sign).unwrap() > 0 {
                theirs.write_all(b"\n").unwrap();
            }
        });
        assert!(client.receive_within(2 * A_MOMENT).unwrap().is_none());
        answers.join().unwrap();
        // It did answer while nobody read.
        assert!(client.receive_within(Duration::ZERO).unwrap().is_none());
        let begun = Instant::now();
        let error = client.receive(Duration::from_secs(60)).unwrap_err();
        assert!(matches!(error, CallError::Lost { .. }), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(!error.agent_is_well());
        drop(client);
        io::Read::read_to_end(&mut agent, &mut Vec::new()).unwrap();
    }

    #[test]
    fn an_agent_that_is_gone_gets_no_signs_of_life() {
        let (client, agent, _) = conversation();
        drop(agent);
        assert!(matches!(client.keep_alive(), Err(CallError::Gone { .. })));
    }

    #[test]
    fn an_agent_that_never_ends_a_line_is_silent() {
        let (mut client, mut agent, _) = conversation();
        let dribbles = std::thread::spawn(move || while agent.write_all(b"x").is_ok() {});
        let error = client.receive(A_MOMENT).unwrap_err();
        assert!(matches!(error, CallError::Silent { .. }), "{error}");
        drop(client);
        dribbles.join().unwrap();
    }

    #[test]
    fn an_agents_words_arrive_without_control_characters_and_bounded() {
        let (mut client, mut agent, _) = conversation();
        let hostile = "a\u{1b}]0;x\u{7}\u{9b}\u{7f}\u{202e}\u{200b}\nForged";
        let plain = "a\\u{1b}]0;x\\u{7}\\u{9b}\\u{7f}\\u{202e}\\u{200b} Forged";
        let mut answer = |answer: &Answer| {
            agent.write_all(&encode(answer).unwrap()).unwrap();
            client.receive(Duration::from_secs(1))
        };
        let mut environment = host::Environment::read(&["lo"], hostile);
        environment.sysctls.insert(hostile.to_owned(), hostile.to_owned());
        let Ok(Answer::Environment(environment)) = answer(&Answer::Environment(Box::new(environment))) else {
            panic!()
        };
        assert_eq!(environment.netassay, plain);
        assert_eq!(environment.sysctls.get(plain).map(String::as_str), Some(plain));
        let Ok(Answer::Told { what }) = answer(&Answer::Told { what: vec![hostile.into()] }) else {
            panic!()
        };
        assert_eq!(what, [plain]);
        let why = format!("{hostile}{}", "é".repeat(1 << 16));
        let refused = answer(&Answer::Failed { why, broken: false }).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("receiver: {plain}éé")), "{refused}");
        assert!(
            refused.ends_with("é… (cut)") && refused.len() <= "receiver: ".len() + text::REASON,
            "{refused}"
        );
        // The decoder's message quotes the line.
        for line in [
            "{\"answer\":\"\\u001b[31m\u{202e}\\n\"}\n",
            "{\"answer\":\"done\u{202e}\"}\n",
            "\u{1b}[2J\u{9b}\n",
        ] {
            agent.write_all(line.as_bytes()).unwrap();
            let error = client.receive(Duration::from_secs(1)).unwrap_err().to_string();
            assert!(text::is_plain(&error), "{error:?}");
        }
    }

    #[test]
    fn rubbish_is_an_error_and_a_refusal_keeps_the_agent() {
        let (mut client, mut agent, _) = conversation();
        agent.write_all(b"login:\n").unwrap();
        assert!(matches!(client.receive(Duration::from_secs(1)), Err(CallError::Garbled { .. })));
        agent.write_all(&encode(&Answer::Failed { why: "no".into(), broken: false }).unwrap()).unwrap();
        let refused = client.receive(Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.to_string(), "receiver: no");
        assert!(refused.agent_is_well());
    }
}
