//! The ratio to the baseline, where no percentage can be stated.
//!
//! Fieller's interval is unbounded where zero is in the baseline's interval. On the log scale
//! spreads proportional to the mean are equal, and a ratio has an interval of any size: the same
//! model and family of comparisons for the logarithms of the boots' means, each boot with one vote.
//! So the ratio is one of geometric means.

use crate::compare::analysis::QuestionAtLook;
use crate::compare::comparison::{Comparison, Ratio};
use crate::observed::Cells;
use crate::question::{Question, ValueRange};

// An interval with a larger ratio of its ends is not stated.
const WIDEST: f64 = 1e4;

/// States the ratio of each comparison with an interval but no percentage.
pub(crate) fn state(comparisons: &mut [Comparison], cells: &Cells, asked: &QuestionAtLook<'_>) {
    let lacks = |one: &Comparison| one.interval.is_some() && one.relative_interval.is_none();
    if !comparisons.iter().any(lacks) {
        return;
    }
    let question = Question { margin: None, range: ValueRange::ANY, ..asked.question };
    let logarithms = QuestionAtLook { question, ..asked.clone() }.judge(&cells.logarithms());
    for one in comparisons.iter_mut().filter(|one| lacks(one)) {
        let ratio = one.same_among(&logarithms).and_then(|logarithms| {
            let (low, high) = logarithms.interval?;
            Some(Ratio { value: logarithms.difference.exp(), interval: (low.exp(), high.exp()) })
        });
        one.ratio = ratio.filter(|Ratio { interval: (low, high), .. }| {
            let is_size = *low > 0.0 && high.is_finite() && *high <= WIDEST * low;
            // The interval of the difference decides the verdict, which a ratio must not
            // contradict.
            let agrees = one.interval.is_some_and(|of_difference| {
                (*low > 1.0, *high < 1.0) == (of_difference.0 > 0.0, of_difference.1 < 0.0)
            });
            is_size && agrees
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::{Observation, Question, ValueRange, analyse};

    /// Three boots of each of two conditions, which have separate boots.
    fn compared(baseline: [f64; 3], treated: [f64; 3]) -> crate::Comparison {
        let run = |condition, boot, value| Observation { condition, boot, value };
        let runs = (0..).zip(baseline).map(|(boot, value)| run(0, boot, value));
        let others = (10..).zip(treated).map(|(boot, value)| run(1, boot, value));
        let runs: Vec<Observation> = runs.chain(others).collect();
        analyse(&runs, &Question { range: ValueRange::NON_NEGATIVE, ..Question::against(0) })
            .unwrap()
            .comparisons
            .remove(0)
    }

    #[test]
    fn twelve_times_the_baseline_has_a_size() {
        let one = compared([800.0, 1300.0, 2100.0], [14_000.0, 15_500.0, 16_900.0]);
        assert_eq!((one.relative, one.relative_interval), (None, None));
        let ratio = one.ratio.unwrap();
        // By hand, on the logarithms: means 7.16814 and 9.64349, standard errors 0.27860 and
        // 0.05440. Welch's degrees of freedom are 2.1523: t(2 (1 + 3 * 0.07615^3)) = 4.2971.
        let close = |one: f64, other: f64| (one - other).abs() < 5e-3;
        assert!(close(ratio.value, 11.886), "{ratio:?}");
        assert!(close(ratio.interval.0, 3.510) && close(ratio.interval.1, 40.252), "{ratio:?}");
    }

    #[test]
    fn a_ratio_that_says_another_thing_than_the_difference_is_not_stated() {
        // The interval of the difference includes zero.
        let one = compared([1.0, 1.1, 0.9], [2.0, 40.0, 900.0]);
        assert!(one.interval.unwrap().0 < 0.0);
        assert!(one.ratio.is_none_or(|ratio| ratio.interval.0 <= 1.0), "{one:?}");
        // Zeros have no logarithm: the difference itself is stated.
        let zero = compared([0.0, 0.0, 0.0], [5.0, 6.0, 7.0]);
        assert_eq!((zero.ratio, zero.relative_interval), (None, None));
        assert!(zero.interval.unwrap().0 > 0.0);
    }

    #[test]
    fn what_cannot_be_negative_loses_no_more_than_all() {
        let one = compared([100.0, 60.0, 140.0], [10.0, 20.0, 0.0]);
        if let Some((low, high)) = one.relative_interval {
            assert!(-100.0 <= low && low <= high, "{low} to {high}");
        }
        let tight = compared([100.0, 99.0, 101.0], [0.5, 1.0, 0.0]);
        assert_eq!(tight.relative_interval.unwrap().0, -100.0);
    }
}
