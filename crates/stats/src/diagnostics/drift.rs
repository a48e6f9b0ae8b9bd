//! Drift: over the campaign, with boots as units, and inside boots, with runs.

use crate::diagnostics::adjusted;
use crate::diagnostics::campaign::{BootEffect, CampaignValues};
use crate::diagnostics::flag::{Flag, FlagKind};
use crate::distribution::{normal, student};

/// The slope of the boot effects over time by least squares, with Student's t in each group of
/// boots. (Mann and Kendall's test on five boots could not reach p < 0.01.)
pub(super) fn over_the_campaign(effects: &[Vec<BootEffect>]) -> Option<Flag> {
    // Each test is exact for normal effects with any spread of the group: groups spread differently
    // and were divided by their own scales, some from these very effects, so they have no common
    // error.
    let groups: Vec<Trend> = effects.iter().filter_map(|boots| Trend::from_effects(boots)).collect();
    let time: f64 = groups.iter().map(|group| group.time).sum();
    let slope = groups.iter().map(|group| group.both).sum::<f64>() / time;
    // The normal scores of the groups' tests are added, weighted as least squares weights their
    // slopes (S. A. Stouffer et al., The American Soldier, 1949; T. Lipták, 1958).
    let scores: f64 = groups.iter().map(|group| group.time.sqrt() * group.score()).sum();
    let z = scores / time.sqrt();
    // With very different spreads the two may disagree, and then there is no flag.
    if slope == 0.0 || z.is_nan() || (slope > 0.0) != (z > 0.0) {
        return None;
    }
    let p = adjusted(normal::two_sided(z), 1)?;
    let times = || effects.iter().flatten().map(|boot| boot.time);
    let span = times().fold(f64::MIN, f64::max) - times().fold(f64::MAX, f64::min);
    let statistic = if let [only] = groups.as_slice() { only.t } else { z };
    Some(Flag::new(FlagKind::Drift, statistic, p, slope * span))
}

struct Trend {
    /// The sum of squared times.
    time: f64,
    /// The sum of products of times and effects.
    both: f64,
    t: f64,
    df: f64,
}

impl Trend {
    fn from_effects(boots: &[BootEffect]) -> Option<Trend> {
        let sum = |product: fn(f64, f64) -> f64| {
            boots.iter().map(|boot| product(boot.time, boot.effect)).sum::<f64>()
        };
        let (time, both, effect) =
            (sum(|time, _| time * time), sum(|t, e| t * e), sum(|_, effect| effect * effect));
        // A group of two boots has no test.
        let df = boots.len().checked_sub(2).filter(|df| *df > 0)? as f64;
        if time == 0.0 || effect == 0.0 {
            return None;
        }
        let slope = both / time;
        let residual = (effect - slope * both).max(effect * f64::EPSILON);
        Some(Trend { time, both, t: slope / (residual / df / time).sqrt(), df })
    }

    /// The standard normal value that is as rare as this t.
    fn score(&self) -> f64 {
        let tail = (student::two_sided(self.t, self.df) / 2.0).max(f64::MIN_POSITIVE);
        normal::quantile(tail).map_or(0.0, |score| score.abs().copysign(self.t))
    }
}

/// Mann and Kendall's test for trend (Econometrica 13, 1945) in each condition and boot, summed as
/// Hirsch and Slack sum over seasons (Water Resources Research 20, 1984, eq. 4): normal with
/// continuity correction and the variance of ties. A boot's common effect does not change it, nor
/// does the shape of the distribution.
pub(super) fn in_boots(campaign: &CampaignValues) -> Option<Flag> {
    let (mut score, mut pairs, mut variance) = (0.0, 0.0, 0.0);
    let mut work = Vec::new();
    for cell in &campaign.cells {
        let n = cell.runs.len() as f64;
        let (tied, correction) = ties(campaign.sorted(cell));
        let all = n * (n - 1.0) / 2.0;
        let falling = inversions(campaign.values(cell), &mut work) as f64;
        score += all - tied - 2.0 * falling;
        pairs += all;
        variance += (n * (n - 1.0) * (2.0 * n + 5.0) - correction) / 18.0;
    }
    if variance <= 0.0 {
        return None;
    }
    let z = (f64::max(score.abs() - 1.0, 0.0) / variance.sqrt()).copysign(score);
    let p = adjusted(normal::two_sided(z), 1)?;
    // Kendall's tau.
    Some(Flag::new(FlagKind::DriftInBoots, z, p, score / pairs))
}

fn ties(sorted: &[f64]) -> (f64, f64) {
    sorted.chunk_by(|one, other| one == other).fold((0.0, 0.0), |(pairs, correction), equal| {
        let t = equal.len() as f64;
        (pairs + t * (t - 1.0) / 2.0, correction + t * (t - 1.0) * (2.0 * t + 5.0))
    })
}

/// The number of pairs in falling order, counted while merging.
fn inversions(values: &[f64], work: &mut Vec<f64>) -> u64 {
    work.clear();
    work.extend_from_slice(values);
    let mut buffer = values.to_vec();
    let mut count = 0;
    let mut width = 1;
    while width < values.len() {
        for (from, to) in work.chunks(2 * width).zip(buffer.chunks_mut(2 * width)) {
            let (left, right) = from.split_at(width.min(from.len()));
            count += merge(left, right, to);
        }
        std::mem::swap(work, &mut buffer);
        width *= 2;
    }
    count
}

fn merge(left: &[f64], right: &[f64], to: &mut [f64]) -> u64 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    for slot in to {
        let takes_left = j == right.len() || (i < left.len() && left[i] <= right[j]);
        if takes_left {
            *slot = left[i];
            i += 1;
        } else {
            *slot = right[j];
            j += 1;
            count += (left.len() - i) as u64;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn inversions_are_counted(values in proptest::collection::vec(0..9i32, 0..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let pairs = (0..values.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
            let expected = pairs.filter(|(j, i)| values[*j] > values[*i]).count() as u64;
            prop_assert_eq!(inversions(&values, &mut Vec::new()), expected);
        }
    }
}
