//! What each boot did to everything that was measured in it.

use std::collections::BTreeMap;

use super::campaign::Campaign;

/// The boots of a campaign with their effects, each in units of the spread between runs.
///
/// A boot's effect is the mean, over the conditions that it measured, of the boot's mean less the condition's. In a nested
/// design each boot has one condition, so the effects of a condition's boots sum to zero; in a crossed one all boots
/// together do. Boots that are tied together in this way (by sharing a condition, directly or through other boots) are a
/// group, and each group takes one degree of freedom. Where boots lack some of the conditions that is an approximation.
pub(super) struct BootEffects {
    /// By number.
    pub(super) boots: Vec<BootEffect>,
    /// For each group the degrees of freedom of the spread between runs that its effects were divided by; infinite for a
    /// single group, whose boots all have the same divisor.
    pub(super) scale_df: Vec<f64>,
}

pub(super) struct BootEffect {
    pub(super) boot: u32,
    /// Its condition, if it measured only one.
    pub(super) condition: Option<usize>,
    /// In units of the spread between runs.
    pub(super) effect: f64,
    /// Its place in the campaign, less the mean place of its group's conditions, in runs.
    pub(super) time: f64,
    pub(super) group: usize,
}

impl BootEffects {
    pub(super) fn of(campaign: &Campaign) -> BootEffects {
        let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
        for (index, condition) in campaign.conditions.iter().enumerate() {
            let Some(scale) = condition.scale else { continue };
            let cells = campaign.cells_of(condition);
            let time = cells.iter().map(|cell| cell.time).sum::<f64>() / cells.len() as f64;
            for cell in cells {
                let sum = sums.entry(cell.boot).or_default();
                sum.effect += (cell.mean - condition.mean) / scale;
                sum.time += cell.time - time;
                sum.conditions.push(index);
            }
        }
        let (groups, group_of) = groups(campaign.conditions.len(), &sums);
        let mut boots: Vec<BootEffect> = sums
            .into_iter()
            .map(|(boot, sum)| {
                let count = sum.conditions.len() as f64;
                let only = (sum.conditions.len() == 1).then(|| campaign.conditions[sum.conditions[0]].number);
                BootEffect {
                    boot,
                    condition: only,
                    effect: sum.effect / count,
                    time: sum.time / count,
                    group: group_of[sum.conditions[0]],
                }
            })
            .collect();
        centre(&mut boots, groups);
        let mut scale_df = vec![0.0; groups];
        for (index, condition) in campaign.conditions.iter().enumerate() {
            if condition.scale.is_some() {
                scale_df[group_of[index]] += condition.scale_df as f64;
            }
        }
        if groups == 1 {
            scale_df[0] = f64::INFINITY;
        }
        BootEffects { boots, scale_df }
    }

    pub(super) fn groups(&self) -> usize {
        self.scale_df.len()
    }

    /// Degrees of freedom: the boots less one for each group.
    pub(super) fn df(&self) -> usize {
        self.boots.len() - self.groups()
    }
}

#[derive(Default)]
struct Sum {
    effect: f64,
    time: f64,
    /// By their place among the measured conditions.
    conditions: Vec<usize>,
}

/// How many groups the boots make, and the group of each condition (0 for one without a scale, which no boot asks for).
fn groups(conditions: usize, sums: &BTreeMap<u32, Sum>) -> (usize, Vec<usize>) {
    let mut parent: Vec<usize> = (0..conditions).collect();
    for sum in sums.values() {
        for pair in sum.conditions.windows(2) {
            let (one, other) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            parent[one] = other;
        }
    }
    let mut numbers = BTreeMap::new();
    let mut group_of = vec![0; conditions];
    for condition in sums.values().flat_map(|sum| &sum.conditions) {
        let next = numbers.len();
        group_of[*condition] = *numbers.entry(root(&mut parent, *condition)).or_insert(next);
    }
    (numbers.len(), group_of)
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

/// Takes each group's mean from its boots; a change only where boots lack conditions.
fn centre(boots: &mut [BootEffect], groups: usize) {
    let mut sums = vec![(0.0, 0.0, 0.0); groups];
    for boot in boots.iter() {
        let sum = &mut sums[boot.group];
        *sum = (sum.0 + boot.effect, sum.1 + boot.time, sum.2 + 1.0);
    }
    for boot in boots {
        let (effect, time, count) = sums[boot.group];
        boot.effect -= effect / count;
        boot.time -= time / count;
    }
}
