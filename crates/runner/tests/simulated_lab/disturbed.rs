//! Runs that something disturbs: kept, repeated within bounds, and never counted.

use host::journal::{PresentValue, ReadBackDifference};
use host::machine::Target;
use netassay_runner::{Error, Event, Invalid};
use record::Cause;
use store::{RunStatus, StudyStatus};

use crate::RECORDED;
use crate::simulator::{Fault, loud_neighbour};
use crate::world::{World, looking_study};

/// Runs before the first measured one: the warm-ups of three conditions.
const WARMUPS: usize = 3;

/// The reports of disturbed runs: boot and whether it is repeated.
fn told(events: &[Event]) -> Vec<(u32, bool)> {
    let invalid = |event: &Event| match event {
        Event::RunFinished { run, invalid: Some(Invalid { why, repeated, .. }), failed: None, .. } => {
            assert_eq!(why, "another session measured on this machine (--beside): a loud neighbour");
            Some((run.boot, *repeated))
        }
        _ => None,
    };
    events.iter().filter_map(invalid).collect()
}

#[test]
fn a_disturbed_run_is_kept_and_repeated_at_once() {
    let mut world = World::new();
    world.lab.faults.insert(WARMUPS + 1, Fault::Disturbed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, RECORDED, 0));
    assert_eq!(told(&world.events), [(1, true)]);

    let stored = world.store.load(summary.study).unwrap();
    assert_eq!((stored.row.status, stored.row.invalid_runs), (StudyStatus::Complete, 1));
    let [kept, repeat] = &stored.runs[WARMUPS + 1..WARMUPS + 3] else { panic!("{:?}", stored.runs) };
    assert_eq!((kept.status, repeat.status), (RunStatus::Invalid, RunStatus::Ok));
    assert_eq!((kept.key(), kept.position), (repeat.key(), repeat.position));
    assert_eq!(
        kept.reason.as_deref(),
        Some("another session measured on this machine (--beside): a loud neighbour")
    );
    assert!(kept.metrics.get(study::metric::THROUGHPUT).is_some());
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    // 18 runs and the repeat, which the count of what is to come takes in.
    let mut counts = world.events.iter().filter_map(|event| match event {
        Event::RunFinished { done, of, .. } => Some((*done, *of)),
        _ => None,
    });
    assert_eq!(counts.next_back(), Some((19, 19)));
}

#[test]
fn a_disturbed_warm_up_has_warmed_up() {
    let mut world = World::new();
    world.lab.faults.insert(0, Fault::Disturbed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
    assert_eq!(told(&world.events), []);
    assert_eq!(world.store.load(summary.study).unwrap().row.invalid_runs, 0);
}

#[test]
fn disturbed_runs_count_where_the_user_says_so_and_stay_on_record() {
    let mut world = World { keep_disturbed: true, ..World::new() };
    world.lab.always = Some(Fault::Disturbed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, RECORDED, 0));
    assert_eq!(told(&world.events), []);
    let stored = world.store.load(summary.study).unwrap();
    assert!(stored.runs.iter().all(|run| run.detail.disturbed() == [loud_neighbour()]));
}

#[test]
fn what_stays_disturbed_is_given_up_within_bounds_and_said() {
    let mut world = World::new();
    world.lab.always = Some(Fault::Disturbed);
    let summary = world.session(None).unwrap();
    // Of 12 runs a tenth is 1, so the least of 3 counts: the first run takes two, the second one.
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, 0, RECORDED));
    let told = told(&world.events);
    assert_eq!(told.len(), RECORDED + 3);
    assert_eq!(
        told[..6].iter().map(|(_, repeated)| *repeated).collect::<Vec<_>>(),
        [true, true, false, true, false, false]
    );
    let stored = world.store.load(summary.study).unwrap();
    assert_eq!(stored.row.status, StudyStatus::Complete);
    assert_eq!(stored.left_invalid().len(), RECORDED);
    let last = world.events.last();
    assert!(matches!(last, Some(Event::Finished { complete: true, recorded: 0, invalid: RECORDED, .. })));
}

#[test]
fn resuming_tries_again_what_stayed_disturbed() {
    let mut world = World::new();
    // Three times the same run of the second boot: the last try and both repeats.
    let first = 18 - 2;
    for number in first..first + 3 {
        world.lab.faults.insert(number, Fault::Disturbed);
    }
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, RECORDED - 1, 1));
    assert_eq!(told(&world.events), [(2, true), (2, true), (2, false)]);

    world.calm();
    let before = world.lab.runs();
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, RECORDED, 0));
    assert_eq!(world.lab.runs() - before, 2, "the warm-up of its condition, and the run itself");
    let error = world.session(Some(summary.study)).unwrap_err();
    assert!(matches!(error, Error::NothingToRun { .. }), "{error}");
}

#[test]
fn a_lost_testbed_does_not_renew_what_was_given_up() {
    let mut world = World::new();
    for number in WARMUPS..WARMUPS + 3 {
        world.lab.faults.insert(number, Fault::Disturbed);
    }
    world.lab.faults.insert(WARMUPS + 4, Fault::Lost);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, RECORDED - 1, 1));
    assert_eq!(told(&world.events).len(), 3);
}

#[test]
fn an_interrupt_between_a_run_and_its_repeat_loses_neither() {
    let mut world = World::new();
    world.lab.faults.insert(WARMUPS, Fault::Disturbed);
    world.lab.faults.insert(WARMUPS + 1, Fault::Interrupt);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Interrupted, 0, 0));
    world.calm();
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
    let stored = world.store.load(summary.study).unwrap();
    assert_eq!((stored.row.invalid_runs, stored.left_invalid().len()), (1, 0));
}

#[test]
fn a_study_that_ended_at_a_look_ends_there_still_when_its_disturbed_runs_are_tried_again() {
    let mut world =
        World { study: looking_study(), is_decided: |stored| stored.boots.len() >= 4, ..World::new() };
    for number in WARMUPS..WARMUPS + 3 {
        world.lab.faults.insert(number, Fault::Disturbed);
    }
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, 4 * 6 - 1, 1));
    world.calm();
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 4 * 6));
    let stored = world.store.load(summary.study).unwrap();
    assert_eq!((stored.row.status, stored.row.boots), (StudyStatus::Complete, 4));
}

#[test]
fn a_run_in_which_nothing_arrived_fails_with_its_reason() {
    for keep_disturbed in [false, true] {
        let mut world = World { keep_disturbed, ..World::new() };
        world.lab.faults.insert(WARMUPS + 1, Fault::Nothing);
        let summary = world.session(None).unwrap();
        assert_eq!(
            (summary.ending, summary.recorded, summary.failed),
            (StudyStatus::Failed, RECORDED - 1, 1)
        );
        let stored = world.store.load(summary.study).unwrap();
        let run = &stored.runs[WARMUPS + 1];
        assert_eq!((run.status, run.reason.as_deref()), (RunStatus::Failed, Some("nothing arrived")));
        assert!(stored.measurements().all(|run| run.metrics.get(study::metric::THROUGHPUT) > Some(0.0)));
    }
}

#[test]
fn nothing_beside_a_disturbance_is_repeated_and_never_kept() {
    let why = "nothing arrived; another session measured on this machine (--beside): a loud neighbour";
    for keep_disturbed in [false, true] {
        let mut world = World { keep_disturbed, ..World::new() };
        world.lab.faults.insert(WARMUPS + 1, Fault::DisturbedToNothing);
        let summary = world.session(None).unwrap();
        assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 0));
        let run = world.store.load(summary.study).unwrap().runs[WARMUPS + 1].clone();
        assert_eq!((run.status, run.reason.as_deref()), (RunStatus::Invalid, Some(why)));
    }

    // A run and its two repeats.
    let mut world = World { keep_disturbed: true, ..World::new() };
    world.lab.faults.extend((1..4).map(|run| (WARMUPS + run, Fault::DisturbedToNothing)));
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Failed, RECORDED - 1, 1));
    let run = world.store.load(summary.study).unwrap().runs[WARMUPS + 3].clone();
    assert_eq!((run.status, run.reason.as_deref()), (RunStatus::Failed, Some(why)));
}

#[test]
fn a_run_is_invalid_if_the_machine_differs_at_either_edge_of_it() {
    // It is asked before and after each run, and told once of what lasts.
    for (edges, told) in [(0..1, 1), (1..2, 1), (1..3, 2), (2..4, 1)] {
        let asked = std::cell::Cell::new(0);
        let first = 2 * WARMUPS;
        let differences = Box::new(move || {
            let now = asked.replace(asked.get() + 1);
            edges.clone().map(|edge| first + edge).filter(|edge| *edge == now).map(|_| ttl()).collect()
        });
        let mut world = World { differences, ..World::new() };
        let summary = world.session(None).unwrap();
        assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
        let stored = world.store.load(summary.study).unwrap();
        let invalid: Vec<_> = stored.runs.iter().filter(|run| run.status == RunStatus::Invalid).collect();
        assert_eq!(invalid.len(), told);
        assert!(invalid.iter().all(|run| run.detail.disturbed() == [ttl().into()]), "{invalid:?}");
    }
}

/// A setting that somebody changed.
fn ttl() -> Cause {
    Cause::Setting(ReadBackDifference {
        target: Target::Sysctl { name: "net.ipv4.ip_default_ttl".to_owned() },
        after: "7".into(),
        now: PresentValue::Reads("5".into()),
    })
}

#[test]
fn a_session_beside_another_marks_every_run() {
    let beside = Cause::Session("process 7".to_owned());
    let mut world = World { beside: Some(beside.clone()), keep_disturbed: true, ..World::new() };
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
    let stored = world.store.load(summary.study).unwrap();
    assert!(stored.runs.iter().all(|run| run.detail.disturbed() == [beside.clone().into()]));
    let mut world = World { beside: Some(beside), ..World::new() };
    assert_eq!(world.session(None).unwrap().recorded, 0, "without --keep-disturbed none counts");
}
