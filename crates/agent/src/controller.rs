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
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use nix::errno::Errno;
use nix::poll::PollFlags;

use crate::error::ServeError;
use crate::frame::{Deadline, FrameError, LineReader, RequestHeader};
use crate::interrupt::is_ready;

// The time for which an agent continues after its input has ended: it still answers quick
// requests, and gives up work.
const LAST_WORDS: Duration = Duration::from_millis(500);

// The most requests that wait while one is answered. A controller sends one ahead.
const AHEAD: usize = 4;

// The interval at which the reader tries to hand over a request while [`AHEAD`] requests wait.
const STEP: Duration = Duration::from_millis(50);

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

pub(crate) enum NextLine {
    Line(Line),
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

    fn read_more(&mut self) -> bool {
        let waits = self.lease.map_or([None; 2], |lease| waits(lease).map(Some));
        let is_silent = |wait| matches!(is_ready(io::stdin().as_fd(), PollFlags::POLLIN, wait), Ok(false));
        if waits.into_iter().all(is_silent) {
            end();
        }
        // A read error ends the session like the controller's end.
        read_piece(&mut self.lines).unwrap_or(false)
    }

    fn hand_over(&mut self) -> bool {
        loop {
            match self.lines.next_line() {
                Ok(None) => return true,
                Ok(Some(line)) if line.is_empty() => sign_of_life(),
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
            let hung_up = PollFlags::from_bits_retain(libc::POLLRDHUP);
            if matches!(is_ready(io::stdin().as_fd(), hung_up, Some(STEP)), Ok(true)) {
                return false;
            }
            waited += STEP;
            if self.lease.is_some_and(|lease| waited >= lease) {
                end();
            }
        }
    }
}

fn end() -> ! {
    // SAFETY: ends the process at once; it has nothing to save.
    unsafe { libc::_exit(0) }
}

// The time in which signs of life that have reached a machine reach the waiting process.
const DELIVERY: Duration = Duration::from_secs(1);

/// The two waits that make up a lease. A machine that was paused or starved wakes with the first
/// wait expired and the signs of life in sshd's socket: they arrive during the second wait.
pub(crate) fn waits(lease: Duration) -> [Duration; 2] {
    let last = DELIVERY.min(lease / 2);
    [lease - last, last]
}

/// Waits until standard input ends, or no byte has come for the time of the lease.
pub fn await_lease_end(lease: Duration) -> io::Result<()> {
    let input = io::stdin();
    let is_silent = |time| Ok::<_, io::Error>(!is_ready(input.as_fd(), PollFlags::POLLIN, Some(time))?);
    let [first, last] = waits(lease);
    let mut piece = [0; 1024];
    while !(is_silent(first)? && is_silent(last)?) {
        match nix::unistd::read(&input, &mut piece) {
            Ok(0) => break,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

// Held while a line is written, so that no sign of life comes between its parts.
static WHOLE: Mutex<()> = Mutex::new(());

// The number of bytes that a write takes without waiting as soon as there is room for any: a page
// of a pipe; sockets and a guest's port have more room. Other processes share this output, so it
// cannot be set to non-blocking.
const PIECE: usize = 4096;

/// Writes a complete line, until `limit`.
///
/// # Errors
/// The controller is gone, or does not read: then it may have a part of the line.
pub(crate) fn write_line(line: &[u8], limit: Instant) -> Result<(), ServeError> {
    // A thread that panicked has written nothing since.
    let _whole = WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
    let out = io::stdout();
    let mut rest = line;
    while !rest.is_empty() {
        let left = limit.saturating_duration_since(Instant::now());
        if !is_ready(out.as_fd(), PollFlags::POLLOUT, Some(left))? {
            return Err(ServeError::NotReading);
        }
        match nix::unistd::write(&out, &rest[..rest.len().min(PIECE)]) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
    }
    Ok(())
}

/// Writes an empty line: this agent lives. Skipped while an answer is written, whose bytes say the
/// same, and where the write would wait for a controller that does not read: the caller also
/// watches the lease.
pub(crate) fn sign_of_life() {
    let Ok(_whole) = WHOLE.try_lock() else { return };
    let out = io::stdout();
    if matches!(is_ready(out.as_fd(), PollFlags::POLLOUT, Some(Duration::ZERO)), Ok(true)) {
        // The end of standard input shows that the controller is gone.
        let _ = nix::unistd::write(&out, b"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    use std::thread::sleep;

    const LEASE: Duration = Duration::from_millis(600);
    const TEST: &str =
        "controller::tests::a_machine_that_was_paused_for_longer_than_the_lease_waits_for_what_has_arrived";
    const HOLDS: &str = "NETASSAY_TEST_HOLDS";

    #[test]
    fn a_machine_that_was_paused_for_longer_than_the_lease_waits_for_what_has_arrived() {
        if std::env::var_os(HOLDS).is_some() {
            return await_lease_end(LEASE).unwrap();
        }
        let mut holders = [true, false].map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", TEST]).env(HOLDS, "1");
            command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
        });
        let signal = |signal: &str| {
            let numbers = holders.each_ref().map(|holder| holder.id().to_string());
            assert!(Command::new("kill").arg(signal).args(numbers).status().unwrap().success());
        };
        sleep(LEASE / 3);
        signal("-STOP");
        sleep(LEASE * 3 / 2);
        signal("-CONT");
        // sshd was paused too: it has a sign for one of them.
        sleep(LEASE / 10);
        holders[0].stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        sleep(LEASE * 2 / 3);
        assert_eq!(holders.each_mut().map(|holder| holder.try_wait().unwrap().is_some()), [false, true]);
        // The end of its input.
        assert!(holders[0].wait().unwrap().success());
    }
}
