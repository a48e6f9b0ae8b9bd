//! Conditions compared with a baseline.

use serde::Serialize;

use crate::boots::{BootMeans, Observation};
use crate::crossed::Pairs;
use crate::error::{StatsError, require_finite};
use crate::verdict::Verdict;

/// One condition beside the baseline, over the boots that measured both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The condition.
    pub condition: usize,
    /// The condition it is compared with.
    pub baseline: usize,
    /// The confidence level of the intervals, as a probability.
    pub level: f64,
    /// The mean of the condition's boot means, in the metric's unit.
    pub mean: f64,
    /// The mean of the baseline's boot means.
    pub baseline_mean: f64,
    /// `mean` - `baseline_mean`.
    pub difference: f64,
    /// The interval of the difference; none for fewer than two boots.
    pub interval: Option<(f64, f64)>,
    /// The difference in % of the baseline's size; none where the baseline cannot be told from zero.
    pub relative: Option<f64>,
    /// The interval of `relative`; none for fewer than two boots or where the baseline cannot be told from zero.
    pub relative_interval: Option<(f64, f64)>,
    /// How many boots measured both.
    pub boots: usize,
    /// How many boots measured only one of the two, and so do not count here.
    pub boots_left_out: usize,
    /// Degrees of freedom of the intervals; 0 without one.
    pub df: f64,
    /// What it comes to.
    pub verdict: Verdict,
}

/// Compares every condition that was measured with `baseline`, at confidence `level` (0.95 for 95 %), in the order of
/// the conditions.
///
/// The design is taken as crossed: every condition measured in every boot. The runs of a boot, whatever their
/// number, become one mean; the difference is taken inside each boot; its interval is a paired t-interval over the boots
/// that measured both, the percentage's is Fieller's. A boot that lacks one of the two conditions is left out
/// of their comparison (and counted). Each interval has `level` by itself: with several conditions the chance that one
/// of them misses is larger.
///
/// # Errors
/// [`StatsError`] if a value is no number, the level no probability, or the baseline was never measured.
pub fn compare(
    observations: &[Observation],
    baseline: usize,
    level: f64,
) -> Result<Vec<Comparison>, StatsError> {
    require_finite(observations.iter().map(|observation| observation.value))?;
    if !(level > 0.0 && level < 1.0) {
        return Err(StatsError::Level { level });
    }
    let means = BootMeans::of(observations);
    if means.condition(baseline).is_none() {
        return Err(StatsError::NoBaseline { baseline });
    }
    Ok(means
        .conditions()
        .filter(|condition| *condition != baseline)
        .filter_map(|condition| compare_one(&means, condition, baseline, level))
        .collect())
}

fn compare_one(means: &BootMeans, condition: usize, baseline: usize, level: f64) -> Option<Comparison> {
    let (of_condition, of_baseline) = (means.condition(condition)?, means.condition(baseline)?);
    let common: Vec<(f64, f64)> =
        of_condition.iter().filter_map(|(boot, mean)| Some((*mean, *of_baseline.get(boot)?))).collect();
    let boots = common.len();
    let pairs = if common.is_empty() {
        // Nothing to pair. The means are still worth showing, each over its own boots.
        let mean_of_all = |means: Vec<f64>| crate::summary::mean(&means);
        let own = (
            mean_of_all(of_condition.values().copied().collect()),
            mean_of_all(of_baseline.values().copied().collect()),
        );
        Pairs::new([own].into_iter())
    } else {
        Pairs::new(common.into_iter())
    };
    let (difference, baseline_mean) = (pairs.difference(), pairs.baseline_mean());
    let interval = pairs.interval(level);
    let relative_interval = pairs.relative_interval(level);
    let has_percentage = relative_interval.is_some() || (interval.is_none() && baseline_mean != 0.0);
    Some(Comparison {
        condition,
        baseline,
        level,
        mean: pairs.treated_mean(),
        baseline_mean,
        difference,
        interval,
        relative: has_percentage.then(|| 100.0 * difference / baseline_mean.abs()),
        relative_interval,
        boots,
        boots_left_out: of_condition.len() + of_baseline.len() - 2 * boots,
        df: boots.saturating_sub(1) as f64,
        verdict: Verdict::of(interval),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracles::is_close;
    use proptest::prelude::*;

    /// Runs of condition 0 and 1, from (boot, values).
    fn observations(conditions: &[&[(u32, &[f64])]]) -> Vec<Observation> {
        let mut all = Vec::new();
        for (condition, boots) in conditions.iter().enumerate() {
            for (boot, values) in *boots {
                all.extend(values.iter().map(|value| Observation { condition, boot: *boot, value: *value }));
            }
        }
        all
    }

    #[test]
    fn a_clear_loss() {
        let data = observations(&[
            &[(1, &[100.0, 100.4]), (2, &[99.0, 100.0]), (3, &[100.3])],
            &[(1, &[66.0, 66.2]), (2, &[67.0, 67.0]), (3, &[66.9])],
        ]);
        let [result] = compare(&data, 0, 0.95).unwrap().try_into().unwrap();
        assert_eq!((result.condition, result.baseline, result.boots, result.boots_left_out), (1, 0, 3, 0));
        // The boot means are those of the first case in oracles.py.
        assert!(is_close(result.difference, -33.333_333_333_333_336, 1e-12));
        let interval = result.interval.unwrap();
        assert!(is_close(interval.0, -35.325_812_068_469_936, 1e-10));
        assert!(is_close(interval.1, -31.340_854_598_196_735, 1e-10));
        let relative = result.relative_interval.unwrap();
        assert!(is_close(relative.0, -35.018_203_557_975_71, 1e-10));
        assert_eq!((result.df, result.verdict), (2.0, Verdict::Lower));
        assert_eq!(result.sentence("b", "1/s"), "b is 33.3 % lower (95 % interval 31.6 to 35.0, 3 boots)");
    }

    #[test]
    fn a_boot_that_lacks_a_condition_is_left_out_and_a_missing_run_is_not() {
        let full = observations(&[
            &[(1, &[100.0, 102.0]), (2, &[110.0, 112.0]), (3, &[105.0, 105.0])],
            &[(1, &[90.0, 92.0]), (2, &[101.0, 101.0]), (3, &[95.0, 97.0])],
        ]);
        // Boot 4 lacks the baseline, boot 5 the other; in boot 2 a run is missing but the mean is the same.
        let mut ragged = full.clone();
        ragged.push(Observation { condition: 1, boot: 4, value: 1e6 });
        ragged.push(Observation { condition: 0, boot: 5, value: -1e6 });
        let dropped = ragged.iter().rposition(|run| run.condition == 1 && run.boot == 2).unwrap();
        ragged.remove(dropped);
        let (full, ragged) = (compare(&full, 0, 0.95).unwrap(), compare(&ragged, 0, 0.95).unwrap());
        assert_eq!(ragged[0].boots_left_out, 2);
        assert_eq!(Comparison { boots_left_out: 0, ..ragged[0].clone() }, full[0]);
    }

    #[test]
    fn one_boot_or_none_in_common_is_inconclusive() {
        let one = observations(&[&[(1, &[10.0]), (2, &[11.0])], &[(2, &[22.0]), (3, &[30.0])]]);
        let [one] = compare(&one, 0, 0.95).unwrap().try_into().unwrap();
        assert_eq!((one.boots, one.boots_left_out, one.verdict), (1, 2, Verdict::Inconclusive));
        assert_eq!(
            (one.mean, one.baseline_mean, one.difference, one.relative),
            (22.0, 11.0, 11.0, Some(100.0))
        );
        assert_eq!((one.interval, one.relative_interval, one.df), (None, None, 0.0));

        let none = observations(&[&[(1, &[10.0]), (2, &[12.0])], &[(3, &[22.0])]]);
        let [none] = compare(&none, 0, 0.95).unwrap().try_into().unwrap();
        assert_eq!((none.boots, none.boots_left_out, none.verdict), (0, 3, Verdict::Inconclusive));
        assert_eq!((none.mean, none.baseline_mean, none.difference), (22.0, 11.0, 11.0));
        assert_eq!(none.interval, None);
    }

    #[test]
    fn a_baseline_around_zero_has_a_difference_but_no_percentage() {
        let data = observations(&[
            &[(1, &[-0.1]), (2, &[0.12]), (3, &[0.03])],
            &[(1, &[5.0]), (2, &[5.1]), (3, &[4.9])],
        ]);
        let [result] = compare(&data, 0, 0.95).unwrap().try_into().unwrap();
        assert_eq!(
            (result.verdict, result.relative, result.relative_interval),
            (Verdict::Higher, None, None)
        );
        assert!(result.interval.unwrap().0 > 4.0);
    }

    #[test]
    fn what_cannot_be_compared_is_named() {
        let data = observations(&[&[(1, &[1.0])], &[(1, &[f64::NAN])]]);
        let error = compare(&data, 0, 0.95).unwrap_err();
        assert!(error.to_string().starts_with("value 2 is NaN"), "{error}");
        assert_eq!(compare(&data[..1], 3, 0.95), Err(StatsError::NoBaseline { baseline: 3 }));
        assert_eq!(compare(&data[..1], 0, 95.0), Err(StatsError::Level { level: 95.0 }));
        assert_eq!(compare(&data[..1], 0, 0.95), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn the_order_of_the_runs_does_not_matter(
            values in proptest::collection::vec((0..4usize, 0..5u32, -1e3..1e3f64), 1..60),
            turn in 0..60usize,
        ) {
            let mut data: Vec<Observation> = values
                .into_iter()
                .map(|(condition, boot, value)| Observation { condition, boot, value })
                .collect();
            let before = compare(&data, 0, 0.95);
            let count = data.len();
            data.rotate_left(turn % count);
            prop_assert_eq!(before, compare(&data, 0, 0.95));
        }
    }
}
