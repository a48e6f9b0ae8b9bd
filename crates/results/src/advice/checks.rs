//! Checks of recommendations that hold on average against the state that the advice leaves behind.

use std::collections::BTreeMap;
use std::convert::Infallible;

use serde::Serialize;
use store::StoredStudy;
use study::metric::Metric;

use crate::advice::advise::{GoalAdvice, WorkloadAdvice};
use crate::advice::command::on_or_off;
use crate::advice::judge::Standing;
use crate::advice::recommendation::{AsLeft, DependsOn, Recommendation};
use crate::credit::{Combination, MeasuredCombination, SwitchPair};
use crate::switches::judged_together;
use crate::{EffectMethod, MetricChange, SwitchEffects, grouped};

/// The extent of the checks of recommended switches against the other switches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DependenceTests {
    /// The number of pairs of switches that were judged together, by Holm's procedure.
    pub pairs: usize,
    /// The level of each interval of [`crate::advice::DependsOn`]: of the procedure's last step.
    pub level: f64,
}

/// Tests of shares, averages over the states of the other switches: do they differ in these states?
pub(crate) struct DependenceChecks<'s> {
    stored: &'s StoredStudy,
    // By the place of their context.
    combinations: Vec<Combination<'s>>,
    level: f64,
    /// `None` if there was nothing to check.
    pub(crate) made: Option<DependenceTests>,
    pairs: SwitchPairs,
}

type SwitchPairs = BTreeMap<(usize, Metric, String), Vec<SwitchPair>>;

impl<'s> DependenceChecks<'s> {
    pub(crate) fn from_stored(
        stored: &'s StoredStudy,
        switches: &SwitchEffects,
        cases: &[WorkloadAdvice],
    ) -> Self {
        let combinations = Combination::from_plan(&stored.plan);
        let read = |level: f64| {
            let mut pairs = SwitchPairs::new();
            for case in cases {
                for one in case.goals.iter().flat_map(|one| &one.recommendations) {
                    let [factor] = one.factors.as_slice() else { continue };
                    for metric in serving(one) {
                        let measured = combinations
                            .get(case.place)
                            .and_then(|one| MeasuredCombination::new(stored, one, metric, level));
                        let found = measured.map_or_else(Vec::new, |measured| measured.pairs(factor));
                        pairs.insert((case.place, metric, factor.clone()), found);
                    }
                }
            }
            Ok::<_, Infallible>(pairs)
        };
        // A family of hypotheses of its own: in the family of the changes they would cost these
        // power.
        let Ok((pairs, judged, level)) = judged_together(switches.confidence, read, p_values);
        let is_made = !pairs.values().all(Vec::is_empty);
        let made = is_made.then_some(DependenceTests { pairs: judged, level });
        Self { stored, combinations, level: switches.level, made, pairs }
    }

    pub(crate) fn settle(&self, cases: &mut [WorkloadAdvice]) {
        for case in cases {
            for GoalAdvice { recommendations: all, .. } in &mut case.goals {
                self.withdraw(case.place, all);
                let off = set_off(all);
                for one in all.iter_mut().filter(|one| !serving(one).is_empty()) {
                    self.describe(case.place, one, &off);
                }
                Recommendation::sort(all);
            }
        }
    }

    fn withdraw(&self, context: usize, all: &mut [Recommendation]) {
        let mut standing: Vec<usize> = (0..all.len()).filter(|one| all[*one].standing.is_proven()).collect();
        // The smallest change is withdrawn first: those that it contradicted may then stand.
        standing.sort_by(|one, other| all[*one].size().total_cmp(&all[*other].size()));
        let mut withdrawn: Vec<(usize, Recommendation)> = Vec::new();
        while let Some(place) = self.first_contradicted(context, all, &standing) {
            let one = standing.remove(place);
            withdrawn.push((one, all[one].clone()));
            // The effect depends on the other switches.
            all[one].standing = Standing::Depends;
            (all[one].apply, all[one].undo) = (Vec::new(), Vec::new());
        }
        // A withdrawn one stands after all if it contradicts none that is left.
        while let Some((one, before)) = withdrawn.pop() {
            let without = std::mem::replace(&mut all[one], before);
            standing.push(one);
            if self.first_contradicted(context, all, &standing).is_some() {
                all[one] = without;
                standing.pop();
            }
        }
    }

    fn first_contradicted(
        &self,
        context: usize,
        all: &[Recommendation],
        standing: &[usize],
    ) -> Option<usize> {
        let off = set_off(all);
        standing.iter().position(|one| self.is_contradicted(context, &all[*one], &off))
    }

    fn is_contradicted(&self, context: usize, one: &Recommendation, off: &[String]) -> bool {
        let there = self.as_left(context, one, off).changes;
        let mut better = there.iter().filter_map(MetricChange::is_better);
        // The state itself decides; pairs only where it was not measured or proves nothing.
        if let Some(first) = better.next() {
            return !first || better.any(|is_better| !is_better);
        }
        let is_contrary = |pair: &&SwitchPair| {
            pair.is_proven && change_with(pair, is_left_on(&pair.other, off), one).is_better() != Some(true)
        };
        serving(one)
            .iter()
            .any(|metric| self.pairs_of(context, *metric, one).iter().any(|pair| is_contrary(&pair)))
    }

    fn as_left(&self, context: usize, one: &Recommendation, off: &[String]) -> AsLeft {
        let off: Vec<String> = off.iter().filter(|factor| !one.factors.contains(factor)).cloned().collect();
        let change = |expected: &MetricChange| {
            let combination = self.combinations.get(context)?;
            let measured = MeasuredCombination::new(self.stored, combination, expected.metric, self.level)?;
            Some(directed(&measured.change_in_state(&one.factors, &off)?, one))
        };
        let changes = one.expected.iter().filter_map(change).collect();
        AsLeft { off, changes }
    }

    fn pairs_of(&self, context: usize, metric: Metric, one: &Recommendation) -> &[SwitchPair] {
        let key = |factor: &String| (context, metric, factor.clone());
        let found = one.factors.first().and_then(|factor| self.pairs.get(&key(factor)));
        found.map_or(&[], Vec::as_slice)
    }

    fn describe(&self, context: usize, one: &mut Recommendation, off: &[String]) {
        let pairs = serving(one).into_iter().flat_map(|metric| self.pairs_of(context, metric, one));
        let changes = pairs.filter(|pair| pair.is_proven).map(|pair| {
            let is_on = is_left_on(&pair.other, off);
            (&pair.other, [is_on, !is_on].map(|is_on| change_with(pair, is_on, one)))
        });
        let differ = changes.filter(|(_, both)| both.iter().any(|change| change.is_better() != Some(true)));
        let depends_on = grouped(differ).into_iter().map(|(factor, changes)| {
            let is_on = is_left_on(factor, off);
            let [left, other] = [is_on, !is_on].map(|is_on| on_or_off(is_on).to_owned());
            let (with_left, with_other) = changes.into_iter().map(|[left, other]| (left, other)).unzip();
            DependsOn { factor: factor.clone(), left, other, with_left, with_other }
        });
        let depends_on: Vec<DependsOn> = depends_on.collect();
        if one.standing == Standing::Recommended && !depends_on.is_empty() {
            one.standing = Standing::Conditional;
        }
        let as_left = self.as_left(context, one, off);
        let is_new = !(one.how == EffectMethod::OthersOn && as_left.off.is_empty());
        one.as_left = is_new.then_some(as_left);
        one.depends_on = depends_on;
    }
}

fn serving(one: &Recommendation) -> Vec<Metric> {
    let is_serving = |change: &&MetricChange| match one.standing {
        // Where the effect depends on other switches, any proven change serves.
        Standing::Depends => change.is_better().is_some(),
        _ => one.standing.is_proven() && change.is_better() == Some(true),
    };
    // Only a design has states of the other switches to check against.
    if one.how == EffectMethod::Alone {
        return Vec::new();
    }
    one.expected.iter().filter(is_serving).map(|change| change.metric).collect()
}

fn set_off(all: &[Recommendation]) -> Vec<String> {
    let off = all.iter().filter(|one| one.standing.is_proven() && one.to == "off");
    off.flat_map(|one| one.factors.clone()).collect()
}

fn is_left_on(factor: &str, off: &[String]) -> bool {
    // Switches are on unless the advice sets them off: that is the state of most hosts.
    !off.iter().any(|one| one == factor)
}

fn change_with(pair: &SwitchPair, is_on: bool, one: &Recommendation) -> MetricChange {
    directed(&pair.changes[usize::from(is_on)], one)
}

fn directed(change: &MetricChange, one: &Recommendation) -> MetricChange {
    if one.to == "off" { change.reversed() } else { change.clone() }
}

fn p_values(found: &SwitchPairs) -> Vec<f64> {
    let mut each: BTreeMap<(usize, Metric, [&str; 2]), f64> = BTreeMap::new();
    for ((context, metric, factor), pairs) in found {
        for pair in pairs {
            // One hypothesis for each two switches in a metric, whichever of them is recommended.
            let mut both = [factor.as_str(), pair.other.as_str()];
            both.sort_unstable();
            each.extend(pair.p.map(|p| ((*context, *metric, both), p)));
        }
    }
    each.into_values().collect()
}
