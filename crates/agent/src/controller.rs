//! The controller, as its agent sees it: whoever holds the other end of its standard input.

use std::io;
use std::thread;
use std::time::Duration;

/// How long an agent goes on after its input has ended. What was asked before and is quick gets its
/// answer; work is given up.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Ends this process soon after its standard input has ended, whatever its other threads do then:
/// there is nobody left to do it for, and all that the agent made ends with it. Until then the
/// thread sleeps.
///
/// # Errors
/// When no thread can be started.
pub(crate) fn end_with_it() -> io::Result<()> {
    let watch = || {
        await_end();
        thread::sleep(LAST_WORDS);
        // SAFETY: ends the process without a word; nothing of it is worth a gentler end.
        unsafe { libc::_exit(0) }
    };
    thread::Builder::new().name("controller".to_owned()).spawn(watch).map(drop)
}

/// Sleeps until nobody can write to standard input any more. What waits there to be read does not
/// wake it.
fn await_end() {
    let mut watched = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one valid pollfd that lives through the call, a count of one, and no end to the wait.
    while unsafe { libc::poll(&raw mut watched, 1, -1) } < 1 {}
}
