//! Taking what is still queued once the sender has ended.

use std::time::Duration;

use crate::counts::Tally;
use crate::error::Result;
use crate::lane::Lane;
use crate::phase::ABORT;
use crate::sys;

/// A socket on which nothing arrives for this long, in ns, after its sender has ended is empty for good.
const IDLE: u64 = 25_000_000;
const PAUSE: Duration = Duration::from_millis(1);

/// Receives until nothing has come for [`IDLE`]. Whoever stops the threads bounds it by `ABORT`. Returns the size of the
/// last datagram, `last` if there was none.
pub(crate) fn drain(lane: &Lane, room: &mut [u8], tally: &mut Tally, mut last: usize) -> usize {
    // Nothing in here fails.
    let _ = drain_with(lane, || {
        let got = sys::receive(lane.fd, room, libc::MSG_DONTWAIT);
        if got > 0 {
            tally.message(got as u64);
            last = got as usize;
        }
        Ok(got > 0)
    });
    last
}

/// The same for whatever `take` does to receive without waiting; it tells whether anything came.
///
/// # Errors
/// What `take` fails with.
pub(crate) fn drain_with(lane: &Lane, mut take: impl FnMut() -> Result<bool>) -> Result<()> {
    let mut idle_since = sys::now();
    while lane.phase().load() < ABORT {
        if take()? {
            idle_since = 0;
            continue;
        }
        let now = sys::now();
        if idle_since == 0 {
            idle_since = now;
        }
        if now - idle_since >= IDLE {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
