//! The controller's end of the conversation with one agent.

use std::collections::BTreeSet;
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
use crate::envelope::{Asked, Deadline, NO_REQUEST, read_answer};
use crate::frame::{FrameError, LineReader, MAX_FRAME, decode};
use crate::interrupt::Interrupt;
use crate::keeper::{Input, Keeper};
use crate::launch::Launch;
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
    /// The last request, by its id, and its deadline.
    asked: (u64, Deadline),
    /// The requests without an answer, the last one among them. A late answer is not that of a
    /// later request.
    open: BTreeSet<u64>,
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
            asked: (NO_REQUEST, Deadline::of(Instant::now(), Duration::ZERO)),
            open: BTreeSet::new(),
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

    /// Sends the line by which the agent begins, before its first request.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn launch(&self, launch: &Launch, patience: Duration) -> Result<(), CallError> {
        let line = launch.line().map_err(|error| self.pipe(error.into()))?;
        self.write(&line, Instant::now() + patience, patience)
    }

    /// Sends a request, and waits for the answer.
    ///
    /// # Errors
    /// [`CallError`]; an answer of [`Answer::Failed`] becomes [`CallError::Refused`].
    pub fn call(&mut self, request: &Request, patience: Duration) -> Result<Answer, CallError> {
        self.send(request, patience)?;
        self.receive()
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
    /// agent must read it and answer within `patience`, and gives up then; this client a little
    /// later. The answer to a request before is not waited for any more.
    ///
    /// # Errors
    /// When the agent is gone or does not read, the pipe fails, or the user asks to stop.
    pub fn send(&mut self, request: &Request, patience: Duration) -> Result<(), CallError> {
        self.send_message(request, patience)
    }

    /// The same for the message of a [`crate::Relay`]: what it needs to reach its agent.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn send_message(&mut self, message: &impl Serialize, patience: Duration) -> Result<(), CallError> {
        let asked = Asked { id: self.asked.0 + 1, within: patience };
        let line = asked.line(message).map_err(|error| self.pipe(error.into()))?;
        let begun = Instant::now();
        self.asked = (asked.id, Deadline::of(begun, patience));
        self.open.insert(asked.id);
        self.write(&line, begun + patience, patience)
    }

    /// Writes a whole line until `limit`.
    fn write(&self, line: &[u8], limit: Instant, patience: Duration) -> Result<(), CallError> {
        let mut rest = line;
        let _message = self.to.message();
        while !rest.is_empty() {
            match self.wait_for(&self.to.file, PollFlags::POLLOUT, limit)? {
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
    pub fn receive(&mut self) -> Result<Answer, CallError> {
        self.receive_until(None)?.ok_or_else(|| self.silent())
    }

    /// Waits for the answer; `None` if it has not come within `time`: call again later.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn receive_within(&mut self, time: Duration) -> Result<Option<Answer>, CallError> {
        self.receive_until(Some(Instant::now() + time))
    }

    fn receive_until(&mut self, limit: Option<Instant>) -> Result<Option<Answer>, CallError> {
        let last = self.asked.1.of_controller();
        let limit = limit.map_or(last, |limit| limit.min(last));
        let mut late = false;
        loop {
            while let Some(line) = self.lines.next_line().map_err(|source| self.garbled(source))? {
                // An empty line is a sign of life.
                if !line.is_empty()
                    && let Some(answer) = self.understand(&line)?
                {
                    return Ok(Some(answer));
                }
            }
            // An agent that sends bytes but never a line counts as silent.
            if late {
                return if limit < last { Ok(None) } else { Err(self.silent()) };
            }
            let until = self.lost_at().map_or(limit, |lost| lost.min(limit));
            match self.wait_for(&self.from, PollFlags::POLLIN, until)? {
                Wake::Ready => self.take_bytes()?,
                Wake::Timeout if self.lost_at().is_some_and(|lost| lost <= Instant::now()) => {
                    return Err(CallError::Lost { host: self.host.clone() });
                }
                Wake::Timeout => {}
                Wake::Interrupted => return Err(CallError::Interrupted),
            }
            late = Instant::now() >= limit;
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

    /// Agents are not trusted: their text is made harmless before it is kept or printed. `None`: it
    /// answers a request whose answer is not waited for any more.
    fn understand(&mut self, line: &[u8]) -> Result<Option<Answer>, CallError> {
        let (id, answer) = read_answer(line).map_err(|source| self.garbled(source))?;
        let asked = self.asked.0;
        let wrong = || CallError::WrongId { host: self.host.clone(), got: id, asked };
        match self.open.remove(&id) {
            true if id != asked => return Ok(None),
            false if id != NO_REQUEST => return Err(wrong()),
            _ => {}
        }
        let plain = str::from_utf8(answer).map(|answer| text::plain_json(answer, MAX_FRAME));
        let decoded = match &plain {
            Ok(Some(plain)) => decode(plain.as_bytes()),
            Ok(None) => Err(FrameError::TooLong),
            Err(_) => decode(answer),
        };
        match decoded {
            Ok(Answer::Failed { why, broken }) => {
                let broken = broken || id == NO_REQUEST;
                Err(CallError::Refused { host: self.host.clone(), why: text::reason(&why), broken })
            }
            Ok(_) if id == NO_REQUEST => Err(wrong()),
            Ok(answer) => Ok(Some(answer)),
            Err(source) => Err(self.garbled(source)),
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

    fn garbled(&self, source: FrameError) -> CallError {
        CallError::Garbled { host: self.host.clone(), source }
    }

    fn silent(&self) -> CallError {
        CallError::Silent { host: self.host.clone(), patience: self.asked.1.within() }
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
    use crate::envelope::answer_line;
    use crate::frame::encode;
    use std::os::unix::net::UnixStream;

    const A_MOMENT: Duration = Duration::from_millis(50);
    const A_WHILE: Duration = Duration::from_secs(60);

    fn conversation() -> (Client, UnixStream, Interrupt) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let interrupt = Interrupt::new().unwrap();
        let client = Client::new("receiver", ours.try_clone().unwrap(), ours, interrupt.clone());
        (client, theirs, interrupt)
    }

    #[test]
    fn an_answer_arrives_whole() {
        let (mut client, mut agent, _) = conversation();
        agent.write_all(b"1 \"done\"\n").unwrap();
        client.order(&Request::Start, A_WHILE).unwrap();
    }

    #[test]
    fn an_agent_that_dies_is_named_also_with_a_request_unread() {
        for unread in [false, true] {
            let (mut client, mut agent, _) = conversation();
            client.send(&Request::Start, A_WHILE).unwrap();
            if !unread {
                io::Read::read(&mut agent, &mut [0; 100]).unwrap();
            }
            drop(agent);
            let error = client.receive().unwrap_err();
            assert_eq!(error.to_string(), "the receiver's agent exited unexpectedly");
            assert!(!error.agent_is_well());
            assert!(matches!(client.send(&Request::Start, A_MOMENT), Err(CallError::Gone { .. })));
        }
    }

    #[test]
    fn a_silent_agent_is_not_waited_for_for_ever() {
        let (mut client, _agent, _) = conversation();
        client.send(&Request::Start, 4 * A_MOMENT).unwrap();
        assert!(client.receive_within(Duration::from_millis(5)).unwrap().is_none());
        let error = client.receive().unwrap_err();
        assert_eq!(error.to_string(), "the receiver's agent did not answer within 0.2 s");
        assert!(!error.agent_is_well());
    }

    #[test]
    fn a_late_answer_is_not_taken_for_that_to_the_next_request() {
        let (mut client, mut agent, _) = conversation();
        assert!(matches!(client.call(&Request::Quiet, A_MOMENT), Err(CallError::Silent { .. })));
        let late = Answer::Told { what: vec!["late".to_owned()] };
        agent.write_all(&answer_line(1, &late).unwrap()).unwrap();
        let error = client.order(&Request::Start, A_MOMENT).unwrap_err();
        assert_eq!(error.to_string(), "the receiver's agent did not answer within 0.05 s");
        // The agent is asked again, and answers now.
        agent.write_all(b"2 \"done\"\n3 \"done\"\n").unwrap();
        client.order(&Request::Start, A_WHILE).unwrap();
    }

    #[test]
    fn an_answer_that_nobody_waits_for_names_both_ids() {
        for (stray_answers, got) in [("1 \"done\"\n1 \"done\"\n", 1), ("1 \"done\"\n3 \"done\"\n", 3)] {
            let (mut client, mut agent, _) = conversation();
            agent.write_all(stray_answers.as_bytes()).unwrap();
            client.order(&Request::Start, A_WHILE).unwrap();
            agent.write_all(b"2 \"done\"\n").unwrap();
            let error = client.order(&Request::Quiet, A_WHILE).unwrap_err();
            let said = format!("the receiver's agent answered request {got}, but request 2 was asked");
            assert!(error.to_string().starts_with(&said), "{error}");
            assert!(!error.agent_is_well());
        }
    }

    #[test]
    fn an_answer_to_no_request_can_only_refuse() {
        let (mut client, mut agent, _) = conversation();
        agent.write_all(b"0 {\"failed\":{\"why\":\"no\"}}\n0 \"done\"\n").unwrap();
        let refused = client.call(&Request::Start, A_WHILE).unwrap_err();
        assert_eq!(refused.to_string(), "receiver: no");
        assert!(!refused.agent_is_well());
        let error = client.call(&Request::Start, A_WHILE).unwrap_err();
        assert!(matches!(error, CallError::WrongId { got: 0, asked: 2, .. }), "{error}");
    }

    /// More than any pipe or socket holds.
    fn long_request() -> Request {
        Request::Attach { locals: vec!["10.0.0.1:1".parse().unwrap(); 200_000] }
    }

    /// Its line, if it is the first.
    fn long_line() -> Vec<u8> {
        Asked { id: 1, within: A_WHILE }.line(&long_request()).unwrap()
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
        assert!(matches!(client.receive(), Err(CallError::Interrupted)));
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
        client.send(&long_request(), A_WHILE).unwrap();
        assert_eq!(reads.join().unwrap(), long_line());
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
        client.send(&long_request(), A_WHILE).unwrap();
        std::thread::sleep(A_MOMENT);
        drop(client);
        let got = reads.join().unwrap();
        let lines: Vec<&[u8]> = got.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, [long_line().trim_ascii_end()]);
        assert!(got.starts_with(b"\n\n") && got.ends_with(b"\n\n"), "signs before and after");
    }

    #[test]
    fn an_agent_that_answers_no_sign_of_life_is_lost_and_one_that_does_is_waited_for() {
        let (mut client, mut agent, _) = conversation();
        client.send(&Request::Start, A_WHILE).unwrap();
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
        let error = client.receive().unwrap_err();
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
        let error = client.call(&Request::Start, A_MOMENT).unwrap_err();
        assert!(matches!(error, CallError::Silent { .. }), "{error}");
        drop(client);
        dribbles.join().unwrap();
    }

    #[test]
    fn an_agents_words_arrive_without_control_characters_and_bounded() {
        let (mut client, mut agent, _) = conversation();
        let hostile = "a\u{1b}]0;x\u{7}\u{9b}\u{7f}\u{202e}\u{200b}\nForged";
        let plain = "a\\u{1b}]0;x\\u{7}\\u{9b}\\u{7f}\\u{202e}\\u{200b} Forged";
        let mut id = 0;
        let mut hear = |before: &str, answer: &[u8]| {
            id += 1;
            let before = before.replace("ID", &id.to_string());
            agent.write_all(&[before.as_bytes(), answer.trim_ascii_end(), b"\n"].concat()).unwrap();
            client.call(&Request::Start, A_WHILE)
        };
        let mut answer = |answer: &Answer| hear("ID ", &encode(answer).unwrap());
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
            "{\"answer\":\"\\u001b[31m\u{202e}\\n\"}",
            "{\"answer\":\"done\u{202e}\"}",
            "\u{1b}[2J\u{9b}\u{202e}\u{200b}",
        ] {
            for before in ["ID ", "", "99 ", "0 "] {
                let error = hear(before, line.as_bytes()).unwrap_err().to_string();
                assert!(text::is_plain(&error), "{error:?}");
            }
        }
    }

    #[test]
    fn rubbish_is_an_error_and_a_refusal_keeps_the_agent() {
        let (mut client, mut agent, _) = conversation();
        agent.write_all(b"login:\n").unwrap();
        assert!(matches!(client.call(&Request::Start, A_WHILE), Err(CallError::Garbled { .. })));
        agent.write_all(b"2 {\"failed\":{\"why\":\"no\"}}\n").unwrap();
        let refused = client.call(&Request::Start, A_WHILE).unwrap_err();
        assert_eq!(refused.to_string(), "receiver: no");
        assert!(refused.agent_is_well());
    }
}
