//! Machines that crash: what crashed them is named, left out, and tried again if asked only.

use std::collections::BTreeSet;

use netassay_runner::{Error, Event, Summary};
use record::{CrashSign, Detail};
use store::{RunStatus, StoredStudy, StudyId, StudyStatus};

use crate::RECORDED;
use crate::kernels::{self, OTHER};
use crate::simulator::{Fault, SimulatedLab};
use crate::world::{World, alternated_study};

/// A world in which the run with this number crashes a machine. Each condition of the two boots has
/// a warm-up and two runs: three runs for each of three conditions.
fn world_with_crash(at: usize) -> World {
    let mut world = World::new();
    world.lab.faults.insert(at, Fault::Crash);
    world
}

/// The boot and condition of the only crash.
#[track_caller]
fn crash_of(stored: &StoredStudy) -> (u32, usize) {
    let crashes: Vec<(u32, usize)> = stored.crashes().into_keys().collect();
    assert_eq!(crashes.len(), 1, "{crashes:?}");
    crashes[0]
}

/// The recorded runs by boot and condition.
fn recorded(stored: &StoredStudy) -> BTreeSet<(u32, usize)> {
    stored.measurements().map(|run| (run.boot, run.condition)).collect()
}

#[track_caller]
fn resumed(world: &mut World, id: StudyId) -> Summary {
    world.calm();
    world.session(Some(id)).unwrap()
}

#[test]
fn what_crashes_a_machine_is_left_out_of_its_boot_and_the_rest_is_measured() {
    // In a warm-up and in recorded runs, of the first boot and of the second.
    for at in [0, 5, 7, 14] {
        let mut world = world_with_crash(at);
        world.lab.power = Some(true);
        let summary = world.session(None).unwrap();
        assert_eq!(summary.ending, StudyStatus::Complete, "at {at}");
        assert_eq!(world.lab.revived, 1);
        let stored = world.store.load(summary.study).unwrap();
        let place = crash_of(&stored);
        assert_eq!(recorded(&stored).len(), if summary.crashed == 2 { 5 } else { 6 }, "at {at}");
        assert_eq!(summary.recorded + summary.crashed, RECORDED);
        let failed: Vec<_> = stored.runs.iter().filter(|run| run.status == RunStatus::Failed).collect();
        assert_eq!(failed.len(), 1, "one run crashed it");
        assert_eq!((failed[0].boot, failed[0].condition), place);
        let why = failed[0].reason.as_deref().unwrap();
        assert!(why.starts_with("it crashed the receiver (root@b), which no longer answers"), "{why}");
        assert!(why.ends_with("its console: Kernel panic - not syncing: simulated"), "{why}");
        let Detail::Crashed(crash) = &failed[0].detail else { panic!("{:?}", failed[0].detail) };
        assert_eq!(crash.machines[0].sign, CrashSign::Silent);
        let told = |event: &Event| matches!(event, Event::BootLost { crashed: true, .. });
        assert_eq!(world.events.iter().filter(|event| told(event)).count(), 1);
    }
}

#[test]
fn only_again_tries_again_what_crashed_a_machine() {
    let mut world = world_with_crash(1);
    let first = world.session(None).unwrap();
    assert_eq!((first.ending, first.crashed), (StudyStatus::Complete, 2));
    world.calm();
    let error = world.session(Some(first.study)).unwrap_err();
    assert!(matches!(error, Error::NothingToRun { .. }) && error.to_string().contains("--again"), "{error}");
    let before = world.lab.runs();
    world.again = true;
    let second = resumed(&mut world, first.study);
    assert_eq!((second.ending, second.recorded, second.crashed), (StudyStatus::Complete, RECORDED, 0));
    assert_eq!(world.lab.runs() - before, 3, "a warm-up and two runs");
    assert!(world.store.load(first.study).unwrap().crashes().is_empty());
}

#[test]
fn a_machine_that_stays_away_ends_the_study_and_the_next_session_measures_the_rest() {
    for at in [0, 5, 9, 14] {
        let mut world = world_with_crash(at);
        world.lab.power = Some(false);
        let error = world.session(None).unwrap_err().to_string();
        assert!(error.contains("root@b did not come back"), "{error}");
        let id = world.store.studies().unwrap()[0].id;
        let stored = world.store.load(id).unwrap();
        let place = crash_of(&stored);
        assert_eq!(stored.row.status, StudyStatus::Failed);
        // Somebody has switched it on.
        world.lab = SimulatedLab::new(world.interrupt.clone());
        let summary = resumed(&mut world, id);
        assert_eq!(summary.ending, StudyStatus::Complete);
        assert_eq!(summary.recorded + summary.crashed, RECORDED);
        assert_eq!(crash_of(&world.store.load(id).unwrap()), place);
    }
}

/// Each of its conditions may be the cause.
#[test]
fn all_conditions_of_a_flow_that_crashes_a_machine_are_left_out() {
    let mut world = world_with_crash(1);
    world.study = alternated_study();
    let summary = world.session(None).unwrap();
    assert_eq!(summary.ending, StudyStatus::Complete);
    let crashes = world.store.load(summary.study).unwrap().crashes().len();
    assert_eq!((crashes, summary.crashed), (3, 6));
}

#[test]
fn a_boot_in_which_three_conditions_crash_is_given_up() {
    let mut world = World::new();
    world.lab.always = Some(Fault::Crash);
    let summary = world.session(None).unwrap();
    // Three conditions, each in a testbed of its own, in each of two boots.
    assert_eq!((summary.ending, summary.recorded, summary.crashed), (StudyStatus::Complete, 0, RECORDED));
    assert_eq!(world.lab.revived, 6);
}

#[test]
fn an_interrupt_after_a_crash_keeps_what_crashed_the_machine() {
    let mut world = world_with_crash(5);
    world.lab.faults.insert(6, Fault::Interrupt);
    let first = world.session(None).unwrap();
    assert_eq!(first.ending, StudyStatus::Interrupted);
    let second = resumed(&mut world, first.study);
    assert_eq!((second.ending, second.recorded + second.crashed), (StudyStatus::Complete, RECORDED));
    crash_of(&world.store.load(first.study).unwrap());
}

#[test]
fn the_boots_of_a_kernel_that_does_not_come_up_are_left_out_and_the_others_are_measured() {
    for power in [Some(true), Some(false)] {
        let mut world = kernels::world();
        world.lab.bad_kernel = Some(OTHER.to_owned());
        world.lab.power = power;
        let (mut sessions, mut resume) = (0, None);
        loop {
            sessions += 1;
            let session = world.session(resume);
            resume = Some(world.store.studies().unwrap()[0].id);
            match session {
                Ok(_) | Err(Error::NothingToRun { .. }) => break,
                Err(Error::Testbed(testbed::Error::NotUp { .. })) if sessions < 3 => {}
                Err(error) => panic!("session {sessions}: {error}"),
            }
        }
        // A machine that stays away ends each session, until no boot of that kernel is left.
        assert_eq!(sessions, if power == Some(true) { 1 } else { 3 });
        let stored = world.store.load(resume.unwrap()).unwrap();
        assert_eq!((stored.row.status, stored.measurements().count()), (StudyStatus::Complete, RECORDED));
        assert_eq!(stored.crashes().len(), 6, "three conditions in two boots");
        world.again = true;
        world.lab.bad_kernel = None;
        let summary = resumed(&mut world, stored.row.id);
        assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 2 * RECORDED));
    }
}
