//! Distinguishes a stalled lane from one that waits for its turn.

use crate::error::Result;
use crate::lane::Lane;
use crate::socket::stall;

/// Checks every lane now and then, and fails if one makes no progress for too long.
pub(crate) struct Patience {
    /// The limit, ns.
    limit: u64,
    /// The time of the next check.
    next: u64,
    /// Each lane's progress, and when it was first seen.
    seen: Vec<(u64, u64)>,
}

impl Patience {
    pub(crate) fn new(lanes: &[Lane]) -> Self {
        let limit = u64::try_from(stall(lanes[0].flows()).as_nanos()).unwrap_or(u64::MAX);
        Self { limit, next: 0, seen: vec![(u64::MAX, 0); lanes.len()] }
    }

    /// `progress` is a count that grows with every action of a lane's peer.
    pub(crate) fn look(
        &mut self,
        lanes: &[Lane],
        now: u64,
        silent: &'static str,
        progress: impl Fn(usize) -> u64,
    ) -> Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + self.limit / 8;
        for (at, seen) in self.seen.iter_mut().enumerate() {
            let progress = progress(at);
            if seen.0 != progress {
                *seen = (progress, now);
            } else if now - seen.1 >= self.limit {
                return Err(lanes[at].stalled(silent));
            }
        }
        Ok(())
    }
}
