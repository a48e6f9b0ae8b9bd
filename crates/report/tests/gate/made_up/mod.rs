//! Made-up studies with known differences.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]

#[path = "../../stored/mod.rs"]
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use results::GateCases;
use results::gate::{
    Acknowledgement, Bound, GateDecision, GateOutcome, GateRequest, acknowledgements, day_of_instant,
};
use store::{Outline, StoredStudy, StudyId};
use study::Study;
use study::metric::Metric;

/// A study of five boots with three runs of each condition; workloads and factors complete it.
pub(crate) fn study(rest: &str) -> Study {
    let text = format!(
        "name = \"made-up\"\nquestion = \"?\"\nscenario = \"veth\"\n{rest}\n[protocol]\nboots = 5\nruns = 3\n"
    );
    Study::parse("made-up.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Two conditions of a stream.
pub(crate) fn two() -> Study {
    study("[[workload]]\nkind = \"tcp_stream\"\n[factors]\nfamily = [\"ipv4\", \"ipv6\"]\n")
}

/// A stored study of so many boots and runs; `value` gives a metric by condition, boot and run.
pub(crate) fn stored(
    id: i64,
    study: &Study,
    (boots, runs): (u32, u32),
    metrics: &[&str],
    mut value: impl FnMut(usize, u32, u32) -> f64,
) -> StoredStudy {
    let plan = study.plan();
    let mut all = Vec::new();
    for boot in 1..=boots {
        for run in 1..=runs {
            for condition in 0..plan.conditions.len() {
                let value = value(condition, boot, run);
                let kind = plan.conditions[condition].workload.traffic.kind;
                let own = metrics.iter().filter(|key| kind.produces(metric(key)));
                let own: BTreeMap<String, f64> = own.map(|key| ((*key).to_owned(), value)).collect();
                all.push(rows::run(i64::try_from(all.len()).unwrap(), boot, run, condition, own));
            }
        }
    }
    let mut stored = rows::complete(study, plan, boots, all);
    stored.row.id = StudyId(id);
    stored
}

/// The outline of a study, for the comparison with another one.
pub(crate) fn outline(stored: &StoredStudy) -> Outline {
    let metrics: BTreeSet<Metric> =
        stored.runs.iter().flat_map(|run| run.metrics.iter()).map(|(metric, _)| metric).collect();
    let values = |metric: Metric| (metric, stored.values(metric).collect());
    Outline {
        row: stored.row.clone(),
        plan: stored.plan.clone(),
        environments: stored.boots.iter().take(1).map(|boot| boot.environment.clone()).collect(),
        values: metrics.into_iter().map(values).collect(),
        disturbed_runs: stored.measurements().filter(|run| !run.detail.disturbed().is_empty()).count(),
        documents_are_plain: false,
    }
}

pub(crate) fn metric(key: &str) -> Metric {
    study::metric::find(key).unwrap_or_else(|| panic!("no metric {key}"))
}

pub(crate) fn bounds(texts: &[&str]) -> Vec<Bound> {
    texts.iter().map(|text| text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))).collect()
}

/// A request of these bounds.
pub(crate) fn request(texts: &[&str]) -> GateRequest {
    GateRequest {
        bounds: bounds(texts),
        confidence: 0.95,
        inconclusive: GateOutcome::Inconclusive,
        require_complete: false,
        acknowledged: Vec::new(),
    }
}

/// Acknowledgements as of a day.
pub(crate) fn known(text: &str) -> Vec<Acknowledgement> {
    // 2026-11-23.
    acknowledgements("known.toml", text, day_of_instant(1_795_392_000_000)).unwrap()
}

/// The cases of a study against another, for these bounds.
pub(crate) fn between(baseline: &StoredStudy, study: &StoredStudy, request: &GateRequest) -> GateCases {
    GateCases::between(&outline(baseline), &outline(study), &metrics(request)).unwrap()
}

/// Each metric of a request once.
pub(crate) fn metrics(request: &GateRequest) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = request.bounds.iter().map(|bound| bound.metric).collect();
    metrics.dedup();
    metrics
}

pub(crate) fn judged(baseline: &StoredStudy, study: &StoredStudy, request: &GateRequest) -> GateDecision {
    GateDecision::judge(between(baseline, study, request), request).unwrap()
}

pub(crate) fn outcomes(gate: &GateDecision) -> Vec<&'static str> {
    gate.checks.iter().map(|check| check.outcome.word()).collect()
}
