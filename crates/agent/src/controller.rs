//! The controller, as its agent sees it, at the other end of standard input. A thread of its own
//! reads it, so that the controller's end or silence is noticed in any request. It shares no locks
//! with working threads but those of the queue and the output, between requests.
//!
//! [`crate::undo_process`] undoes changes, not this module.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use nix::errno::Errno;
use nix::poll::PollFlags;

use crate::error::ServeError;
use crate::frame::{Deadline, FrameError, LineReader, RequestHeader};
use crate::interrupt::is_ready;

// Time after the end of the input, to answer quick requests and give up work.
const LAST_WORDS: Duration = Duration::from_millis(500);

// The most requests that wait while one is answered. A controller sends one ahead.
const AHEAD: usize = 4;

// The reader tries to hand over a request this often while [`AHEAD`] requests wait.
const STEP: Duration = Duration::from_millis(50);

pub(crate) enum Requests {
    Read(LineReader),
    Given(Receiver<Result<ReceivedLine, FrameError>>),
}

pub(crate) struct ReceivedLine {
    pub(crate) bytes: Vec<u8>,
    came: Instant,
}

impl ReceivedLine {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, came: Instant::now() }
    }

    pub(crate) fn open(&self) -> Result<(u64, Deadline, &[u8]), FrameError> {
        let (RequestHeader { id, within }, request) = RequestHeader::read(&self.bytes)?;
        Ok((id, Deadline::new(self.came, within), request))
    }
}

impl Requests {
    /// The thread ends this process soon after standard input, or after a `lease` without a byte.
    /// Not for a guest.
    pub(crate) fn watched(self, lease: Option<Duration>) -> io::Result<Self> {
        let Self::Read(lines) = self else { return Ok(self) };
        if lease.is_none() && is_port() {
            return Ok(Self::Read(lines));
        }
        let (give, given) = sync_channel(AHEAD);
        let reader = ControllerReader { lines, give, lease };
        thread::Builder::new().name("controller".to_owned()).spawn(move || reader.run())?;
        Ok(Self::Given(given))
    }

    /// `None` at the end of the input.
    pub(crate) fn next(&mut self) -> Result<Option<ReceivedLine>, ServeError> {
        match self {
            Self::Given(given) => Ok(given.recv().ok().transpose()?),
            Self::Read(lines) => loop {
                // Empty lines only say that the controller lives.
                match lines.next_message()? {
                    Some(line) => return Ok(Some(ReceivedLine::new(line))),
                    None if read_piece(lines)? => {}
                    None => return Ok(None),
                }
            },
        }
    }

    /// `None` at the limit too.
    pub(crate) fn next_before(&mut self, limit: Option<Instant>) -> Result<Option<ReceivedLine>, ServeError> {
        // At a guest's port there is none: a guest's sockets are in a network that ends with it.
        if let (Self::Given(given), Some(limit)) = (&*self, limit) {
            let line = given.recv_timeout(limit.saturating_duration_since(Instant::now()));
            return Ok(line.ok().transpose()?);
        }
        self.next()
    }
}

// One thread reads a guest's port and does not poll: in Linux's virtio_console another thread that
// polls a port can take bytes before their interrupt is handled, which then wakes nobody (seen in
// 6.1: `port_fops_poll`, `get_inbuf`, `vring_interrupt`). QEMU ends with the controller.
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

struct ControllerReader {
    lines: LineReader,
    give: SyncSender<Result<ReceivedLine, FrameError>>,
    lease: Option<Duration>,
}

impl ControllerReader {
    fn run(mut self) {
        while self.hand_over() && self.read_more() {}
        drop(self.give);
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
                    if !self.give(Ok(ReceivedLine::new(line))) {
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

    /// `false` if nobody is left.
    fn give(&self, mut line: Result<ReceivedLine, FrameError>) -> bool {
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
            // Bytes behind a line that stays here extend no lease.
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

// A machine that was paused or starved wakes with the first wait expired and the signs of life in
// sshd's socket: they arrive during the second wait.
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

// A write takes a page without waiting as soon as a pipe has any room; sockets and ports have more.
// Other processes share this output, so it cannot be set to non-blocking.
const PIECE: usize = 4096;

/// On an error the controller may have a part of the line.
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

pub(crate) fn sign_of_life() {
    // While an answer is written, its bytes say the same.
    let Ok(_whole) = WHOLE.try_lock() else { return };
    let out = io::stdout();
    // A write must not wait: the caller also watches the lease.
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
