//! Smallest, middle and largest of some figures.

use serde::Serialize;

/// A few figures in three.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    /// How many figures.
    pub(crate) count: usize,
}

impl Spread {
    /// `None` without figures.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let (count, half) = (sorted.len(), sorted.len() / 2);
        let median = match count {
            0 => return None,
            _ if count % 2 == 1 => sorted[half],
            _ => (sorted[half - 1] + sorted[half]) / 2.0,
        };
        Some(Self { min: sorted[0], median, max: sorted[count - 1], count })
    }

    /// Median, smallest and largest, each with this many decimals.
    pub(crate) fn cells(&self, decimals: usize) -> [String; 3] {
        [self.median, self.min, self.max].map(|figure| format!("{figure:.decimals$}"))
    }
}

/// The interval that holds the median of what `figures` were drawn from, whatever its distribution,
/// with at least 95 %: from the k-th smallest to the k-th largest, k as large as the binomial
/// distribution allows (Thompson 1936). None for fewer than six figures, or so many (above 1000)
/// that 2^-n is no double.
pub(crate) fn median_interval(figures: &[f64]) -> Option<(f64, f64)> {
    let n = figures.len();
    if n > 1000 {
        return None;
    }
    // P(fewer than k of n lie below the median), for k = 1, 2, ...
    let mut term = 0.5_f64.powi(n as i32);
    let (mut below, mut k) = (0.0, 0);
    while k < n / 2 && below + term <= 0.025 {
        below += term;
        k += 1;
        term *= (n + 1 - k) as f64 / k as f64;
    }
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    (k > 0).then(|| (sorted[k - 1], sorted[n - k]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0]), Some(Spread { min: 3.0, median: 3.0, max: 3.0, count: 1 }));
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 9.0]).unwrap().median, 3.0);
        assert_eq!(Spread::of([4.0, 1.0, 9.0]).unwrap().cells(1), ["4.0", "1.0", "9.0"]);
    }

    #[test]
    fn the_medians_interval_is_that_of_the_sign_test() {
        let first = |n: u32| median_interval(&(1..=n).map(f64::from).collect::<Vec<_>>());
        // R: qbinom(0.025, n, 0.5) is the k of these.
        assert_eq!(first(5), None);
        assert_eq!(first(6), Some((1.0, 6.0)));
        assert_eq!(first(20), Some((6.0, 15.0)));
        assert_eq!(first(100), Some((40.0, 61.0)));
        assert_eq!(first(1000), Some((469.0, 532.0)));
        assert_eq!(first(1001), None);
        assert_eq!(median_interval(&[]), None);
    }

    proptest! {
        #[test]
        fn half_of_the_figures_lie_on_either_side(figures in proptest::collection::vec(-1e9f64..1e9, 1..50)) {
            let spread = Spread::of(figures.iter().copied()).unwrap();
            let below = figures.iter().filter(|figure| **figure <= spread.median).count();
            let above = figures.iter().filter(|figure| **figure >= spread.median).count();
            prop_assert!(2 * below >= figures.len() && 2 * above >= figures.len());
            prop_assert!(spread.min <= spread.median && spread.median <= spread.max);
        }
    }
}
