//! Explanations of the large differences of a stored study.

use std::collections::BTreeMap;

use store::{Metrics, StoredStudy};
use study::metric::find;

use crate::data::means::per_boot;
use crate::render::group::Group;
use crate::render::why::reasons;

// From this share of the baseline on, an effect needs an explanation.
const LARGE: f64 = 0.03;

/// Adds its explanation to each large, proven difference of a stored study.
pub(crate) fn explain(groups: &mut [Group], stored: &StoredStudy) {
    // Many rows have the same baseline.
    let mut means: BTreeMap<usize, Vec<Metrics>> = BTreeMap::new();
    for group in groups {
        let Some(metric) = find(&group.metric) else { continue };
        for row in &mut group.rows {
            let comparison = &row.comparison;
            let is_large = comparison.difference.abs() >= LARGE * comparison.baseline_mean.abs();
            if is_large && row.is_proven() {
                let both = [comparison.condition, comparison.baseline];
                for condition in both {
                    means.entry(condition).or_insert_with(|| per_boot(stored, condition));
                }
                let boots = both.map(|condition| means[&condition].as_slice());
                row.why = reasons(metric, comparison.difference > 0.0, boots);
            }
        }
    }
}
