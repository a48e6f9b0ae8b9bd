//! Several modes: runs that fall into two or more clusters inside a boot.

use crate::diagnostics::adjusted;
use crate::diagnostics::campaign::{CampaignValues, ConditionValues};
use crate::diagnostics::flag::{Flag, FlagKind};

// Fewer runs in a boot show little after subtracting their mean.
const FEW_IN_A_BOOT: usize = 5;

/// Hartigan's dip test of a condition's runs less their boot's mean, so that different boots are
/// not modes.
pub(super) fn several(campaign: &CampaignValues) -> Vec<Flag> {
    let varying = campaign.conditions.iter().filter(|condition| condition.within.is_some());
    let residuals = varying.map(|condition| (condition, residuals(campaign, condition)));
    let tested: Vec<(&ConditionValues, Vec<f64>)> =
        residuals.filter(|(_, residuals)| residuals.len() >= 2 * FEW_IN_A_BOOT).collect();
    let flag = |(condition, residuals): &(&ConditionValues, Vec<f64>)| {
        let dip = dip(residuals);
        // Against the uniform distribution, the hardest to distinguish from several modes; a normal
        // one is flagged far less often than stated.
        let p = adjusted(p_value(dip, residuals.len()), tested.len())?;
        Some(Flag::new(FlagKind::SeveralModes, dip, p, dip).in_condition(condition.number))
    };
    tested.iter().filter_map(flag).collect()
}

fn residuals(campaign: &CampaignValues, condition: &ConditionValues) -> Vec<f64> {
    let step = campaign.step(condition);
    let mut residuals = Vec::with_capacity(condition.runs);
    for cell in campaign.cells_of(condition).iter().filter(|cell| cell.runs.len() >= FEW_IN_A_BOOT) {
        residuals.extend(spread(campaign.sorted(cell), step).map(|value| value - cell.mean));
    }
    residuals.sort_unstable_by(f64::total_cmp);
    residuals
}

/// Equal (rounded) values, spread evenly over the `step` of rounding.
fn spread(sorted: &[f64], step: f64) -> impl Iterator<Item = f64> {
    // Otherwise every number of a coarse scale would be a mode.
    sorted.chunk_by(|one, other| one == other).flat_map(move |equal| {
        let count = equal.len() as f64;
        let place = move |place: u32| step * ((f64::from(place) + 0.5) / count - 0.5);
        equal.iter().zip(0_u32..).map(move |(value, index)| value + place(index))
    })
}

// Quantiles of √n times the dip of n uniform values, by n, for the chances of [`CHANCES`]. From
// 1,000,000 simulated samples each (400,000 of 500 values, 200,000 of 2000); the tests draw some
// again. Hartigan and Hartigan's own table has a dip of 0.0471 for n = 100 at 10 %, which is 0.471
// here.
#[expect(clippy::approx_constant, reason = "0.6366 is a quantile, near 2/π by chance")]
const TABLE: [(f64, [f64; 10]); 9] = [
    (10.0, [0.4127, 0.4416, 0.4771, 0.5047, 0.5278, 0.5543, 0.5708, 0.5860, 0.6064, 0.6238]),
    (15.0, [0.4262, 0.4597, 0.4992, 0.5271, 0.5514, 0.5806, 0.6008, 0.6224, 0.6458, 0.6622]),
    (20.0, [0.4352, 0.4705, 0.5119, 0.5403, 0.5660, 0.5978, 0.6193, 0.6415, 0.6675, 0.6867]),
    (30.0, [0.4465, 0.4832, 0.5264, 0.5565, 0.5852, 0.6193, 0.6427, 0.6647, 0.6921, 0.7105]),
    (50.0, [0.4586, 0.4965, 0.5413, 0.5724, 0.6022, 0.6366, 0.6627, 0.6867, 0.7203, 0.7478]),
    (100.0, [0.4713, 0.5107, 0.5578, 0.5902, 0.6211, 0.6601, 0.6873, 0.7138, 0.7451, 0.7736]),
    (200.0, [0.4808, 0.5213, 0.5694, 0.6028, 0.6347, 0.6739, 0.7030, 0.7285, 0.7649, 0.7929]),
    (500.0, [0.4894, 0.5305, 0.5806, 0.6146, 0.6476, 0.6889, 0.7200, 0.7445, 0.7805, 0.8105]),
    (2000.0, [0.4973, 0.5387, 0.5882, 0.6239, 0.6574, 0.6980, 0.7308, 0.7582, 0.7960, 0.8286]),
];

const CHANCES: [f64; 10] = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];

/// The dip of values in rising order: the largest distance between their distribution function and
/// the nearest one with a single mode (J. A. Hartigan and P. M. Hartigan, The Annals of Statistics
/// 13, 1985). 0 for no values.
fn dip(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0, n - 1);
    // The unit is a step of the distribution function; half of it is the dip, which is at least
    // half a step.
    let mut deepest = 1.0_f64;
    // By their algorithm (section 3): the greatest convex minorant and the least concave majorant
    // close in on the modal interval, where they are farthest apart, until that gap is no larger
    // than the distance already found outside.
    loop {
        // The minorant touches the steps at their feet, the majorant at their edges.
        let convex = Hull::new(sorted, low, high, 0.0, |before, after| before >= after);
        let concave = Hull::new(sorted, low, high, 1.0, |before, after| before <= after);
        let (gap, left, right) = widest(&convex, &concave);
        if gap <= deepest {
            break;
        }
        let before = (low..=left).map(|i| (i + 1) as f64 - convex.height(i));
        let after = (right..=high).map(|i| concave.height(i) - i as f64);
        deepest = before.chain(after).fold(deepest, f64::max);
        if (left, right) == (low, high) {
            break;
        }
        (low, high) = (left, right);
    }
    deepest / (2.0 * n as f64)
}

/// The largest distance between the two, which is at a vertex of one of them, and the vertices of
/// `convex` and `concave` on its left and right.
fn widest(convex: &Hull, concave: &Hull) -> (f64, usize, usize) {
    let gap = |i: usize| concave.height(i) - convex.height(i);
    let of_convex = convex.vertices.iter().map(|vertex| {
        let next = concave.vertices.partition_point(|other| other < vertex);
        (gap(*vertex), *vertex, concave.vertices[next])
    });
    let of_concave = concave.vertices.iter().map(|vertex| {
        let after = convex.vertices.partition_point(|other| other <= vertex);
        (gap(*vertex), convex.vertices[after - 1], *vertex)
    });
    let first = (f64::NEG_INFINITY, convex.first, convex.first);
    of_convex.chain(of_concave).fold(first, |best, other| if other.0 > best.0 { other } else { best })
}

/// One side of the convex hull of the steps of a distribution function between two values.
struct Hull {
    first: usize,
    /// Rising, from the first value to the last.
    vertices: Vec<usize>,
    /// The heights at each value from the first, in steps.
    heights: Vec<f64>,
}

impl Hull {
    /// `drops` decides from the two slopes before and after a point (each times both widths)
    /// whether the point is no vertex.
    fn new(sorted: &[f64], low: usize, high: usize, foot: f64, drops: fn(f64, f64) -> bool) -> Hull {
        let mut vertices: Vec<usize> = Vec::new();
        for next in low..=high {
            while let [.., before, last] = vertices[..] {
                let slope_before = (last - before) as f64 * (sorted[next] - sorted[last]);
                let slope_after = (next - last) as f64 * (sorted[last] - sorted[before]);
                if !drops(slope_before, slope_after) {
                    break;
                }
                vertices.pop();
            }
            vertices.push(next);
        }
        let mut heights = Vec::with_capacity(high - low + 1);
        for side in vertices.windows(2) {
            let (from, to) = (side[0], side[1]);
            let width = sorted[to] - sorted[from];
            let slope = if width > 0.0 { (to - from) as f64 / width } else { 0.0 };
            heights.extend((from..to).map(|i| from as f64 + foot + slope * (sorted[i] - sorted[from])));
        }
        heights.push(high as f64 + foot);
        Hull { first: low, vertices, heights }
    }

    fn height(&self, place: usize) -> f64 {
        self.heights[place - self.first]
    }
}

/// The chance that the dip of `n` uniform values is larger than `dip`.
fn p_value(dip: f64, n: usize) -> f64 {
    let quantiles = quantiles(n as f64);
    let square = n as f64 * dip * dip;
    // The last two that are not above, or the first two.
    let place =
        quantiles.partition_point(|quantile| quantile * quantile <= square).clamp(1, CHANCES.len() - 1);
    let (low, high) = (quantiles[place - 1].powi(2), quantiles[place].powi(2));
    let (p_low, p_high) = (CHANCES[place - 1].ln(), CHANCES[place].ln());
    // Between the quantiles of [`TABLE`], and beyond them, the logarithm of the chance is taken as
    // linear in the square of √n · dip, which is how the tail falls.
    (p_low + (p_high - p_low) * (square - low) / (high - low)).exp().min(1.0)
}

fn quantiles(n: f64) -> [f64; 10] {
    let last = TABLE.len() - 1;
    let place = TABLE.partition_point(|(size, _)| *size <= n).clamp(1, last);
    let ((small, low), (large, high)) = (&TABLE[place - 1], &TABLE[place]);
    // Between sizes the quantiles are taken as linear in 1/√n.
    let root = |n: f64| 1.0 / n.clamp(TABLE[0].0, TABLE[last].0).sqrt();
    let share = (root(*small) - root(n)) / (root(*small) - root(*large));
    std::array::from_fn(|i| low[i] + (high[i] - low[i]) * share)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn one_mode_by_construction_has_the_smallest_dip() {
        assert_eq!(dip(&[]), 0.0);
        assert_eq!(dip(&[3.0]), 0.5);
        let even: Vec<f64> = (0..50).map(f64::from).collect();
        assert!((dip(&even) - 0.01).abs() < 1e-12);
        let two: Vec<f64> = (0..50).map(|i| f64::from(i) + if i < 25 { 0.0 } else { 1e6 }).collect();
        assert!(dip(&two) > 0.23, "half of the step between two equal clusters, {}", dip(&two));
    }

    #[test]
    fn uniform_values_are_found_as_seldom_as_the_table_says() {
        for (n, samples) in [(12, 40_000), (40, 20_000), (150, 5_000), (1000, 1_000)] {
            let mut random = ChaCha8Rng::seed_from_u64(n as u64);
            let mut counts = [0_u32; 3];
            let levels = [0.1, 0.01, 0.001];
            for _ in 0..samples {
                let mut values: Vec<f64> = (0..n).map(|_| random.random()).collect();
                values.sort_by(f64::total_cmp);
                let p = p_value(dip(&values), n);
                for (count, level) in counts.iter_mut().zip(levels) {
                    *count += u32::from(p < level);
                }
            }
            for (count, level) in counts.into_iter().zip(levels) {
                let (mean, sd) = (f64::from(samples) * level, (f64::from(samples) * level).sqrt());
                let reach = 3.3 * sd + 2.0;
                assert!((f64::from(count) - mean).abs() <= reach, "n {n}, {level}: {count} of {samples}");
            }
        }
    }

    #[test]
    fn the_p_value_falls_with_the_dip_also_beyond_the_table() {
        for n in [1, 10, 17, 30, 700, 100_000] {
            let p: Vec<f64> =
                (0..100).map(|i| p_value(f64::from(i) * 0.02 / f64::from(n as u32).sqrt(), n)).collect();
            assert!(p.is_sorted_by(|before, after| before >= after), "n {n}");
            assert!(p[0] == 1.0 && p[99] < 1e-9, "n {n}: {} to {}", p[0], p[99]);
        }
    }
}
