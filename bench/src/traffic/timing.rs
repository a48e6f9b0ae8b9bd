//! When the window of a turn opens, and how long it is.

use std::time::Duration;

/// The times of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// From the first traffic to the window.
    pub(crate) ramp: Duration,
    pub(crate) window: Duration,
    /// Beyond both: the traffic is seen a little after it began, and must outlast the window.
    pub(crate) slack: Duration,
    /// How long each further flow delays the window: the programs of many flows start one after the
    /// other.
    pub(crate) each_flow: Duration,
    /// Whether a peer runs to its end and reports its rate; if not, it is ended once the window has
    /// closed.
    pub(crate) awaits_report: bool,
}

/// How much longer than its turn a peer is told to send if it is ended before.
const BEYOND: Duration = Duration::from_secs(60);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl Timing {
    /// Of the parts.
    pub(crate) const OF_PARTS: Self =
        Self { ramp: ms(300), window: ms(500), slack: ms(200), each_flow: ms(5), awaits_report: true };
    /// Of the grid.
    pub(crate) const OF_GRID: Self =
        Self { ramp: ms(100), window: ms(300), slack: ms(300), each_flow: ms(5), awaits_report: false };
    /// Of the grid between virtual machines, which are slow where they are emulated.
    pub(crate) const OF_GUESTS: Self =
        Self { ramp: ms(500), window: ms(1000), slack: ms(1000), each_flow: ms(50), awaits_report: false };
    /// A smoke test runs while other tests do.
    pub(crate) const SMOKE_SLACK: Duration = ms(1500);

    /// The times with so many flows.
    pub(crate) fn with(self, flows: u32) -> Self {
        Self { ramp: self.ramp + self.each_flow * (flows - 1), ..self }
    }

    /// How many seconds a peer is told to send.
    pub(crate) fn peer_seconds(&self) -> u32 {
        let lasts = self.ramp + self.window + self.slack;
        (if self.awaits_report { lasts } else { lasts + BEYOND }).as_secs_f64().ceil() as u32
    }

    /// How long netassay's own traffic lasts beyond the ramp: as long as a peer's.
    pub(crate) fn own_window(&self) -> Duration {
        if self.awaits_report {
            Duration::from_secs(self.peer_seconds().into()).saturating_sub(self.ramp)
        } else {
            self.window + self.slack
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_reports_gets_whole_seconds_and_netassay_lasts_as_long() {
        let grid = Timing::OF_GRID;
        let reports = Timing { awaits_report: true, ..grid };
        assert_eq!((reports.peer_seconds(), reports.own_window()), (1, ms(900)));
        assert_eq!((grid.peer_seconds(), grid.own_window()), (61, ms(600)));
        assert_eq!((grid.with(1).ramp, grid.with(5).ramp), (ms(100), ms(120)));
    }
}
