//! The cheapest number of boots and runs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::Serialize;

use super::plan::{Cost, Plan};
use crate::question::Design;

/// The goal of a plan, and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The true difference, in the metric's unit.
    pub delta: f64,
    /// The probability that it is proven.
    pub power: f64,
    /// The most boots (of each condition, if nested).
    pub boots_at_most: u32,
    /// The most runs of a condition in a boot.
    pub runs_at_most: u32,
}

/// A size that reaches the goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// Boots: of each condition if nested, of all together if crossed.
    pub boots: u32,
    /// Runs of each condition in each of its boots.
    pub runs: u32,
    /// The time of the whole study.
    pub seconds: f64,
    /// The probability that the goal's difference is proven.
    pub power: f64,
}

impl Plan {
    /// The cost of a study of this size.
    pub fn cost(&self, cost: Cost, boots: u32, runs: u32) -> f64 {
        let (conditions, boots) = (self.conditions as f64, f64::from(boots));
        let runs = cost.run * f64::from(runs);
        match self.design {
            Design::Nested => conditions * boots * (cost.boot + runs),
            Design::Crossed => boots * (cost.boot + conditions * runs),
        }
    }

    /// The fewest boots, from 2, that reach the goal with `runs` runs in each. `None` if the goal's
    /// limit is too low, or as for [`Plan::power`].
    pub fn boots_needed(&self, goal: Goal, runs: u32) -> Option<u32> {
        self.check(runs)?;
        Search::new(self, goal)?.boots_needed(runs, 2, goal.boots_at_most)
    }

    /// The cheapest size within the limits that reaches the goal; of equally cheap ones that with
    /// the fewest runs. `None` if none reaches it, a cost is negative or not finite, or as for
    /// [`Plan::power`].
    pub fn cheapest(&self, goal: Goal, cost: Cost) -> Option<Choice> {
        self.check(1)?;
        let is_price = |price: f64| price >= 0.0 && price.is_finite();
        let search = Search::new(self, goal).filter(|_| is_price(cost.boot) && is_price(cost.run))?;
        // More runs can save boots, but never more than unlimited runs would: that ends both
        // searches.
        let fewest = search.boots_needed(u32::MAX, 2, goal.boots_at_most)?;
        let mut best: Option<(f64, u32, u32)> = None;
        let mut most = goal.boots_at_most;
        for runs in 1..=goal.runs_at_most {
            if best.is_some_and(|(least, ..)| self.cost(cost, fewest, runs) >= least) {
                break;
            }
            let Some(boots) = search.boots_needed(runs, fewest, most) else {
                continue;
            };
            most = boots;
            let price = self.cost(cost, boots, runs);
            if best.is_none_or(|(least, ..)| price < least) {
                best = Some((price, boots, runs));
            }
            if boots == fewest && cost.run > 0.0 {
                break;
            }
        }
        best.and_then(|(cost, boots, runs)| self.choice(goal, cost, boots, runs))
    }

    /// Other sizes that reach the goal, for a table: a quarter, half, twice and four times the runs
    /// of `choice`, and `choice` itself, each with its boots; by the number of runs.
    pub fn around(&self, choice: Choice, goal: Goal, cost: Cost) -> Vec<Choice> {
        let Some(search) = Search::new(self, goal) else { return Vec::new() };
        let mut runs = [
            choice.runs / 4,
            choice.runs / 2,
            choice.runs,
            choice.runs.saturating_mul(2),
            choice.runs.saturating_mul(4),
        ]
        .to_vec();
        runs.retain(|runs| (1..=goal.runs_at_most).contains(runs));
        runs.dedup();
        runs.into_iter()
            .filter_map(|runs| {
                let boots = search.boots_needed(runs, 2, goal.boots_at_most)?;
                self.choice(goal, self.cost(cost, boots, runs), boots, runs)
            })
            .collect()
    }

    fn choice(&self, goal: Goal, seconds: f64, boots: u32, runs: u32) -> Option<Choice> {
        Some(Choice { boots, runs, seconds, power: self.power(goal.delta, boots, runs)? })
    }
}

/// A search for boots. The noncentrality takes the time and depends only on the boots, so it is
/// kept.
struct Search<'a> {
    plan: &'a Plan,
    /// The plan with a single look, which needs no more boots and is computed much faster.
    once: Plan,
    goal: Goal,
    /// The noncentralities by boots, and whether all looks count.
    noncentralities: RefCell<BTreeMap<(u32, bool), Option<f64>>>,
}

impl<'a> Search<'a> {
    fn new(plan: &'a Plan, goal: Goal) -> Option<Search<'a>> {
        let is_sought = goal.delta > 0.0 && goal.delta.is_finite();
        let once = Plan { looks: None, ..*plan };
        is_sought.then(|| Search { plan, once, goal, noncentralities: RefCell::default() })
    }

    fn is_enough(&self, boots: u32, runs: u32) -> bool {
        let reaches = |plan: &Plan| {
            let needed = *self
                .noncentralities
                .borrow_mut()
                .entry((boots, plan.looks.is_some()))
                .or_insert_with(|| plan.noncentrality(self.goal.power, boots));
            needed.is_some_and(|needed| needed * plan.standard_error(boots, runs) <= self.goal.delta)
        };
        reaches(&self.once) && (self.plan.looks.is_none() || reaches(self.plan))
    }

    /// The fewest boots between `fewest` and `most`, by bisection: with more boots the error falls
    /// and the degrees of freedom grow.
    fn boots_needed(&self, runs: u32, fewest: u32, most: u32) -> Option<u32> {
        // Doubling first: small studies are likely, and large ones take no longer.
        let mut low = fewest;
        let mut high = fewest;
        while high < most && !self.is_enough(high, runs) {
            low = high + 1;
            high = high.saturating_mul(2).min(most);
        }
        if high > most || !self.is_enough(high, runs) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_enough(middle, runs) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(high)
    }
}
