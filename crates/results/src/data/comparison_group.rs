//! The result of one comparison: a baseline and other conditions, or all pairs.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use stats::diagnostics::FlagNames;
use stats::{Against, Analysis, Comparison, Components, ConditionEstimate, Design, ErrorTerm};
use study::Name;
use study::metric::Better;

use crate::data::comparison_row::{ComparisonRow, quality_word};
use crate::data::error::Error;
use crate::data::exact::UnequalCounts;
use crate::data::limits::ConditionLimit;
use crate::data::method;
use crate::data::metric::ComparedMetric;
use crate::data::subject::{BootNames, Subject};

/// The result of one comparison.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ComparisonGroup {
    pub workload: String,
    #[serde(flatten)]
    pub metric: ComparedMetric,
    /// The better direction; `None` if unknown.
    pub better: Option<Better>,
    /// The condition that the others are compared with; `None` for all pairs.
    pub baseline: Option<String>,
    /// The confidence of the intervals, a probability; higher where metrics share the error rate.
    pub level: f64,
    /// Whether the conditions share boots.
    pub design: Design,
    /// The spread on which the intervals rest.
    pub error: ErrorTerm,
    /// Each condition by itself.
    pub conditions: Vec<NamedEstimate>,
    /// The known limits of conditions.
    #[serde(skip)]
    pub limits: BTreeMap<usize, ConditionLimit>,
    pub rows: Vec<ComparisonRow>,
    /// The spread of boots and runs, in the metric's unit.
    pub spread: Components,
    pub method: Vec<String>,
    /// The effect of few boots, as a sentence without a full stop; `None` if it is small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// Notes on the data. Verdicts use all of it nevertheless.
    pub flags: Vec<String>,
    /// Notes on the origin of the values.
    pub notes: Vec<String>,
    /// The kind of the values, if not time on a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<&'static str>,
    /// Conditions whose counts do not repeat.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<UnequalCounts>,
    /// The share, in %, by which counts without noise were judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
}

/// A condition by itself, with its name.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct NamedEstimate {
    #[serde(rename = "label", serialize_with = "name_text")]
    pub name: Name,
    #[serde(flatten)]
    pub estimate: ConditionEstimate,
}

pub(crate) fn name_text<S: Serializer>(name: &Name, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name)
}

impl ComparisonGroup {
    /// Puts the answer to a subject's question into words.
    ///
    /// # Errors
    /// [`Error::Stats`] for data that the statistics refuse.
    pub(crate) fn from_analysis(subject: &Subject, analysis: Analysis) -> Result<ComparisonGroup, Error> {
        let label = |condition: usize| subject.label(condition);
        let baseline = match subject.question.against {
            Against::Baseline(baseline) => Some(label(baseline)),
            Against::AllPairs => None,
        };
        let caution = method::few_boots(subject, &analysis);
        let method = method::sentences(subject, &analysis);
        let named =
            |estimate: ConditionEstimate| NamedEstimate { name: subject.name(estimate.condition), estimate };
        let row = |comparison: Comparison| {
            let quality = subject.quality.and_then(|quality| quality_word(quality, comparison.verdict));
            ComparisonRow {
                label: label(comparison.condition),
                quality,
                remarks: remarks(&comparison),
                against: label(comparison.baseline),
                comparison,
                why: Vec::new(),
            }
        };
        Ok(ComparisonGroup {
            workload: subject.name.clone(),
            metric: subject.metric.clone(),
            better: subject.quality.map(|quality| quality.better),
            level: analysis.level,
            design: analysis.design,
            error: analysis.error,
            conditions: analysis.conditions.into_iter().map(named).collect(),
            limits: BTreeMap::new(),
            rows: analysis.comparisons.into_iter().map(row).collect(),
            baseline,
            spread: analysis.components,
            method,
            caution,
            flags: flags(subject)?,
            notes: subject.notes.clone(),
            truth: subject.truth,
            unlike: subject.unequal_counts(),
            resolution: subject.resolution,
        })
    }

    /// The mean of all conditions, in the metric's unit.
    pub fn mean(&self) -> f64 {
        stats::mean(&self.conditions.iter().map(|one| one.estimate.mean).collect::<Vec<_>>())
    }

    /// Is this condition compared and measured?
    pub fn has(&self, label: &str) -> bool {
        self.conditions.iter().any(|one| *one.name == *label)
    }
}

fn flags(subject: &Subject) -> Result<Vec<String>, Error> {
    if subject.resolution.is_some() {
        // Counts that do not repeat are reported first.
        return Ok(Vec::new());
    }
    let names = FlagNames {
        condition: &|condition| subject.label(condition),
        boot: &|number| subject.boot(number),
        knows_boots: !matches!(subject.boots, BootNames::Unknown),
        knows_order: matches!(subject.boots, BootNames::Numbered),
    };
    let flags = stats::diagnostics::diagnose(&subject.compared_observations())?;
    Ok(flags.iter().map(|flag| flag.sentence(names)).collect())
}

fn remarks(one: &Comparison) -> Vec<String> {
    let is_proven = one.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    one.checks.iter().filter(|check| !check.agrees).map(|check| check.sentence(is_proven)).collect()
}
