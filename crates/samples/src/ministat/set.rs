//! Sets of runs, summarised as by ministat.

use std::cmp::Ordering;

use crate::ministat::refusal::MinistatError;

/// A set's values and sums, in the file's order: another order gives other last digits.
#[derive(Clone, Debug)]
pub struct Values {
    /// The values.
    pub all: Vec<f64>,
    sum: f64,
    sum_of_squares: f64,
    min: f64,
    max: f64,
}

impl Values {
    /// Appends values.
    pub fn extend(&mut self, next: &[f64]) {
        for value in next {
            self.sum += value;
            self.sum_of_squares += value * value;
        }
        for value in next {
            self.min = if *value < self.min { *value } else { self.min };
            self.max = if *value > self.max { *value } else { self.max };
        }
        self.all.extend_from_slice(next);
    }
}

impl Default for Values {
    fn default() -> Values {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Values { all: Vec::new(), sum: 0.0, sum_of_squares: 0.0, min, max }
    }
}

/// A named set of values.
#[derive(Clone, Debug)]
pub struct Set {
    /// The set's name.
    pub name: String,
    /// The number of values.
    pub n: usize,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The middle value; of two, the upper one.
    pub median: f64,
    /// The sum over n.
    pub mean: f64,
    /// The variance, which may be negative where the mean is some 1e7 times the spread.
    pub variance: f64,
    pub(crate) points: Vec<f64>,
}

impl Set {
    /// Summarises the values, in the order of the file.
    ///
    /// # Errors
    /// [`MinistatError::TooFewPoints`] for fewer than three.
    pub fn new(name: impl Into<String>, values: &[f64]) -> Result<Set, MinistatError> {
        let mut summed = Values::default();
        summed.extend(values);
        Set::summed(name.into(), summed, true)
    }

    /// The set of values that were summed while they were read; only a plot needs them all, as
    /// points.
    ///
    /// # Errors
    /// [`MinistatError::TooFewPoints`] for fewer than three.
    pub fn summed(name: String, values: Values, keeps_points: bool) -> Result<Set, MinistatError> {
        let Values { mut all, sum, sum_of_squares, mut min, mut max } = values;
        let n = all.len();
        if n < 3 {
            return Err(MinistatError::TooFewPoints(name));
        }
        let has = |zero: f64| all.iter().any(|value| value.to_bits() == zero.to_bits());
        if has(0.0) && has(-0.0) {
            // Stable: the two zeros are equal, but print differently.
            all.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
            (min, max) = (all[0], all[n - 1]);
        } else {
            all.select_nth_unstable_by(n / 2, f64::total_cmp);
        }
        let (median, count) = (all[n / 2], n as f64);
        Ok(Set {
            name,
            n,
            min,
            max,
            median,
            mean: sum / count,
            variance: (sum_of_squares - sum * sum / count) / (count - 1.0),
            points: if keeps_points { all } else { Vec::new() },
        })
    }

    /// The root of the variance; NaN if that is negative.
    pub fn sd(&self) -> f64 {
        self.variance.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sums_as_ministat_does() {
        let set = Set::new("a", &[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((set.name.as_str(), set.n, set.min, set.max), ("a", 4, 1.0, 4.0));
        assert_eq!((set.median, set.mean), (3.0, 2.5), "the median is the upper middle value");
        assert_eq!(set.sd(), (5.0_f64 / 3.0).sqrt());
    }

    #[test]
    fn its_cancellation_is_kept() {
        let values = [100_000_000.1; 7];
        let mut summed = Values::default();
        summed.extend(&values);
        let set = Set::summed("a".to_owned(), summed, false).unwrap();
        assert!(set.variance < 0.0 && set.sd().is_nan());
        assert!(set.points.is_empty());
    }

    #[test]
    fn two_points_are_too_few() {
        let error = Set::new("a.stat", &[1.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "Dataset a.stat must contain at least 3 data points");
    }

    #[test]
    fn blocks_sum_up_as_one() {
        let all: Vec<f64> = (0..1000).map(|index| f64::from(index) * 0.1 + 1e6).collect();
        let (mut whole, mut parts) = (Values::default(), Values::default());
        whole.extend(&all);
        all.chunks(7).for_each(|block| parts.extend(block));
        assert_eq!((parts.sum, parts.sum_of_squares), (whole.sum, whole.sum_of_squares));
        assert_eq!((parts.min, parts.max, parts.all.len()), (1e6, 1e6 + 99.9, 1000));
    }

    proptest! {
        #[test]
        fn equals_sorting(mut values in prop::collection::vec(-1e3..1e3, 3..200)) {
            let set = Set::new("a", &values).unwrap();
            values.sort_by(f64::total_cmp);
            let expected = (values[0], values[values.len() / 2], values[values.len() - 1]);
            prop_assert_eq!((set.min, set.median, set.max), expected);
        }
    }
}
