//! A bound of the reads of what another program writes.

use std::thread;
use std::time::{Duration, Instant};

// The time between two reads in the long run: with 16 KiB each, 16 MiB arrive in a second.
const INTERVAL: Duration = Duration::from_millis(1);

// The reads that need no wait, as time: twice the longest message arrives in that many.
const BURST: Duration = Duration::from_secs(2);

/// Bounds the reads per second: endless output fills the pipe, and blocks its writer.
#[derive(Debug)]
pub struct ReadLimiter {
    ahead: Duration,
    then: Instant,
}

impl Default for ReadLimiter {
    fn default() -> Self {
        Self { ahead: Duration::ZERO, then: Instant::now() }
    }
}

impl ReadLimiter {
    /// Counts a read, and waits until the next one may follow.
    pub fn pause(&mut self) {
        let now = Instant::now();
        self.ahead = self.ahead.saturating_sub(now - self.then) + INTERVAL;
        self.then = now;
        thread::sleep(self.ahead.saturating_sub(BURST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_thousand_reads_need_no_wait_and_each_one_after_them_does() {
        let begun = Instant::now();
        let mut pace = ReadLimiter::default();
        (0..2000).for_each(|_| pace.pause());
        assert!(pace.ahead <= BURST);
        (0..50).for_each(|_| pace.pause());
        assert!(begun.elapsed() >= INTERVAL * 49, "{:?}", begun.elapsed());
        // A reader that was idle may not read more often afterwards.
        pace.then -= BURST * 2;
        pace.pause();
        assert_eq!(pace.ahead, INTERVAL);
    }
}
