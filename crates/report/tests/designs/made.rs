//! Made-up studies whose figures are known.

use std::collections::BTreeMap;

use record::{Evidence, Limit};
use store::{StoredRun, StoredStudy};
use study::{Condition, DesignKind, OffloadDesign, Plan, Study};

/// A study with these lines of factors, and its plan.
pub(crate) fn study(factors: &str) -> (Study, Plan) {
    let text = format!(
        "name = \"made\"\nquestion = \"which offload pays?\"\nscenario = \"veth\"\n[[workload]]\nkind = \"tcp_stream\"\nduration = \"1s\"\n\
         [factors]\n{factors}\n[protocol]\nboots = 3\nruns = 2\n"
    );
    let study = Study::parse("made", &text).unwrap();
    let plan = study.plan();
    (study, plan)
}

/// Makes the conditions with these levels those of a design.
pub(crate) fn design(
    plan: &mut Plan,
    kind: DesignKind,
    factors: &[&str],
    is_reached: impl Fn(&Condition) -> bool,
) {
    let factors: Vec<String> = factors.iter().map(|name| (*name).to_owned()).collect();
    let unreachable = plan.conditions.iter().filter(|condition| !is_reached(condition)).map(|condition| {
        let asked: Vec<bool> = factors.iter().map(|name| is_on(condition, name)).collect();
        // What is only on with another is off without it.
        study::Unreachable { reads: [&[false], &asked[1..]].concat(), asked }
    });
    let unreachable = unreachable.collect();
    plan.design =
        Some(OffloadDesign { kind, factors, aliases: Vec::new(), unreachable, dropped: Vec::new() });
    keep(plan, is_reached);
}

/// Leaves out what cannot be reached; the study's own comparisons go with it.
fn keep(plan: &mut Plan, is_reached: impl Fn(&Condition) -> bool) {
    plan.comparisons.clear();
    plan.conditions.retain(is_reached);
    for (condition, index) in plan.conditions.iter_mut().zip(0..) {
        condition.index = index;
    }
}

/// Is the switch on?
pub(crate) fn is_on(condition: &Condition, factor: &str) -> bool {
    level(condition, factor) == "on"
}

pub(crate) fn level<'a>(condition: &'a Condition, factor: &str) -> &'a str {
    condition.levels.iter().find(|(name, _)| name == factor).map_or("", |(_, level)| level)
}

/// A small change that boots and runs make to a value, the same on every machine.
pub(crate) fn wobble(boot: u32, repeat: u32, condition: usize) -> f64 {
    let place = f64::from(boot) * 12.9898 + f64::from(repeat) * 78.233 + condition as f64 * 37.719;
    2.0 * (place.sin() * 43_758.545_3).rem_euclid(1.0) - 1.0
}

/// The study as stored, with three boots of two runs of each state; `values` gives a condition's
/// metrics.
pub(crate) fn stored(
    study: &Study,
    plan: &Plan,
    values: impl Fn(&Condition, u32, u32) -> Vec<(&'static str, f64)>,
) -> StoredStudy {
    let mut runs = Vec::new();
    let schedule = study::schedule(&plan.states_of_conditions(), &study.protocol);
    for run in schedule.iter().flatten().filter(|run| !run.warmup) {
        let condition = &plan.conditions[run.condition];
        let metrics = values(condition, run.boot, run.repeat);
        let metrics = metrics.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let id = i64::try_from(runs.len()).unwrap();
        let made = crate::stored::run(id, run.boot, run.repeat, run.condition, metrics);
        runs.push(StoredRun { block: run.block, position: run.position, ..made });
    }
    crate::stored::complete(study, plan.clone(), u32::try_from(schedule.len()).unwrap(), runs)
}

/// Says that these conditions' runs were limited by something.
pub(crate) fn limited(stored: &mut StoredStudy, by: impl Fn(usize) -> &'static str) {
    for run in &mut stored.runs {
        let label = by(run.condition).parse().unwrap();
        run.limited_by = Some(Limit { label, evidence: vec![Evidence::NobodyBusy] });
    }
}

/// Means of one condition's runs, for what a test computes by itself.
pub(crate) fn means(stored: &StoredStudy, metric: &str) -> BTreeMap<usize, f64> {
    let mut sums: BTreeMap<usize, (f64, u32)> = BTreeMap::new();
    for (condition, _, value) in stored.values(study::metric::find(metric).unwrap()) {
        let (sum, count) = sums.entry(condition).or_default();
        *sum += value;
        *count += 1;
    }
    sums.into_iter().map(|(condition, (sum, count))| (condition, sum / f64::from(count))).collect()
}
