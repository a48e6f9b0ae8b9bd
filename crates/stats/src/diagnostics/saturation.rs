//! Saturation: values at a ceiling, such as the rate of a link or a busy CPU, which hides
//! differences between conditions.

use super::campaign::{CampaignValues, ConditionValues};
use super::flag::{Flag, FlagKind, RunPlace};
use super::level::adjusted;
use super::modes::spread;
use crate::distribution::beta;
use crate::observed::{mean, squares};

/// "At the ceiling" is within this part of the spread between runs from the largest value.
const NEAR: f64 = 0.02;

/// The highest density of a realistic continuous distribution at its upper end, in units of its
/// spread. A normal one's mode has 0.4, an exponential one that ends at its mode 1, one of two
/// equal modes d of their own spreads apart 0.1 d.
const DENSEST: f64 = 1.5;

/// The runs of a condition at its largest value. With a density of at most `DENSEST`, each run is
/// there with chance at most `NEAR` · `DENSEST` (a little more, since all lie below the largest),
/// for any boots, so the binomial distribution bounds the p-value; it is far smaller with a thin
/// upper tail. The spread is that of the runs without `outliers`: one value far below would put all
/// others at the ceiling.
pub(super) fn ceilings(campaign: &CampaignValues, outliers: &[Flag]) -> Vec<Flag> {
    let tested = campaign.varying();
    let flag = |(condition, within): &(&ConditionValues, f64)| {
        let own = outliers.iter().filter(|flag| flag.condition == Some(condition.number));
        let places: Vec<RunPlace> = own.flat_map(|flag| flag.places.iter().copied()).collect();
        let near = NEAR * remaining_spread(campaign, condition, *within, &places);
        let cells = campaign.cells_of(condition);
        let largest = cells.iter().flat_map(|cell| campaign.sorted(cell)).copied().fold(f64::MIN, f64::max);
        // Rounded values repeat everywhere, not only at the ceiling.
        let is_rounded =
            |cell| campaign.sorted(cell).windows(2).any(|pair| pair[0] == pair[1] && pair[0] < largest);
        let step = if cells.iter().any(is_rounded) { campaign.step(condition) } else { 0.0 };
        let tops = cells.iter().map(|cell| spread(campaign.sorted(cell), step));
        let values: Vec<f64> = tops.flatten().collect();
        let largest = values.iter().copied().fold(f64::MIN, f64::max);
        let count = values.iter().filter(|value| largest - **value <= near).count();
        let others = condition.runs.checked_sub(1).filter(|others| *others > 0)?;
        let chance = NEAR * DENSEST * condition.runs as f64 / others as f64;
        let p = adjusted(beta::binomial_at_least(count - 1, others, chance), tested.len())?;
        let size = 100.0 * count as f64 / condition.runs as f64;
        Some(Flag::new(FlagKind::Saturation, count as f64, p, size).in_condition(condition.number))
    };
    tested.iter().filter_map(flag).collect()
}

/// The spread between runs without outliers.
fn remaining_spread(
    campaign: &CampaignValues,
    condition: &ConditionValues,
    within: f64,
    outliers: &[RunPlace],
) -> f64 {
    if outliers.is_empty() {
        return within;
    }
    let (mut root, mut df) = (0.0, 0);
    for cell in campaign.cells_of(condition) {
        let is_out = |run| outliers.contains(&RunPlace { boot: cell.boot, run: Some(run) });
        let runs = campaign.values(cell).iter().zip(1..);
        let kept: Vec<f64> = runs.filter(|(_, run)| !is_out(*run)).map(|(value, _)| *value).collect();
        root = f64::hypot(root, squares(&kept, mean(&kept)).root_over(1.0));
        df += kept.len().saturating_sub(1);
    }
    root / (df.max(1) as f64).sqrt()
}
