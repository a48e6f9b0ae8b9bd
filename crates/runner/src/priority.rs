//! The priority of conditions that were tried but have no measurement yet: comparisons and credits
//! lack them altogether, so they come first.

use std::collections::BTreeSet;

use study::{Plan, PlannedRun};

/// The conditions that were tried, and those that have a measurement.
pub(crate) struct Priority<'p> {
    plan: &'p Plan,
    tried: BTreeSet<usize>,
    measured: BTreeSet<usize>,
}

impl<'p> Priority<'p> {
    /// Takes the conditions that were tried so far, and those of them that have a run that counts.
    pub(crate) fn new(plan: &'p Plan, tried: BTreeSet<usize>, measured: BTreeSet<usize>) -> Self {
        Self { plan, tried, measured }
    }

    /// A condition was tried.
    pub(crate) fn record_try(&mut self, condition: usize, counts: bool) {
        self.tried.insert(condition);
        if counts {
            self.measured.insert(condition);
        }
    }

    /// Conditions that were tried but have no measurement. All on and all off of a design come
    /// first: without them there is no total difference to credit to factors.
    pub(crate) fn lost(&self) -> Vec<usize> {
        let mut lost: Vec<usize> = self.tried.difference(&self.measured).copied().collect();
        lost.sort_by_key(|condition| !self.is_end(*condition));
        lost
    }

    pub(crate) fn is_measured(&self, condition: usize) -> bool {
        self.measured.contains(&condition)
    }

    fn is_end(&self, condition: usize) -> bool {
        let design = self.plan.design.as_ref().zip(self.plan.conditions.get(condition));
        design.is_some_and(|(design, condition)| {
            let on = condition.designed(&condition.own_design(design));
            on.iter().all(|on| *on) || !on.iter().any(|on| *on)
        })
    }

    /// The runs of a boot with one run of each lost condition, and its warm-ups, before all others.
    pub(crate) fn lost_first(&self, runs: Vec<PlannedRun>) -> Vec<PlannedRun> {
        let mut first: Vec<PlannedRun> = Vec::new();
        for condition in self.lost() {
            let of_it = || runs.iter().filter(|run| run.condition == condition);
            first.extend(of_it().filter(|run| run.warmup));
            first.extend(of_it().find(|run| !run.warmup));
        }
        let rest: Vec<PlannedRun> = runs.iter().filter(|run| !first.contains(run)).copied().collect();
        first.extend(rest);
        first
    }

    /// Whether one of these runs is of a lost condition.
    pub(crate) fn has_lost(&self, runs: &[PlannedRun]) -> bool {
        self.lost().iter().any(|lost| runs.iter().any(|run| run.condition == *lost))
    }
}

#[cfg(test)]
mod tests {
    use study::Study;

    use super::*;

    /// All on, all off, and GSO alone, as a ladder over TSO and GSO.
    fn plan() -> Plan {
        let text = "name = \"n\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\n\
                    [design]\nkind = \"ladder\"\noffloads = [\"tso\", \"gso\"]\n[protocol]\nboots = 1\nruns = 2\nwarmup = 1\n";
        Study::parse("n", text).unwrap_or_else(|problems| panic!("{problems}")).plan()
    }

    fn order(priority: &Priority<'_>, runs: &[(usize, bool, u32)]) -> Vec<(usize, bool, u32)> {
        let run = |&(condition, warmup, repeat): &(usize, bool, u32)| PlannedRun {
            boot: 1,
            block: 0,
            repeat,
            position: 0,
            warmup,
            condition,
        };
        let ordered = priority.lost_first(runs.iter().map(run).collect());
        ordered.iter().map(|run| (run.condition, run.warmup, run.repeat)).collect()
    }

    #[test]
    fn what_was_tried_in_vain_comes_first_and_the_ends_of_a_design_before_the_rest() {
        let plan = plan();
        assert_eq!(
            plan.conditions.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(),
            ["all on", "without tso", "all off"]
        );
        let mut priority = Priority::new(&plan, BTreeSet::from([0, 1, 2]), BTreeSet::from([0]));
        assert_eq!(priority.lost(), [2, 1]);
        let sequential = [
            (0, true, 1),
            (0, false, 1),
            (1, true, 1),
            (1, false, 1),
            (1, false, 2),
            (2, true, 1),
            (2, false, 1),
        ];
        let first = [(2, true, 1), (2, false, 1), (1, true, 1), (1, false, 1)];
        assert_eq!(order(&priority, &sequential)[..4], first);
        assert_eq!(order(&priority, &sequential)[4..], [(0, true, 1), (0, false, 1), (1, false, 2)]);
        priority.record_try(2, true);
        priority.record_try(1, false);
        assert_eq!(priority.lost(), [1]);
    }

    #[test]
    fn what_was_never_tried_keeps_its_drawn_place() {
        let plan = plan();
        let priority = Priority::new(&plan, BTreeSet::new(), BTreeSet::new());
        let drawn = [(1, true, 1), (0, true, 1), (1, false, 1), (0, false, 1)];
        assert_eq!(order(&priority, &drawn), drawn);
        assert!(priority.lost().is_empty());
    }
}
