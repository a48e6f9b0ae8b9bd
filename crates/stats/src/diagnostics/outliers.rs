//! Boots, and runs inside boots, that stand out from the others.

use super::campaign::{Campaign, Condition};
use super::effects::BootEffects;
use super::extremes::{Extreme, farthest};
use super::flag::{Flag, Kind, Place};
use super::{ROUNDING, adjusted};

/// Boots whose effect lies too far from those of the others. One family: the boots of all conditions share one spread, in
/// units of the runs' spread, as they do in the pooled error of a comparison.
/// `families` share the level.
pub(super) fn boots(effects: &BootEffects, families: usize) -> Vec<Flag> {
    let mut groups: Vec<Vec<(f64, usize)>> = vec![Vec::new(); effects.groups()];
    for (index, boot) in effects.boots.iter().enumerate() {
        groups[boot.group].push((boot.effect, index));
    }
    for group in &mut groups {
        group.sort_by(|one, other| one.0.total_cmp(&other.0));
    }
    let values: Vec<Vec<f64>> =
        groups.iter().map(|group| group.iter().map(|(effect, _)| *effect).collect()).collect();
    let scaled: Vec<(&[f64], f64)> =
        values.iter().zip(&effects.scale_df).map(|(values, df)| (values.as_slice(), *df)).collect();
    let found = farthest(&scaled);
    let flag = |(extreme, p): (&Extreme, f64)| {
        if extreme.value.abs() < ROUNDING {
            return None;
        }
        let (_, index) = groups[extreme.group].iter().find(|(effect, _)| *effect == extreme.value)?;
        let boot = &effects.boots[*index];
        Some(Flag {
            kind: Kind::OutlyingBoot,
            condition: boot.condition,
            places: vec![Place { boot: boot.boot, run: None }],
            statistic: extreme.statistic,
            p,
            size: extreme.value,
        })
    };
    believed(&found, families).into_iter().filter_map(flag).collect()
}

/// Runs too far from their boot's mean, one family for each condition.
pub(super) fn runs(campaign: &Campaign) -> Vec<Flag> {
    let tested: Vec<(&Condition, f64)> =
        campaign.conditions.iter().filter_map(|condition| Some((condition, condition.within?))).collect();
    let mut flags = Vec::new();
    for (condition, within) in &tested {
        let cells = campaign.cells_of(condition);
        let groups: Vec<(&[f64], f64)> =
            cells.iter().map(|cell| (campaign.sorted(cell), f64::INFINITY)).collect();
        for (extreme, p) in believed(&farthest(&groups), tested.len()) {
            let cell = &cells[extreme.group];
            let run = campaign.values(cell).iter().position(|value| *value == extreme.value);
            flags.push(Flag {
                kind: Kind::OutlyingRun,
                condition: Some(condition.number),
                places: vec![Place { boot: cell.boot, run: run.map(|run| run + 1) }],
                statistic: extreme.statistic,
                p,
                size: (extreme.value - cell.mean) / within,
            });
        }
    }
    flags
}

/// All up to the last that passes; one that was hidden by those after it has the p-value with which it came out.
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
