//! The runs of a boot's schedule that are still to do.

use std::collections::BTreeSet;

use store::RunKey;
use study::PlannedRun;

/// The runs that are not settled yet, in the schedule's order, and the warm-ups of their
/// conditions: a new testbed is cold again.
pub(crate) fn pending(boot: &[PlannedRun], settled: &BTreeSet<RunKey>) -> Vec<PlannedRun> {
    let open = |run: &&PlannedRun| !run.warmup && !settled.contains(&key_of(run));
    let conditions: BTreeSet<usize> = boot.iter().filter(open).map(|run| run.condition).collect();
    boot.iter()
        .filter(|run| if run.warmup { conditions.contains(&run.condition) } else { open(run) })
        .copied()
        .collect()
}

/// The identity of a run in its study.
pub(crate) fn key_of(run: &PlannedRun) -> RunKey {
    RunKey { boot: run.boot, warmup: run.warmup, repeat: run.repeat, condition: run.condition }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(condition: usize, warmup: bool, repeat: u32, position: u32) -> PlannedRun {
        PlannedRun { boot: 1, block: if warmup { 0 } else { repeat }, repeat, position, warmup, condition }
    }

    fn boot() -> Vec<PlannedRun> {
        vec![
            run(0, true, 1, 0),
            run(1, true, 1, 1),
            run(1, false, 1, 2),
            run(0, false, 1, 3),
            run(0, false, 2, 4),
            run(1, false, 2, 5),
        ]
    }

    #[test]
    fn a_fresh_boot_is_all_to_do() {
        assert_eq!(pending(&boot(), &BTreeSet::new()), boot());
    }

    #[test]
    fn only_conditions_with_open_runs_are_warmed_up_again() {
        let done: BTreeSet<_> = boot().iter().filter(|r| r.position != 4).map(key_of).collect();
        assert_eq!(pending(&boot(), &done), vec![run(0, true, 1, 0), run(0, false, 2, 4)]);
    }

    #[test]
    fn a_complete_boot_leaves_nothing() {
        let done: BTreeSet<_> = boot().iter().filter(|r| !r.warmup).map(key_of).collect();
        assert!(pending(&boot(), &done).is_empty());
    }
}
