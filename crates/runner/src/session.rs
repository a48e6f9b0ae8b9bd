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
    /// The runs of conditions that crashed a machine in their boot.
    pub(crate) left_out: BTreeSet<RunKey>,
    /// The machines as they were before the present boot, or at its begin.
    pub(crate) environment: Option<Environment>,
    /// Boots of the study by number, each with the identities that its machines' kernels had.
    pub(crate) machines: BTreeSet<(u32, String)>,
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
        self.recorded.iter().chain(&self.given_up).chain(&self.left_out).copied().collect()
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

/// Another boot of the study in which a machine had this identity.
pub(crate) fn other_boot(machines: &BTreeSet<(u32, String)>, boot: u32, id: &str) -> Option<u32> {
    // Both parts of a resumed boot may have one identity.
    machines.iter().find(|(other, known)| *other != boot && known == id).map(|(other, _)| *other)
}

/// Each side's machine with the identity of its kernel's boot.
pub(crate) fn boot_ids(environment: &Environment) -> impl Iterator<Item = (Side, &str)> {
    let receiver = environment.receiver.as_ref();
    let sides = [(Side::Transmitter, Some(&environment.transmitter)), (Side::Receiver, receiver)];
    sides.into_iter().filter_map(|(side, host)| Some((side, host?.kernel.boot_id.as_deref()?)))
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

    fn known(boot: u32, environment: &Environment) -> BTreeSet<(u32, String)> {
        boot_ids(environment).map(|(_, id)| (boot, id.to_owned())).collect()
    }

    #[test]
    fn a_boot_needs_a_restart_unless_both_machines_are_fresh_or_it_is_resumed() {
        let first = known(1, &measured("a1", "b1"));
        let is_of_another = |known: &BTreeSet<(u32, String)>, boot: u32, ids: [&str; 2]| {
            ids.iter().any(|id| other_boot(known, boot, id).is_some())
        };
        assert!(!is_of_another(&BTreeSet::new(), 1, ["a1", "b1"]), "the first boot");
        assert!(is_of_another(&first, 2, ["a1", "b1"]));
        assert!(!is_of_another(&first, 1, ["a1", "b1"]), "the second part of the first");
        // The controller was stopped while one machine restarted, or both did.
        assert!(is_of_another(&first, 2, ["a2", "b1"]));
        assert!(!is_of_another(&first, 2, ["a2", "b2"]));
    }

    #[test]
    fn a_machine_that_did_not_restart_is_named_with_the_boot_that_it_had() {
        let mut all = known(1, &measured("a1", "b1"));
        let not_restarted = |all: &BTreeSet<(u32, String)>, boot: u32, ids: [&str; 2]| {
            let now = measured(ids[0], ids[1]);
            boot_ids(&now).find_map(|(side, id)| Some((side, other_boot(all, boot, id)?)))
        };
        assert_eq!(not_restarted(&all, 2, ["a2", "b1"]), Some((Side::Receiver, 1)));
        assert_eq!(not_restarted(&all, 2, ["a2", "b2"]), None);
        all.extend(known(2, &measured("a2", "b2")));
        assert_eq!(not_restarted(&all, 3, ["a2", "b3"]), Some((Side::Transmitter, 2)));
    }
}
