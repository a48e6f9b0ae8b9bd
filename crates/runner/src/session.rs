//! A session's finished runs, repeats left, and the machines' boots that were measured.

use std::collections::BTreeSet;

use record::Environment;
use store::{RunKey, StudyId};
use study::{Plan, Side};

use crate::progress::Progress;

// A disturbance of three windows is the machine's normal state.
const REPEATS_OF_A_RUN: u32 = 2;

// In % of its measured runs: the most by which noise makes a session longer.
const REPEATS_PERCENT: usize = 10;

const FEWEST_REPEATS: usize = 3;

pub(crate) struct Session<'a> {
    pub(crate) id: StudyId,
    pub(crate) plan: &'a Plan,
    pub(crate) boots: u32,
    pub(crate) recorded: BTreeSet<RunKey>,
    /// Disturbed in every allowed try of this session; a later one tries again.
    pub(crate) given_up: BTreeSet<RunKey>,
    /// The boots of the machines in which the study's boots were measured.
    pub(crate) machines: Identities,
    /// The chosen kernel's release, if it is not the default of both machines.
    pub(crate) other_kernel: Option<String>,
    /// The limitations of testbeds that were reported.
    pub(crate) noted: BTreeSet<String>,
    /// Conditions that could take turns in one flow and do not: they cannot, or did not settle.
    pub(crate) apart: BTreeSet<usize>,
    pub(crate) repeats_left: usize,
    pub(crate) progress: Progress,
    pub(crate) failed: usize,
}

impl Session<'_> {
    pub(crate) fn settled(&self) -> BTreeSet<RunKey> {
        self.recorded.union(&self.given_up).copied().collect()
    }
}

pub(crate) fn allowed_repeats(measured_runs: usize) -> usize {
    (measured_runs * REPEATS_PERCENT / 100).max(FEWEST_REPEATS)
}

/// Takes one of the repeats that are `left`, for a run with this many so far.
pub(crate) fn take_repeat(left: &mut usize, so_far: u32) -> bool {
    let may = so_far < REPEATS_OF_A_RUN && *left > 0;
    *left -= usize::from(may);
    may
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

    /// If so, this boot needs a restart.
    pub(crate) fn are_of_another(&self, boot: u32, ids: &[String]) -> bool {
        ids.iter().any(|id| self.other(boot, id).is_some())
    }

    /// The side whose machine still has the identity of another boot, with that boot.
    pub(crate) fn not_restarted(&self, boot: u32, environment: &Environment) -> Option<(Side, u32)> {
        boot_ids(environment).find_map(|(side, id)| Some((side, self.other(boot, id)?)))
    }

    fn other(&self, boot: u32, id: &str) -> Option<u32> {
        // Both parts of a resumed boot may have one identity.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_repeated_twice() {
        let mut left = allowed_repeats(1000);
        let taken = [0, 1, 2, 3].map(|so_far| take_repeat(&mut left, so_far));
        assert_eq!(taken, [true, true, false, false]);
    }

    #[test]
    fn a_session_repeats_a_tenth_of_its_runs_and_at_least_three() {
        let most = |runs| {
            let mut left = allowed_repeats(runs);
            (0..1000).filter(|_| take_repeat(&mut left, 0)).count()
        };
        assert_eq!([0, 1, 29, 40, 1000].map(most), [3, 3, 3, 4, 100]);
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
