//! Boots, and runs inside boots, that stand out from the others.

use super::campaign::CampaignValues;
use super::effects::{BootEffect, BootEffects};
use super::extremes::{Extreme, farthest};
use super::flag::{Flag, FlagKind};
use super::level::{ROUNDING, adjusted};

/// Boots whose effect is too far from those of their group. Groups may spread differently, so each
/// is judged by its own spread. `families` share the level.
pub(super) fn boots(effects: &BootEffects, families: usize) -> Vec<Flag> {
    let groups: Vec<&[BootEffect]> =
        effects.0.iter().map(Vec::as_slice).filter(|group| group.len() > 2).collect();
    let mut flags = Vec::new();
    for boots in &groups {
        let mut sorted: Vec<f64> = boots.iter().map(|boot| boot.effect).collect();
        sorted.sort_by(f64::total_cmp);
        for (extreme, p) in believed(&farthest(&[&sorted]), families * groups.len()) {
            let Some(boot) = boots.iter().find(|boot| boot.effect == extreme.value) else { continue };
            if boot.effect.abs() >= ROUNDING {
                let flag = Flag::new(FlagKind::OutlyingBoot, extreme.statistic, p, extreme.value);
                flags.push(Flag { condition: boot.condition, ..flag }.with_place(boot.boot, None));
            }
        }
    }
    flags
}

/// Runs too far from their boot's mean, one family for each condition.
pub(super) fn runs(campaign: &CampaignValues) -> Vec<Flag> {
    let tested = campaign.varying();
    let mut flags = Vec::new();
    for (condition, within) in &tested {
        let cells = campaign.cells_of(condition);
        let groups: Vec<&[f64]> = cells.iter().map(|cell| campaign.sorted(cell)).collect();
        for (extreme, p) in believed(&farthest(&groups), tested.len()) {
            let cell = &cells[extreme.group];
            let run = campaign.values(cell).iter().position(|value| *value == extreme.value);
            let size = (extreme.value - cell.mean) / within;
            let flag = Flag::new(FlagKind::OutlyingRun, extreme.statistic, p, size);
            flags.push(flag.in_condition(condition.number).with_place(cell.boot, run.map(|run| run + 1)));
        }
    }
    flags
}

/// All up to the last that passes; one hidden by later ones has the p-value of its removal.
fn believed(found: &[Extreme], tests: usize) -> Vec<(&Extreme, f64)> {
    let passing: Vec<Option<f64>> = found.iter().map(|extreme| adjusted(extreme.p, tests)).collect();
    let mut p = None;
    let mut believed = Vec::new();
    for (extreme, own) in found.iter().zip(passing).rev() {
        p = own.or(p);
        believed.extend(p.map(|p| (extreme, p)));
    }
    believed.reverse();
    believed
}
