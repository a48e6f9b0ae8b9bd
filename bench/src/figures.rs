//! Summaries of a few figures, and of the ratios of two sides that took turns.

use serde::Serialize;

/// Size, range, middle and spread of a few figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) n: usize,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) median: f64,
    pub(crate) mean: f64,
    /// The standard deviation; none for a single figure.
    pub(crate) sd: Option<f64>,
}

/// The summary of these figures; `None` without figures, and if one is not finite.
pub(crate) fn summary(figures: impl IntoIterator<Item = f64>) -> Option<Summary> {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    if !sorted.iter().all(|figure| figure.is_finite()) {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let (n, mean) = (sorted.len(), stats::mean(&sorted));
    let squares: f64 = sorted.iter().map(|figure| (figure - mean).powi(2)).sum();
    Some(Summary {
        n,
        min: *sorted.first()?,
        max: *sorted.last()?,
        median: sorted[(n - 1) / 2].midpoint(sorted[n / 2]),
        mean,
        sd: (n > 1).then(|| (squares / (n as f64 - 1.0)).sqrt()),
    })
}

/// Median, smallest, largest with this many decimals, and the count: for a table.
pub(crate) fn cells(summary: &Summary, decimals: usize) -> [String; 4] {
    let Summary { n, median, min, max, .. } = summary;
    let [median, min, max] = [median, min, max].map(|figure| format!("{figure:.decimals$}"));
    [median, min, max, n.to_string()]
}

/// The ratios of two sides that were measured in turn, pair by pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Ratios {
    pub(crate) all: Summary,
    /// Where the median ratio lies with at least 95 %; none for few pairs.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Ratios {
    /// `above` by `below`; `None` without pairs.
    pub(crate) fn of(above: &[f64], below: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = above.iter().zip(below).map(|(above, below)| above / below).collect();
        Some(Self { interval: median_interval(&ratios), all: summary(ratios)? })
    }
}

/// The interval that holds the median of what `figures` were drawn from, whatever its distribution,
/// with at least 95 %: from the k-th smallest to the k-th largest, k as large as the binomial
/// distribution allows (Thompson 1936). None for fewer than six figures, or so many (above 1000)
/// that 2^-n is no double.
fn median_interval(figures: &[f64]) -> Option<(f64, f64)> {
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

    #[test]
    fn the_medians_interval_is_that_of_the_sign_test() {
        // R: qbinom(0.025, n, 0.5) is the k of these.
        for (n, expected) in [
            (0, None),
            (5, None),
            (6, Some((1.0, 6.0))),
            (20, Some((6.0, 15.0))),
            (100, Some((40.0, 61.0))),
            (1000, Some((469.0, 532.0))),
            (1001, None),
        ] {
            assert_eq!(median_interval(&(1..=n).map(f64::from).collect::<Vec<_>>()), expected, "{n}");
        }
        assert_eq!(cells(&summary([4.0, 1.0, 2.0, 9.0]).unwrap(), 1), ["3.0", "1.0", "9.0", "4"]);
        assert_eq!(Ratios::of(&[6.0, 2.0], &[2.0, 2.0]).unwrap().all.median, 2.0);
    }
}
