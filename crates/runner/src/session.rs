//! The state of a session: which runs are finished, which come first, how many may be repeated,
//! and in which boots of the machines its boots were measured.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use record::Environment;
use store::{RunKey, StudyId};
use study::{Alternate, MOST_TURNS, Plan, PlannedRun, Side, Stop};

use crate::progress::Progress;

/// The most repeats of a disturbed run. A disturbance of three windows is the machine's normal
/// state.
const REPEATS_OF_A_RUN: u32 = 2;

/// Repeats in a session, in % of its measured runs: the most by which noise makes it longer.
const REPEATS_PERCENT: usize = 10;

const FEWEST_REPEATS: usize = 3;

pub(crate) struct Session<'a> {
    pub(crate) id: StudyId,
    pub(crate) plan: &'a Plan,
    pub(crate) boots: u32,
    pub(crate) stop: Option<Stop>,
    /// The runs that count, warm-ups included.
    pub(crate) recorded: BTreeSet<RunKey>,
    /// Runs that were disturbed in every allowed try. This session has finished them; a later one
    /// tries again.
    pub(crate) given_up: BTreeSet<RunKey>,
    /// Runs that the session will still try.
    pub(crate) ahead: BTreeSet<RunKey>,
    /// Which conditions have no measurement yet.
    pub(crate) priority: Priority<'a>,
    /// The boots of the machines in which the study's boots were measured.
    pub(crate) machines: Identities,
    /// The release of the kernel that was chosen for this boot of the machines, if it is not the
    /// default of both.
    pub(crate) other_kernel: Option<String>,
    /// The limitations of testbeds that were reported.
    pub(crate) noted: BTreeSet<String>,
    /// Conditions that could take turns in one flow and do not: they cannot, or did not settle.
    pub(crate) apart: BTreeSet<usize>,
    /// The conditions of flows whose switches act for longer than planned, with the part of their
    /// turns that is not counted.
    pub(crate) settling: BTreeMap<usize, Duration>,
    pub(crate) repeats: Repeats,
    pub(crate) progress: Progress,
    pub(crate) failed: usize,
}

impl Session<'_> {
    /// The runs that are not tried again.
    pub(crate) fn settled(&self) -> BTreeSet<RunKey> {
        self.recorded.union(&self.given_up).copied().collect()
    }

    /// Whether a run of this condition may be repeated after `so_far` repeats. Conditions without
    /// any measurement have repeats reserved.
    pub(crate) fn repeat(&mut self, condition: usize, so_far: u32) -> bool {
        let comes = |lost: &usize| self.ahead.iter().any(|key| key.condition == *lost);
        let lost = self.priority.lost().into_iter().filter(comes).count();
        let is_measured = self.priority.measured.contains(&condition);
        let kept = if is_measured { lost * REPEATS_OF_A_RUN as usize } else { 0 };
        self.repeats.take(so_far, kept)
    }

    /// The turns of the runs of a flow; `None` if they take none.
    pub(crate) fn alternate(&self, flow: &[PlannedRun]) -> Option<Alternate> {
        let planned = self.plan.asked.protocol.alternate?;
        let longer = flow.first().and_then(|run| self.settling.get(&run.condition));
        Some(Alternate { settle: longer.copied().unwrap_or(planned.settle), ..planned })
    }

    /// Leaves out more of the turns of a flow from now on. `None` if it would need too many turns.
    pub(crate) fn settle_after(&mut self, flow: &[PlannedRun], part: Duration) -> Option<()> {
        let together: Vec<usize> = flow.iter().map(|run| run.condition).collect();
        let alternate = Alternate { settle: part, ..self.plan.asked.protocol.alternate? };
        let turns = self.plan.turns(&together, flow.first()?, alternate).len();
        (turns <= MOST_TURNS).then(|| self.settling.extend(together.into_iter().map(|one| (one, part))))
    }

    /// The length of a run's ramp and window.
    pub(crate) fn window_of(&self, run: &PlannedRun) -> Duration {
        self.progress.each[run.condition]
    }
}

pub(crate) struct Repeats {
    left: usize,
}

impl Repeats {
    /// Repeats for a session of this many runs, warm-ups not counted.
    pub(crate) fn for_runs(measured_runs: usize) -> Self {
        Self { left: (measured_runs * REPEATS_PERCENT / 100).max(FEWEST_REPEATS) }
    }

    /// Takes a repeat, if there is one after `so_far` repeats, with `kept` reserved for others.
    pub(crate) fn take(&mut self, so_far: u32, kept: usize) -> bool {
        let may = so_far < REPEATS_OF_A_RUN && self.left > kept;
        self.left -= usize::from(may);
        may
    }
}

/// Boots of the study by number, each with the identities that its machines' kernels had.
#[derive(Debug, Default)]
pub(crate) struct Identities(BTreeSet<(u32, String)>);

impl Identities {
    pub(crate) fn from_stored<'e>(stored: impl IntoIterator<Item = (u32, &'e Environment)>) -> Self {
        let mut all = Self::default();
        stored.into_iter().for_each(|(boot, environment)| all.add(boot, environment));
        all
    }

    pub(crate) fn add(&mut self, boot: u32, environment: &Environment) {
        self.0.extend(boot_ids(environment).map(|(_, id)| (boot, id.to_owned())));
    }

    /// Whether another boot of the study was measured in one of these: then this one needs a
    /// restart. Both parts of a boot that was resumed may have one.
    pub(crate) fn are_of_another(&self, boot: u32, ids: &[String]) -> bool {
        ids.iter().any(|id| self.other(boot, id).is_some())
    }

    /// The side whose machine still has the identity of another boot, with that boot.
    pub(crate) fn not_restarted(&self, boot: u32, environment: &Environment) -> Option<(Side, u32)> {
        boot_ids(environment).find_map(|(side, id)| Some((side, self.other(boot, id)?)))
    }

    fn other(&self, boot: u32, id: &str) -> Option<u32> {
        self.0.iter().find(|(other, known)| *other != boot && known == id).map(|(other, _)| *other)
    }
}

fn boot_ids(environment: &Environment) -> impl Iterator<Item = (Side, &str)> {
    let transmitter = Some((Side::Transmitter, &environment.transmitter));
    let receiver = environment.receiver.as_ref().map(|host| (Side::Receiver, host));
    transmitter
        .into_iter()
        .chain(receiver)
        .filter_map(|(side, host)| Some((side, host.kernel.boot_id.as_deref()?)))
}

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

    pub(crate) fn has_lost(&self, runs: &[PlannedRun]) -> bool {
        self.lost().iter().any(|lost| runs.iter().any(|run| run.condition == *lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_repeated_twice() {
        let mut repeats = Repeats::for_runs(1000);
        assert_eq!([0, 1, 2, 3].map(|so_far| repeats.take(so_far, 0)), [true, true, false, false]);
    }

    #[test]
    fn a_session_repeats_a_tenth_of_its_runs_and_at_least_three() {
        let most = |runs| {
            let mut repeats = Repeats::for_runs(runs);
            (0..1000).filter(|_| repeats.take(0, 0)).count()
        };
        assert_eq!([0, 1, 29, 40, 1000].map(most), [3, 3, 3, 4, 100]);
    }

    #[test]
    fn what_is_kept_for_others_is_not_taken() {
        let mut repeats = Repeats::for_runs(40);
        assert_eq!([3, 3, 2, 2, 0].map(|kept| repeats.take(0, kept)), [true, false, true, false, true]);
    }
}

#[cfg(test)]
mod identities_tests {
    use super::*;

    fn measured(transmitter: &str, receiver: &str) -> Environment {
        let mut environment = record::sample::environment();
        environment.transmitter.kernel.boot_id = Some(transmitter.to_owned());
        let mut other = environment.transmitter.clone();
        other.kernel.boot_id = Some(receiver.to_owned());
        environment.receiver = Some(other);
        environment
    }

    fn ids(list: [&str; 2]) -> Vec<String> {
        list.map(str::to_owned).to_vec()
    }

    #[test]
    fn a_boot_needs_a_restart_unless_both_machines_are_fresh_or_it_is_resumed() {
        let first = measured("a1", "b1");
        let known = Identities::from_stored([(1, &first)]);
        assert!(!Identities::default().are_of_another(1, &ids(["a1", "b1"])), "the first boot");
        assert!(known.are_of_another(2, &ids(["a1", "b1"])));
        assert!(!known.are_of_another(1, &ids(["a1", "b1"])), "the second part of the first");
        // The controller was stopped while one machine restarted, or both did.
        assert!(known.are_of_another(2, &ids(["a2", "b1"])));
        assert!(!known.are_of_another(2, &ids(["a2", "b2"])));
    }

    #[test]
    fn a_machine_that_did_not_restart_is_named_with_the_boot_that_it_had() {
        let mut known = Identities::from_stored([(1, &measured("a1", "b1"))]);
        assert_eq!(known.not_restarted(2, &measured("a2", "b1")), Some((Side::Receiver, 1)));
        assert_eq!(known.not_restarted(2, &measured("a2", "b2")), None);
        known.add(2, &measured("a2", "b2"));
        assert_eq!(known.not_restarted(3, &measured("a2", "b3")), Some((Side::Transmitter, 2)));
    }
}

#[cfg(test)]
mod priority_tests {
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
