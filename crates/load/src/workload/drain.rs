//! Receives queued data after the sender has ended.

use std::time::Duration;

use crate::error::Result;
use crate::lane::{ABORT, Lane};
use crate::sys;

/// Silence after its sender's end after which a socket is empty for good, in ns.
const IDLE: u64 = 25_000_000;
/// Checks in a row that must find nothing: on a busy machine the kernel's delivery waits for a CPU
/// too.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

/// Receives until nothing has come for [`IDLE`]. `ABORT` bounds it. `take` receives without waiting
/// and returns whether anything came.
pub(crate) fn drain_with(lane: &Lane, mut take: impl FnMut() -> Result<bool>) -> Result<()> {
    let (mut idle_since, mut looks) = (sys::now(), 0);
    while lane.phase().load() < ABORT {
        if take()? {
            (idle_since, looks) = (0, 0);
            continue;
        }
        let now = sys::now();
        if idle_since == 0 {
            idle_since = now;
        }
        looks += 1;
        if looks >= LOOKS && now - idle_since >= IDLE {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
