//! The agent's view of its controller: the other end of its standard input.
//!
//! A thread of its own reads standard input, and hands requests to the thread that answers them. So
//! the end of the controller, or its silence, is noticed in the middle of any request. The thread
//! that answers, and those that send and receive, have nothing to do with this: they share no lock
//! with the reader but those of the queue and of the output, which are taken between two requests,
//! and read no clock for it: the reader notes when a request came. The reader sleeps in `poll`,
//! which has the lease as its time limit. It answers each sign of life of the controller by one of
//! its own.
//!
//! When the controller is gone, the process ends. Nothing is undone here: what an agent makes in
//! its namespaces ends with it, and what it changed on its machine is undone by its
//! [`crate::undo_process`].

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use crate::envelope::{Deadline, RequestHeader};
use crate::frame::{FrameError, LineReader};
use crate::lease::waits;
use crate::output;
use crate::serve_error::ServeError;

// The time for which an agent continues after its input has ended: it still answers quick
// requests, and gives up work.
const LAST_WORDS: Duration = Duration::from_millis(500);

// The most requests that wait while one is answered. A controller sends one ahead.
const AHEAD: usize = 4;

// The interval at which the reader tries to hand over a request while [`AHEAD`] requests wait.
const STEP: Duration = Duration::from_millis(50);

/// The requests of the controller, read line by line.
pub(crate) enum Requests {
    /// Read by the thread that answers them.
    Read(LineReader),
    /// Read by a thread of their own.
    Given(Receiver<Result<Line, FrameError>>),
}

pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    came: Instant,
}

impl Line {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, came: Instant::now() }
    }

    /// Splits the line into the id of the request, its deadline and the request.
    pub(crate) fn open(&self) -> Result<(u64, Deadline, &[u8]), FrameError> {
        let (RequestHeader { id, within }, request) = RequestHeader::read(&self.bytes)?;
        Ok((id, Deadline::new(self.came, within), request))
    }
}

/// The result of waiting for a line.
pub(crate) enum NextLine {
    Line(Line),
    /// No line came in time.
    Late,
    End,
}

impl Requests {
    /// Requests behind the first line, read by the calling thread.
    pub(crate) fn new() -> Self {
        Self::Read(LineReader::default())
    }

    /// Reads the requests in a thread of its own from now on. That thread ends this process soon
    /// after standard input has ended, or as soon as no byte has come for the time of the `lease`.
    /// Not for a guest.
    pub(crate) fn watched(self, lease: Option<Duration>) -> io::Result<Self> {
        let Self::Read(lines) = self else { return Ok(self) };
        if lease.is_none() && is_port() {
            return Ok(Self::Read(lines));
        }
        let (give, given) = sync_channel(AHEAD);
        let reader = Reader { lines, give, lease };
        thread::Builder::new().name("controller".to_owned()).spawn(move || reader.run())?;
        Ok(Self::Given(given))
    }

    /// Waits for the next request; `None` at the end of the input. Empty lines only say that the
    /// controller lives.
    ///
    /// # Errors
    /// Standard input failed; a line is too long.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, ServeError> {
        match self {
            Self::Given(given) => Ok(given.recv().ok().transpose()?),
            Self::Read(lines) => loop {
                match lines.next_message()? {
                    Some(line) => return Ok(Some(Line::new(line))),
                    None if read_piece(lines)? => {}
                    None => return Ok(None),
                }
            },
        }
    }

    /// Waits for the next request until `limit`. A guest's port is waited for without a limit: the
    /// sockets of a guest are in a network that ends with it.
    pub(crate) fn next_before(&mut self, limit: Option<Instant>) -> Result<NextLine, ServeError> {
        if let (Self::Given(given), Some(limit)) = (&*self, limit) {
            match given.recv_timeout(limit.saturating_duration_since(Instant::now())) {
                Ok(line) => return Ok(NextLine::Line(line?)),
                Err(RecvTimeoutError::Timeout) => return Ok(NextLine::Late),
                Err(RecvTimeoutError::Disconnected) => return Ok(NextLine::End),
            }
        }
        Ok(self.next()?.map_or(NextLine::End, NextLine::Line))
    }
}

/// Whether standard input is a guest's port. One thread reads it and does not poll: in Linux's
/// virtio_console another thread that polls a port can take bytes before their interrupt is
/// handled, which then wakes nobody, and the reading thread sleeps on (seen in 6.1 with two virtual
/// CPUs: `port_fops_poll`, `get_inbuf`, `vring_interrupt`). The end of a port need not be noticed:
/// QEMU ends with the controller.
fn is_port() -> bool {
    let about = io::stdin().as_fd().try_clone_to_owned().and_then(|input| File::from(input).metadata());
    about.is_ok_and(|about| about.file_type().is_char_device())
}

/// Reads the available bytes; returns whether there were any.
fn read_piece(lines: &mut LineReader) -> io::Result<bool> {
    let mut piece = [0u8; 16 << 10];
    loop {
        match nix::unistd::read(io::stdin(), &mut piece) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                lines.push(&piece[..count]);
                return Ok(true);
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// The thread that reads standard input.
struct Reader {
    lines: LineReader,
    give: SyncSender<Result<Line, FrameError>>,
    lease: Option<Duration>,
}

impl Reader {
    fn run(mut self) {
        while self.hand_over() && self.read_more() {}
        let Self { give, .. } = self;
        drop(give);
        thread::sleep(LAST_WORDS);
        end();
    }

    /// Waits for bytes and reads them; returns whether more may come.
    fn read_more(&mut self) -> bool {
        let waits = self.lease.map_or([None; 2], |lease| waits(lease).map(Some));
        if waits.into_iter().all(|wait| poll(libc::POLLIN, wait) == 0) {
            end();
        }
        // A read error ends the session like the controller's end.
        read_piece(&mut self.lines).unwrap_or(false)
    }

    /// Hands complete lines over; returns whether more may come.
    fn hand_over(&mut self) -> bool {
        loop {
            match self.lines.next_line() {
                Ok(None) => return true,
                Ok(Some(line)) if line.is_empty() => output::sign_of_life(),
                Ok(Some(line)) => {
                    if !self.give(Ok(Line::new(line))) {
                        return false;
                    }
                }
                Err(error) => {
                    self.give(Err(error));
                    return false;
                }
            }
        }
    }

    /// Hands one line or error over; `false` if the controller is gone or the answering thread has
    /// ended. Bytes behind a line that cannot be handed over stay unread, and extend no lease.
    fn give(&self, mut line: Result<Line, FrameError>) -> bool {
        let mut waited = Duration::ZERO;
        loop {
            match self.give.try_send(line) {
                Ok(()) => return true,
                Err(TrySendError::Disconnected(_)) => return false,
                Err(TrySendError::Full(back)) => line = back,
            }
            if poll(libc::POLLRDHUP, Some(STEP)) > 0 {
                return false;
            }
            waited += STEP;
            if self.lease.is_some_and(|lease| waited >= lease) {
                end();
            }
        }
    }
}

/// Waits until standard input is ready, for at most `limit`; returns 0 if it is not. The end of the
/// controller counts as ready.
fn poll(events: libc::c_short, limit: Option<Duration>) -> libc::c_int {
    let milliseconds =
        limit.map_or(-1, |limit| libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX));
    let mut watched = libc::pollfd { fd: libc::STDIN_FILENO, events, revents: 0 };
    loop {
        // SAFETY: one valid pollfd that lives through the call, and a count of one.
        let ready = unsafe { libc::poll(&raw mut watched, 1, milliseconds) };
        // Signals that could interrupt it are ignored; any other one starts the time again.
        if ready >= 0 || Errno::last() != Errno::EINTR {
            return ready;
        }
    }
}

/// Ends this process at once, whatever its other threads do.
fn end() -> ! {
    // SAFETY: ends the process at once; it has nothing to save.
    unsafe { libc::_exit(0) }
}
