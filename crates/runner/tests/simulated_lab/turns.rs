//! Conditions that take turns in one flow.

use netassay_runner::Event;
use record::{Detail, Turns};
use stats::{Observation, Question, Verdict, analyse};
use store::{StoredRun, StudyId, StudyStatus};
use study::{Kind, Study};

use crate::RECORDED;
use crate::simulator::{Fault, Rates, Turning};
use crate::world::{World, alternated_study, parsed};

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

/// The number of runs that count and had turns, and of those with flows of their own.
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
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 0));
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
        assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 0));
        assert!(world.recorded(summary.study).values().all(|count| *count == 1));
        assert_eq!(world.lab.runs(), FLOWS + 1);
    }
}

#[test]
fn conditions_that_cannot_take_turns_are_measured_apart_and_that_is_told() {
    let mut world = alternated(Turning::Never);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.failed), (StudyStatus::Complete, RECORDED, 0));
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
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
    assert_eq!(shared_and_own(&world, summary.study), (0, RECORDED));
    let told = apart(&world);
    assert_eq!(told.len(), 1);
    assert!(told[0].1.contains("a switch acts for longer than the 20 ms"), "{told:?}");
    // Its warm-up flow warmed up the first boot.
    assert_eq!(world.lab.runs(), 1 + RECORDED + 3);
}

#[test]
fn a_recorded_flow_that_does_not_settle_is_not_kept() {
    let mut world = alternated(Turning::Unsettled);
    let text = world.study.text.replace("warmup = 1", "warmup = 0");
    world.study = study::Study::parse("cold.toml", &text).unwrap();
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
    assert!(world.recorded(summary.study).values().all(|count| *count == 1));
    assert_eq!(shared_and_own(&world, summary.study), (0, RECORDED));
}

#[test]
fn a_disturbed_flow_is_repeated_as_a_whole() {
    let mut world = alternated(Turning::Settled);
    world.lab.faults.insert(1, Fault::Disturbed);
    let summary = world.session(None).unwrap();
    assert_eq!((summary.ending, summary.recorded, summary.invalid), (StudyStatus::Complete, RECORDED, 0));
    assert_eq!(world.lab.runs(), FLOWS + 1);
    assert_eq!(shared_and_own(&world, summary.study), (RECORDED, 0));
}

#[test]
fn a_stopped_study_is_resumed_with_whole_flows() {
    for stopped_at in 0..FLOWS {
        let mut world = alternated(Turning::Settled);
        world.lab.faults.insert(stopped_at, Fault::Interrupt);
        let first = world.session(None).unwrap();
        assert_eq!(first.ending, StudyStatus::Interrupted);
        assert_eq!(first.recorded % 3, 0, "a flow is recorded as a whole");
        world.calm();
        let summary = world.session(Some(first.study)).unwrap();
        assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, RECORDED));
        assert!(world.recorded(summary.study).values().all(|count| *count == 1));
        assert_eq!(shared_and_own(&world, summary.study), (RECORDED, 0));
    }
}

/// Six boots of two levels of a factor, which take turns if the study says so or by themselves.
fn two_levels(kind: Kind, factor: &str, turns: &str) -> Study {
    let buffer = if kind == Kind::TcpStream { "socket_buffer = 1048576\n" } else { "" };
    let text = format!(
        "name = \"n\"\nquestion = \"q\"\nscenario = \"veth\"\n[[workload]]\nkind = \"{kind}\"\n{buffer}duration = \"1s\"\n\
         [factors]\n{factor}\n[protocol]\nboots = 6\nwarmup = 0\nruns = 1\n{turns}"
    );
    parsed(&text)
}

/// Each key that `auto` takes (`study`'s tests have the list), from plan to verdict: the same twice
/// is hardly ever told apart, and 1 % is found, which runs of their own with this noise cannot
/// show.
#[test]
fn what_takes_turns_by_itself_finds_what_is_there() {
    use Kind::{TcpStream, UdpStream};
    let keys = [
        (UdpStream, "dscp = [0, 8]"),
        (UdpStream, "checksum = [\"on\", \"off\"]"),
        (UdpStream, "reader = [\"recv\", \"gro\"]"),
        (UdpStream, "tso = [\"on\", \"off\"]"),
        (UdpStream, "twin = [\"a\", \"b\"]"),
        (
            UdpStream,
            "receiver.sysctl = [{ \"net.ipv4.udp_early_demux\" = 1 }, { \"net.ipv4.udp_early_demux\" = 0 }]",
        ),
        (TcpStream, "dscp = [0, 8]"),
        (TcpStream, "nodelay = [\"on\", \"off\"]"),
        (TcpStream, "sender = [\"send\", \"sendfile\"]"),
        (TcpStream, "tso = [\"on\", \"off\"]"),
    ];
    let verdict = |kind: Kind, factor: &str, rates: Rates| {
        let mut world = World { study: two_levels(kind, factor, ""), ..World::new() };
        world.lab.rates = Some(rates);
        let summary = world.session(None).unwrap();
        assert_eq!(
            (shared_and_own(&world, summary.study), world.lab.runs()),
            ((12, 0), 6),
            "{kind} {factor}"
        );
        let stored = world.store.load(summary.study).unwrap();
        let values = stored.values(study::metric::THROUGHPUT);
        let values: Vec<Observation> =
            values.map(|(condition, boot, value)| Observation { condition, boot, value }).collect();
        analyse(&values, &Question::against(0)).unwrap().comparisons[0].verdict
    };
    const EXPERIMENTS: u64 = 4;
    let mut false_positives = 0;
    for ((kind, factor), of_key) in keys.into_iter().zip(0..) {
        for seed in (0..EXPERIMENTS).map(|experiment| of_key * EXPERIMENTS + experiment) {
            let found = verdict(kind, factor, Rates { seed, effect: 0.0 });
            false_positives += usize::from(found != Verdict::NoDifferenceProven);
            let found = verdict(kind, factor, Rates { seed, effect: -0.01 });
            assert_eq!(found, Verdict::Lower, "{kind} {factor} {seed}");
        }
    }
    // Of 40 experiments with 5 % each: 7 or more have a chance of 0.3 %.
    assert!(false_positives <= 6, "{false_positives}");
}

/// The simulated sender sends 2 Gbit/s in the turns of any condition. A busy machine is no excuse.
#[test]
fn a_level_that_does_not_keep_its_pace_in_turns_has_runs_of_its_own() {
    let asked = "alternate = \"100ms\"\n";
    for (factor, share, verified) in [
        ("pacing = [\"2Gbit\", \"2001Mbit\"]", "", true),
        (
            "pacing = [\"2Gbit\", \"1Gbit\"]",
            "pacing=1Gbit: its turns had 200.0 % of the pace of 1Gbit",
            false,
        ),
        ("pacing = [\"4Gbit\", \"2Gbit\"]", "pacing=4Gbit: its turns had 50.0 % of the pace of 4Gbit", false),
    ] {
        for (kind, keep_disturbed) in [(Kind::UdpStream, false), (Kind::TcpStream, true)] {
            let study = two_levels(kind, factor, asked);
            let mut world = World { study, keep_disturbed, ..World::new() };
            world.lab.always = keep_disturbed.then_some(Fault::Disturbed);
            let summary = world.session(None).unwrap();
            assert_eq!((summary.ending, summary.recorded), (StudyStatus::Complete, 12), "{kind} {factor}");
            assert!(world.recorded(summary.study).values().all(|count| *count == 1));
            let expected = if verified { (12, 0) } else { (0, 12) };
            assert_eq!(shared_and_own(&world, summary.study), expected, "{kind} {factor}");
            let told = apart(&world);
            assert_eq!(told.len(), usize::from(!verified), "{told:?}");
            assert!(told.iter().all(|(_, why)| why.contains(share)), "{told:?}");
        }
    }
}
