//! A set of runs with the sums that ministat keeps.

use super::error::MinistatError;

/// A named set of values, summed up as ministat does.
#[derive(Clone, Debug)]
pub struct Set {
    name: String,
    sorted: Vec<f64>,
    /// Of the values in the order given: another order gives other last digits.
    sum: f64,
    sum_of_squares: f64,
    first_nan: Option<f64>,
}

impl Set {
    /// Takes the values in the order in which they stand in the file. They may be infinite or NaN, as ministat's may.
    ///
    /// # Errors
    /// [`MinistatError::TooFewPoints`] for fewer than three.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Result<Set, MinistatError> {
        let name = name.into();
        if values.len() < 3 {
            return Err(MinistatError::TooFewPoints { name });
        }
        let sum = values.iter().fold(0.0, |sum, value| sum + value);
        let sum_of_squares = values.iter().fold(0.0, |sum, value| sum + value * value);
        let first_nan = values.iter().copied().find(|value| value.is_nan());
        let mut sorted = values;
        // With NaN there is no order; the values then stay as they came. The sort is stable: 0 and -0 are equal.
        if first_nan.is_none() {
            sorted.sort_by(|one, other| one.partial_cmp(other).expect("none is NaN"));
        }
        Ok(Set { name, sorted, sum, sum_of_squares, first_nan })
    }

    /// The set's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many values.
    pub fn n(&self) -> usize {
        self.sorted.len()
    }

    /// The smallest.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// The largest.
    pub fn max(&self) -> f64 {
        self.sorted[self.n() - 1]
    }

    /// The middle value, the upper one of two.
    pub fn median(&self) -> f64 {
        self.sorted[self.n() / 2]
    }

    /// The sum over n.
    pub fn mean(&self) -> f64 {
        self.as_on_amd64(self.sum / self.n() as f64)
    }

    /// The variance, in one pass: (sum of squares - sum² / n) / (n - 1). It may be negative where the mean is some 1e7
    /// times the spread.
    pub fn variance(&self) -> f64 {
        let n = self.n() as f64;
        self.as_on_amd64((self.sum_of_squares - self.sum * self.sum / n) / (n - 1.0))
    }

    /// The root of the variance; NaN if that is negative.
    pub fn sd(&self) -> f64 {
        self.as_on_amd64(self.variance().sqrt())
    }

    /// Only the sign of a NaN, which is printed: the processor's own is negative, one that was read keeps its sign. Rust
    /// promises neither.
    fn as_on_amd64(&self, value: f64) -> f64 {
        if value.is_nan() { self.first_nan.unwrap_or(-f64::NAN) } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_as_ministat_does() {
        let set = Set::new("a", vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((set.name(), set.n(), set.min(), set.max()), ("a", 4, 1.0, 4.0));
        assert_eq!((set.median(), set.mean()), (3.0, 2.5), "the median is the upper middle value");
        assert_eq!(set.sd(), (5.0_f64 / 3.0).sqrt());
    }

    #[test]
    fn its_cancellation_is_kept() {
        let set = Set::new("a", vec![100_000_000.1; 7]).unwrap();
        assert!(set.variance() < 0.0);
        assert!(set.sd().is_nan() && set.sd().is_sign_negative());
    }

    #[test]
    fn two_points_are_too_few() {
        let error = Set::new("a.stat", vec![1.0, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "Dataset a.stat must contain at least 3 data points");
    }
}
