//! What differs in a stored study, and how sure that is.

use serde::Serialize;
use stats::{Comparison, Observation, Verdict};
use store::StoredStudy;
use study::metric::Metric;

use crate::error::Error;
use crate::metric::{known, plan_of};
use crate::number::{figure, percent};
use crate::table::Table;
use crate::view::PlanView;

/// What is to be compared; whatever is left out is as the study says.
#[derive(Debug, Clone)]
pub struct ComparisonRequest {
    /// The metric's word.
    pub metric: Option<String>,
    /// The baseline's label or slug.
    pub baseline: Option<String>,
    /// Confidence of the intervals, between 0 and 1.
    pub confidence: f64,
}

impl Default for ComparisonRequest {
    fn default() -> Self {
        Self { metric: None, baseline: None, confidence: 0.95 }
    }
}

/// One set of conditions compared in one metric with one of them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Target {
    pub(crate) workload: String,
    #[serde(serialize_with = "key_of")]
    pub(crate) metric: &'static Metric,
    pub(crate) baseline: usize,
    /// In the plan's order, the baseline not among them.
    pub(crate) conditions: Vec<usize>,
}

/// All comparisons of a stored study.
#[derive(Debug, Serialize)]
pub struct Comparisons {
    study: i64,
    name: String,
    confidence: f64,
    groups: Vec<Group>,
}

/// One comparison of a study, worked out.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) workload: String,
    pub(crate) metric: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) baseline: String,
    pub(crate) rows: Vec<Row>,
}

/// One condition against the baseline.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
    /// The verdict, as a sentence.
    pub(crate) sentence: String,
}

impl Row {
    /// Is there a difference, and is its direction sure?
    pub(crate) fn is_proven(&self) -> bool {
        matches!(self.comparison.verdict, Verdict::Higher | Verdict::Lower)
    }
}

impl Comparisons {
    /// Compares as asked.
    ///
    /// # Errors
    /// [`Error`] for a metric or condition that is not there, and when nothing was recorded.
    pub fn new(stored: &StoredStudy, request: &ComparisonRequest) -> Result<Self, Error> {
        let plan = plan_of(stored)?;
        let groups = targets(stored, &plan, request)?
            .iter()
            .map(|target| group(stored, &plan, target, request.confidence))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            study: stored.row.id.0,
            name: stored.row.name.clone(),
            confidence: request.confidence,
            groups,
        })
    }

    /// The comparisons for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("study {} ({})\n", self.study, self.name);
        for group in &self.groups {
            text.push_str(&format!("\n{}\n", group.table(self.confidence)));
            for row in &group.rows {
                text.push_str(&format!("{}.\n", row.sentence));
            }
        }
        text.push_str(
            "\nMeans of boot means; intervals from the differences inside each boot (paired Student's t): the boot is the unit of replication.\n",
        );
        text
    }
}

impl Group {
    fn table(&self, confidence: f64) -> String {
        let interval = format!("{} % interval", level(confidence));
        let mut table = Table::new(&[
            "condition",
            self.metric,
            "difference",
            &interval,
            "in %",
            &interval,
            "boots",
            "verdict",
        ])
        .under(&["", self.unit, self.unit, "", "", "", "", ""]);
        if let Some(first) = self.rows.first() {
            let mean = figure(first.comparison.baseline_mean);
            table.row(&[
                &self.baseline,
                &mean,
                "-",
                "",
                "-",
                "",
                &first.comparison.boots.to_string(),
                "baseline",
            ]);
        }
        for row in &self.rows {
            let comparison = &row.comparison;
            table.row(&[
                &row.label,
                &figure(comparison.mean),
                &figure(comparison.difference),
                &range(comparison.interval, figure),
                &comparison.relative.map_or_else(|| "-".to_owned(), percent),
                &range(comparison.relative_interval, percent),
                &comparison.boots.to_string(),
                &comparison.verdict.to_string(),
            ]);
        }
        table.render()
    }
}

/// `0.95` as `95`, `0.995` as `99.5`.
pub(crate) fn level(confidence: f64) -> String {
    let percent = (confidence * 1e4).round() / 100.0;
    format!("{percent}")
}

pub(crate) fn range(interval: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    interval.map_or_else(|| "-".to_owned(), |(low, high)| format!("{} to {}", show(low), show(high)))
}

/// The comparisons that a request means.
pub(crate) fn targets(
    stored: &StoredStudy,
    plan: &PlanView,
    request: &ComparisonRequest,
) -> Result<Vec<Target>, Error> {
    let metric = request.metric.as_deref().map(known).transpose()?;
    let baseline = request.baseline.as_deref().map(|word| condition(stored, plan, word)).transpose()?;
    let own = own_targets(plan);
    let mut targets: Vec<Target> = Vec::new();
    for mut target in own {
        if let Some(metric) = metric {
            target.metric = metric;
        }
        if let Some(baseline) = baseline {
            rebase(&mut target, baseline);
        }
        let workload = plan.plan.conditions[target.baseline].workload.kind;
        let concerned = baseline.is_none_or(|baseline| target.baseline == baseline);
        let again = targets.iter().any(|t| {
            (t.metric.key, t.baseline, &t.conditions)
                == (target.metric.key, target.baseline, &target.conditions)
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

/// The study's own comparisons.
pub(crate) fn own_targets(plan: &PlanView) -> Vec<Target> {
    plan.plan
        .comparisons
        .iter()
        .map(|comparison| Target {
            workload: comparison.workload.clone(),
            metric: study::metric::find(&comparison.metric)
                .unwrap_or_else(|| plan.plan.conditions[comparison.baseline].workload.kind.primary_metric()),
            baseline: comparison.baseline,
            conditions: comparison.conditions.clone(),
        })
        .collect()
}

/// Compares the same conditions with another of them.
fn rebase(target: &mut Target, baseline: usize) {
    if let Some(place) = target.conditions.iter().position(|condition| *condition == baseline) {
        target.conditions[place] = target.baseline;
        target.conditions.sort_unstable();
        target.baseline = baseline;
    }
}

fn condition(stored: &StoredStudy, plan: &PlanView, word: &str) -> Result<usize, Error> {
    let found = plan.plan.conditions.iter().position(|one| one.label == word || one.slug == word);
    found.ok_or_else(|| Error::UnknownCondition {
        study: stored.row.id.0,
        word: word.to_owned(),
        known: plan
            .plan
            .conditions
            .iter()
            .map(|one| format!("{:?}", one.label))
            .collect::<Vec<_>>()
            .join(", "),
    })
}

/// Works one comparison out.
pub(crate) fn group(
    stored: &StoredStudy,
    plan: &PlanView,
    target: &Target,
    confidence: f64,
) -> Result<Group, Error> {
    let label = |index: usize| plan.plan.conditions[index].label.clone();
    let observations: Vec<Observation> = stored
        .values(target.metric.key)
        .filter(|(condition, ..)| *condition == target.baseline || target.conditions.contains(condition))
        .map(|(condition, boot, value)| Observation { condition, boot, value })
        .collect();
    if !observations.iter().any(|observation| observation.condition == target.baseline) {
        return Err(Error::NothingRecorded {
            study: stored.row.id.0,
            metric: target.metric.key.to_owned(),
            hint: format!("the baseline, {}, has no run yet; --resume goes on", label(target.baseline)),
        });
    }
    let rows = stats::compare(&observations, target.baseline, confidence)?
        .into_iter()
        .map(|comparison| Row {
            sentence: comparison.sentence(&label(comparison.condition), target.metric.unit),
            label: label(comparison.condition),
            comparison,
        })
        .collect();
    Ok(Group {
        workload: target.workload.clone(),
        metric: target.metric.key,
        unit: target.metric.unit,
        baseline: label(target.baseline),
        rows,
    })
}

fn key_of<S: serde::Serializer>(metric: &&'static Metric, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(metric.key)
}
