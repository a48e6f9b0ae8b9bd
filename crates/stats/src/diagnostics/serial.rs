//! Serial correlation: neighbouring runs of a condition in a boot that are more alike, or less,
//! than by chance.

use super::campaign::{CampaignValues, ConditionValues};
use super::flag::{Flag, FlagKind};
use super::level::adjusted;
use crate::distribution::normal;

/// Fewer runs of a condition in a boot have no meaningful order.
const FEW: usize = 4;

/// Von Neumann's ratio (Annals of Mathematical Statistics 12, 1941) of each boot: the sum of
/// squared successive differences over the sum of squares, with mean 2 and variance 4 (n - 2) /
/// (n² - 1) for independent normal runs (his eq. 2 and 3 of section 5, with both sums undivided).
/// Its distance from 2, weighted by the runs, is summed over the boots of a condition and compared
/// with the normal distribution, whose tails are the heavier.
pub(super) fn correlation(campaign: &CampaignValues) -> Vec<Flag> {
    let tested: Vec<(&ConditionValues, Score)> = campaign
        .conditions
        .iter()
        .filter_map(|condition| Some((condition, Score::new(campaign, condition)?)))
        .collect();
    let flag = |(condition, score): &(&ConditionValues, Score)| {
        let z = score.sum / score.variance.sqrt();
        let p = adjusted(normal::two_sided(z), tested.len())?;
        // The ratio estimates 2 (1 - r).
        let size = score.sum / score.weight / 2.0;
        Some(Flag::new(FlagKind::SerialCorrelation, z, p, size).in_condition(condition.number))
    };
    tested.iter().filter_map(flag).collect()
}

#[derive(Default)]
struct Score {
    sum: f64,
    weight: f64,
    variance: f64,
}

impl Score {
    fn new(campaign: &CampaignValues, condition: &ConditionValues) -> Option<Score> {
        condition.within?;
        let mut score = Score::default();
        for cell in campaign.cells_of(condition).iter().filter(|cell| cell.count() >= FEW) {
            let values = campaign.values(cell);
            let square = |value: f64| value * value;
            let spread: f64 = values.iter().map(|value| square(value - cell.mean)).sum();
            let steps: f64 = values.windows(2).map(|pair| square(pair[1] - pair[0])).sum();
            if !(spread > 0.0 && spread.is_finite()) {
                continue;
            }
            let n = cell.count() as f64;
            score.sum += n * (2.0 - steps / spread);
            score.weight += n;
            score.variance += n * n * 4.0 * (n - 2.0) / (n * n - 1.0);
        }
        (score.weight > 0.0).then_some(score)
    }
}
