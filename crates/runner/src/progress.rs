//! The progress of a session, and the time that is left.

use std::time::Duration;

use study::{BootState, Costs, Plan, PlannedRun};

#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) costs: Costs,
    each: Vec<Duration>,
    pub(crate) done: usize,
    pub(crate) of: usize,
    windows: Duration,
    boots: Vec<BootState>,
    beside: Duration,
}

impl Progress {
    pub(crate) fn new(plan: &Plan, open: &[Vec<PlannedRun>], costs: Costs) -> Self {
        let each = costs.windows(plan);
        let windows = open.iter().flatten().map(|run| each[run.condition]).sum();
        let states =
            open.iter().filter_map(|boot| Some(plan.conditions[boot.first()?.condition].boot.clone()));
        Self {
            each,
            windows,
            boots: states.collect(),
            of: open.iter().map(Vec::len).sum(),
            costs,
            done: 0,
            beside: Duration::ZERO,
        }
    }

    pub(crate) fn step(&mut self, run: &PlannedRun, took: Duration) {
        let window = self.each[run.condition];
        self.done += 1;
        self.windows = self.windows.saturating_sub(window);
        self.beside += took.saturating_sub(window);
        self.costs.run = self.beside / u32::try_from(self.done).unwrap_or(u32::MAX);
    }

    pub(crate) fn lengthen<'r>(&mut self, runs: impl IntoIterator<Item = &'r PlannedRun>) {
        for run in runs {
            self.of += 1;
            self.windows += self.each[run.condition];
        }
    }

    pub(crate) fn replan(&mut self, left: &[PlannedRun]) {
        // A boot that was lost begins anew.
        (self.of, self.windows) = (self.done, Duration::ZERO);
        self.lengthen(left);
    }

    pub(crate) fn built(&mut self, state: &BootState) {
        if let Some(place) = self.boots.iter().position(|left| left == state) {
            self.boots.remove(place);
        }
    }

    pub(crate) fn time_left(&self) -> Duration {
        let runs = u32::try_from(self.of.saturating_sub(self.done)).unwrap_or(u32::MAX);
        let boots: Duration = self.boots.iter().map(|state| self.costs.boot(state)).sum();
        self.windows.saturating_add(self.costs.run.saturating_mul(runs)).saturating_add(boots)
    }
}

#[cfg(test)]
mod tests {
    use study::Study;

    use super::*;

    const WINDOW: Duration = Duration::from_millis(1200);

    fn progress() -> (Progress, BootState) {
        let text = "name = \"s\"\nquestion = \"?\"\nscenario = \"vm\"\n[[workload]]\nkind = \"udp_stream\"\nduration = \"1s\"\nramp = \"200ms\"\n\
                    [protocol]\nboots = 3\nwarmup = 0\nruns = 4\n";
        let study = Study::parse("s.toml", text).unwrap_or_else(|problems| panic!("{problems}"));
        let plan = study.plan();
        let schedule = study::schedule(&plan.states_of_conditions(), &study.protocol);
        let costs = Costs::stated(&plan);
        let whole = costs.expect(&plan, &study.protocol).total();
        let progress = Progress::new(&plan, &schedule, costs);
        assert_eq!(progress.time_left(), whole, "before the first run the plan is all there is");
        (progress, plan.states()[0].clone())
    }

    const RUN: PlannedRun =
        PlannedRun { boot: 1, block: 1, repeat: 1, position: 0, warmup: false, condition: 0 };

    #[test]
    fn what_is_left_follows_what_boots_and_runs_took() {
        let (mut progress, state) = progress();
        for _ in 0..2 {
            progress.built(&state);
            for _ in 0..4 {
                progress.step(&RUN, WINDOW + Duration::from_millis(300));
            }
            progress.costs.booted(&state, Duration::from_secs(10));
        }
        assert_eq!(progress.time_left(), 4 * (WINDOW + Duration::from_millis(300)) + Duration::from_secs(10));
        progress.built(&state);
        progress.lengthen([&RUN]);
        for _ in 0..5 {
            progress.step(&RUN, WINDOW);
        }
        assert_eq!((progress.done, progress.of, progress.time_left()), (13, 13, Duration::ZERO));
    }

    #[test]
    fn a_boot_that_begins_anew_leaves_the_others_as_they_were_planned() {
        let (mut progress, state) = progress();
        progress.built(&state);
        // One was recorded, one failed, and the testbed is lost: three are still needed.
        progress.step(&RUN, WINDOW);
        progress.step(&RUN, WINDOW);
        progress.replan(&[RUN; 3 + 8]);
        assert_eq!((progress.done, progress.of), (2, 2 + 3 + 8));
        assert_eq!(progress.windows, 11 * WINDOW);
    }
}
