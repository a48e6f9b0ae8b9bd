//! How long to wait for a guest's boot. A clock alone does not decide: on a busy machine a healthy
//! guest waits for a CPU.

use std::fmt;
use std::time::Duration;

use crate::threads::Work;

/// How long the virtual CPUs may be idle. A booting guest never is, except while init waits for a
/// device (10 s).
const IDLE: Duration = Duration::from_secs(15);
/// An idle guest may use a CPU for one part in this many: its timers tick.
const TICKS: u32 = 20;

#[derive(Debug)]
pub(crate) struct Patience {
    most: Duration,
    /// When they were last busy, since the start.
    active: Duration,
    looked: Duration,
    wanted: Duration,
}

/// How a guest hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hang {
    /// Its virtual CPUs have been idle for this long.
    Idle(Duration),
    /// They are busy, and have been for this long, without waits for a CPU.
    Busy(Duration),
}

impl Patience {
    /// `most`: how long the boot may take, without waits of the virtual CPUs for a CPU.
    pub(crate) fn new(most: Duration) -> Self {
        Self { most, active: Duration::ZERO, looked: Duration::ZERO, wanted: Duration::ZERO }
    }

    /// Checks the work of the virtual CPUs until `now`, counted from the start; `None`: they do not
    /// exist yet.
    pub(crate) fn look(&mut self, now: Duration, work: Option<Work>) -> Option<Hang> {
        let wanted = work.map_or(Duration::ZERO, |work| work.ran + work.waited);
        let worked = wanted.saturating_sub(self.wanted) > now.saturating_sub(self.looked) / TICKS;
        if work.is_none_or(|work| work.wants) || worked {
            self.active = now;
        }
        (self.looked, self.wanted) = (now, wanted);
        let idle = now.saturating_sub(self.active);
        if idle >= IDLE {
            return Some(Hang::Idle(idle));
        }
        let own = now.saturating_sub(work.map_or(Duration::ZERO, |work| work.waited_longest));
        (own >= self.most).then_some(Hang::Busy(own))
    }
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(time) => write!(f, "its virtual CPUs have had no work for {} s", time.as_secs()),
            Self::Busy(time) => write!(
                f,
                "it could use a CPU for {} s, not counting the time in which it waited for one",
                time.as_secs()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(60);

    /// Simulates a virtual CPU that runs and waits this many milliseconds in each second; returns
    /// the second of the hang.
    fn hangs(ran: u64, waited: u64, wants: bool) -> Option<(u64, Hang)> {
        let mut patience = Patience::new(MOST);
        (1..1000).find_map(|second| {
            let time = |milliseconds: u64| Duration::from_millis(milliseconds * second);
            let work = Work { ran: time(ran), waited: time(waited), waited_longest: time(waited), wants };
            Some((second, patience.look(Duration::from_secs(second), Some(work))?))
        })
    }

    #[test]
    fn a_halted_guest_hangs_soon_and_a_spinning_one_after_its_time() {
        assert_eq!(hangs(5, 0, false), Some((15, Hang::Idle(Duration::from_secs(15)))));
        assert_eq!(hangs(1000, 0, true), Some((60, Hang::Busy(Duration::from_secs(60)))));
    }

    #[test]
    fn time_in_which_it_waits_for_a_cpu_does_not_count() {
        // A tenth of a CPU: ten times as long.
        assert_eq!(hangs(100, 900, false).unwrap().0, 600);
        // Ready to run but without a CPU for long: it waits, it is not idle.
        assert_eq!(hangs(0, 0, true).unwrap().0, 60);
        assert!(matches!(hangs(40, 40, false), Some((63, Hang::Busy(_)))));
    }

    #[test]
    fn before_there_are_virtual_cpus_only_the_clock_tells() {
        let mut patience = Patience::new(MOST);
        let hang = (1..1000).find_map(|second| patience.look(Duration::from_secs(second), None));
        assert_eq!(hang, Some(Hang::Busy(MOST)));
        let work = Some(Work::default());
        assert_eq!(patience.look(Duration::from_secs(61), work), Some(Hang::Busy(Duration::from_secs(61))));
    }
}
