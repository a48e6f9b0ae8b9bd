//! The effect of each boot on everything measured in it.

use std::collections::BTreeMap;

use super::campaign::CampaignValues;

/// The boots of a campaign with their effects, each in units of the spread between runs.
///
/// A boot's effect is its mean effect on its conditions. Boots with the same conditions are a
/// group, whose effects differ only by chance: in a nested design the boots of a condition, in a
/// crossed one all, with several states of the testbed those of a state. Groups may spread
/// differently, so each is tested separately.
pub(super) struct BootEffects(pub(super) Vec<Vec<BootEffect>>);

pub(super) struct BootEffect {
    pub(super) boot: u32,
    /// Its condition, if it measured only one.
    pub(super) condition: Option<usize>,
    /// The effect in units of the spread between runs, less the group's mean.
    pub(super) effect: f64,
    /// Its place in the campaign, less the group's mean place, in runs.
    pub(super) time: f64,
}

impl BootEffects {
    /// Conditions that do not vary have no unit, and show no effect of boots.
    pub(super) fn estimate(campaign: &CampaignValues) -> BootEffects {
        let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
        for (index, condition) in campaign.conditions.iter().enumerate() {
            let Some(scale) = condition.scale else { continue };
            for cell in campaign.cells_of(condition) {
                let sum = sums.entry(cell.boot).or_default();
                sum.effect += (cell.mean - condition.mean) / scale;
                sum.time += cell.time;
                sum.conditions.push(index);
            }
        }
        let mut groups: BTreeMap<Vec<usize>, Vec<BootEffect>> = BTreeMap::new();
        for (boot, Sum { effect, time, conditions }) in sums {
            let count = conditions.len() as f64;
            let only = (conditions.len() == 1).then(|| campaign.conditions[conditions[0]].number);
            let boot = BootEffect { boot, condition: only, effect: effect / count, time: time / count };
            groups.entry(conditions).or_default().push(boot);
        }
        let mut groups: Vec<Vec<BootEffect>> = groups.into_values().collect();
        groups.iter_mut().for_each(|group| centre(group));
        BootEffects(groups)
    }
}

#[derive(Default)]
struct Sum {
    effect: f64,
    time: f64,
    /// Indices into the measured conditions.
    conditions: Vec<usize>,
}

/// Takes a group's means from its boots.
fn centre(boots: &mut [BootEffect]) {
    let count = boots.len() as f64;
    let effect = boots.iter().map(|boot| boot.effect).sum::<f64>() / count;
    let time = boots.iter().map(|boot| boot.time).sum::<f64>() / count;
    for boot in boots {
        boot.effect -= effect;
        boot.time -= time;
    }
}
