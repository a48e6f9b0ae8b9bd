//! Protocols: what is measured, in which order, when it is judged and how.

use std::time::Duration;

use stats::Design;
use stats::planning::{Cost, PlannedFamily, PowerGoal, SampleSizePlan};
use stats::sequential::{Schedule, SpendingBounds};
use study::{Alternate, Order, Percent, PlannedRun, Stop, Study, Turn, format_duration};

use crate::failure::Failure;

/// Conditions: the baseline and the one that differs from it.
pub(super) const CONDITIONS: usize = 2;
/// Of all looks together.
pub(super) const ERROR_RATE: f64 = 0.05;

/// How the data become a verdict.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rule {
    /// Student's t over all runs, as ministat does.
    PooledRuns,
    /// netassay's inference on boot means, once all is measured.
    BootMeans,
    /// The same at planned looks: proven to differ, or proven to differ by less than `detect`.
    Looks { detect: Percent, schedule: Schedule },
}

#[derive(Debug, Clone)]
pub(super) struct Protocol {
    pub(super) name: String,
    pub(super) rule: Rule,
    schedule: study::Protocol,
    pub(super) ramp: Duration,
    pub(super) window: Duration,
    /// The study whose two conditions share a flow in each block; none: each has runs of its own.
    turns: Option<study::Plan>,
}

/// What boots and runs cost beyond ramps and windows, in s.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, clap::Args)]
pub(super) struct Costs {
    /// Seconds that building a boot takes
    #[arg(long = "boot-cost", default_value_t = 0.02, value_parser = number)]
    pub(super) boot: f64,
    /// Seconds that a run takes beyond ramp and window
    #[arg(long = "run-cost", default_value_t = 0.035, value_parser = number)]
    pub(super) run: f64,
}

/// A spread or a time, for the command line.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=10_000.0).contains(&number) { Ok(number) } else { Err("0 to 10000".to_owned()) }
}

/// The most boots and runs of a plan.
const MOST_BOOTS: u32 = 1000;
const MOST_RUNS: u32 = 100;
/// Fewer cannot be looked at five times.
const FEWEST_BOOTS: u32 = Stop::LOOKS + 1;
/// The power that netassay's protocol is planned for.
const POWER: f64 = 0.9;

/// The least boots, and runs of each condition in each, that prove a difference of `detect`, as
/// `netassay study plan` finds them, given the standard deviations of condition x boot and of runs
/// in %, what a run costs in s, and the warm-up runs of each condition in each boot. None if no
/// size up to 1000 boots of 100 runs does.
pub(super) fn planned(
    detect: Percent,
    (cell, run): (f64, f64),
    costs: Costs,
    warmup: u32,
) -> Option<(u32, u32)> {
    let plan = SampleSizePlan {
        design: Design::Crossed,
        conditions: CONDITIONS,
        cell,
        run,
        family: PlannedFamily::Alone,
        alpha: ERROR_RATE,
        looks: Some((SpendingBounds::ObrienFleming, Stop::LOOKS)),
    };
    let goal =
        PowerGoal { delta: detect.value(), power: POWER, boots_at_most: MOST_BOOTS, runs_at_most: MOST_RUNS };
    // A boot's warm-up runs do not depend on the number of its runs.
    let warmups = CONDITIONS as f64 * f64::from(warmup);
    let cost = Cost { boot: costs.boot + warmups * costs.run, run: costs.run };
    let choice = plan.cheapest(goal, cost)?;
    Some((choice.boots.max(FEWEST_BOOTS), choice.runs))
}

impl Protocol {
    /// R1's: 3 boots, in each of them one condition after the other, a warm-up run and 10 recorded
    /// ones, no ramp.
    pub(super) fn of_r1(name: &str, rule: Rule, window: Duration) -> Self {
        let schedule = study::Protocol { order: Order::Sequential, ..study::Protocol::default() };
        Self { name: name.to_owned(), rule, schedule, ramp: Duration::ZERO, window, turns: None }
    }

    /// netassay's: interleaved, short runs, five looks with O'Brien and Fleming's bounds.
    pub(super) fn of_netassay(
        detect: Percent,
        (boots, runs): (u32, u32),
        (ramp, window): (Duration, Duration),
    ) -> Self {
        let stop = Self::stop(detect);
        let (order, default) = (Order::Interleaved, study::Protocol::default());
        let schedule = study::Protocol { boots, runs, order, stop: Some(stop), ..default };
        let name = format!("(c) netassay, detect {detect}: {boots} x (1 + {runs})");
        Self { name, rule: Self::looking(detect, boots), schedule, ramp, window, turns: None }
    }

    /// The same with turns in flows of both conditions, each of which is counted for `window` in a
    /// flow. There are no warm-up runs: the first turn of a flow is not counted.
    pub(super) fn in_turns(
        detect: Percent,
        (boots, runs): (u32, u32),
        (ramp, window): (Duration, Duration),
        turn: Duration,
    ) -> Result<Self, Failure> {
        let text = format!(
            "name = \"turns\"\nquestion = \"?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"udp_stream\"\n\
             ramp = \"{}\"\nduration = \"{}\"\n[factors]\ntwin = [\"a\", \"b\"]\n\
             [protocol]\nalternate = \"{}\"\n",
            format_duration(ramp),
            format_duration(window),
            format_duration(turn)
        );
        let plan = Study::parse("turns", &text).map_err(Failure::failed)?.plan();
        let stop = Some(Self::stop(detect));
        let schedule = study::Protocol { boots, runs, warmup: 0, stop, ..plan.asked.protocol.clone() };
        let counted = format_duration(window);
        let name = format!("(d) in turns, detect {detect}: {boots} x {runs} flows of 2 x {counted}");
        Ok(Self { name, rule: Self::looking(detect, boots), schedule, ramp, window, turns: Some(plan) })
    }

    fn stop(detect: Percent) -> Stop {
        Stop { detect, looks: Stop::LOOKS, bounds: study::Bounds::ObrienFleming }
    }

    fn looking(detect: Percent, boots: u32) -> Rule {
        let schedule = Schedule { bounds: SpendingBounds::ObrienFleming, looks: Stop::LOOKS, boots };
        Rule::Looks { detect, schedule }
    }

    /// The turns of the flow that this run shares with that of the other condition, if it does.
    pub(super) fn turns(&self, run: &PlannedRun) -> Option<Vec<Turn>> {
        let plan = self.turns.as_ref()?;
        Some(plan.turns(&[0, 1], run, plan.asked.protocol.alternate?))
    }

    pub(super) fn alternate(&self) -> Option<Alternate> {
        self.turns.as_ref()?.asked.protocol.alternate
    }

    /// After which boots the data are judged, in order; the last is the last boot.
    pub(super) fn looks(&self) -> Vec<u32> {
        let boots = self.schedule.boots;
        self.schedule.stop.map_or_else(|| vec![boots], |stop| stop.after(boots).collect())
    }

    /// The runs of each boot, in order.
    pub(super) fn runs(&self) -> Vec<Vec<PlannedRun>> {
        study::schedule(&[0; CONDITIONS], &self.schedule)
    }

    /// What `boots` boots take, in s: building, warm-ups, ramps and windows.
    pub(super) fn seconds(&self, boots: u32, costs: Costs) -> f64 {
        let runs = CONDITIONS as f64 * f64::from(self.schedule.warmup + self.schedule.runs);
        f64::from(boots) * (costs.boot + runs * self.of_run(costs))
    }

    /// What a run takes, in s; in turns that is half of the flow of two.
    pub(super) fn of_run(&self, costs: Costs) -> f64 {
        match self.turns.as_ref().and_then(|plan| plan.share_of_flow(0, CONDITIONS)) {
            Some(share) => share.as_secs_f64() + costs.run / CONDITIONS as f64,
            None => (self.ramp + self.window).as_secs_f64() + costs.run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { boot: 0.5, run: 0.0 };
    const TIMES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(200));

    fn percent(text: &str) -> Percent {
        Percent::parse(text).unwrap()
    }

    #[test]
    fn r1_takes_eleven_minutes() {
        let protocol = Protocol::of_r1("a", Rule::PooledRuns, Duration::from_secs(10));
        assert_eq!(protocol.looks(), [3]);
        assert_eq!(protocol.seconds(3, COSTS), 3.0 * (0.5 + 2.0 * 11.0 * 10.0));
        let boot = &protocol.runs()[0];
        assert!(boot.len() == 22 && boot.is_sorted_by_key(|run| run.condition));
    }

    #[test]
    fn smaller_differences_take_more() {
        let planned = |detect, spread| planned(percent(detect), spread, Costs { boot: 0.5, run: 0.3 }, 1);
        let [large, medium, small] = ["5%", "2%", "1%"].map(|detect| {
            let size = planned(detect, (0.5, 2.0)).unwrap();
            Protocol::of_netassay(percent(detect), size, TIMES).seconds(size.0, COSTS)
        });
        assert!(large < medium && medium < small, "{large} {medium} {small}");
        assert_eq!(planned("5%", (0.0, 0.1)).unwrap().0, FEWEST_BOOTS);
        assert!(planned("0.01%", (5.0, 2.0)).is_none());
    }

    #[test]
    fn turns_share_a_flow_and_its_time() {
        let window = Duration::from_millis(320);
        let protocol = Protocol::in_turns(percent("2%"), (20, 3), (TIMES.0, window), TIMES.0).unwrap();
        let run = &protocol.runs()[0][0];
        let turns = protocol.turns(run).unwrap();
        // One that is not counted, and two of either condition after either.
        assert_eq!(turns.len(), 9);
        assert_eq!(
            [0, 1].map(|own| turns.iter().filter(|turn| turn.counts && turn.state == own).count()),
            [4, 4]
        );
        // Three flows of a ramp of 0.1 s and turns of 0.9 s.
        assert!((protocol.seconds(1, COSTS) - (0.5 + 3.0 * 1.0)).abs() < 1e-9);
        assert_eq!(protocol.looks(), [4, 8, 12, 16, 20]);
        assert!(Protocol::of_r1("a", Rule::PooledRuns, window).turns(run).is_none());
    }

    #[test]
    fn netassay_looks_five_times() {
        let protocol = Protocol::of_netassay(percent("2%"), (20, 2), TIMES);
        assert_eq!(protocol.looks(), [4, 8, 12, 16, 20]);
        let Rule::Looks { schedule, .. } = &protocol.rule else { panic!("it looks") };
        assert_eq!(schedule.after(), protocol.looks());
        assert!((protocol.seconds(4, COSTS) - 4.0 * (0.5 + 2.0 * 3.0 * 0.3)).abs() < 1e-9);
    }
}
