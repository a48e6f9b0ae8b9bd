//! Values, summed in the order in which they come.

/// The values of a set and their sums in the order of the file: another order gives other last
/// digits.
#[derive(Clone, Debug)]
pub struct Values {
    pub(crate) all: Vec<f64>,
    sum: f64,
    sum_of_squares: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The NaN that the sum became.
    sum_nan: Option<f64>,
    last_nan: Option<f64>,
    has_zero: bool,
    has_negative_zero: bool,
}

impl Values {
    /// No values.
    pub fn new() -> Values {
        Values {
            all: Vec::new(),
            sum: 0.0,
            sum_of_squares: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum_nan: None,
            last_nan: None,
            has_zero: false,
            has_negative_zero: false,
        }
    }

    /// Appends values, which may be infinite or NaN.
    pub fn extend(&mut self, next: &[f64]) {
        self.sum_up(next);
        self.all.extend_from_slice(next);
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The sum, rounded after each value. Only the sign of a NaN differs from the processor's: see
    /// [`Values::nan`].
    pub(crate) fn sum(&self) -> f64 {
        self.sum_nan.unwrap_or(self.sum)
    }

    pub(crate) fn sum_of_squares(&self) -> f64 {
        self.last_nan.unwrap_or(self.sum_of_squares)
    }

    pub(crate) fn has_nan(&self) -> bool {
        self.last_nan.is_some()
    }

    /// Whether there are zeros of both signs, which are equal but print differently.
    pub(crate) fn has_both_zeros(&self) -> bool {
        self.has_zero && self.has_negative_zero
    }

    fn sum_up(&mut self, next: &[f64]) {
        let before = self.sum;
        for value in next {
            self.sum += value;
            self.sum_of_squares += value * value;
        }
        for value in next {
            self.min = if *value < self.min { *value } else { self.min };
            self.max = if *value > self.max { *value } else { self.max };
            self.has_zero |= value.to_bits() == 0.0_f64.to_bits();
            self.has_negative_zero |= value.to_bits() == (-0.0_f64).to_bits();
        }
        if self.sum_nan.is_none() && self.sum.is_nan() {
            self.sum_nan = Some(what_makes_nan(before, next));
        }
        if self.sum_of_squares.is_nan() {
            self.last_nan = next.iter().copied().rfind(|value| value.is_nan()).or(self.last_nan);
        }
    }
}

impl Default for Values {
    fn default() -> Values {
        Values::new()
    }
}

impl From<Vec<f64>> for Values {
    fn from(all: Vec<f64>) -> Values {
        let mut values = Values::new();
        values.sum_up(&all);
        values.all = all;
        values
    }
}

/// The NaN that a sum becomes. ministat prints its sign, which Rust does not promise, so this
/// reproduces amd64: of two NaNs the first operand stays, and infinities of different signs give a
/// negative NaN. In the sum the first operand is the sum so far; in the sum of squares it is the
/// new square, so there the last NaN stays.
fn what_makes_nan(mut sum: f64, next: &[f64]) -> f64 {
    for value in next {
        if value.is_nan() {
            return *value;
        }
        sum += value;
        if sum.is_nan() {
            break;
        }
    }
    -f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_sum_up_as_one() {
        let all: Vec<f64> = (0..1000).map(|index| f64::from(index) * 0.1 + 1e6).collect();
        let whole = Values::from(all.clone());
        let mut parts = Values::new();
        assert!(parts.is_empty());
        all.chunks(7).for_each(|block| parts.extend(block));
        assert_eq!((parts.sum(), parts.sum_of_squares()), (whole.sum(), whole.sum_of_squares()));
        assert_eq!((parts.min, parts.max, parts.len()), (1e6, 1e6 + 99.9, 1000));
        assert!(!parts.has_nan() && !parts.has_both_zeros());
        assert!(Values::from(vec![0.0, 1.0, -0.0]).has_both_zeros());
    }

    #[test]
    fn nans_have_the_signs_of_amd64() {
        let nan = f64::NAN;
        let infinity = f64::INFINITY;
        // Signs (+1 or -1) of the sum and of the sum of squares, as Debian's program printed them.
        for (values, sum, squares) in [
            (vec![nan, -nan, 1.0], 1.0, -1.0),
            (vec![-nan, nan, 1.0], -1.0, 1.0),
            (vec![infinity, -infinity, nan], -1.0, 1.0),
            (vec![infinity, infinity, -infinity, -nan], -1.0, -1.0),
            (vec![-nan, infinity, -infinity], -1.0, -1.0),
        ] {
            for size in [1, 2, 9] {
                let mut summed = Values::new();
                values.chunks(size).for_each(|block| summed.extend(block));
                let signs = [summed.sum(), summed.sum_of_squares()].map(|nan| {
                    assert!(nan.is_nan());
                    1.0_f64.copysign(nan)
                });
                assert_eq!(signs, [sum, squares], "{values:?}");
            }
        }
    }
}
