//! The conditions that two studies have in common, as subjects: the boots of one study are never
//! those of the other.

use std::collections::BTreeSet;

use stats::{Against, Correction, Design, Margin, Observation, Question};
use store::Outline;
use study::metric::Metric;
use study::{Name, Plan, Quality};

use crate::data::differences::of_builds;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::matched_conditions::MatchedConditions;
use crate::data::metric::range_of;
use crate::data::subject::{BootNames, Subject};
use crate::data::target::{ComparisonRequest, own_targets};
use crate::data::truth;
use crate::words::lists::distinct;

/// Indices in both plans, and the runs: condition 0 is the baseline's, condition 1 the study's.
pub(crate) type PairedSubject = ((usize, usize), Subject);

/// The metrics of a comparison with another study: the one asked for, or those of the plan.
pub fn metrics_to_compare(plan: &Plan, request: &ComparisonRequest) -> Vec<Metric> {
    let conditions = 0..plan.conditions.len();
    let metrics = conditions.flat_map(|condition| metrics(plan, condition, request.metric));
    metrics.map(|(metric, _)| metric).collect::<BTreeSet<Metric>>().into_iter().collect()
}

pub(crate) fn metrics(plan: &Plan, condition: usize, asked: Option<Metric>) -> Vec<(Metric, Option<Margin>)> {
    let traffic = &plan.conditions[condition].workload.traffic;
    let mut found: Vec<(Metric, Option<Margin>)> = Vec::new();
    for target in own_targets(plan) {
        let is_in = target.baseline == condition || target.conditions.contains(&condition);
        if is_in && found.iter().all(|(metric, _)| *metric != target.metric) {
            found.push((target.metric, target.equivalent.map(|share| Margin::Percent(share.value()))));
        }
    }
    match asked {
        Some(metric) if !traffic.produces(metric) => Vec::new(),
        Some(metric) => {
            let own = found.into_iter().find(|(own, _)| *own == metric);
            vec![own.unwrap_or((metric, None))]
        }
        None if found.is_empty() => vec![(traffic.kind.main_metric(plan.exact), None)],
        None => found,
    }
}

/// Leaves out conditions without a value in one of the studies.
///
/// # Errors
/// [`Error::NotComparable`] where the studies are of different truth, or judged by different
/// metrics; [`Error::NothingRecorded`] where nothing has a value in both.
pub(crate) fn pairs(
    baseline: &Outline,
    study: &Outline,
    matched: &MatchedConditions,
    request: &ComparisonRequest,
) -> Result<Vec<PairedSubject>, Error> {
    let asked = request.metric;
    let [one, other] = [baseline, study].map(truth::kind);
    if one != other {
        let why = format!("study {} {one}, study {} {other}", baseline.row.id, study.row.id);
        return Err(Error::not_comparable(baseline, study, why));
    }
    let mut shared = Vec::new();
    for conditions @ (before, after) in &matched.pairs {
        let theirs = metrics(&baseline.plan, *before, asked);
        for (metric, margin) in metrics(&study.plan, *after, asked) {
            if let Some((_, their)) = theirs.iter().find(|(their, _)| *their == metric) {
                // A margin holds only if both studies state the same.
                shared.push((*conditions, metric, margin.filter(|margin| Some(*margin) == *their)));
            }
        }
    }
    if shared.is_empty() {
        let judged_by = |outline: &Outline| keys(metrics_to_compare(&outline.plan, request));
        let why = match asked {
            Some(metric) => format!("no condition that they have in common gives {metric}"),
            None => format!(
                "study {} is judged by {}, study {} by {}: name one metric with --metric",
                baseline.row.id,
                judged_by(baseline),
                study.row.id,
                judged_by(study)
            ),
        };
        return Err(Error::not_comparable(baseline, study, why));
    }
    let pair = |(conditions, metric, margin)| {
        let subject = subject([baseline, study], conditions, metric, request.margin.or(margin), request)?;
        Some((conditions, subject))
    };
    let pairs: Vec<PairedSubject> = shared.iter().copied().filter_map(pair).collect();
    if pairs.is_empty() {
        let metrics: BTreeSet<Metric> = shared.iter().map(|(_, metric, _)| *metric).collect();
        let lacks =
            |of: &&Outline| metrics.iter().all(|metric| of.values.get(metric).is_none_or(Vec::is_empty));
        let row = &[baseline, study].into_iter().find(lacks).unwrap_or(study).row;
        let lacking = row.id.0;
        let disturbed = match (row.recorded_runs, row.invalid_runs) {
            (0, 1..) => format!(", and every run of study {lacking} was disturbed. Stop the cause first"),
            _ => String::new(),
        };
        return Err(Error::NothingRecorded {
            study: lacking,
            metric: keys(metrics),
            hint: format!(
                "no condition was measured in both studies{disturbed}. Repeat the study with --resume {lacking}; `netassay show {lacking} --runs` lists every try"
            ),
        });
    }
    Ok(pairs)
}

fn keys(metrics: impl IntoIterator<Item = Metric>) -> String {
    metrics.into_iter().map(|metric| metric.key).collect::<Vec<_>>().join(", ")
}

/// The runs of a condition in both studies; none if one has no run.
fn subject(
    studies: [&Outline; 2],
    conditions: (usize, usize),
    metric: Metric,
    margin: Option<Margin>,
    request: &ComparisonRequest,
) -> Option<Subject> {
    // Of campaigns a boot is a pair of machines, which both measured.
    let is_paired = request.design == Some(Design::Crossed);
    let (mut observations, mut boots, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for (side, (outline, condition)) in studies.into_iter().zip([conditions.0, conditions.1]).enumerate() {
        let values = outline.values.get(&metric)?.iter().filter(|(of, ..)| *of == condition);
        let own = distinct(values.clone().map(|(_, boot, _)| *boot));
        if own.is_empty() {
            return None;
        }
        for (_, boot, value) in values {
            // Boots get numbers of their own, so that no boot of one study is one of the other.
            let place = boots.len() + own.iter().position(|one| one == boot)?;
            let boot = if is_paired { *boot } else { u32::try_from(place).ok()? };
            observations.push(Observation { condition: side, boot, value: *value });
        }
        boots.extend(own.iter().map(|boot| format!("{boot} of study {}", outline.row.id)));
        let label = format!("{} in study {}", outline.plan.conditions[condition].label, outline.row.id);
        labels.push(Name::from(label.as_str()));
    }
    let question = Question {
        against: Against::Baseline(0),
        level: request.confidence,
        margin,
        design: Some(request.design.unwrap_or(Design::Nested)),
        correction: Correction::Family,
        look: None,
        range: range_of(metric),
    };
    let is_counted = studies[1].plan.exact && exact::is_count(metric);
    let condition = &studies[1].plan.conditions[conditions.1];
    let subject = Subject::new(&condition.workload.name, metric.into(), labels, observations, question);
    let environments = studies.iter().flat_map(|study| &study.environments);
    Some(Subject {
        notes: of_builds(environments, metric).into_iter().collect(),
        boots: if is_paired { BootNames::Numbered } else { BootNames::Named(boots) },
        quality: Some(Quality::from_metric(metric)),
        truth: truth::note(&studies[1].plan, &studies[1].environments),
        resolution: is_counted.then_some(exact::RESOLUTION),
        copies: is_counted.then(|| condition.copies()),
        ..subject
    })
}
