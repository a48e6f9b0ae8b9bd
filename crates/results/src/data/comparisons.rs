//! Proven differences in a stored study or in other values.

use serde::Serialize;
use store::StoredStudy;

use crate::credit::Credits;
use crate::data::comparison_group::{ComparisonGroup, NamedEstimate};
use crate::data::disturbed::kept_in;
use crate::data::error::Error;
use crate::data::limits::ConditionLimit;
use crate::data::missing::MissingRuns;
use crate::data::notes::kept_disturbed;
use crate::data::stored::subjects;
use crate::data::subject::{Subject, answer};
use crate::data::target::{ComparisonRequest, ComparisonTarget, targets};
use crate::why::explain;

/// The results of comparisons.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct Comparisons {
    /// The stored study's number; `None` for other values.
    pub study: Option<i64>,
    /// The study's name, or the origin of other values.
    pub name: String,
    /// The confidence asked for, as a probability.
    pub confidence: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingRuns>,
    /// A note that disturbed runs count, without a full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<String>,
    #[serde(rename = "comparisons")]
    pub groups: Vec<ComparisonGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Credits>,
}

impl Comparisons {
    /// Compares the conditions of a stored study as asked.
    ///
    /// # Errors
    /// [`Error`] for a metric or condition that is not there, and when nothing was recorded.
    pub fn new(stored: &StoredStudy, request: &ComparisonRequest) -> Result<Self, Error> {
        Ok(Self {
            study: Some(stored.row.id.0),
            name: stored.row.name.clone(),
            confidence: request.confidence,
            missing: MissingRuns::from_stored(stored),
            disturbed: kept_in(&stored.row, kept_disturbed(stored).0),
            groups: of_targets(stored, &targets(stored, request)?, request)?,
            credit: Credits::from_stored(stored, request.metric, request.confidence),
        })
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
}

/// The comparisons of a stored study, with explanations and limits.
pub(crate) fn of_targets(
    stored: &StoredStudy,
    targets: &[ComparisonTarget],
    request: &ComparisonRequest,
) -> Result<Vec<ComparisonGroup>, Error> {
    let mut groups = groups(&mut subjects(stored, targets, request)?)?;
    explain(&mut groups, stored);
    for group in &mut groups {
        let limit = |NamedEstimate { estimate: one, .. }: &NamedEstimate| {
            Some((one.condition, ConditionLimit::for_condition(stored, one.condition)?))
        };
        group.limits = group.conditions.iter().filter_map(limit).collect();
    }
    Ok(groups)
}

fn groups(subjects: &mut [Subject]) -> Result<Vec<ComparisonGroup>, Error> {
    let analyses = answer(subjects)?;
    let both = subjects.iter().zip(analyses);
    both.map(|(subject, analysis)| ComparisonGroup::from_analysis(subject, analysis)).collect()
}
