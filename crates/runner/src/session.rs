//! The state of a session: which runs are finished, and how many may be repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use store::{RunKey, StudyId};
use study::{Alternate, MOST_TURNS, Plan, PlannedRun, Stop};

use crate::identities::Identities;
use crate::priority::Priority;
use crate::progress::Progress;

/// The most repeats of a disturbed run. A disturbance of three windows is the machine's normal
/// state.
const REPEATS_OF_A_RUN: u32 = 2;

/// Repeats in a session, in % of its measured runs: the most by which noise makes it longer.
const REPEATS_PERCENT: usize = 10;

/// The repeats that even a small study may make.
const FEWEST_REPEATS: usize = 3;

/// One session.
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
        let kept = if self.priority.is_measured(condition) { lost * REPEATS_OF_A_RUN as usize } else { 0 };
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
        self.progress.window(run.condition)
    }
}

/// The repeats of disturbed runs that are left.
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
