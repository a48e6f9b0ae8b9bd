//! How far a session is, and how long the rest should take.

use std::time::{Duration, Instant};

/// Counts runs and foretells the end from the pace so far.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    done: usize,
    of: usize,
    planned_per_run: Duration,
}

impl Progress {
    pub(crate) fn new(of: usize, planned: Duration) -> Self {
        let planned_per_run = planned / u32::try_from(of.max(1)).unwrap_or(u32::MAX);
        Self { started: Instant::now(), done: 0, of, planned_per_run }
    }

    pub(crate) fn step(&mut self) {
        self.done += 1;
    }

    /// Runs that failed and are tried again make the session longer than planned.
    pub(crate) fn lengthen(&mut self, runs: usize) {
        self.of += runs;
    }

    pub(crate) fn done(&self) -> usize {
        self.done
    }

    pub(crate) fn of(&self) -> usize {
        self.of
    }

    /// The pace so far includes building testbeds and settling switches, which the plan can only guess.
    pub(crate) fn left(&self) -> Duration {
        let pace = match u32::try_from(self.done) {
            Ok(done) if done > 0 => self.started.elapsed() / done,
            _ => self.planned_per_run,
        };
        pace * u32::try_from(self.of.saturating_sub(self.done)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_the_first_run_the_plan_is_all_there_is() {
        assert_eq!(Progress::new(10, Duration::from_secs(20)).left(), Duration::from_secs(20));
        assert_eq!(Progress::new(0, Duration::from_secs(20)).left(), Duration::ZERO);
    }

    #[test]
    fn what_is_left_shrinks_to_nothing() {
        let mut progress = Progress::new(2, Duration::from_secs(2));
        progress.step();
        progress.lengthen(1);
        progress.step();
        progress.step();
        assert_eq!((progress.done(), progress.of(), progress.left()), (3, 3, Duration::ZERO));
    }
}
