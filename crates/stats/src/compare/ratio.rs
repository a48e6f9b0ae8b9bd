//! The ratio to the baseline, where no percentage can be stated.
//!
//! Fieller's interval is unbounded where zero is in the baseline's interval. On the log scale
//! spreads proportional to the mean are equal, and a ratio has an interval of any size: the same
//! model and family of comparisons for the logarithms of the boots' means, each boot with one vote.
//! So the ratio is one of geometric means.

use std::collections::BTreeMap;

use crate::compare::analysis::QuestionAtLook;
use crate::compare::comparison::{Comparison, Ratio};
use crate::compare::robust::Farthest;
use crate::observed::{Cells, Observation, median};
use crate::question::{Question, ValueRange};

/// An interval with a larger ratio of its ends is not stated.
const WIDEST: f64 = 1e4;

impl Ratio {
    /// The ratio from the comparison of logarithms; `None` without an interval, or if it is not
    /// finite.
    fn from_logarithms(logarithms: &Comparison) -> Option<Ratio> {
        let (low, high) = logarithms.interval?;
        let ratio = Ratio { value: logarithms.difference.exp(), interval: (low.exp(), high.exp()) };
        let is_size = ratio.interval.0 > 0.0
            && ratio.interval.1.is_finite()
            && ratio.interval.1 <= WIDEST * ratio.interval.0;
        is_size.then_some(ratio)
    }

    /// Whether it agrees with the interval of the difference, which decides the verdict.
    fn agrees_with(&self, (low, high): (f64, f64)) -> bool {
        (self.interval.0 > 1.0, self.interval.1 < 1.0) == (low > 0.0, high < 0.0)
    }
}

/// States the ratio of each comparison with an interval but no percentage.
pub(crate) fn state(comparisons: &mut [Comparison], cells: &Cells, asked: &QuestionAtLook<'_>) {
    let lacks = |one: &Comparison| one.interval.is_some() && one.relative_interval.is_none();
    if !comparisons.iter().any(lacks) {
        return;
    }
    let question = Question { margin: None, range: ValueRange::ANY, ..asked.question };
    let logarithms = asked.instead(question).judge(&cells.logarithms());
    for one in comparisons.iter_mut().filter(|one| lacks(one)) {
        let ratio = one.same_among(&logarithms).and_then(Ratio::from_logarithms);
        one.ratio = ratio.filter(|ratio| one.interval.is_some_and(|interval| ratio.agrees_with(interval)));
    }
}

// A wild run that prevents a percentage: it makes the error so large that the baseline's interval
// includes zero.

/// Names the run farthest from its condition's median for each comparison without a percentage that
/// would have one without that run. The run still counts.
pub(crate) fn blame(
    comparisons: &mut [Comparison],
    observations: &[Observation],
    asked: &QuestionAtLook<'_>,
) {
    let lacks = |one: &Comparison| {
        one.interval.is_some() && one.relative_interval.is_none() && one.baseline_mean != 0.0
    };
    if !comparisons.iter().any(lacks) {
        return;
    }
    let Some((place, run)) = wildest(observations) else { return };
    let mut rest = observations.to_vec();
    rest.remove(place);
    let Ok(cells) = Cells::from_observations(&rest) else { return };
    let without = asked.judge(&cells);
    for one in comparisons.iter_mut().filter(|one| lacks(one)) {
        let has_percentage = one.same_among(&without).is_some_and(|other| other.relative_interval.is_some());
        one.wild = has_percentage.then_some(run);
    }
}

/// The run farthest from the median of its condition, with its place.
fn wildest(observations: &[Observation]) -> Option<(usize, Farthest)> {
    let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for run in observations {
        values.entry(run.condition).or_default().push(run.value);
    }
    let medians: BTreeMap<usize, f64> =
        values.iter().filter_map(|(condition, own)| Some((*condition, median(own)?))).collect();
    let run = |(place, run): (usize, &Observation)| {
        let Observation { condition, boot, value } = *run;
        (place, Farthest { condition, boot, run: None, value, median: medians[&condition] })
    };
    let runs = observations.iter().enumerate().map(run);
    let (place, run) = runs.max_by(|one, other| Farthest::by_distance(&one.1, &other.1))?;
    let is_of_its_boot = |other: &&Observation| (other.condition, other.boot) == (run.condition, run.boot);
    let number = observations[..=place].iter().filter(is_of_its_boot).count();
    Some((place, Farthest { run: Some(number), ..run }))
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
        assert_eq!(
            one.sentence("tso=off", "Mbit/s", None),
            "tso=off is 12 times the baseline (95 % interval 4 to 40, 3 boots; on the log scale: boots spread so \
             much that, with the error of this comparison, zero is within the baseline's interval)"
        );
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

#[cfg(test)]
mod wild_tests {
    use crate::{Observation, Question, ValueRange, analyse};

    /// Two conditions in five boots of three runs, with values of about 100.4 and 0.5 apart; one
    /// run may be wild.
    fn compared(wild: Option<f64>) -> crate::Comparison {
        let mut runs = Vec::new();
        for boot in 1..=5_u32 {
            for run in 0..3_u32 {
                for condition in 0..2_usize {
                    let wobble = f64::from((boot * 7 + run * 5 + condition as u32 * 3) % 11) / 10.0 - 0.5;
                    runs.push(Observation { condition, boot, value: 100.4 + wobble });
                }
            }
        }
        if let Some(value) = wild {
            // Boot 3, the second run of the baseline.
            let place = runs.iter().position(|run| (run.condition, run.boot) == (0, 3)).unwrap() + 2;
            runs[place].value = value;
        }
        let question = Question { range: ValueRange::NON_NEGATIVE, ..Question::against(0) };
        analyse(&runs, &question).unwrap().comparisons.remove(0)
    }

    #[test]
    fn one_wild_run_is_named_and_not_the_baseline_blamed() {
        assert_eq!(compared(None).wild, None);
        let one = compared(Some(1e6));
        let wild = one.wild.unwrap();
        assert_eq!((wild.condition, wild.boot, wild.run, wild.value), (0, 3, Some(2), 1e6));
        assert!((wild.median - 100.4).abs() < 0.5, "{wild:?}");
        let said = one.sentence("b", "ns", None);
        assert!(!said.contains("the baseline cannot be told from zero"), "{said}");
        // Values with a large spread are not the effect of a single run.
        let spread = |condition, boot, value| Observation { condition, boot, value };
        let runs: Vec<Observation> = (0..8)
            .flat_map(|boot| {
                let value = [1.0, -90.0, 80.0, -70.0, 95.0, -60.0, 60.0, -10.0][boot as usize];
                [spread(0, boot, value), spread(1, boot, -value)]
            })
            .collect();
        let one = analyse(&runs, &Question::against(0)).unwrap().comparisons.remove(0);
        assert_eq!((one.relative, one.wild), (None, None));
    }
}
