//! The agent's view of its controller: the other end of its standard input.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::thread;
use std::time::Duration;

/// How long an agent continues after its input has ended: it still answers quick requests, and
/// gives up work.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Whether the controller's end has to be watched for. A guest's port must not be: in Linux's
/// virtio_console a second thread that polls a port can take what has arrived before its interrupt
/// is handled, which then wakes nobody, and the thread that reads sleeps on (seen in 6.1 with two
/// virtual CPUs: `port_fops_poll`, `get_inbuf`, `vring_interrupt`). Nor need it be: QEMU ends with
/// the controller.
fn is_watched() -> bool {
    let about = io::stdin().as_fd().try_clone_to_owned().and_then(|input| File::from(input).metadata());
    !about.is_ok_and(|about| about.file_type().is_char_device())
}

/// Ends this process soon after its standard input has ended, whatever its other threads do then:
/// there is nobody left to do it for, and all that the agent made ends with it. Until then the
/// thread sleeps. In a guest there is none.
///
/// # Errors
/// When no thread can be started.
pub(crate) fn end_with_it() -> io::Result<()> {
    if !is_watched() {
        return Ok(());
    }
    let watch = || {
        await_end();
        thread::sleep(LAST_WORDS);
        // SAFETY: ends the process at once; it has nothing to save.
        unsafe { libc::_exit(0) }
    };
    thread::Builder::new().name("controller".to_owned()).spawn(watch).map(drop)
}

/// Sleeps until nobody can write to standard input any more. Waiting bytes do not wake it.
fn await_end() {
    let mut watched = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one valid pollfd that lives through the call, a count of one, and no time limit.
    while unsafe { libc::poll(&raw mut watched, 1, -1) } < 1 {}
}
