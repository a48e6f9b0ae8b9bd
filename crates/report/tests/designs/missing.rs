//! Credit where states of a design were not measured: they are named, and credit says on which
//! orders or steps it rests.

use std::collections::BTreeSet;

use results::Results;
use serde_json::{Value, json};
use store::{Metrics, RunStatus, StoredStudy, StudyStatus};
use study::{Condition, DesignKind, Plan};

use crate::made::{design, is_on, means, stored, study, wobble};
use crate::shown::Shown as _;

const OFFLOADS: [&str; 3] = ["transmitter.tso", "transmitter.gso", "receiver.gro"];
const SWITCHES: &str = "transmitter.tso = [\"off\", \"on\"]\ntransmitter.gso = [\"off\", \"on\"]\nreceiver.gro = [\"off\", \"on\"]";

fn on(condition: &Condition) -> [bool; 3] {
    OFFLOADS.map(|name| is_on(condition, name))
}

/// Whether a state is one of a design of this kind over three offloads.
fn is_of(kind: DesignKind, condition: &Condition) -> bool {
    let on = on(condition);
    let count = on.iter().filter(|on| **on).count();
    match kind {
        DesignKind::Factorial => true,
        DesignKind::Fractional => count % 2 == 1,
        DesignKind::Ladder => on.is_sorted(),
    }
}

fn made(kind: DesignKind) -> (Plan, StoredStudy) {
    let (study, mut plan) = study(SWITCHES);
    design(&mut plan, kind, &OFFLOADS, |condition| is_of(kind, condition));
    plan.design.as_mut().unwrap().unreachable.clear();
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        let gains = on(condition)
            .into_iter()
            .zip([100.0, 600.0, 250.0])
            .map(|(on, gain)| if on { gain } else { 0.0 });
        let both = if on(condition)[0] && on(condition)[1] { 400.0 } else { 0.0 };
        let rate = 1000.0 + gains.sum::<f64>() + both + wobble(boot, repeat, condition.index);
        vec![("throughput", rate)]
    };
    let stored = stored(&study, &plan, values);
    (plan, stored)
}

/// As if these conditions had been lost.
fn lose(stored: &mut StoredStudy, conditions: &[usize]) {
    for run in stored.runs.iter_mut().filter(|run| conditions.contains(&run.condition)) {
        (run.status, run.reason) = (RunStatus::Invalid, Some("host: other processes took 40 %".to_owned()));
    }
}

/// The credit in throughput, and the page.
fn shown(stored: &StoredStudy) -> (Value, String) {
    let results = Results::new(stored).unwrap();
    let page = results.text(netassay_report::Layout::WIDE);
    let credit = serde_json::to_value(&results).unwrap()["credit"]["credits"][0].clone();
    (credit, page)
}

/// All conditions of a plan, one by one and in pairs.
fn ones_and_pairs(conditions: usize) -> Vec<Vec<usize>> {
    let pairs = (0..conditions).flat_map(|one| (one + 1..conditions).map(move |other| vec![one, other]));
    (0..conditions).map(|one| vec![one]).chain(pairs).collect()
}

fn state(plan: &Plan, condition: usize) -> String {
    let design = plan.design.as_ref().unwrap();
    design.state_name(&plan.conditions[condition].designed(design))
}

/// Each order of the three offloads, as the gains along it; none of an order through a state
/// without a mean.
fn gains(plan: &Plan, stored: &StoredStudy) -> Vec<[f64; 3]> {
    let means = means(stored, "throughput");
    let mean = |wanted: [bool; 3]| {
        let condition = plan.conditions.iter().find(|condition| on(condition) == wanted)?;
        means.get(&condition.index).copied()
    };
    let along = |order: [usize; 3]| {
        let (mut states, mut gains) = ([false; 3], [0.0; 3]);
        for factor in order {
            let before = mean(states)?;
            states[factor] = true;
            gains[factor] = mean(states)? - before;
        }
        Some(gains)
    };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    orders.into_iter().filter_map(along).collect()
}

#[test]
fn every_lost_state_is_named_with_its_reason_and_no_other() {
    for kind in [DesignKind::Factorial, DesignKind::Fractional, DesignKind::Ladder] {
        let (plan, whole) = made(kind);
        assert_eq!(shown(&whole).0["missing"], json!([]), "{kind}");
        for lost in ones_and_pairs(plan.conditions.len()) {
            let mut stored = whole.clone();
            lose(&mut stored, &lost);
            let (credit, page) = shown(&stored);
            let named: BTreeSet<&str> = credit["missing"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["state"].as_str().unwrap())
                .collect();
            let states: Vec<String> = lost.iter().map(|condition| state(&plan, *condition)).collect();
            assert_eq!(named, states.iter().map(String::as_str).collect(), "{kind}");
            assert_eq!(credit["planned_states"], plan.conditions.len());
            for state in &states {
                let line = format!(
                    "Not measured: {state} (6 disturbed; the last try, in boot 3: host: other processes took 40 %)."
                );
                assert!(page.contains(&line), "{kind} without {state}:\n{page}");
            }
        }
    }
}

#[test]
fn shares_are_from_the_orders_that_are_left_or_there_are_none() {
    let (plan, whole) = made(DesignKind::Factorial);
    for lost in ones_and_pairs(8) {
        let mut stored = whole.clone();
        lose(&mut stored, &lost);
        let (credit, page) = shown(&stored);
        let gains = gains(&plan, &stored);
        let ends: Vec<String> =
            lost.iter().map(|one| state(&plan, *one)).filter(|state| state.starts_with("all ")).collect();
        if !ends.is_empty() {
            assert!(credit["parts"].as_array().unwrap().is_empty() && credit["whole"].is_null(), "{credit}");
            assert!(credit["orders"].is_null());
            let said = format!("throughput: the whole gain, all on less all off, is not known: {}", ends[0]);
            assert!(page.contains(&said), "{said}\n{page}");
            continue;
        }
        let orders = json!({"used": gains.len(), "planned": 6, "all": 6});
        assert_eq!(credit["orders"], orders, "without {lost:?}");
        let from = format!("from {} of 6 orders", gains.len());
        assert!(page.contains(&format!("Credit (factorial, Shapley shares {from}), tcp_stream\n")), "{page}");
        assert!(page.contains(&format!("; of this ({from}) ")), "{page}");
        for factor in 0..3 {
            let mean = gains.iter().map(|gains| gains[factor]).sum::<f64>() / gains.len() as f64;
            let value = credit["parts"][factor]["value"].as_f64().unwrap();
            assert!((value - mean).abs() < 1e-9, "without {lost:?}: {value} not {mean}");
        }
    }
    // With every state there are all orders, and nothing is to be said of it.
    let (credit, page) = shown(&whole);
    assert_eq!(credit["orders"], json!({"used": 6, "planned": 6, "all": 6}));
    assert!(!page.contains(" of 6 orders") && page.contains("over all 6 orders"), "{page}");
}

#[test]
fn no_order_is_left_where_every_one_leads_through_a_lost_state() {
    let (plan, mut stored) = made(DesignKind::Factorial);
    let single = |one: &&Condition| on(one).iter().filter(|on| **on).count() == 1;
    let lost: Vec<usize> = plan.conditions.iter().filter(single).map(|one| one.index).collect();
    lose(&mut stored, &lost);
    let (credit, page) = shown(&stored);
    assert!(credit["parts"].as_array().unwrap().is_empty() && credit["orders"].is_null());
    assert!(!credit["whole"].is_null(), "the whole is known");
    assert!(page.contains("Note: no credit by factorial: no order of switching on leads"), "{page}");
    assert!(page.contains("Credit (factorial, Shapley shares), tcp_stream:\n"), "no title: {page}");
}

#[test]
fn what_cannot_be_reached_is_not_what_was_not_measured() {
    let (study, mut plan) = study(SWITCHES);
    // TSO without GSO reads back as neither.
    design(&mut plan, DesignKind::Factorial, &OFFLOADS, |one| on(one)[1] || !on(one)[0]);
    let values = |condition: &Condition, boot: u32, repeat: u32| {
        vec![("throughput", 1000.0 + 100.0 * condition.index as f64 + wobble(boot, repeat, condition.index))]
    };
    let mut stored = stored(&study, &plan, values);
    let lost = plan.conditions.iter().find(|one| on(one) == [false, true, false]).unwrap().index;
    lose(&mut stored, &[lost]);
    let (credit, page) = shown(&stored);
    // GRO, GSO, TSO is the only order that leads through neither.
    assert_eq!(credit["orders"], json!({"used": 1, "planned": 3, "all": 6}));
    assert_eq!(credit["missing"].as_array().unwrap().len(), 1);
    assert!(page.contains("Shapley shares from 1 of the 3 orders (of 6) that can be reached)"), "{page}");
    let unreachable = page.split("States that cannot be reached:").nth(1).unwrap();
    assert!(unreachable.contains("only transmitter.tso on reads back as all off"), "{page}");
    assert!(!unreachable.contains("only transmitter.gso on"), "{page}");
}

#[test]
fn a_step_over_a_lost_rung_is_of_all_that_goes_off_there() {
    let (plan, whole) = made(DesignKind::Ladder);
    let rung = |gone: usize| {
        plan.conditions.iter().find(|one| on(one).iter().filter(|on| !**on).count() == gone).unwrap().index
    };
    let steps = |gone: usize| {
        let mut stored = whole.clone();
        lose(&mut stored, &[rung(gone)]);
        let (credit, page) = shown(&stored);
        let names =
            credit["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), credit, page)
    };
    let (names, credit, _) = steps(1);
    assert_eq!(names, ["transmitter.tso and transmitter.gso off", "receiver.gro off"]);
    assert!(credit["whole_is_not_known"].is_null() && credit["adds_up"] == true);
    for (gone, end) in [(0, "all on"), (3, "all off")] {
        let (names, credit, page) = steps(gone);
        assert_eq!(names.len(), 2);
        assert!(credit["whole"].is_null());
        assert_eq!(credit["whole_is_not_known"], format!("{end} was not measured"), "{page}");
    }
}

#[test]
fn each_reason_is_reported() {
    let (plan, whole) = made(DesignKind::Factorial);
    let off = plan.conditions.iter().find(|one| on(one) == [false; 3]).unwrap().index;
    let why = |change: fn(&mut StoredStudy, usize)| {
        let mut stored = whole.clone();
        change(&mut stored, off);
        shown(&stored).0["missing"][0]["why"].as_str().unwrap().to_owned()
    };
    let never = why(|stored, off| {
        stored.runs.retain(|run| run.condition != off);
        stored.row.status = StudyStatus::Interrupted;
    });
    assert_eq!(never, "not tried: the study was interrupted");
    let failed = why(|stored, off| {
        for run in stored.runs.iter_mut().filter(|run| run.condition == off) {
            let (status, reason) = if run.boot == 2 {
                (RunStatus::Failed, "no route")
            } else {
                (RunStatus::Invalid, "a neighbour")
            };
            (run.status, run.reason) = (status, Some(reason.to_owned()));
        }
    });
    assert_eq!(failed, "2 failed, 4 disturbed; the last try, in boot 3: a neighbour");
    let without = why(|stored, off| {
        for run in stored.runs.iter_mut().filter(|run| run.condition == off) {
            run.metrics = Metrics::default();
        }
    });
    assert_eq!(without, "its runs do not have throughput");
}
