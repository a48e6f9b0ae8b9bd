//! The comparison of two stored studies.

use serde::{Serialize, Serializer};
use serde_json::json;
use stats::Correction;
use store::Outline;

use crate::data::comparison_group::ComparisonGroup;
use crate::data::differences::StudyDifference;
use crate::data::disturbed::kept_in;
use crate::data::error::Error;
use crate::data::matched_conditions::{self, MatchedConditions};
use crate::data::missing::{may_have_stopped, shortfall};
use crate::data::pairs::pairs;
use crate::data::study_list::StudyRef;
use crate::data::subject::{Subject, answer_families};
use crate::data::target::ComparisonRequest;
use crate::words::number::counted;

// The method of the comparison, without a full stop.
const METHOD: &str = "boots of different studies are never paired: the boots that measured a condition in one study are compared with those in the other, each group with its own spread (Welch)";

/// Two stored studies beside each other, worked out.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct BetweenStudies {
    pub baseline: StudyRef,
    pub study: StudyRef,
    /// The confidence of all intervals together, as a probability.
    pub confidence: f64,
    /// The differences of their machines, testbeds and plans, the weightiest first.
    pub differences: Vec<StudyDifference>,
    #[serde(serialize_with = "judged")]
    pub comparisons: Vec<ComparisonGroup>,
    pub only_in_baseline: Vec<String>,
    pub only_in_study: Vec<String>,
    /// Labels of conditions that both have and that were not measured in both.
    pub not_measured: Vec<String>,
    /// The method, as sentences without full stops.
    pub method: Vec<String>,
    /// Notes on the studies, as sentences without full stops.
    pub notes: Vec<String>,
}

impl BetweenStudies {
    /// Compares studies with values of [`metrics_to_compare`](crate::metrics_to_compare).
    ///
    /// # Errors
    /// [`Error::NotComparable`] for what cannot be compared, [`Error::NothingRecorded`] where
    /// nothing was measured in both, [`Error::UnknownMetric`].
    pub fn new(baseline: &Outline, study: &Outline, request: &ComparisonRequest) -> Result<Self, Error> {
        let matched = MatchedConditions::between(baseline, study)?;
        let pairs = pairs(baseline, study, &matched, request)?;
        let (conditions, mut subjects): (Vec<(usize, usize)>, Vec<Subject>) = pairs.into_iter().unzip();
        // Each condition and metric is a family of one comparison, and Holm's steps run over all.
        let families: Vec<usize> = match request.correction {
            Correction::Family => (0..subjects.len()).collect(),
            Correction::None => vec![0; subjects.len()],
        };
        let analyses = answer_families(&mut subjects, &families)?;
        let mut comparisons: Vec<ComparisonGroup> = Vec::new();
        for ((subject, analysis), conditions) in subjects.iter().zip(analyses).zip(&conditions) {
            // Its flags are not shown: a drift over the boots of both is none of either.
            let mut group = ComparisonGroup::from_analysis(subject, analysis)?;
            for row in &mut group.rows {
                (row.comparison.baseline, row.comparison.condition) = *conditions;
                row.label = study.plan.conditions[conditions.1].label.to_string();
                row.against = baseline.plan.conditions[conditions.0].label.to_string();
            }
            match comparisons.iter_mut().find(|known| known.metric == group.metric) {
                Some(known) => {
                    known.rows.extend(group.rows);
                    known.unlike.extend(group.unlike);
                }
                // The means of one pair of conditions are not those of the group.
                None => comparisons.push(ComparisonGroup {
                    baseline: Some(format!("study {}", baseline.row.id)),
                    level: request.confidence,
                    conditions: Vec::new(),
                    ..group
                }),
            }
        }
        let label = |of: &Outline, indices: &[usize]| -> Vec<String> {
            indices.iter().map(|index| of.plan.conditions[*index].label.to_string()).collect()
        };
        let unmeasured = matched.pairs.iter().filter(|pair| !conditions.contains(pair));
        let unmeasured: Vec<usize> = unmeasured.map(|(_, condition)| *condition).collect();
        let differences = matched_conditions::differences(baseline, study, Some(&matched));
        let of_metrics = comparisons.iter().flat_map(|group| group.notes.clone());
        let notes = of_metrics.chain([baseline, study].into_iter().flat_map(notes)).collect();
        Ok(Self {
            baseline: StudyRef::from_row(&baseline.row),
            study: StudyRef::from_row(&study.row),
            confidence: request.confidence,
            differences,
            method: method(subjects.len(), request),
            comparisons,
            only_in_baseline: label(baseline, &matched.only_baseline),
            only_in_study: label(study, &matched.only_study),
            not_measured: label(study, &unmeasured),
            notes,
        })
    }
}

fn method(comparisons: usize, request: &ComparisonRequest) -> Vec<String> {
    let mut method = vec![METHOD.to_owned()];
    let count = counted(comparisons, "comparison");
    method.extend(match request.correction {
        _ if comparisons < 2 => None,
        Correction::Family => Some(format!("the {count} hold together (Holm)")),
        Correction::None => Some(format!(
            "each of the {count} has its confidence by itself: that one of them errs is likelier"
        )),
    });
    method
}

fn notes(outline: &Outline) -> Vec<String> {
    let (row, plan) = (&outline.row, &outline.plan);
    let notes = [shortfall(row, plan), kept_in(row, outline.disturbed_runs), may_have_stopped(row, plan)];
    notes.into_iter().flatten().collect()
}

/// Without the conditions, the spread and the method of one of the two studies.
fn judged<S: Serializer>(groups: &[ComparisonGroup], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(groups.iter().map(|group| {
        json!({
            "metric": group.metric.key(),
            "unit": group.metric.unit(),
            "better": group.better,
            "truth": group.truth,
            "resolution": group.resolution,
            "unlike": group.unlike,
            "rows": group.rows,
        })
    }))
}
