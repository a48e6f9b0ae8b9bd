//! Proven differences in a stored study or in other values.

use serde::Serialize;
use store::StoredStudy;

use crate::data::disturbed::kept_in_stored;
use crate::data::error::Error;
use crate::data::exact;
use crate::data::limits::ConditionLimit;
use crate::data::metric::known;
use crate::data::missing::MissingRuns;
use crate::data::stored::subjects;
use crate::data::subject::{Subject, answer};
use crate::data::target::{ComparisonRequest, targets};
use crate::render::answer::answered;
use crate::render::credit::Credits;
use crate::render::group::ComparisonGroup;
use crate::why::explain;
use crate::words::layout::Layout;

/// The results of comparisons.
#[derive(Debug, Serialize)]
pub struct Comparisons {
    /// The stored study's number; `None` for other values.
    study: Option<i64>,
    name: String,
    confidence: f64,
    /// Planned runs without a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<MissingRuns>,
    /// A note that disturbed runs count, without a full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    disturbed: Option<String>,
    groups: Vec<ComparisonGroup>,
    /// The effect of each offload of the study's design.
    #[serde(skip_serializing_if = "Option::is_none")]
    credit: Option<Credits>,
}

impl Comparisons {
    /// Compares the conditions of a stored study as asked.
    ///
    /// # Errors
    /// [`Error`] for a metric or condition that is not there, and when nothing was recorded.
    pub fn new(stored: &StoredStudy, request: &ComparisonRequest) -> Result<Self, Error> {
        let subjects = subjects(stored, &targets(stored, request)?, request)?;
        let mut comparisons = Self::of_values(&stored.row.name, subjects)?;
        explain(&mut comparisons.groups, stored);
        limit(&mut comparisons.groups, stored);
        let metric = request.metric.as_deref().map(known).transpose()?;
        let credit = Credits::from_stored(stored, metric, request.confidence);
        let (missing, disturbed) = (MissingRuns::from_stored(stored), kept_in_stored(stored));
        Ok(Self { study: Some(stored.row.id.0), missing, disturbed, credit, ..comparisons })
    }

    /// Compares other values. `name` is their origin.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that the statistics refuse.
    pub fn of_values(name: &str, mut subjects: Vec<Subject>) -> Result<Self, Error> {
        Ok(Self {
            study: None,
            name: name.to_owned(),
            confidence: subjects.first().map_or(0.95, |subject| subject.asked),
            missing: None,
            disturbed: None,
            groups: groups(&mut subjects)?,
            credit: None,
        })
    }

    /// The comparisons for people.
    #[must_use]
    pub fn text(&self, layout: Layout) -> String {
        let mut text = match self.study {
            Some(study) => format!("study {study} ({})\n", self.name),
            None => format!("{}\n", self.name),
        };
        let compared = self.groups.iter().flat_map(|group| &group.unlike);
        text.push_str(&exact::head(compared.chain(self.credit.iter().flat_map(Credits::unlike))));
        text.push_str(&self.missing.as_ref().map_or_else(String::new, MissingRuns::text));
        text.extend(self.disturbed.iter().map(|note| format!("Note: {note}.\n")));
        for group in &self.groups {
            text.push('\n');
            // A study's table has the workload in its labels.
            if self.study.is_none() && !group.workload.is_empty() {
                text.push_str(&format!("{}\n\n", group.workload));
            }
            if !layout.wide && group.baseline.is_some() {
                text.push_str(&format!("{}\n", answered(group)));
            }
            text.push_str(&group.text(layout));
        }
        if let Some(credit) = &self.credit {
            text.push_str(&if layout.wide { credit.details() } else { credit.text(layout) });
        }
        text
    }
}

/// Adds the limit of each condition's runs.
pub(crate) fn limit(groups: &mut [ComparisonGroup], stored: &StoredStudy) {
    for one in groups.iter_mut().flat_map(|group| &mut group.conditions) {
        one.limit = ConditionLimit::for_condition(stored, one.estimate.condition);
    }
}

/// Answers all questions together.
pub(crate) fn groups(subjects: &mut [Subject]) -> Result<Vec<ComparisonGroup>, Error> {
    let analyses = answer(subjects)?;
    subjects
        .iter()
        .zip(analyses)
        .map(|(subject, analysis)| ComparisonGroup::from_analysis(subject, analysis))
        .collect()
}
