//! One comparison, worked out: a baseline and the conditions beside it, as a table and as sentences.

use serde::Serialize;
use stats::{Comparison, Observation, Question, Verdict};
use store::StoredStudy;

use crate::error::Error;
use crate::number::{figure, percent};
use crate::table::Table;
use crate::target::Target;
use crate::view::PlanView;

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

impl Group {
    pub(crate) fn table(&self, confidence: f64) -> String {
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
    let question = Question { level: confidence, ..Question::against(target.baseline) };
    let rows = stats::analyse(&observations, &question)?
        .comparisons
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
