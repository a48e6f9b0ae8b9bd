//! A boot that treated one condition differently: an effect that neither the boot nor the
//! condition's mean explains.

use super::campaign::{CampaignValues, ConditionValues};
use super::extremes::farthest;
use super::flag::{Flag, FlagKind};
use super::level::{ROUNDING, adjusted};
use crate::observed::mean;

/// The conditions of a crossed campaign whose boots all measured all of them. With two conditions
/// the affected one is unknown.
pub(super) fn crossed(campaign: &CampaignValues) -> Option<Vec<(&ConditionValues, f64)>> {
    let conditions: Vec<(&ConditionValues, f64)> =
        campaign.conditions.iter().filter_map(|condition| Some((condition, condition.scale?))).collect();
    let boots = |condition: &ConditionValues| campaign.cells_of(condition).iter().map(|cell| cell.boot);
    let first = conditions.first()?.0;
    let is_complete = conditions.iter().all(|(condition, _)| boots(condition).eq(boots(first)));
    (is_complete && conditions.len() > 2 && first.cells.len() > 2).then_some(conditions)
}

/// The cell farthest from its boot's effect on the other conditions, in units of the spread between
/// runs. Conditions may spread differently, so each is judged by its own boots: its effects less
/// the mean of the others' differ only by chance, and Grubbs' test is exact for them. `families`
/// share the level.
pub(super) fn unlike(
    campaign: &CampaignValues,
    conditions: &[(&ConditionValues, f64)],
    families: usize,
) -> Option<Flag> {
    let effects: Vec<Vec<f64>> = conditions
        .iter()
        .map(|(condition, scale)| {
            campaign.cells_of(condition).iter().map(|cell| (cell.mean - condition.mean) / scale).collect()
        })
        .collect();
    let others = (conditions.len() - 1) as f64;
    let total: Vec<f64> =
        (0..effects[0].len()).map(|boot| effects.iter().map(|own| own[boot]).sum()).collect();
    let found = conditions.iter().zip(&effects).filter_map(|((condition, _), own)| {
        let beside: Vec<f64> =
            own.iter().zip(&total).map(|(own, total)| own - (total - own) / others).collect();
        let mut sorted = beside.clone();
        sorted.sort_by(f64::total_cmp);
        let extreme = *farthest(&[&sorted]).first()?;
        let boot = beside.iter().position(|value| *value == extreme.value)?;
        (extreme.value.abs() >= ROUNDING).then_some((condition, boot, extreme, mean(&beside)))
    });
    let (condition, boot, extreme, centre) = found.min_by(|one, other| one.2.p.total_cmp(&other.2.p))?;
    let p = adjusted(extreme.p, conditions.len() * families)?;
    let boot = campaign.cells_of(condition)[boot].boot;
    let flag = Flag::new(FlagKind::OutlyingCell, extreme.statistic, p, extreme.value - centre);
    Some(flag.in_condition(condition.number).with_place(boot, None))
}
