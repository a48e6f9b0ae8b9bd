//! What explains the large differences of a stored study.

use store::StoredStudy;
use study::metric::find;

use crate::data::means::per_boot;
use crate::render::group::Group;
use crate::render::why::reasons;

/// From this share of the baseline on, an effect needs an explanation.
const LARGE: f64 = 0.03;

/// Adds its explanation to each large, proven difference of a stored study.
pub(crate) fn explain(groups: &mut [Group], stored: &StoredStudy) {
    for group in groups {
        let Some(metric) = find(&group.metric) else { continue };
        for row in &mut group.rows {
            let comparison = &row.comparison;
            let is_large = comparison.difference.abs() >= LARGE * comparison.baseline_mean.abs();
            if is_large && row.is_proven() {
                let boots =
                    [comparison.condition, comparison.baseline].map(|condition| per_boot(stored, condition));
                row.why = reasons(metric, comparison.difference > 0.0, &boots);
            }
        }
    }
}
