//! Conditions that take turns in one flow.

use netassay_runner::{Ending, Event};
use record::{Detail, Turns};
use store::{StoredRun, StudyId};

use crate::RECORDED;
use crate::simulator::{Fault, Turning, alternated_study};
use crate::world::World;

/// Flows of two boots with a warm-up and two recorded ones each.
const FLOWS: usize = 6;

fn alternated(turns: Turning) -> World {
    let mut world = World { study: alternated_study(), ..World::new() };
    world.lab.turns = turns;
    world
}

fn turns(run: &StoredRun) -> Option<&Turns> {
    match &run.detail {
        Detail::Measured(account) => account.turns.as_ref(),
        _ => None,
    }
}

/// How many runs that count had turns, and how many had flows of their own.
fn shared_and_own(world: &World, study: StudyId) -> (usize, usize) {
    let stored = world.store.load(study).unwrap();
    let all: Vec<bool> = stored.measurements().map(|run| turns(run).is_some()).collect();
    let shared = all.iter().filter(|shared| **shared).count();
    (shared, all.len() - shared)
}

fn apart(world: &World) -> Vec<(usize, String)> {
    let told = |event: &Event| match event {
        Event::Apart { labels, why } => Some((labels.len(), why.clone())),
        _ => None,
    };
    world.events.iter().filter_map(told).collect()
}

#[test]
fn conditions_of_a_flow_are_recorded_together_each_once() {
    let mut world = alternated(Turning::Settled);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (Ending::Complete, RECORDED, 0));
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    assert_eq!(world.lab.runs(), FLOWS, "three conditions share each flow");
    assert_eq!(shared_and_own(&world, summary.study), (RECORDED, 0));
    assert_eq!(apart(&world), []);
    // Each condition has turns after each, itself among them, equally often.
    let stored = world.store.load(summary.study).unwrap();
    for turns in stored.measurements().filter_map(turns) {
        for after in 0..3 {
            let count = turns.turns.iter().filter(|turn| turn.after == after).count();
            assert_eq!(count, turns.turns.len() / 3);
        }
    }
}

#[test]
fn a_flow_with_nothing_in_one_condition_is_repeated_as_a_whole() {
    for keep_disturbed in [false, true] {
        let mut world = World { keep_disturbed, ..alternated(Turning::Settled) };
        world.lab.faults.insert(1, Fault::DisturbedToNothingInOne);
        let summary = world.session(None).unwrap();
        assert_eq!((summary.ending, summary.recorded, summary.failed), (Ending::Complete, RECORDED, 0));
        assert!(world.recorded(summary.study).values().all(|count| *count == 1));
        assert_eq!(world.lab.runs(), FLOWS + 1);
    }
}

#[test]
fn conditions_that_cannot_take_turns_are_measured_apart_and_that_is_told() {
    let mut world = alternated(Turning::Never);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (Ending::Complete, RECORDED, 0));
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    assert_eq!(shared_and_own(&world, summary.study), (0, RECORDED));
    let told = apart(&world);
    assert_eq!(told.len(), 1, "it is tried once: {told:?}");
    assert_eq!(told[0], (3, "the transmitter cannot take turns: a switch resets the link".to_owned()));
}

#[test]
fn conditions_that_do_not_settle_are_measured_apart() {
    let mut world = alternated(Turning::Unsettled);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (Ending::Complete, RECORDED));
    assert_eq!(shared_and_own(&world, summary.study), (0, RECORDED));
    let told = apart(&world);
    assert_eq!(told.len(), 1);
    assert!(told[0].1.contains("a switch acts for longer than the 20 ms"), "{told:?}");
    // Its warm-up flow warmed up the first boot.
    assert_eq!(world.lab.runs(), 1 + RECORDED + 3);
}

/// The warm-up flow shows it; those that count leave out more of each turn, and have more turns.
#[test]
fn a_switch_that_acts_longer_is_left_out_for_longer() {
    let mut world = alternated(Turning::Slow);
    let text = world.study.source_text().replace("duration = \"1s\"", "duration = \"2s\"");
    world.study = study::Study::parse("longer.toml", &text).unwrap();
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (Ending::Complete, RECORDED));
    assert_eq!((apart(&world), world.lab.runs()), (vec![], FLOWS));
    let told = world.events.iter().filter_map(|event| match event {
        Event::Settles { after_s, why, .. } => Some((*after_s, why.contains("longer than the 20 ms"))),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(0.04, true)]);
    let stored = world.store.load(summary.study).unwrap();
    let parts = |warmup| {
        let all = stored.runs.iter().filter(move |run| run.warmup == warmup).filter_map(turns);
        all.map(|one| (one.settle_ns, one.turns.len()))
    };
    let first = parts(true).next().unwrap();
    assert_eq!(first.0, 20_000_000);
    assert!(parts(false).all(|one| one.0 == 40_000_000 && one.1 > first.1), "{first:?}");
}

#[test]
fn a_recorded_flow_that_does_not_settle_is_not_kept() {
    let mut world = alternated(Turning::Unsettled);
    let text = world.study.source_text().replace("warmup = 1", "warmup = 0");
    world.study = study::Study::parse("cold.toml", &text).unwrap();
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (Ending::Complete, RECORDED));
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    assert_eq!(shared_and_own(&world, summary.study), (0, RECORDED));
}

#[test]
fn a_disturbed_flow_is_repeated_as_a_whole() {
    let mut world = alternated(Turning::Settled);
    world.lab.faults.insert(1, Fault::Disturbed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (Ending::Complete, RECORDED, 0));
    assert_eq!(world.lab.runs(), FLOWS + 1);
    assert_eq!(shared_and_own(&world, summary.study), (RECORDED, 0));
}

#[test]
fn a_stopped_study_is_resumed_with_whole_flows() {
    for stopped_at in 0..FLOWS {
        let mut world = alternated(Turning::Settled);
        world.lab.faults.insert(stopped_at, Fault::Interrupt);
        let first = world.session(None).unwrap();
        assert_eq!(first.ending, Ending::Interrupted);
        assert_eq!(first.recorded % 3, 0, "a flow is recorded as a whole");
        world.calm();
        let summary = world.session(Some(first.study)).unwrap();
        assert_eq!((summary.ending, summary.recorded), (Ending::Complete, RECORDED));
        assert!(world.recorded(summary.study).values().all(|count| *count == 1));
        assert_eq!(shared_and_own(&world, summary.study), (RECORDED, 0));
    }
}
