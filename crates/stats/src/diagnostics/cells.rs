//! A boot that treated one condition differently: what neither the boot's effect nor the condition's mean explains.

use super::campaign::{Campaign, Condition};
use super::flag::{Flag, Kind, Place};
use super::tail;
use super::{ROUNDING, adjusted};

/// The conditions of a crossed campaign whose boots all measured all of them. Of two conditions it could not be told which
/// one a boot treated differently.
pub(super) fn crossed(campaign: &Campaign) -> Option<Vec<(&Condition, f64)>> {
    let conditions: Vec<(&Condition, f64)> =
        campaign.conditions.iter().filter_map(|condition| Some((condition, condition.scale?))).collect();
    let boots = |condition: &Condition| campaign.cells_of(condition).iter().map(|cell| cell.boot);
    let first = conditions.first()?.0;
    let is_complete = conditions.iter().all(|(condition, _)| boots(condition).eq(boots(first)));
    (is_complete && conditions.len() > 2 && first.cells.len() > 2).then_some(conditions)
}

/// The cell farthest from what its boot and its condition add up to, in units of the spread between runs: its residual
/// studentised without itself has Student's t with (a - 1)(b - 1) - 1 degrees of freedom, and Bonferroni's bound is over all
/// cells (Stefansky, Technometrics 14, 1972). As the unit is estimated for each condition, the reference has fewer, as in
/// [`farthest`](super::extremes::farthest). `families` share the level.
pub(super) fn unlike(campaign: &Campaign, conditions: &[(&Condition, f64)], families: usize) -> Option<Flag> {
    let (a, b) = (conditions.len(), conditions.first()?.0.cells.len());
    let effect = |(condition, scale): &(&Condition, f64), boot: usize| {
        (campaign.cells_of(condition)[boot].mean - condition.mean) / scale
    };
    let (mut total, mut most) = (0.0, (0.0_f64, 0, 0));
    for boot in 0..b {
        let mean = conditions.iter().map(|condition| effect(condition, boot)).sum::<f64>() / a as f64;
        for (place, condition) in conditions.iter().enumerate() {
            let residual = effect(condition, boot) - mean;
            total += residual * residual;
            if residual.abs() > most.0.abs() {
                most = (residual, place, boot);
            }
        }
    }
    let (residual, place, boot) = most;
    if residual.abs() < ROUNDING {
        return None;
    }
    let condition = conditions[place].0;
    let df = ((a - 1) * (b - 1)) as f64;
    // The part of a cell's variance that its residual keeps.
    let kept = df / (a * b) as f64;
    let share = (residual * residual / kept / total).min(1.0);
    let rest = df - 1.0;
    let t = (share * rest / (1.0 - share).max(f64::EPSILON)).sqrt();
    let reference = 1.0 / (1.0 / rest + 1.0 / condition.scale_df as f64);
    let p = adjusted(tail::student_two_sided(t, reference) * (a * b) as f64, families)?;
    Some(Flag {
        kind: Kind::OutlyingBoot,
        condition: Some(condition.number),
        places: vec![Place { boot: campaign.cells_of(condition)[boot].boot, run: None }],
        statistic: residual / (kept * total / df).sqrt(),
        p,
        size: residual / kept,
    })
}
