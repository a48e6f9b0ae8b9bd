//! The results of a stored study: its conditions, its comparisons, its answers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use stats::{ConditionEstimate, Observation};
use store::{StoredSeries, StoredStudy};
use study::metric::{self, Metric};
use study::{Condition, Kind, Name, Side};

use crate::credit::Credits;
use crate::data::acted::ActedOffloads;
use crate::data::comparison_group::{ComparisonGroup, name_text};
use crate::data::comparisons::of_targets;
use crate::data::congestion_control::of_runs;
use crate::data::disturbed::DisturbedRuns;
use crate::data::early_stop::stopping;
use crate::data::error::Error;
use crate::data::limits::ConditionLimit;
use crate::data::means::boot_means;
use crate::data::metric::range_of;
use crate::data::missing::MissingRuns;
use crate::data::notes::notes;
use crate::data::stored::subjects;
use crate::data::subject::observation;
use crate::data::target::{ComparisonRequest, ComparisonTarget, own_targets};
use crate::data::truth::truth;
use crate::words::lists::distinct;

/// The results of a stored study.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Results {
    pub study: i64,
    pub name: String,
    pub question: String,
    pub scenario: String,
    /// The congestion control of the TCP runs; several where conditions differ, none without TCP.
    pub congestion_control: Vec<String>,
    pub status: String,
    /// The confidence of an interval by itself, as a probability.
    pub confidence: f64,
    pub conditions: Vec<ConditionResult>,
    pub comparisons: Vec<ComparisonGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Credits>,
    /// The kind of the figures, if not time on a machine.
    pub truth: Option<&'static str>,
    /// The answers, one sentence for each comparison.
    pub answer: Vec<String>,
    pub stopping: Option<String>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingRuns>,
    pub failed_runs: u32,
    /// Runs that something disturbed.
    pub invalid_runs: DisturbedRuns,
    #[serde(skip)]
    pub stored: StoredStudy,
    /// The counters of its runs over time; a caller that draws them adds them.
    #[serde(skip)]
    pub series: Vec<StoredSeries>,
}

/// One condition's figures.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ConditionResult {
    #[serde(serialize_with = "name_text")]
    pub label: Name,
    pub short_name: String,
    pub workload: String,
    #[serde(skip)]
    pub kind: Kind,
    pub boots: usize,
    pub runs: usize,
    pub limited_by: Option<ConditionLimit>,
    /// The evidence that offloads acted.
    pub acted: ActedOffloads,
    /// Means over boots, in the vocabulary's unit. The main and compared metrics and the CPU use
    /// have the model's estimate with an interval, the others the mean of boot means.
    #[serde(rename = "means", serialize_with = "means_only")]
    pub estimates: BTreeMap<Metric, ConditionEstimate>,
}

fn means_only<S: Serializer>(
    estimates: &BTreeMap<Metric, ConditionEstimate>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(estimates.iter().map(|(metric, estimate)| (metric, estimate.mean)))
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
        // An interrupted study may have no baseline: the table shows the rest.
        let request = ComparisonRequest::default();
        let has_runs =
            |target: &ComparisonTarget| subjects(stored, std::slice::from_ref(target), &request).is_ok();
        let targets: Vec<ComparisonTarget> = own_targets(&stored.plan).into_iter().filter(has_runs).collect();
        let comparisons = of_targets(stored, &targets, &request)?;
        let conditions = stored.plan.conditions.iter();
        let mut results = Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            question: stored.plan.asked.question.clone(),
            scenario: stored.row.scenario.clone(),
            congestion_control: of_runs(stored).into_iter().map(|(name, _)| name).collect(),
            status: stored.row.status.to_string(),
            confidence: request.confidence,
            answer: comparisons.iter().map(ComparisonGroup::answer).collect(),
            credit: Credits::from_stored(stored, None, request.confidence),
            stopping: stopping(stored),
            missing: MissingRuns::from_stored(stored),
            notes: notes(stored),
            truth: truth(stored),
            failed_runs: stored.row.failed_runs,
            invalid_runs: DisturbedRuns::from_stored(stored),
            conditions: conditions.map(|condition| ConditionResult::new(stored, condition)).collect(),
            comparisons,
            stored: study,
            series: Vec::new(),
        };
        results.estimate();
        Ok(results)
    }

    /// The confidence of the intervals of a metric's means by themselves.
    pub fn level(&self, workload: &str, metric: Metric) -> f64 {
        let mut own = self.comparisons.iter().filter(|group| group.workload == workload);
        let own = own.find(|group| group.metric.known() == Some(metric));
        own.map_or(self.confidence, |group| group.level)
    }

    /// Whether any run counts. Without one there are no tables.
    pub fn has_measurements(&self) -> bool {
        self.stored.measurements().next().is_some()
    }

    fn estimate(&mut self) {
        let workloads = distinct(self.conditions.iter().map(|one| (one.workload.clone(), one.kind)));
        for (workload, kind) in workloads {
            let of_workload: Vec<bool> = self.conditions.iter().map(|one| one.workload == workload).collect();
            let cpu =
                [metric::CPU, metric::HOST_CPU].into_iter().flat_map(|cpu| Side::BOTH.map(|side| cpu[side]));
            let compared = self.comparisons.iter().filter(|group| group.workload == workload);
            let compared = compared.filter_map(|group| group.metric.known());
            let main = kind.main_metric(self.stored.plan.exact);
            let metrics: BTreeSet<Metric> = cpu.chain(compared).chain([main]).collect();
            // All conditions of a workload are in one model: they share the effects of boots.
            for metric in metrics {
                let is_own = |condition: usize| of_workload.get(condition) == Some(&true);
                let values = self.stored.values(metric).filter(|(condition, ..)| is_own(*condition));
                let values: Vec<Observation> = values.map(observation).collect();
                // A metric with a value that no statistics can take keeps its plain means.
                let found = stats::estimates(&values, self.level(&workload, metric), range_of(metric));
                for one in found.unwrap_or_default().into_iter().filter(|one| one.mean.is_finite()) {
                    self.conditions[one.condition].estimates.insert(metric, one);
                }
            }
        }
        // A compared condition has the figure of its comparison in every table.
        for group in &self.comparisons {
            let Some(metric) = group.metric.known() else { continue };
            for own in group.conditions.iter().map(|one| one.estimate) {
                let estimates = self.conditions.get_mut(own.condition).map(|one| &mut one.estimates);
                if let Some(known) = estimates.and_then(|all| all.get_mut(&metric)) {
                    *known = own;
                }
            }
        }
    }
}

impl ConditionResult {
    fn new(stored: &StoredStudy, condition: &Condition) -> Self {
        let index = condition.index;
        let means = boot_means(stored, index);
        let boots: BTreeSet<u32> = stored.measurements_of(index).map(|run| run.boot).collect();
        let (boots, runs) = (boots.len(), stored.measurements_of(index).count());
        let alone =
            |mean| ConditionEstimate { condition: index, mean, interval: None, error: None, boots, runs };
        Self {
            label: condition.label.clone(),
            short_name: condition.slug.clone(),
            workload: condition.workload.name.clone(),
            kind: condition.workload.traffic.kind,
            boots,
            runs,
            limited_by: ConditionLimit::for_condition(stored, index),
            acted: ActedOffloads::for_condition(stored, condition, &means),
            estimates: means.iter().map(|(metric, mean)| (metric, alone(mean))).collect(),
        }
    }

    /// The mean of a metric; `None` if no run has it.
    pub fn mean(&self, metric: Metric) -> Option<f64> {
        self.estimates.get(&metric).map(|estimate| estimate.mean)
    }
}
