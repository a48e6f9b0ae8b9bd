//! Telling a lane on which nothing moves from those that only wait their turn.

use crate::error::Result;
use crate::lane::Lane;
use crate::socket::stall;

/// Looks at every lane now and then, and fails for one that has made no progress for too long.
pub(crate) struct Patience {
    /// How long that is, ns.
    limit: u64,
    /// When the lanes are looked at next.
    next: u64,
    /// Each lane's progress, and when it was first seen so.
    seen: Vec<(u64, u64)>,
}

impl Patience {
    pub(crate) fn new(lanes: &[Lane]) -> Self {
        let limit = u64::try_from(stall(lanes[0].flows()).as_nanos()).unwrap_or(u64::MAX);
        Self { limit, next: 0, seen: vec![(u64::MAX, 0); lanes.len()] }
    }

    /// `progress` is a count that grows with everything that a lane's peer does.
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
