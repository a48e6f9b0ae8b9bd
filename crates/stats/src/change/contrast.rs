//! The largest difference between two neighbouring windows of points.

use super::point::FEWEST;

/// Values with their weights, as sums from the first point on.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    weights: Vec<f64>,
    /// Sums of weight times value.
    values: Vec<f64>,
}

/// A difference between the points before a place and those from there on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Contrast {
    /// The squared difference of the means, times the harmonic sum of the weights.
    pub(super) size: f64,
    /// The first point after the place.
    pub(super) first: usize,
}

impl Sums {
    pub(super) fn with_room(points: usize) -> Self {
        Self { weights: vec![0.0; points + 1], values: vec![0.0; points + 1] }
    }

    /// Replaces the points by as many others; each is a weight and a value.
    pub(super) fn fill(&mut self, points: impl Iterator<Item = (f64, f64)>) {
        for (index, (weight, value)) in points.enumerate() {
            self.weights[index + 1] = self.weights[index] + weight;
            self.values[index + 1] = self.values[index] + weight * value;
        }
    }

    /// The contrast of the points `start..first` with the points `first..end`: the part of the
    /// weighted squares around their common mean that a step between them removes.
    pub(super) fn between(&self, start: usize, first: usize, end: usize) -> f64 {
        self.window(start, first).differs_from(self.window(first, end))
    }

    fn window(&self, start: usize, end: usize) -> Window {
        let weight = self.weights[end] - self.weights[start];
        Window { weight, mean: (self.values[end] - self.values[start]) / weight }
    }
}

/// Neighbouring points as one.
#[derive(Debug, Clone, Copy)]
struct Window {
    weight: f64,
    mean: f64,
}

impl Window {
    fn differs_from(self, other: Self) -> f64 {
        let difference = self.mean - other.mean;
        difference * difference * (self.weight * other.weight / (self.weight + other.weight))
    }

    /// False only if it differs by less than that. A history is searched thousands of times, and
    /// divisions take most of the time: here is none, which leaves a margin for rounding.
    fn may_differ_by(self, other: Self, size: f64) -> bool {
        const MARGIN: f64 = 1.0 - 1e-12;
        let difference = self.mean - other.mean;
        difference * difference * (self.weight * other.weight) >= size * MARGIN * (self.weight + other.weight)
    }
}

/// The sizes of windows: 2, 3, 4, 6, 8, 12 … Windows up to the first and the last point are always
/// among them.
pub(super) fn sizes(points: usize) -> Vec<usize> {
    let mut sizes = vec![FEWEST];
    while let Some(next) = sizes.last().map(|last| (last + 1).max(last * 4 / 3)).filter(|next| *next < points)
    {
        sizes.push(next);
    }
    sizes
}

/// The largest contrast of the points; `None` if there are too few for one.
pub(super) fn strongest(sums: &Sums, sizes: &[usize]) -> Option<Contrast> {
    let points = sums.weights.len() - 1;
    // The sizes below `most`, and `most`.
    let windows = |most: usize| sizes.iter().copied().take_while(move |size| *size < most).chain([most]);
    let mut best: Option<Contrast> = None;
    let mut after = Vec::with_capacity(sizes.len() + 1);
    for first in FEWEST..(points + 1).saturating_sub(FEWEST) {
        after.clear();
        after.extend(windows(points - first).map(|size| sums.window(first, first + size)));
        for before in windows(first).map(|size| sums.window(first - size, first)) {
            for after in &after {
                if best.is_some_and(|best| !before.may_differ_by(*after, best.size)) {
                    continue;
                }
                let size = before.differs_from(*after);
                if best.is_none_or(|best| size > best.size) {
                    best = Some(Contrast { size, first });
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn contrast_of(values: &[f64]) -> Contrast {
        let mut sums = Sums::with_room(values.len());
        sums.fill(values.iter().map(|value| (1.0, *value)));
        strongest(&sums, &sizes(values.len())).unwrap()
    }

    #[test]
    fn sizes_grow_by_a_third() {
        assert_eq!(sizes(20), [2, 3, 4, 5, 6, 8, 10, 13, 17]);
        assert_eq!(sizes(4), [2, 3]);
    }

    #[test]
    fn a_step_is_compared_in_the_whole_history() {
        let step = contrast_of(&[1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(step.first, 4);
        // 2^2 times 4 * 4 / 8.
        assert!((step.size - 8.0).abs() < 1e-12, "{step:?}");
    }

    #[test]
    fn a_regression_that_was_mended_is_compared_without_what_followed() {
        let mut values = [5.0; 20];
        values[8..12].fill(4.0);
        let step = contrast_of(&values);
        assert!(step.first == 8 || step.first == 12, "{step:?}");
        // All eight before or after it against these four.
        assert!((step.size - 8.0 * 4.0 / 12.0).abs() < 1e-12, "{step:?}");
    }

    #[test]
    fn no_window_that_is_searched_has_a_larger_contrast() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for points in 4..40 {
            let mut sums = Sums::with_room(points);
            // Ties, and weights from far apart.
            let point = |_| (random.random_range(1e-3..1e3), f64::from(random.random_range(0..4_i32)));
            sums.fill((0..points).map(point));
            let sizes = sizes(points);
            let mut expected: Option<Contrast> = None;
            for first in FEWEST..=points - FEWEST {
                let windows =
                    |most: usize| sizes.iter().copied().filter(move |size| *size < most).chain([most]);
                for (before, after) in
                    windows(first).flat_map(|one| windows(points - first).map(move |other| (one, other)))
                {
                    let size = sums.between(first - before, first, first + after);
                    if expected.is_none_or(|best| size > best.size) {
                        expected = Some(Contrast { size, first });
                    }
                }
            }
            assert_eq!(strongest(&sums, &sizes), expected, "{points} points");
        }
    }

    #[test]
    fn three_points_have_no_contrast() {
        let mut sums = Sums::with_room(3);
        sums.fill([(1.0, 1.0); 3].into_iter());
        assert_eq!(strongest(&sums, &sizes(3)), None);
    }
}
