//! Several modes: runs that fall into two or more clusters inside a boot.

use super::campaign::{CampaignValues, ConditionValues};
use super::dip::{dip, p_value};
use super::flag::{Flag, FlagKind};
use super::level::adjusted;

/// Fewer runs in a boot show little after subtracting their mean.
const FEW_IN_A_BOOT: usize = 5;

/// Hartigan's dip test of a condition's runs less their boot's mean, so that different boots are
/// not modes. Its p-value is against the uniform distribution, the hardest to distinguish from
/// several modes; a normal one is flagged far less often than stated.
pub(super) fn several(campaign: &CampaignValues) -> Vec<Flag> {
    let tested: Vec<(&ConditionValues, Vec<f64>)> = campaign
        .conditions
        .iter()
        .filter(|condition| condition.within.is_some())
        .map(|condition| (condition, residuals(campaign, condition)))
        .filter(|(_, residuals)| residuals.len() >= 2 * FEW_IN_A_BOOT)
        .collect();
    let flag = |(condition, residuals): &(&ConditionValues, Vec<f64>)| {
        let dip = dip(residuals);
        let p = adjusted(p_value(dip, residuals.len()), tested.len())?;
        Some(Flag::new(FlagKind::SeveralModes, dip, p, dip).in_condition(condition.number))
    };
    tested.iter().filter_map(flag).collect()
}

fn residuals(campaign: &CampaignValues, condition: &ConditionValues) -> Vec<f64> {
    let step = campaign.step(condition);
    let mut residuals = Vec::with_capacity(condition.runs);
    for cell in campaign.cells_of(condition).iter().filter(|cell| cell.count() >= FEW_IN_A_BOOT) {
        residuals.extend(spread(campaign.sorted(cell), step).map(|value| value - cell.mean));
    }
    residuals.sort_unstable_by(f64::total_cmp);
    residuals
}

/// Equal (rounded) values, spread evenly over the `step` of rounding: otherwise every number of a
/// coarse scale would be a mode.
pub(super) fn spread(sorted: &[f64], step: f64) -> impl Iterator<Item = f64> {
    sorted.chunk_by(|one, other| one == other).flat_map(move |equal| {
        let count = equal.len() as f64;
        equal
            .iter()
            .zip(0_u32..)
            .map(move |(value, place)| value + step * ((f64::from(place) + 0.5) / count - 0.5))
    })
}
