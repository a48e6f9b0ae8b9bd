//! The classic comparison, in ministat's words: runs are taken as independent.

use samples::ministat::{ConfidenceLevel, MAX_SETS, Set};
use serde::Serialize;
use store::StoredStudy;
use study::metric::Metric;

use crate::data::error::Error;
use crate::data::target::{ComparisonRequest, targets};

/// The classic test of ministat on a stored study's runs.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names of its fields say it")]
pub struct ClassicTest {
    pub study: i64,
    pub name: String,
    pub groups: Vec<ClassicGroup>,
}

/// The classic test of one comparison.
#[derive(Debug, Serialize)]
pub struct ClassicGroup {
    pub metric: Metric,
    pub unit: &'static str,
    /// Names and values of the sets, the baseline first.
    pub sets: Vec<(String, Vec<f64>)>,
    pub text: String,
}

impl ClassicTest {
    /// Compares as asked.
    ///
    /// # Errors
    /// As [`crate::Comparisons::new`]; a confidence that ministat lacks, sets of fewer than 3 runs.
    pub fn new(stored: &StoredStudy, request: &ComparisonRequest) -> Result<Self, Error> {
        // The confidence was a percentage, and ministat compares for equality.
        let percent = (request.confidence * 1e4).round() / 1e2;
        let level = ConfidenceLevel::from_percent(percent).ok_or(Error::UnknownLevel { percent })?;
        let mut groups = Vec::new();
        for target in targets(stored, request)? {
            let set = |index: usize| {
                let values = stored.values(target.metric).filter(|(condition, ..)| *condition == index);
                let values: Vec<f64> = values.map(|(.., value)| value).collect();
                Set::new(&stored.plan.conditions[index].slug, &values).map(|set| (set, values))
            };
            let (baseline, baseline_values) = set(target.baseline)?;
            let mut named = vec![(baseline.name.clone(), baseline_values)];
            let mut text = String::new();
            // ministat has symbols for seven sets; each further table begins with the baseline.
            for some in target.conditions.chunks(MAX_SETS - 1) {
                let mut sets = vec![baseline.clone()];
                for index in some {
                    let (set, values) = set(*index)?;
                    named.push((set.name.clone(), values));
                    sets.push(set);
                }
                text.push_str(&samples::ministat::report(&sets, level));
            }
            groups.push(ClassicGroup { metric: target.metric, unit: target.metric.unit, sets: named, text });
        }
        Ok(Self { study: stored.row.id.0, name: stored.row.name.clone(), groups })
    }
}
