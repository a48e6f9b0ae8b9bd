//! The results of a stored study: its conditions, its comparisons, its answers.

use std::collections::BTreeSet;

use serde::Serialize;
use stats::{ConditionEstimate, Observation};
use store::{Metrics, StoredStudy};
use study::metric::Metric;
use study::{Kind, Name};

use crate::credit::Credits;
use crate::data::acted::ActedOffloads;
use crate::data::comparison_group::ComparisonGroup;
use crate::data::comparisons::groups;
use crate::data::congestion_control;
use crate::data::disturbed::DisturbedRuns;
use crate::data::early_stop::stopping;
use crate::data::error::Error;
use crate::data::limits::ConditionLimit;
use crate::data::means::boot_means;
use crate::data::metric::range_of;
use crate::data::missing::MissingRuns;
use crate::data::notes::notes;
use crate::data::stored::subjects;
use crate::data::target::{ComparisonRequest, ComparisonTarget, own_targets};
use crate::data::truth::truth;
use crate::why::{ExplainingCounter, counters, explain};
use crate::words::name_text;

/// The results of a stored study.
#[derive(Debug, Serialize)]
pub struct Results {
    /// The study's number in its database.
    pub study: i64,
    /// The study's name.
    pub name: String,
    /// The question of the study.
    pub question: String,
    /// Its scenarios, in words.
    pub scenario: String,
    /// The congestion control of the TCP runs; several where conditions differ, none without TCP.
    pub congestion_control: Vec<String>,
    /// Its status, in words.
    pub status: String,
    /// The confidence of an interval by itself, as a probability.
    pub confidence: f64,
    /// The planned conditions, by their index in the plan.
    pub conditions: Vec<ConditionResult>,
    /// The study's comparisons.
    pub comparisons: Vec<ComparisonGroup>,
    /// The effect of each offload of the study's design.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Credits>,
    /// The kind of the figures, if not time on a machine.
    pub truth: Option<&'static str>,
    /// The answers, one sentence for each comparison.
    pub answer: Vec<String>,
    /// The state of a study that may stop early.
    pub stopping: Option<String>,
    /// The limitations of the testbed.
    pub notes: Vec<String>,
    /// Planned runs without a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingRuns>,
    /// Tries that failed.
    pub failed_runs: u32,
    /// Runs that something disturbed.
    pub invalid_runs: DisturbedRuns,
    /// The stored study behind the results.
    #[serde(skip)]
    pub stored: StoredStudy,
}

/// One condition's figures.
#[derive(Debug, Serialize)]
pub struct ConditionResult {
    #[serde(serialize_with = "name_text")]
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
    pub means: Metrics,
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
        for group in &mut comparisons {
            for own in &mut group.conditions {
                let Some(condition) = conditions.get_mut(own.estimate.condition) else { continue };
                own.limit.clone_from(&condition.limited_by);
                if let Some(metric) = group.metric.known().filter(|one| condition.means.get(*one).is_some()) {
                    condition.means.insert(metric, own.estimate.mean);
                }
            }
        }
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            scenario: stored.row.scenario.clone(),
            congestion_control: congestion_control::names(stored),
            status: stored.row.status.to_string(),
            confidence: request.confidence,
            answer: comparisons.iter().map(ComparisonGroup::answer).collect(),
            credit: Credits::from_stored(stored, None, request.confidence),
            stopping: stopping(stored),
            missing: MissingRuns::from_stored(stored),
            notes: notes(stored),
            truth: truth(stored),
            failed_runs: stored.row.failed_runs,
            invalid_runs: DisturbedRuns::from_stored(stored, &stored.plan.conditions),
            conditions,
            comparisons,
            stored: study,
        })
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
    pub fn estimates(&self, workload: &str, metric: Metric) -> (f64, Vec<ConditionEstimate>) {
        let is_own = |group: &&ComparisonGroup| group.workload == workload && group.metric == metric.into();
        let compared: Vec<&ComparisonGroup> = self.comparisons.iter().filter(is_own).collect();
        let level = compared.first().map_or(self.confidence, |group| group.level);
        let of_workload = |condition: usize| {
            self.conditions.get(condition).is_some_and(|condition| condition.workload == workload)
        };
        let values = self.stored.values(metric).filter(|(condition, ..)| of_workload(*condition));
        let values: Vec<Observation> =
            values.map(|(condition, boot, value)| Observation { condition, boot, value }).collect();
        // What has a value that no statistics can take has no result at all.
        let mut estimates = stats::estimates(&values, level, range_of(metric)).unwrap_or_default();
        for one in &mut estimates {
            let of_groups = compared.iter().flat_map(|group| &group.conditions);
            if let Some(own) = of_groups.map(|own| own.estimate).find(|own| own.condition == one.condition) {
                *one = own;
            }
        }
        (level, estimates)
    }

    /// Whether any run counts. Without one there are no tables.
    #[must_use]
    pub fn has_measurements(&self) -> bool {
        self.stored.measurements().next().is_some()
    }
}

fn conditions(stored: &StoredStudy) -> Vec<ConditionResult> {
    let planned = stored.plan.conditions.iter().enumerate();
    planned
        .map(|(index, condition)| {
            let means = boot_means(stored, index);
            let boots: BTreeSet<u32> = stored.measurements_of(index).map(|run| run.boot).collect();
            ConditionResult {
                label: condition.label.clone(),
                short_name: condition.slug.clone(),
                workload: condition.workload.name.clone(),
                kind: condition.workload.traffic.kind,
                boots: boots.len(),
                runs: stored.measurements_of(index).count(),
                limited_by: ConditionLimit::for_condition(stored, index),
                acted: ActedOffloads::for_condition(condition, stored.plan.effective.get(index), &means),
                means,
            }
        })
        .collect()
}
