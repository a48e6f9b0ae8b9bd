//! How many bytes wake a sleeping receiver of a TCP stream.
//!
//! By default every segment that arrives wakes it, and waking a CPU costs the sender's side more than the segment does:
//! an interrupt between CPUs, in a guest even an exit to the hypervisor. A receiver that only wants the bytes says so
//! with `SO_RCVLOWAT` and is woken for a batch. Batches are kept so small in time that the counters, read at the
//! window's edges, lag behind by no more than [`LAG`].

use std::os::fd::RawFd;

use crate::counts::Tally;
use crate::sys;

/// The longest that received bytes may lie uncounted, in ns: 0.05 % of a window of one second.
const LAG: u64 = 500_000;
/// The largest batch in bytes: two of the largest segments.
const MOST: u64 = 128 << 10;
/// How often the rate is looked at, in ns.
const STEP: u64 = 10_000_000;

/// Fits the batch to the rate of the flow while the run ramps up.
pub(crate) struct Wakeup {
    since: u64,
    bytes: u64,
    batch: u64,
}

impl Wakeup {
    pub(crate) fn new() -> Self {
        Self { since: sys::now(), bytes: 0, batch: 1 }
    }

    /// Looks at the clock and, every [`STEP`], at the rate.
    pub(crate) fn adapt(&mut self, fd: RawFd, tally: &Tally) {
        let now = sys::now();
        let time = now - self.since;
        if time < STEP {
            return;
        }
        let batch = batch(tally.bytes - self.bytes, time).min(room(fd));
        if batch != self.batch {
            // A kernel that refuses leaves the batch as it is, which costs speed only.
            let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, batch as libc::c_int);
        }
        *self = Self { since: now, bytes: tally.bytes, batch };
    }
}

/// The batch for a flow that received `bytes` in `time` ns: a power of two, so that it seldom changes.
fn batch(bytes: u64, time: u64) -> u64 {
    let in_lag = bytes.saturating_mul(LAG) / time.max(1);
    1 << in_lag.clamp(1, MOST).ilog2()
}

/// What a batch may take of the receive buffer: a quarter, because the sender must not wait for it to be emptied.
fn room(fd: RawFd) -> u64 {
    let mut size = [0; 4];
    match sys::option(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &mut size) {
        Ok(_) => u64::from(u32::from_ne_bytes(size) / 4).max(1),
        Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fast_flow_is_woken_for_the_largest_batch_and_a_silent_one_for_any_byte() {
        assert_eq!(batch(125_000_000, 100_000_000), MOST);
        assert_eq!(batch(0, 100_000_000), 1);
    }

    proptest! {
        #[test]
        fn a_batch_arrives_within_the_lag(bytes in any::<u64>(), time in 1u64..1 << 40) {
            let batch = batch(bytes, time);
            prop_assert!((1..=MOST).contains(&batch));
            // batch / (bytes / time) <= LAG, unless not even one byte arrives in that time.
            prop_assert!(batch == 1 || u128::from(batch) * u128::from(time) <= u128::from(bytes) * u128::from(LAG));
        }
    }
}
