//! Accounts of packets whose every time is known.

use super::*;
use crate::chosen::StagePoint;
use crate::path::Layer;
use crate::probe_counts::Journeys;
use crate::tracer::Attachment;

/// A batch of ten packets whose points lie so far apart, each with a probe of `cost` between.
fn round(points: &[u8], each: &[u64], cost: u64) -> Round {
    let segment = |point: u8, ns: u64| Segment {
        point,
        count: 10,
        sum: 10 * (ns + cost),
        least: ns + cost,
        most: ns + cost,
        outside: 50,
        buckets: vec![(20, 10)],
    };
    let segments: Vec<Segment> = points.iter().zip(each).map(|(point, ns)| segment(*point, *ns)).collect();
    let sum: u64 = segments.iter().map(|segment| segment.sum).sum();
    let whole = Segment { point: 0, sum, ..segment(0, 0) };
    let journeys = Journeys { arrived: 10, ..Journeys::default() };
    Round {
        batch_ns: 1000,
        reading: ProbeCounts { ways: vec![Way { whole, segments }], journeys, hits: vec![10; 4] },
        between: Vec::new(),
    }
}

fn stage(label: &str, point: u8) -> ChosenStage {
    let seen = Ok(StagePoint { point, name: label.to_owned(), mean: Attachment::Trampoline, packet: None });
    let (label, lane, phase) = (label.to_owned(), Layer::Ip, JourneyPhase::Out);
    ChosenStage { label, lane, at: At::Entry, optional: false, phase, seen }
}

fn kind(mean: Attachment) -> ProbeCost {
    ProbeCost { mean, at: At::Entry, phase: JourneyPhase::Out, listed: false }
}

fn account() -> TraceAccount {
    let mut gone = stage("gone", 9);
    gone.seen = Err("no function gone".to_owned());
    TraceAccount {
        batch: 10,
        avoiding: None,
        stages: vec![stage("a", 0), gone, stage("b", 1), stage("c", 2), stage("d", 3)],
        untraced: vec![500, 700, 600],
        ends: vec![round(&[3], &[600], 7)],
        one_more: vec![(kind(Attachment::Trampoline), vec![round(&[1, 3], &[100, 500], 7)])],
        all: vec![round(&[1, 2, 3], &[100, 200, 300], 7); 3],
        sampled: None,
        profile: None,
    }
}

#[test]
fn what_probes_cost_is_taken_off_each_stage_and_the_sum_closes() {
    let account = account();
    assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
    assert_eq!(account.cost(kind(Attachment::Kprobe)), None);
    let rows = account.rows();
    let corrected: Vec<f64> = rows.iter().map(|row| row.corrected).collect();
    assert_eq!(corrected, [100.0, 200.0, 300.0]);
    assert_eq!((rows[0].from, rows[0].to, rows[0].outside), (0, 2, 5.0));
    assert_eq!((account.time_of_way(), account.closure().map(Closure::share)), (Some(600.0), Some(1.0)));
    assert_eq!(account.a_message(), Some([60.0, 100.0]));
}

/// At c the packet is in its socket, and at d its reader has it.
#[test]
fn the_wait_for_a_reader_and_the_probes_around_it_are_in_no_sum() {
    let mut account = account();
    (account.stages[3].phase, account.stages[4].phase) = (JourneyPhase::Arriving, JourneyPhase::Reading);
    account.one_more[0].1 = vec![round(&[1, 2, 3], &[100, 200, 0], 7)];
    for wait in [0, 300, 90_000] {
        account.ends = vec![round(&[2, 3], &[300, wait], 7)];
        account.all = vec![round(&[1, 2, 3], &[100, 200, wait], 7)];
        let waits: Vec<bool> = account.rows().iter().map(|row| row.waits).collect();
        assert_eq!(waits, [false, false, true]);
        assert_eq!(account.time_of_way(), Some(300.0), "{wait} ns");
        assert_eq!(account.closure().map(Closure::share), Some(1.0), "{wait} ns");
    }
    // The fastest batch is the one whose packets were, however long they waited.
    account.ends.push(round(&[2, 3], &[400, 0], 7));
    account.all.push(round(&[1, 2, 3], &[150, 250, 0], 7));
    assert_eq!((account.time_of_way(), account.closure().map(Closure::share)), (Some(300.0), Some(1.0)));
}

/// A tick adds to another stage in each batch; a batch that is slower by more is left out.
#[test]
fn what_a_tick_adds_to_a_batch_is_in_no_stage() {
    let batches = [[1004, 2000, 3000], [1000, 2004, 3000], [1000, 2000, 3004], [990, 2500, 3000]];
    // Here probes cost nothing.
    let all: Vec<Round> = batches.iter().map(|each| round(&[1, 2, 3], each, 0)).collect();
    let ends = vec![round(&[3], &[6003], 0), round(&[3], &[6000], 0)];
    let account = TraceAccount { all, ends, one_more: Vec::new(), ..account() };
    let corrected: Vec<f64> = account.rows().iter().map(|row| row.corrected).collect();
    assert_eq!((corrected, account.time_of_way()), (vec![1000.0, 2000.0, 3000.0], Some(6000.0)));
}

#[test]
fn what_differs_elsewhere_and_what_few_packets_take_is_in_no_cost() {
    // The probe at 2 costs 7; the way to 1 takes longer in each batch with it.
    let mut account = TraceAccount {
        ends: vec![round(&[1, 3], &[100, 500], 7)],
        one_more: vec![(kind(Attachment::Trampoline), vec![round(&[1, 2, 3], &[900, 200, 300], 7)])],
        ..account()
    };
    assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
    // One packet in a hundred takes 20,000 ns more between 1 and 3, and only with the probe.
    account.one_more[0].1 = vec![round(&[1, 2, 3], &[900, 400, 300], 7)];
    assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(207.0));
    let between = |quarter| vec![TimeBetween { from: 1, to: 3, quarter }];
    account.one_more[0].1[0].between = between(514);
    assert_eq!(
        account.cost(kind(Attachment::Trampoline)),
        Some(207.0),
        "of both kinds of batches or of none"
    );
    account.ends[0].between = between(507);
    assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
}

#[test]
fn a_cost_that_does_not_repeat_shows_in_the_closure() {
    let all = vec![round(&[1, 2, 3], &[100, 200, 300], 27); 3];
    let account = TraceAccount { all, ..account() };
    let closure = account.closure().unwrap();
    assert_eq!(closure.share(), 1.1);
    assert!(!closure.holds(true));
}

/// In some batches most packets find their reader elsewhere, and pass other points.
#[test]
fn a_batch_whose_packets_took_another_way_is_left_out() {
    let elsewhere = round(&[3], &[9000], 7);
    let mut more = account().one_more;
    // The ends are 0, 2 and 3 here; without its 2 this batch looks as if nobody passed it.
    let mut strange = elsewhere.clone();
    strange.reading.ways.extend(round(&[1, 2, 3], &[100, 200, 300], 7).reading.ways);
    more[0].1 = vec![strange, round(&[1, 2, 3], &[100, 200, 300], 7)];
    let ends = vec![elsewhere, round(&[2, 3], &[300, 300], 7)];
    let account = TraceAccount { ends, one_more: more, ..account() };
    assert_eq!(account.cost(kind(Attachment::Trampoline)), Some(7.0));
    assert_eq!(account.closure().map(Closure::share), Some(1.0));
}

#[test]
fn rounds_that_come_one_by_one_are_those_of_the_whole() {
    let whole = account();
    let part = |untraced: &[u64], once: bool, all: usize| {
        let some = |rounds: &Vec<Round>| if once { rounds.clone() } else { Vec::new() };
        TraceAccount {
            untraced: untraced.to_vec(),
            ends: some(&whole.ends),
            one_more: whole.one_more.iter().map(|(kind, rounds)| (*kind, some(rounds))).collect(),
            all: whole.all[..all].to_vec(),
            ..whole.clone()
        }
    };
    let mut sum = part(&[500], false, 1);
    sum.add(part(&[700, 600], true, 2));
    assert_eq!(sum, whole);
}

#[test]
fn batches_without_a_packet_give_no_row() {
    // Fragments: with two points they arrive, with all they do not.
    let account = TraceAccount { all: vec![Round::default()], ..account() };
    assert_eq!((account.rows(), account.closure()), (Vec::new(), None));
    assert!(account.time_of_way().is_some());
}
