//! The comparison in a stored study: its conditions, baseline and metric.

use stats::{Correction, Design, Margin};
use store::StoredStudy;

use crate::data::error::Error;
use crate::data::exact;
use study::{Percent, Plan, metric::Metric};

/// The request for a comparison; an omitted part is as in the study.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ComparisonRequest {
    pub metric: Option<Metric>,
    /// The baseline's label or slug.
    pub baseline: Option<String>,
    /// Confidence of the intervals, between 0 and 1.
    pub confidence: f64,
    pub all_pairs: bool,
    /// The largest difference that does not matter; `None`: as in the study.
    pub margin: Option<Margin>,
    /// The design; `None`: from the data.
    pub design: Option<Design>,
    pub correction: Correction,
}

impl Default for ComparisonRequest {
    fn default() -> Self {
        Self {
            metric: None,
            baseline: None,
            confidence: 0.95,
            all_pairs: false,
            margin: None,
            design: None,
            correction: Correction::Family,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ComparisonTarget {
    pub(crate) workload: String,
    pub(crate) metric: Metric,
    pub(crate) baseline: usize,
    pub(crate) conditions: Vec<usize>,
    /// Differences up to this share of the baseline do not matter.
    pub(crate) equivalent: Option<Percent>,
}

pub(crate) fn targets(
    stored: &StoredStudy,
    request: &ComparisonRequest,
) -> Result<Vec<ComparisonTarget>, Error> {
    let metric = request.metric;
    let baseline =
        request.baseline.as_deref().map(|word| condition(stored.row.id.0, &stored.plan, word)).transpose()?;
    let mut targets: Vec<ComparisonTarget> = Vec::new();
    for mut target in own_targets(&stored.plan) {
        if let Some(metric) = metric {
            target.metric = metric;
        }
        if let Some(baseline) = baseline {
            rebase(&mut target, baseline);
        }
        let workload = stored.plan.conditions[target.baseline].workload.traffic.kind;
        let concerned = baseline.is_none_or(|baseline| target.baseline == baseline);
        // With one metric asked for, comparisons that differed in the metric are the same.
        let again = targets.iter().any(|t| {
            (t.metric, t.baseline, &t.conditions) == (target.metric, target.baseline, &target.conditions)
        });
        if concerned && !again && workload.produces(target.metric) {
            targets.push(target);
        }
    }
    if targets.is_empty() {
        let metric = metric.map_or("a metric to compare", |metric| metric.key).to_owned();
        let hint = "its workloads do not give that metric, or a single condition is all there is".to_owned();
        return Err(Error::NothingRecorded { study: stored.row.id.0, metric, hint });
    }
    Ok(targets)
}

pub(crate) fn own_targets(plan: &Plan) -> Vec<ComparisonTarget> {
    let target = |comparison: &study::PlannedComparison| {
        let kind = plan.conditions[comparison.baseline].workload.traffic.kind;
        // In exact mode the metric is a count, whatever the file says.
        let metric = Metric::from_key(&comparison.metric).filter(|one| !plan.exact || exact::is_count(*one));
        ComparisonTarget {
            workload: comparison.workload.clone(),
            metric: metric.unwrap_or_else(|| kind.main_metric(plan.exact)),
            baseline: comparison.baseline,
            conditions: comparison.conditions.clone(),
            equivalent: comparison.equivalent,
        }
    };
    plan.comparisons.iter().map(target).collect()
}

pub(crate) fn rebase(target: &mut ComparisonTarget, baseline: usize) {
    if let Some(place) = target.conditions.iter().position(|condition| *condition == baseline) {
        target.conditions[place] = target.baseline;
        target.conditions.sort_unstable();
        target.baseline = baseline;
    }
}

/// The condition of a plan with this label or slug.
///
/// # Errors
/// [`Error::UnknownCondition`].
pub(crate) fn condition(study: i64, plan: &Plan, word: &str) -> Result<usize, Error> {
    let conditions = &plan.conditions;
    let found = conditions.iter().position(|one| *one.label == *word || one.slug == word);
    found.ok_or_else(|| {
        let known: Vec<String> = conditions.iter().map(|one| format!("{:?}", one.label.as_str())).collect();
        Error::UnknownCondition { study, word: word.to_owned(), known: known.join(", ") }
    })
}
