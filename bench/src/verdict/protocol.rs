//! Protocols: what is measured, in which order, when it is judged and how.

use std::time::Duration;

use stats::Design;
use stats::planning::{Cost, Family, Goal, Noise, Plan};
use stats::sequential::{Bounds, Schedule};
use study::{Order, Percent, PlannedRun, Stop};

/// Conditions: the baseline and the one that differs from it.
pub(crate) const CONDITIONS: usize = 2;

/// Of all looks together.
pub(super) const ERROR_RATE: f64 = 0.05;

/// How the data become a verdict.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rule {
    /// Student's t over all runs, as ministat does.
    PooledRuns,
    /// netassay's inference on boot means, once all is measured.
    BootMeans,
    /// The same at planned looks: proven to differ, or proven to differ by less than `detect`.
    Looks { detect: Percent, schedule: Schedule },
}

/// A protocol.
#[derive(Debug, Clone)]
pub(crate) struct Protocol {
    pub(crate) name: &'static str,
    pub(crate) rule: Rule,
    schedule: study::Protocol,
    pub(crate) ramp: Duration,
    pub(crate) window: Duration,
}

/// What boots and runs cost beyond ramps and windows, in s.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub(crate) struct Costs {
    /// Building the testbed and taking it down.
    pub(crate) boot: f64,
    /// Opening and closing the sockets, and settling the account.
    pub(crate) run: f64,
}

/// The runs of netassay's own protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Short {
    pub(crate) boots: u32,
    pub(crate) runs: u32,
    pub(crate) ramp: Duration,
    pub(crate) window: Duration,
}

/// The most boots and runs of a plan.
const MOST_BOOTS: u32 = 1000;
const MOST_RUNS: u32 = 100;
/// Fewer cannot be looked at five times.
const FEWEST_BOOTS: u32 = Stop::LOOKS + 1;

impl Short {
    /// As `netassay plan` does: the cheapest size that shows a difference of `detect` with this
    /// `power`, given the standard deviations of condition x boot and of runs in %. None if no size
    /// up to 1000 boots of 100 runs does.
    pub(crate) fn planned(
        detect: Percent,
        power: f64,
        (cell, run): (f64, f64),
        costs: Costs,
        (ramp, window): (Duration, Duration),
    ) -> Option<Self> {
        let plan = Plan {
            design: Design::Crossed,
            conditions: CONDITIONS,
            noise: Noise { cell, run },
            family: Family::Alone,
            alpha: ERROR_RATE,
            looks: Some((Bounds::ObrienFleming, Stop::LOOKS)),
        };
        let goal = Goal { delta: detect.value(), power, boots_at_most: MOST_BOOTS, runs_at_most: MOST_RUNS };
        let run = (ramp + window).as_secs_f64() + costs.run;
        // A boot's warm-up runs do not depend on the number of its runs.
        let cost = Cost { boot: costs.boot + CONDITIONS as f64 * run, run };
        let choice = plan.cheapest(goal, cost)?;
        Some(Self { boots: choice.boots.max(FEWEST_BOOTS), runs: choice.runs, ramp, window })
    }
}

impl Protocol {
    /// R1's: 3 boots, in each of them one condition after the other, a warm-up run and 10 recorded
    /// ones, no ramp.
    pub(crate) fn of_r1(name: &'static str, rule: Rule, window: Duration) -> Self {
        let schedule = study::Protocol { order: Order::Sequential, ..study::Protocol::default() };
        Self { name, rule, schedule, ramp: Duration::ZERO, window }
    }

    /// netassay's: interleaved, short runs, five looks with O'Brien and Fleming's bounds.
    pub(crate) fn of_netassay(name: &'static str, detect: Percent, short: Short) -> Self {
        let stop = Stop { detect, looks: Stop::LOOKS, bounds: study::Bounds::ObrienFleming };
        let schedule = study::Protocol {
            boots: short.boots,
            runs: short.runs,
            order: Order::Interleaved,
            stop: Some(stop),
            ..study::Protocol::default()
        };
        let looks = Schedule { bounds: Bounds::ObrienFleming, looks: stop.looks, boots: short.boots };
        let rule = Rule::Looks { detect, schedule: looks };
        Self { name, rule, schedule, ramp: short.ramp, window: short.window }
    }

    /// Without looks: everything is measured, whatever comes of it.
    pub(crate) fn of_components(boots: u32, runs: u32, ramp: Duration, window: Duration) -> Self {
        let schedule = study::Protocol { boots, runs, ..study::Protocol::default() };
        Self { name: "components", rule: Rule::BootMeans, schedule, ramp, window }
    }

    /// Boots and runs at most, in words.
    pub(crate) fn size(&self) -> String {
        format!("{} x (1 + {})", self.schedule.boots, self.schedule.runs)
    }

    /// After which boots the data are judged, in order; the last is the last boot.
    pub(crate) fn looks(&self) -> Vec<u32> {
        let boots = self.schedule.boots;
        self.schedule.stop.map_or_else(|| vec![boots], |stop| stop.after(boots).collect())
    }

    /// The runs of each boot, in order.
    pub(crate) fn runs(&self) -> Vec<Vec<PlannedRun>> {
        study::schedule(&[0; CONDITIONS], &self.schedule)
    }

    /// What `boots` boots take, in s: building, warm-ups, ramps and windows.
    pub(crate) fn seconds(&self, boots: u32, costs: Costs) -> f64 {
        let runs = CONDITIONS as f64 * f64::from(self.schedule.warmup + self.schedule.runs);
        let run = (self.ramp + self.window).as_secs_f64() + costs.run;
        f64::from(boots) * (costs.boot + runs * run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { boot: 0.5, run: 0.0 };

    #[test]
    fn r1_takes_eleven_minutes() {
        let protocol = Protocol::of_r1("a", Rule::PooledRuns, Duration::from_secs(10));
        assert_eq!(protocol.looks(), [3]);
        assert_eq!(protocol.seconds(3, COSTS), 3.0 * (0.5 + 2.0 * 11.0 * 10.0));
        let boot = &protocol.runs()[0];
        assert_eq!(boot.len(), 22);
        assert!(boot.is_sorted_by_key(|run| run.condition));
    }

    #[test]
    fn smaller_differences_take_more() {
        let lengths = (Duration::from_millis(100), Duration::from_millis(200));
        let planned = |detect: &str, spread| {
            Short::planned(Percent::parse(detect).unwrap(), 0.9, spread, COSTS, lengths)
        };
        let time = |detect: &str| {
            let short = planned(detect, (0.5, 2.0)).unwrap();
            let protocol = Protocol::of_netassay("", Percent::parse(detect).unwrap(), short);
            protocol.seconds(short.boots, COSTS)
        };
        assert!(
            time("5%") < time("2%") && time("2%") < time("1%"),
            "{} {} {}",
            time("5%"),
            time("2%"),
            time("1%")
        );
        assert_eq!(planned("5%", (0.0, 0.1)).unwrap().boots, FEWEST_BOOTS);
        assert!(planned("0.01%", (5.0, 2.0)).is_none());
    }

    #[test]
    fn netassay_looks_five_times() {
        let milli = Duration::from_millis;
        let short = Short { boots: 20, runs: 2, ramp: milli(100), window: milli(200) };
        let protocol = Protocol::of_netassay("c", Percent::parse("2%").unwrap(), short);
        assert_eq!(protocol.looks(), [4, 8, 12, 16, 20]);
        let Rule::Looks { schedule, .. } = &protocol.rule else { panic!("it looks") };
        assert_eq!(schedule.after(), protocol.looks());
        assert!((protocol.seconds(4, COSTS) - 4.0 * (0.5 + 2.0 * 3.0 * 0.3)).abs() < 1e-9);
    }
}
