//! The largest difference between two neighbouring windows of points.

use super::point::FEWEST;

/// Values with their weights, as sums from the first point on.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    weights: Vec<f64>,
    /// Of weight times value.
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

    /// Takes other points, as many as before; each is a weight and a value.
    pub(super) fn fill(&mut self, points: impl Iterator<Item = (f64, f64)>) {
        for (index, (weight, value)) in points.enumerate() {
            self.weights[index + 1] = self.weights[index] + weight;
            self.values[index + 1] = self.values[index] + weight * value;
        }
    }

    /// How much the points `start..first` differ from the points `first..end`: what a step between
    /// them takes off the weighted squares around their common mean.
    pub(super) fn between(&self, start: usize, first: usize, end: usize) -> f64 {
        let [before, after] =
            [(start, first), (first, end)].map(|(from, to)| self.weights[to] - self.weights[from]);
        let [low, high] =
            [(start, first), (first, end)].map(|(from, to)| self.values[to] - self.values[from]);
        let difference = low / before - high / after;
        difference * difference * (before * after / (before + after))
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
    let mut best: Option<Contrast> = None;
    for first in FEWEST..(points + 1).saturating_sub(FEWEST) {
        let after = points - first;
        let before = || sizes.iter().copied().take_while(|size| *size < first).chain([first]);
        for size_before in before() {
            for size_after in sizes.iter().copied().take_while(|size| *size < after).chain([after]) {
                let size = sums.between(first - size_before, first, first + size_after);
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
    use super::*;

    fn of(values: &[f64]) -> Contrast {
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
        let step = of(&[1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(step.first, 4);
        // 2^2 times 4 * 4 / 8.
        assert!((step.size - 8.0).abs() < 1e-12, "{step:?}");
    }

    #[test]
    fn a_regression_that_was_mended_is_compared_without_what_followed() {
        let mut values = [5.0; 20];
        values[8..12].fill(4.0);
        let step = of(&values);
        assert!(step.first == 8 || step.first == 12, "{step:?}");
        // All eight before or after it against these four.
        assert!((step.size - 8.0 * 4.0 / 12.0).abs() < 1e-12, "{step:?}");
    }

    #[test]
    fn three_points_have_no_contrast() {
        let mut sums = Sums::with_room(3);
        sums.fill([(1.0, 1.0); 3].into_iter());
        assert_eq!(strongest(&sums, &sizes(3)), None);
    }
}
