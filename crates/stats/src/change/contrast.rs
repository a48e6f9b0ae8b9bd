//! The largest difference between two neighbouring windows of points.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::change::point::{FEWEST, Split};

#[derive(Debug, Clone)]
pub(super) struct Sums {
    weights: Vec<f64>,
    /// Sums of weight times value.
    values: Vec<f64>,
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

    /// The part of the weighted squares around the common mean that a step between both removes.
    pub(super) fn between(&self, start: usize, first: usize, end: usize) -> f64 {
        self.window(start, first).differs_from(self.window(first, end))
    }

    fn window(&self, start: usize, end: usize) -> Window {
        let weight = self.weights[end] - self.weights[start];
        Window { weight, mean: (self.values[end] - self.values[start]) / weight }
    }
}

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

    fn may_differ_by(self, other: Self, size: f64) -> bool {
        // Without divisions, which take most of the time of a search: a margin is left for
        // rounding.
        const MARGIN: f64 = 1.0 - 1e-12;
        let difference = self.mean - other.mean;
        difference * difference * (self.weight * other.weight) >= size * MARGIN * (self.weight + other.weight)
    }
}

/// 2, 3, 4, 6, 8, 12 …; windows up to the first and the last point are always among them.
fn sizes(points: usize) -> Vec<usize> {
    let mut sizes = vec![FEWEST];
    while let Some(next) = sizes.last().map(|last| (last + 1).max(last * 4 / 3)).filter(|next| *next < points)
    {
        sizes.push(next);
    }
    sizes
}

/// The largest contrast between the points before a place and those from there on, with the first
/// point after it: the squared difference of the means, times the harmonic sum of the weights.
/// `None` if there are too few points for one.
fn strongest(sums: &Sums, sizes: &[usize]) -> Option<(f64, usize)> {
    let points = sums.weights.len() - 1;
    // The sizes below `most`, and `most`.
    let windows = |most: usize| sizes.iter().copied().take_while(move |size| *size < most).chain([most]);
    let mut best: Option<(f64, usize)> = None;
    let mut after = Vec::with_capacity(sizes.len() + 1);
    for first in FEWEST..(points + 1).saturating_sub(FEWEST) {
        after.clear();
        after.extend(windows(points - first).map(|size| sums.window(first, first + size)));
        for before in windows(first).map(|size| sums.window(first - size, first)) {
            for after in &after {
                if best.is_some_and(|(best, _)| !before.may_differ_by(*after, best)) {
                    continue;
                }
                let size = before.differs_from(*after);
                if best.is_none_or(|(best, _)| size > best) {
                    best = Some((size, first));
                }
            }
        }
    }
    best
}

// The number of points up to which every order is tried: 5,040 are possible.
const ALL_ORDERS: usize = 7;

// The fewest random orders if there are more than that: the smallest chance that is reported is
// one in 2,000.
const DRAWN: f64 = 1_999.0;

// The number of orders with as large a contrast that is expected at the limit of proof: a chance
// near the limit is known to within a fifth.
const AT_LIMIT: f64 = 25.0;

// Orders are drawn with a fixed seed: the same history gives the same answer.
const SEED: u64 = 0x6e65_7461_7373_6179;

// The number of contrasts as large after which a chance is given up if the orders so far put it
// more than three times too high: fewer than one in 10,000 of the chances that are small enough
// look so.
const ENOUGH: u32 = 20;

// A tie is a contrast as large, whatever order its sums were rounded in.
const TIE: f64 = 1.0 - 1e-9;

/// The strongest contrast of these points, each a weight and a value, with its chance; `None` if
/// the chance is above `alpha`, or there are too few points.
pub(super) fn proven(points: &[(f64, f64)], alpha: f64) -> Option<Split> {
    if points.len() < fewest(alpha) {
        return None;
    }
    let sizes = sizes(points.len());
    let mut sums = Sums::with_room(points.len());
    sums.fill(points.iter().copied());
    let (seen, first) = strongest(&sums, &sizes)?;
    if seen <= 0.0 {
        return None;
    }
    let mut is_as_large = |points: &[(f64, f64)]| {
        sums.fill(points.iter().copied());
        strongest(&sums, &sizes).is_some_and(|(size, _)| size >= seen * TIE)
    };
    let p = if points.len() <= ALL_ORDERS {
        of_all_orders(points, &mut is_as_large)
    } else {
        of_drawn_orders(points, alpha, &mut is_as_large)?
    };
    (p <= alpha).then_some(Split { first, p })
}

/// The fewest points of which any order can prove a change at this error rate.
pub(super) fn fewest(alpha: f64) -> usize {
    let halves = |points: usize| {
        let half = points / 2;
        // Of two levels whose points do not overlap only this order and its reverse are as extreme.
        2.0 / (1..=half).map(|k| (points - half + k) as f64 / k as f64).product::<f64>()
    };
    (2 * FEWEST..).find(|points| halves(*points) <= alpha).unwrap_or(usize::MAX)
}

/// Tries every order, by B. R. Heap's exchanges (Permutations by interchanges, Computer J. 6,
/// 1963).
fn of_all_orders(points: &[(f64, f64)], is_as_large: &mut impl FnMut(&[(f64, f64)]) -> bool) -> f64 {
    let mut order = points.to_vec();
    let mut exchanged = vec![0; order.len()];
    let (mut large, mut all, mut place) = (u32::from(is_as_large(&order)), 1_u32, 1);
    while place < order.len() {
        if exchanged[place] < place {
            let with = if place % 2 == 0 { 0 } else { exchanged[place] };
            order.swap(with, place);
            large += u32::from(is_as_large(&order));
            all += 1;
            exchanged[place] += 1;
            place = 1;
        } else {
            exchanged[place] = 0;
            place += 1;
        }
    }
    f64::from(large) / f64::from(all)
}

/// Tries drawn orders. `None` as soon as the chance can only be above `alpha`.
fn of_drawn_orders(
    points: &[(f64, f64)],
    alpha: f64,
    is_as_large: &mut impl FnMut(&[(f64, f64)]) -> bool,
) -> Option<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut order = points.to_vec();
    let all = DRAWN.max((AT_LIMIT / alpha).ceil());
    let most = alpha * (all + 1.0);
    // The order that was seen counts too, which makes the test exact (B. Phipson and G. K. Smyth,
    // Permutation p-values should never be zero, Stat. Appl. Genet. Mol. Biol. 9, 2010).
    let (mut large, mut drawn) = (1_u32, 0.0);
    while drawn < all {
        drawn += 1.0;
        for place in (1..order.len()).rev() {
            order.swap(place, random.random_range(0..=place));
        }
        large += u32::from(is_as_large(&order));
        let is_hopeless = large > ENOUGH && f64::from(large) > 3.0 * alpha * drawn;
        if is_hopeless || f64::from(large) > most {
            return None;
        }
    }
    Some(f64::from(large) / (all + 1.0))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod permutation_tests {
    use super::*;

    fn step(before: usize, after: usize) -> Vec<(f64, f64)> {
        let value = |index: usize| if index < before { 10.0 } else { 12.0 } + 0.01 * index as f64;
        (0..before + after).map(|index| (1.0, value(index))).collect()
    }

    #[test]
    fn of_few_points_every_order_is_counted() {
        // The three low points at the beginning or at the end: 2 of 35.
        let Split { first, p } = proven(&step(3, 4), 0.1).unwrap();
        assert_eq!(first, 3);
        assert!((p - 2.0 / 35.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn drawn_orders_come_near_to_all_orders() {
        // The four low points at the beginning or at the end: 2 of 70.
        let points = step(4, 4);
        let mut sums = Sums::with_room(8);
        sums.fill(points.iter().copied());
        let (seen, _) = strongest(&sums, &sizes(8)).unwrap();
        let mut is_as_large = |points: &[(f64, f64)]| {
            sums.fill(points.iter().copied());
            strongest(&sums, &sizes(8)).unwrap().0 >= seen * TIE
        };
        let drawn = of_drawn_orders(&points, 1.0, &mut is_as_large).unwrap();
        assert!((drawn - 2.0 / 70.0).abs() < 0.012, "{drawn}");
    }

    #[test]
    fn the_fewest_points_depend_on_the_error_rate() {
        assert_eq!([0.2, 0.1, 0.05, 0.01].map(fewest), [5, 6, 8, 10]);
        assert!(proven(&step(3, 4), 0.05).is_none() && proven(&step(4, 4), 0.05).is_some());
    }

    #[test]
    fn equal_points_prove_nothing() {
        assert!(proven(&[(1.0, 3.0); 12], 0.5).is_none());
    }
}
