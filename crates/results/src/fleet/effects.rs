//! The effects of a study on many pairs, gathered while the pairs are read one after the other: of
//! each pair a few numbers are kept.

use std::collections::BTreeMap;

use stats::fleet::PairEffect;
use store::Outline;
use study::Plan;
use study::metric::Metric;

use crate::data::matched_conditions::{ConditionSettings, settings_of};
use crate::data::means::mean_by_boot;
use crate::data::target::own_targets;

/// The metric, and the settings of the condition and of its baseline: a pair without IPv6 has
/// shorter labels for the same conditions.
type EffectKey = (Metric, ConditionSettings, ConditionSettings);

/// The effects of a campaign's studies, as far as its pairs were read.
#[derive(Default)]
pub(super) struct EffectsOfPairs {
    effects: Vec<GatheredEffect>,
    places: BTreeMap<EffectKey, usize>,
    /// The comparisons of the last plan. Most pairs have the same plan.
    last: Option<(Plan, Vec<PlannedEffect>)>,
}

/// One effect, with the sizes on the pairs that measured it.
pub(super) struct GatheredEffect {
    pub(super) workload: String,
    pub(super) metric: Metric,
    pub(super) condition: String,
    pub(super) baseline: String,
    pub(super) sizes: Vec<Sizes>,
}

/// One pair's estimates of an effect.
pub(super) struct Sizes {
    pub(super) pair: usize,
    /// The logarithm of the ratio; `None` if a value is not above zero.
    pub(super) logarithm: Option<PairEffect>,
    pub(super) difference: PairEffect,
}

/// A comparison of a plan, by the indices of its conditions.
struct PlannedEffect {
    effect: usize,
    condition: usize,
    baseline: usize,
}

impl EffectsOfPairs {
    /// Adds the effects of a study's own comparisons, on one pair.
    pub(super) fn add(&mut self, outline: &Outline, pair: usize) {
        if self.last.as_ref().is_none_or(|(plan, _)| *plan != outline.plan) {
            let planned = self.planned(&outline.plan);
            self.last = Some((outline.plan.clone(), planned));
        }
        for one in self.last.iter().flat_map(|(_, planned)| planned) {
            let effect = &mut self.effects[one.effect];
            let Some(values) = outline.values.get(&effect.metric) else { continue };
            let [baseline, own] = [one.baseline, one.condition].map(|index| boot_means(values, index));
            let Some(difference) = size(&baseline, &own) else { continue };
            let is_positive = baseline.values().chain(own.values()).all(|value| *value > 0.0);
            let logarithm = is_positive.then(|| size(&logarithms(&baseline), &logarithms(&own)));
            effect.sizes.push(Sizes { pair, logarithm: logarithm.flatten(), difference });
        }
    }

    /// The effects that at least one pair measured, in the order of the plans.
    pub(super) fn measured(self) -> impl Iterator<Item = GatheredEffect> {
        self.effects.into_iter().filter(|effect| !effect.sizes.is_empty())
    }

    /// The comparisons of a plan; adds those that are new.
    fn planned(&mut self, plan: &Plan) -> Vec<PlannedEffect> {
        let mut found: Vec<PlannedEffect> = Vec::new();
        for target in own_targets(plan) {
            let baseline = target.baseline;
            for &condition in target.conditions.iter().filter(|one| **one != baseline) {
                let [of, against] = [condition, baseline].map(|index| &plan.conditions[index]);
                let key = (target.metric, settings_of(of), settings_of(against));
                let effect = *self.places.entry(key).or_insert(self.effects.len());
                let named = GatheredEffect {
                    workload: target.workload.clone(),
                    metric: target.metric,
                    condition: of.label.to_string(),
                    baseline: against.label.to_string(),
                    sizes: Vec::new(),
                };
                match self.effects.get_mut(effect) {
                    None => self.effects.push(named),
                    // The longest labels name the levels of most factors.
                    Some(known) if known.length() < named.length() => {
                        *known = GatheredEffect { sizes: std::mem::take(&mut known.sizes), ..named };
                    }
                    Some(_) => {}
                }
                if found.iter().all(|one| one.effect != effect) {
                    found.push(PlannedEffect { effect, condition, baseline });
                }
            }
        }
        found
    }
}

impl GatheredEffect {
    fn length(&self) -> usize {
        self.condition.len() + self.baseline.len()
    }
}

type MeanByBoot = BTreeMap<u32, f64>;

fn boot_means(values: &[(usize, u32, f64)], condition: usize) -> MeanByBoot {
    let own = values.iter().filter(|(own, ..)| *own == condition);
    mean_by_boot(own.map(|(_, boot, value)| (*boot, *value)))
}

fn logarithms(means: &MeanByBoot) -> MeanByBoot {
    means.iter().map(|(boot, mean)| (*boot, mean.ln())).collect()
}

/// The difference of two conditions on one pair: within boots where boots measured both, else
/// between boots (Welch). `None` if one was not measured.
fn size(baseline: &MeanByBoot, own: &MeanByBoot) -> Option<PairEffect> {
    let shared: Vec<f64> = own.iter().filter_map(|(boot, mean)| Some(mean - baseline.get(boot)?)).collect();
    if !shared.is_empty() {
        return Some(PairEffect::of_shared_boots(&shared));
    }
    let [baseline, own] = [baseline, own].map(|means| means.values().copied().collect::<Vec<_>>());
    (!baseline.is_empty() && !own.is_empty()).then(|| PairEffect::of_separate_boots(&baseline, &own))
}
