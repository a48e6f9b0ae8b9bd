//! Conditions that were tried and have no measurement yet: they come first.

use netassay_runner::{Ending, Event};

use crate::RECORDED;
use crate::simulator::{Fault, laddered_study};
use crate::world::World;

const ALL_ON: usize = 0;
const ALL_OFF: usize = 2;

/// The runs that were begun: boot, condition, and whether it was a warm-up.
fn begun(events: &[Event]) -> Vec<(u32, usize, bool)> {
    let run = |event: &Event| match event {
        Event::RunStarted { run, .. } => Some((run.boot, run.condition, run.warmup)),
        _ => None,
    };
    events.iter().filter_map(run).collect()
}

#[test]
fn resuming_begins_with_the_states_that_have_no_measurement() {
    let mut world = World { study: laddered_study("sequential"), ..World::new() };
    // The first run of all on fails, and all off is disturbed at every try.
    world.lab.faults.insert(1, Fault::Failed);
    world.lab.of_condition.insert(ALL_OFF, Fault::Disturbed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (Ending::SomeFailed, RECORDED - 5, 4));

    world.calm();
    world.events.clear();
    let summary = world.session(Some(summary.study)).unwrap();
    assert_eq!((summary.ending, summary.recorded), (Ending::Complete, RECORDED));
    let begun = begun(&world.events);
    assert_eq!(begun[..2], [(1, ALL_OFF, true), (1, ALL_OFF, false)]);
    assert_eq!(begun[2..4], [(1, ALL_ON, true), (1, ALL_ON, false)]);
}

#[test]
fn a_state_that_one_boot_lost_comes_first_in_the_next() {
    let mut world = World { study: laddered_study("sequential"), ..World::new() };
    // All off is the last: two runs, which take the three repeats of the session.
    for number in 7..12 {
        world.lab.faults.insert(number, Fault::Disturbed);
    }
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (Ending::Complete, RECORDED - 2, 2));
    let begun = begun(&world.events);
    let second: Vec<(u32, usize, bool)> = begun.into_iter().filter(|(boot, ..)| *boot == 2).collect();
    assert_eq!(second[..3], [(2, ALL_OFF, true), (2, ALL_OFF, false), (2, ALL_ON, true)]);
    assert_eq!(second.len(), 9);
}

#[test]
fn repeats_are_kept_for_states_without_a_measurement() {
    let mut world = World { study: laddered_study("interleaved"), ..World::new() };
    world.session(None).unwrap();
    // Of the first boot: three warm-ups, and two blocks of three.
    let drawn: Vec<usize> = begun(&world.events)[..9].iter().map(|(_, condition, _)| *condition).collect();
    let second_block = drawn[6..].iter().position(|condition| *condition != ALL_OFF).unwrap() + 6;

    let mut world = World { study: laddered_study("interleaved"), ..World::new() };
    world.lab.of_condition.insert(ALL_OFF, Fault::Failed);
    for number in second_block..second_block + 3 {
        world.lab.faults.insert(number, Fault::Disturbed);
    }
    world.session(None).unwrap();
    let repeated: Vec<bool> = world
        .events
        .iter()
        .filter_map(|event| match event {
            Event::RunFinished { invalid: Some(invalid), .. } => Some(invalid.repeated),
            _ => None,
        })
        .collect();
    // Of the session's three repeats two are kept for all off, of which runs are still to come.
    assert_eq!(repeated[..2], [true, false]);
}
