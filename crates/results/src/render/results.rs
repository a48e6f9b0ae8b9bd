//! The results of a stored study: its conditions, its comparisons, its answers.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::{ConditionEstimate, Observation, ValueRange};
use store::StoredStudy;
use study::{Kind, Name};

use crate::data::acted::ActedOffloads;
use crate::data::congestion_control;
use crate::data::disturbed::DisturbedRuns;
use crate::data::early_stop::stopping;
use crate::data::error::Error;
use crate::data::limits::ConditionLimit;
use crate::data::means::boot_means;
use crate::data::metric::{known, range_of};
use crate::data::missing::MissingRuns;
use crate::data::notes::notes;
use crate::data::stored::subjects;
use crate::data::target::{ComparisonRequest, ComparisonTarget, own_targets};
use crate::data::truth::truth;
use crate::render::answer::answer;
use crate::render::comparison::groups;
use crate::render::credit::Credits;
use crate::render::group::ComparisonGroup;
use crate::why::{ExplainingCounter, counters, explain};
use crate::words::names::as_text;
use crate::words::number::figure;
use crate::words::phrases::first_of;

/// The results of a stored study.
#[derive(Debug, Serialize)]
pub struct Results {
    pub(super) study: i64,
    pub(super) name: String,
    pub(super) question: String,
    pub(super) scenario: String,
    /// The congestion control of the TCP runs; several where conditions differ, none without TCP.
    pub(super) congestion_control: Vec<String>,
    pub(super) status: String,
    pub(super) confidence: f64,
    pub(crate) conditions: Vec<ConditionResult>,
    pub(super) comparisons: Vec<ComparisonGroup>,
    /// The effect of each offload of the study's design.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) credit: Option<Credits>,
    /// The kind of the figures, if not time on a machine.
    pub(super) truth: Option<&'static str>,
    /// The answers, one sentence for each comparison.
    pub(super) answer: Vec<String>,
    /// The state of a study that may stop early.
    pub(super) stopping: Option<String>,
    /// The limitations of the testbed.
    pub(super) notes: Vec<String>,
    /// Planned runs without a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<MissingRuns>,
    pub(super) failed_runs: u32,
    /// Runs that something disturbed.
    pub(super) invalid_runs: DisturbedRuns,
    #[serde(skip)]
    pub(super) stored: StoredStudy,
}

/// One condition's figures.
#[derive(Debug, Serialize)]
pub struct ConditionResult {
    #[serde(serialize_with = "as_text")]
    /// Its name for people.
    pub label: Name,
    /// Its name for files.
    pub short_name: String,
    /// The name of its workload.
    pub workload: String,
    /// The kind of its traffic.
    #[serde(skip)]
    pub kind: Kind,
    /// The boots that measured it.
    pub boots: usize,
    /// Its runs that count.
    pub runs: usize,
    /// The limit of its runs; `None` if unknown.
    pub limited_by: Option<ConditionLimit>,
    /// The evidence that offloads acted.
    pub acted: ActedOffloads,
    /// Means of boot means of every metric, in the unit of the vocabulary; for a compared metric
    /// the model's estimate, so that one condition has one figure.
    pub means: BTreeMap<String, f64>,
}

impl Results {
    /// Reads a stored study: comparisons, credit, limits and notes.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that no statistics can take.
    pub fn new(stored: &StoredStudy) -> Result<Self, Error> {
        Self::from_owned(stored.clone())
    }

    /// The results of a study that no other code needs, so that a large one is not in memory twice.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_owned(study: StoredStudy) -> Result<Self, Error> {
        let stored = &study;
        let mut conditions = conditions(stored);
        // An interrupted study may have no baseline: the table shows the rest.
        let request = ComparisonRequest::default();
        let has_runs =
            |target: &ComparisonTarget| subjects(stored, std::slice::from_ref(target), &request).is_ok();
        let targets: Vec<ComparisonTarget> = own_targets(&stored.plan).into_iter().filter(has_runs).collect();
        let mut comparisons = groups(&mut subjects(stored, &targets, &request)?)?;
        explain(&mut comparisons, stored);
        let mut notes = notes(stored);
        notes.extend(estimates(&mut conditions, &comparisons));
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            scenario: stored.row.scenario.clone(),
            congestion_control: congestion_control::names(stored),
            status: stored.row.status.to_string(),
            confidence: request.confidence,
            answer: comparisons.iter().map(answer).collect(),
            credit: Credits::from_stored(stored, None, request.confidence),
            stopping: stopping(stored).or_else(|| Some(stored.plan.looks_dropped?.to_string())),
            missing: MissingRuns::from_stored(stored),
            notes,
            truth: truth(stored),
            failed_runs: stored.row.failed_runs,
            invalid_runs: DisturbedRuns::from_stored(stored, &stored.plan.conditions),
            conditions,
            comparisons,
            stored: study,
        })
    }

    /// The stored study behind the results.
    #[must_use]
    pub fn stored(&self) -> &StoredStudy {
        &self.stored
    }

    /// The planned conditions, by their index in the plan.
    #[must_use]
    pub fn conditions(&self) -> &[ConditionResult] {
        &self.conditions
    }

    /// The study's comparisons.
    #[must_use]
    pub fn comparisons(&self) -> &[ComparisonGroup] {
        &self.comparisons
    }

    /// The gain of each offload of the study's design; `None` without a design.
    #[must_use]
    pub fn credit(&self) -> Option<&Credits> {
        self.credit.as_ref()
    }

    /// The confidence of an interval by itself, as a probability.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The counters that explain effects, in every condition of their workload.
    #[must_use]
    pub fn counters(&self) -> Vec<ExplainingCounter> {
        counters(&self.stored, &self.comparisons, self.confidence)
    }

    /// The mean of a metric in each condition of a workload that has it, over boots, in the order
    /// of the plan, with the confidence of its interval by itself. A compared condition has the
    /// estimate of its comparison.
    #[must_use]
    pub fn estimates(&self, workload: &str, metric: &str) -> (f64, Vec<ConditionEstimate>) {
        let is_own = |group: &&ComparisonGroup| group.workload == workload && group.metric == metric;
        let compared: Vec<&ComparisonGroup> = self.comparisons.iter().filter(is_own).collect();
        let level = compared.first().map_or(self.confidence, |group| group.level);
        let of_workload = |condition: usize| {
            self.conditions.get(condition).is_some_and(|condition| condition.workload == workload)
        };
        let values = self.stored.values(metric).filter(|(condition, ..)| of_workload(*condition));
        let values: Vec<Observation> =
            values.map(|(condition, boot, value)| Observation { condition, boot, value }).collect();
        // What has a value that no statistics can take has no result at all.
        let range = known(metric).map_or(ValueRange::NON_NEGATIVE, range_of);
        let mut estimates = stats::estimates(&values, level, range).unwrap_or_default();
        for one in &mut estimates {
            let of_groups = compared.iter().flat_map(|group| &group.conditions);
            if let Some(own) = of_groups.map(|own| own.estimate).find(|own| own.condition == one.condition) {
                *one = own;
            }
        }
        (level, estimates)
    }

    /// Whether any run counts. Without one there are no tables.
    pub(crate) fn has_measurements(&self) -> bool {
        self.stored.measurements().next().is_some()
    }
}

// The largest number of named conditions whose estimate is not the mean of boot means.
const ESTIMATES: usize = 3;

/// Gives conditions the means of their comparisons. If these are not the means of boot means,
/// because boots lack conditions, returns a note of both for each metric.
fn estimates(conditions: &mut [ConditionResult], groups: &[ComparisonGroup]) -> Vec<String> {
    let mut differ: Vec<(&str, Vec<String>)> = Vec::new();
    for group in groups {
        for own in &group.conditions {
            let Some(condition) = conditions.get_mut(own.estimate.condition) else { continue };
            let Some(mean) = condition.means.get_mut(&group.metric) else { continue };
            let (plain, shown) = (figure(*mean), figure(own.estimate.mean));
            *mean = own.estimate.mean;
            if plain == shown {
                continue;
            }
            let one = format!("{} {shown} beside {plain}", own.label);
            match differ.iter_mut().find(|(metric, _)| *metric == group.metric) {
                Some((_, all)) => all.push(one),
                None => differ.push((&group.metric, vec![one])),
            }
        }
    }
    let note = |(metric, all): (&str, Vec<String>)| {
        format!(
            "not every boot has every condition, so the means of {metric} are estimates for all boots, not means of boot means: {}",
            first_of(&all, ESTIMATES)
        )
    };
    differ.into_iter().map(note).collect()
}

fn conditions(stored: &StoredStudy) -> Vec<ConditionResult> {
    let planned = stored.plan.conditions.iter().enumerate();
    planned
        .map(|(index, condition)| {
            let means = boot_means(stored, index);
            let boots: std::collections::BTreeSet<u32> =
                stored.measurements().filter(|run| run.condition == index).map(|run| run.boot).collect();
            ConditionResult {
                label: condition.label.clone(),
                short_name: condition.slug.clone(),
                workload: condition.workload.name.clone(),
                kind: condition.workload.traffic.kind,
                boots: boots.len(),
                runs: stored.measurements().filter(|run| run.condition == index).count(),
                limited_by: ConditionLimit::for_condition(stored, index),
                acted: ActedOffloads::for_condition(condition, stored.plan.effective.get(index), &means),
                means: means.into_iter().collect(),
            }
        })
        .collect()
}
